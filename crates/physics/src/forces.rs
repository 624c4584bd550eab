//! Applies the forces of the held keys.

use cubewire_scene::{self as rules, Body, Keys, MAX_PLAYERS, Push, TICKS_PER_SECOND};
use glam::Vec3;
use rapier3d::prelude::{RigidBody, RigidBodyHandle, RigidBodySet};

use crate::step::SceneState;

/// Speed of the player above which it wakes sleeping cubes ahead of it, metres per second.
const FAST: f32 = 4.0;

/// Applies the forces of one tick: those of each player on its own cube and on the small cubes.
pub(crate) fn apply_forces(
    bodies: &mut RigidBodySet,
    scene: &SceneState,
    keys: [Keys; MAX_PLAYERS],
) {
    for &(player, index) in &scene.players {
        apply_forces_of(bodies, scene, index, keys[player]);
    }
}

fn apply_forces_of(bodies: &mut RigidBodySet, scene: &SceneState, index: usize, keys: Keys) {
    let (handles, numbers) = (&scene.handles[..], &scene.numbers[..]);
    let player = describe(numbers[index], &bodies[handles[index]]);
    wake_ahead(bodies, handles, &player);

    let mut on_player =
        Push { force: rules::roll(keys, player.linear_velocity), torque: Vec3::ZERO };
    // The floor is flat, so the point below the player needs no ray cast.
    let ground = player.position.with_z(0.0);
    if keys.blow {
        let seconds = scene.ticks() as f32 / TICKS_PER_SECOND as f32;
        let hover = rules::hover(&player, ground.z, seconds);
        on_player.force += hover.force;
        on_player.torque += hover.torque;
    }
    let others: &[RigidBodyHandle] = if keys.blow || keys.gather { handles } else { &[] };
    for (cube, &handle) in others.iter().enumerate() {
        if rules::seat(numbers[cube]).is_some() {
            continue;
        }
        let body = describe(numbers[cube], &bodies[handle]);
        let blown = keys.blow.then(|| rules::blow(ground, &body)).flatten();
        let gathered = keys.gather.then(|| rules::gather(player.position, &body)).flatten();
        let gathered = gathered.unwrap_or_default();
        // Action and reaction. Without it, the ball would propel itself.
        on_player.force -= gathered;
        let force = blown.unwrap_or_default() + gathered;
        // Rapier re-examines every body that is borrowed mutably, so bodies without a force are left alone.
        if force != Vec3::ZERO {
            let torque = Vec3::ZERO;
            apply(&mut bodies[handle], Push { force, torque });
        }
    }
    apply(&mut bodies[handles[index]], on_player);
}

/// Wakes the cubes that the player is about to hit. Rapier only detects contacts of a cube with the floor
/// while the cube is awake, so a sleeping cube would be pressed into the floor if the player lands on it.
fn wake_ahead(bodies: &mut RigidBodySet, handles: &[RigidBodyHandle], player: &Body) {
    let speed = player.linear_velocity.length();
    if speed < FAST {
        return;
    }
    let reach = player.side + 2.0 * speed / TICKS_PER_SECOND as f32;
    for &handle in handles {
        let body = &bodies[handle];
        if body.is_sleeping()
            && body.translation().distance_squared(player.position) < reach * reach
        {
            bodies[handle].wake_up(true);
        }
    }
}

/// Applies the force of one tick as an impulse. A force would persist, and clearing it would wake the body.
fn apply(body: &mut RigidBody, push: Push) {
    let seconds = 1.0 / TICKS_PER_SECOND as f32;
    if push.force != Vec3::ZERO {
        body.apply_impulse(push.force * seconds, true);
    }
    if push.torque != Vec3::ZERO {
        body.apply_torque_impulse(push.torque * seconds, true);
    }
}

fn describe(cube: usize, body: &RigidBody) -> Body {
    Body {
        position: body.translation(),
        orientation: *body.rotation(),
        linear_velocity: body.linvel(),
        angular_velocity: body.angvel(),
        mass: rules::mass(cube),
        side: rules::side(cube),
    }
}
