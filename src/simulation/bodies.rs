//! Entities of the scene, and what happens before and after `bevy_rapier3d` steps their bodies in Rapier's sets.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    Collider, ColliderMassProperties, DefaultRapierContext, Friction, RapierConfiguration,
    RapierContextSimulation, RapierRigidBodyHandle, RapierRigidBodySet, Restitution, RigidBody,
    SoftCcd, WriteRapierContext,
};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;
use cubewire_physics::{self as physics, Input, SceneState, Sets, Solid};
use cubewire_scene::{DENSITY, FRICTION, player};

use super::{CubeWorld, HeldKeys, PlayerKeys, RebuildSimulation, ResetSimulation};

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct SimulatedCube(usize);

#[derive(Component, Clone, Copy, Debug)]
pub(super) struct DespawnOnReset;

/// State that a tick needs besides Rapier's sets. `None` until the bodies are in the sets.
#[derive(Resource, Debug, Default)]
pub(super) struct Scene(Option<SceneState>);

pub(super) fn build(world: Res<CubeWorld>, mut commands: Commands) {
    let mut simulation = RapierContextSimulation::default();
    simulation.integration_parameters = physics::parameters();
    commands.spawn((
        DespawnOnReset,
        DefaultRapierContext,
        RapierConfiguration { gravity: physics::GRAVITY, ..RapierConfiguration::new(1.0) },
        simulation,
    ));

    let surface = (DespawnOnReset, Friction::coefficient(FRICTION), Restitution::coefficient(0.0));
    for solid in physics::solids(world.players()) {
        match solid {
            Solid::Floor => commands.spawn((
                surface,
                Collider::halfspace(Vec3::Z).expect("the axis has a length"),
                Transform::default(),
            )),
            Solid::Wall { centre, half } => commands.spawn((
                surface,
                Collider::cuboid(half.x, half.y, half.z),
                Transform::from_translation(centre),
            )),
            Solid::Cube { cube, centre, half } => commands.spawn((
                surface,
                SimulatedCube(cube),
                RigidBody::Dynamic,
                Collider::cuboid(half, half, half),
                ColliderMassProperties::Density(DENSITY),
                SoftCcd { prediction: physics::LOOK_AHEAD },
                Transform::from_translation(centre),
            )),
        };
    }
}

pub(super) fn register_bodies(
    mut commands: Commands,
    world: Res<CubeWorld>,
    mut scene: ResMut<Scene>,
    mut sets: Query<&mut RapierRigidBodySet>,
    added: Query<(Entity, &SimulatedCube, &RapierRigidBodyHandle), Added<RapierRigidBodyHandle>>,
) -> Result {
    if added.is_empty() {
        return Ok(());
    }
    let mut set = sets.single_mut()?;
    let mut handles = vec![RigidBodyHandle::invalid(); world.current.bodies.len()];
    for (entity, &SimulatedCube(cube), &RapierRigidBodyHandle(handle)) in &added {
        // The transform only sets the initial position of the body, and is not read afterwards.
        commands.entity(entity).remove::<(Transform, GlobalTransform)>();
        handles[cube] = handle;
        let body = set.bodies.get_mut(handle).ok_or("a cube has no body")?;
        physics::set_rest_thresholds(body);
    }
    scene.0 = Some(SceneState::new(handles));
    Ok(())
}

/// Despawns the physics world and builds a new one. Cached contacts of the old one would affect the simulation.
pub(super) fn reset(
    mut commands: Commands,
    mut resets: MessageReader<ResetSimulation>,
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    stale: Query<Entity, With<DespawnOnReset>>,
) {
    if resets.is_empty() {
        return;
    }
    resets.clear();
    for entity in &stale {
        commands.entity(entity).despawn();
    }
    let fresh = CubeWorld::with_players(world.players());
    world.current = fresh.current;
    world.previous = fresh.previous;
    scene.0 = None;
    commands.run_system_cached(build);
}

pub(crate) fn hold(held: Res<HeldKeys>, mut keys: ResMut<PlayerKeys>) {
    keys.0 = held.0;
}

/// Applies the forces of the players' keys, after a rebuild if it was requested.
pub(super) fn before(
    keys: Res<PlayerKeys>,
    mut rebuilds: ResMut<RebuildSimulation>,
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    context: WriteRapierContext,
) -> Result {
    with_sets(&mut scene, context, |mut sets, scene| {
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
        let inputs = &input.to_bytes()[..world.players()];
        world.inputs.push(inputs, starts);
    })
}

pub(super) fn after(
    mut world: ResMut<CubeWorld>,
    mut scene: ResMut<Scene>,
    context: WriteRapierContext,
) -> Result {
    with_sets(&mut scene, context, |mut sets, scene| {
        sets.after(scene);
        let world = &mut *world;
        std::mem::swap(&mut world.current, &mut world.previous);
        scene.capture(sets.bodies, &mut world.current);
        let players = 0..world.players();
        world.own.clear();
        world.own.extend(players.map(|seat| scene.own(sets.bodies, player(seat))));
        if scene.ticks() == 1 {
            world.previous.clone_from(&world.current);
        }
    })
}

fn with_sets(
    scene: &mut Scene,
    mut context: WriteRapierContext,
    tick: impl FnOnce(Sets<'_>, &mut SceneState),
) -> Result {
    let mut context = context.single_mut()?;
    let scene = scene.0.as_mut().ok_or("the cubes have no bodies")?;
    let (simulation, joints) = (&mut *context.simulation, &mut *context.joints);
    let sets = Sets {
        islands: &mut simulation.islands,
        broad_phase: &mut simulation.broad_phase,
        narrow_phase: &mut simulation.narrow_phase,
        bodies: &mut context.rigidbody_set.bodies,
        colliders: &mut context.colliders.colliders,
        impulse_joints: &mut joints.impulse_joints,
        multibody_joints: &mut joints.multibody_joints,
        ccd_solver: &mut simulation.ccd_solver,
        pipeline: &mut simulation.pipeline,
    };
    tick(sets, scene);
    Ok(())
}
