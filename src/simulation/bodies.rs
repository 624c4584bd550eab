//! Entities of the scene. `bevy_rapier` creates their bodies in Rapier's sets.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    Collider, ColliderMassProperties, DefaultRapierContext, Friction, RapierConfiguration,
    RapierContextSimulation, RapierRigidBodyHandle, RapierRigidBodySet, Restitution, RigidBody,
    SoftCcd,
};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;
use cubewire_physics::{self as physics, SceneState, Solid};
use cubewire_scene as scene;

use super::{CubeWorld, ResetSimulation};

/// A cube in the physics world, by index.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct SimulatedCube(usize);

/// Marks the entities that a reset despawns.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct DespawnOnReset;

/// State that a tick needs besides Rapier's sets. `None` until the bodies are in the sets.
#[derive(Resource, Debug, Default)]
pub(super) struct Scene(pub(super) Option<SceneState>);

/// Spawns a physics world with all its bodies.
pub(super) fn build(mut commands: Commands) {
    let mut simulation = RapierContextSimulation::default();
    simulation.integration_parameters = physics::parameters();
    commands.spawn((
        DespawnOnReset,
        DefaultRapierContext,
        RapierConfiguration { gravity: physics::GRAVITY, ..RapierConfiguration::new(1.0) },
        simulation,
    ));

    let surface =
        (DespawnOnReset, Friction::coefficient(scene::FRICTION), Restitution::coefficient(0.0));
    for solid in physics::solids() {
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
                ColliderMassProperties::Density(scene::DENSITY),
                SoftCcd { prediction: physics::LOOK_AHEAD },
                Transform::from_translation(centre),
            )),
        };
    }
}

/// Stores the handles of new bodies and sets their sleeping thresholds.
pub(super) fn register_bodies(
    mut commands: Commands,
    mut scene: ResMut<Scene>,
    mut sets: Query<&mut RapierRigidBodySet>,
    added: Query<(Entity, &SimulatedCube, &RapierRigidBodyHandle), Added<RapierRigidBodyHandle>>,
) -> Result {
    if added.is_empty() {
        return Ok(());
    }
    let mut set = sets.single_mut()?;
    let mut handles = vec![RigidBodyHandle::invalid(); scene::CUBES];
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
    let fresh = CubeWorld::default();
    world.current = fresh.current;
    world.previous = fresh.previous;
    scene.0 = None;
    commands.run_system_cached(build);
}
