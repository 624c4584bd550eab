//! Applies the scene's forces to the bodies.

use bevy::prelude::*;
use bevy_rapier3d::prelude::RapierRigidBodySet;
use bevy_rapier3d::rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use cubewire_scene::{self as scene, Body, PLAYER, Push, TICKS_PER_SECOND};

use super::bodies::Bodies;
use super::{CubeWorld, HeldKeys};

/// Applies the forces of the held keys for one tick.
pub(super) fn push(
    keys: Res<HeldKeys>,
    world: Res<CubeWorld>,
    bodies: Res<Bodies>,
    mut sets: Query<&mut RapierRigidBodySet>,
) -> Result {
    let set = &mut sets.single_mut()?.bodies;
    let keys = keys.0;
    let Some(player) = set
        .get(bodies.handles[PLAYER])
        .map(|body| describe(PLAYER, body))
    else {
        return Ok(());
    };

    wake_ahead(set, &bodies.handles, &player);

    let mut on_player = Push {
        force: scene::roll(keys, player.linear_velocity),
        torque: Vec3::ZERO,
    };
    // The floor is flat, so the point below the player needs no ray cast.
    let ground = player.position.with_z(0.0);
    if keys.blow {
        let seconds = world.ticks_since_reset as f32 / TICKS_PER_SECOND as f32;
        let hover = scene::hover(&player, ground.z, seconds);
        on_player.force += hover.force;
        on_player.torque += hover.torque;
    }
    let others: &[RigidBodyHandle] = if keys.blow || keys.gather {
        &bodies.handles
    } else {
        &[]
    };
    for (cube, &handle) in others.iter().enumerate() {
        if cube == PLAYER {
            continue;
        }
        let Some(body) = set.get(handle).map(|body| describe(cube, body)) else {
            continue;
        };
        let blown = keys.blow.then(|| scene::blow(ground, &body)).flatten();
        let gathered = keys
            .gather
            .then(|| scene::gather(player.position, &body))
            .flatten();
        let gathered = gathered.unwrap_or_default();
        // Action and reaction: otherwise the ball would propel itself.
        on_player.force -= gathered;
        let force = blown.unwrap_or_default() + gathered;
        // `get_mut` makes Rapier re-examine the body.
        if force != Vec3::ZERO {
            let torque = Vec3::ZERO;
            apply(set.get_mut(handle), Push { force, torque });
        }
    }
    apply(set.get_mut(bodies.handles[PLAYER]), on_player);
    Ok(())
}

/// Wakes the cubes that the player is about to hit. Rapier detects contact between a cube and the floor
/// only while the cube is awake, so a sleeping cube that the player lands on is pressed into the floor.
fn wake_ahead(set: &mut RigidBodySet, handles: &[RigidBodyHandle], player: &Body) {
    let speed = player.linear_velocity.length();
    if speed < FAST {
        return;
    }
    let reach = player.side + 2.0 * speed / TICKS_PER_SECOND as f32;
    for &handle in handles {
        let near = |body: &RigidBody| {
            body.is_sleeping()
                && body.translation().distance_squared(player.position) < reach * reach
        };
        if set.get(handle).is_some_and(near)
            && let Some(body) = set.get_mut(handle)
        {
            body.wake_up(true);
        }
    }
}

/// Speed of the player from which sleeping cubes ahead of it are woken, metres per second.
const FAST: f32 = 4.0;

/// Applies one tick of force as an impulse: a force persists, and clearing it would wake the body.
fn apply(body: Option<&mut RigidBody>, push: Push) {
    let seconds = 1.0 / TICKS_PER_SECOND as f32;
    if let Some(body) = body {
        if push.force != Vec3::ZERO {
            body.apply_impulse(push.force * seconds, true);
        }
        if push.torque != Vec3::ZERO {
            body.apply_torque_impulse(push.torque * seconds, true);
        }
    }
}

fn describe(cube: usize, body: &RigidBody) -> Body {
    Body {
        position: body.translation(),
        orientation: *body.rotation(),
        linear_velocity: body.linvel(),
        angular_velocity: body.angvel(),
        mass: scene::mass(cube),
        side: scene::side(cube),
    }
}
