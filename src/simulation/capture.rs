//! Reads the states back from Rapier after a step.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextColliders, RapierContextSimulation, RapierRigidBodySet};
use cubewire_codec::Snapshot;
use cubewire_scene::{MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED};

use super::CubeWorld;
use super::bodies::Bodies;

pub(super) fn capture(
    mut world: ResMut<CubeWorld>,
    bodies: Res<Bodies>,
    mut contexts: Query<(
        &RapierContextSimulation,
        &RapierContextColliders,
        &mut RapierRigidBodySet,
    )>,
) -> Result {
    let (simulation, colliders, mut set) = contexts.single_mut()?;
    let world = &mut *world;
    world.tick += 1;
    world.ticks_since_reset += 1;
    std::mem::swap(&mut world.current, &mut world.previous);

    for (cube, &handle) in bodies.handles.iter().enumerate() {
        // `get_mut` marks the body as modified, and Rapier then re-examines it: only where needed.
        let body = set.bodies.get(handle).ok_or("a cube has no body")?;
        let (mut linear, angular) = (body.linvel(), body.angvel());
        // Rapier enforces neither limit exactly: the solver runs after its linear cap, and angular
        // velocity has no cap.
        if linear.length_squared() > MAX_LINEAR_SPEED * MAX_LINEAR_SPEED
            || angular.length_squared() > MAX_ANGULAR_SPEED * MAX_ANGULAR_SPEED
        {
            linear = linear.clamp_length_max(MAX_LINEAR_SPEED);
            let body = set.bodies.get_mut(handle).ok_or("a cube has no body")?;
            body.set_linvel(linear, false);
            body.set_angvel(angular.clamp_length_max(MAX_ANGULAR_SPEED), false);
        }
        let body = &set.bodies[handle];
        let state = &mut world.current.cubes[cube];
        state.position = body.translation();
        state.orientation = *body.rotation();
        // A sleeping body keeps the velocity that it had when it fell asleep.
        world.at_rest[cube] = body.is_sleeping();
        state.linear_velocity = if body.is_sleeping() {
            Vec3::ZERO
        } else {
            linear
        };
    }

    let cube = |collider| {
        let body = colliders.colliders.get(collider)?.parent()?;
        bodies.cube(body)
    };
    let contacts = simulation
        .narrow_phase
        .contact_pairs()
        .filter(|pair| pair.has_any_active_contact())
        .filter_map(|pair| Some((cube(pair.collider1)?, cube(pair.collider2)?)));
    world.interaction.step(contacts, &world.at_rest);
    let flags = world.interaction.interacting();
    for (state, &interacting) in world.current.cubes.iter_mut().zip(flags) {
        state.interacting = interacting;
    }
    if world.ticks_since_reset == 1 {
        world.previous.clone_from(&world.current);
    }
    Ok(())
}

/// Extends a running hash (FNV-1a) with every bit of a snapshot; start with 0.
#[must_use]
pub fn state_hash(hash: u64, snapshot: &Snapshot) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut hash = hash ^ OFFSET;
    let mut add = |word: u32| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
    };
    for cube in &snapshot.cubes {
        let floats = [
            &cube.position.to_array()[..],
            &cube.orientation.to_array(),
            &cube.linear_velocity.to_array(),
        ];
        floats
            .into_iter()
            .flatten()
            .for_each(|value| add(value.to_bits()));
        add(u32::from(cube.interacting));
    }
    hash
}
