//! Systems that run before and after `bevy_rapier3d` steps its sets.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextMut, WriteRapierContext};
use cubewire_physics::{Input, Sets};

use super::bodies::Scene;
use super::{CubeWorld, HeldKeys, RebuildSimulation};

/// Applies the forces of the held keys, after a rebuild if it was requested.
pub(super) fn before(
    keys: Res<HeldKeys>,
    mut rebuilds: ResMut<RebuildSimulation>,
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    mut context: WriteRapierContext,
) -> Result {
    let mut context = context.single_mut()?;
    let mut sets = sets(&mut context);
    let scene = scene.0.as_mut().ok_or("the cubes have no bodies")?;
    let starts = scene.ticks() == 0;
    let input = Input {
        resets: starts,
        // A new scene is already in the state of a rebuilt one.
        rebuilds: std::mem::take(&mut rebuilds.0) && !starts,
        keys: keys.0,
    };
    if input.rebuilds {
        let state = scene.state(sets.bodies).to_bytes();
        world.rebuilt = Some((world.tick, state.into()));
    }
    sets.before(scene, input);
    world.tick += 1;
    world.inputs.push(input.to_byte(), starts);
    Ok(())
}

/// Limits the speeds and copies the cubes to [`CubeWorld`].
pub(super) fn after(
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    mut context: WriteRapierContext,
) -> Result {
    let mut context = context.single_mut()?;
    let mut sets = sets(&mut context);
    let scene = scene.0.as_mut().ok_or("the cubes have no bodies")?;
    sets.after(scene);

    let world = &mut *world;
    std::mem::swap(&mut world.current, &mut world.previous);
    scene.capture(sets.bodies, &mut world.current);
    if scene.ticks() == 1 {
        world.previous.clone_from(&world.current);
    }
    Ok(())
}

fn sets<'w>(context: &'w mut RapierContextMut<'_>) -> Sets<'w> {
    let (simulation, joints) = (&mut *context.simulation, &mut *context.joints);
    Sets {
        islands: &mut simulation.islands,
        broad_phase: &mut simulation.broad_phase,
        narrow_phase: &mut simulation.narrow_phase,
        bodies: &mut context.rigidbody_set.bodies,
        colliders: &mut context.colliders.colliders,
        impulse_joints: &mut joints.impulse_joints,
        multibody_joints: &mut joints.multibody_joints,
        ccd_solver: &mut simulation.ccd_solver,
        pipeline: &mut simulation.pipeline,
    }
}
