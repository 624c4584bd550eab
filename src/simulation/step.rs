//! Steps `bevy_rapier`'s sets and reads the cubes back.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierContextColliders, RapierContextJoints, RapierContextSimulation, RapierRigidBodySet,
};
use cubewire_physics::{Input, Sets};

use super::bodies::Scene;
use super::{CubeWorld, HeldKeys, RebuildSimulation};

/// Simulates one tick with the held keys.
pub(super) fn step(
    keys: Res<HeldKeys>,
    mut rebuilds: ResMut<RebuildSimulation>,
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    mut contexts: Query<(
        &mut RapierContextSimulation,
        &mut RapierContextColliders,
        &mut RapierContextJoints,
        &mut RapierRigidBodySet,
    )>,
) -> Result {
    let (mut simulation, mut colliders, mut joints, mut bodies) = contexts.single_mut()?;
    let (simulation, joints) = (&mut *simulation, &mut *joints);
    let scene = scene.0.as_mut().ok_or("the cubes have no bodies")?;
    let mut sets = Sets {
        islands: &mut simulation.islands,
        broad_phase: &mut simulation.broad_phase,
        narrow_phase: &mut simulation.narrow_phase,
        bodies: &mut bodies.bodies,
        colliders: &mut colliders.colliders,
        impulse_joints: &mut joints.impulse_joints,
        multibody_joints: &mut joints.multibody_joints,
        ccd_solver: &mut simulation.ccd_solver,
        pipeline: &mut simulation.pipeline,
    };
    let world = &mut *world;
    let starts = scene.ticks() == 0;
    let input = Input {
        resets: starts,
        // A scene that starts is equal to one that was rebuilt.
        rebuilds: std::mem::take(&mut rebuilds.0) && !starts,
        keys: keys.0,
    };
    if input.rebuilds {
        let state = scene.state(sets.bodies).to_bytes();
        world.rebuilt = Some((world.tick, state.into()));
    }
    sets.advance(scene, input);

    world.tick += 1;
    world.inputs.push(input.to_byte(), starts);
    std::mem::swap(&mut world.current, &mut world.previous);
    scene.capture(&bodies.bodies, &mut world.current);
    if scene.ticks() == 1 {
        world.previous.clone_from(&world.current);
    }
    Ok(())
}
