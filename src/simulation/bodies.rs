//! The bodies in Rapier: cubes, floor, walls and ceiling.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    Collider, ColliderMassProperties, DefaultRapierContext, Friction, RapierConfiguration,
    RapierContextSimulation, RapierRigidBodyHandle, RapierRigidBodySet, Restitution, RigidBody,
    SoftCcd,
};
use bevy_rapier3d::rapier::dynamics::RigidBodyHandle;
use cubewire_codec::{CubeState, Snapshot};
use cubewire_scene as scene;
use cubewire_scene::{CEILING, CUBES, PLAYER, WALL};

use super::{CubeWorld, ResetSimulation};

const SOLVER_ITERATIONS: usize = 8;

/// Soft-CCD prediction distance, metres: the distance covered in one tick at the maximum speed.
const LOOK_AHEAD: f32 = scene::MAX_LINEAR_SPEED / scene::TICKS_PER_SECOND as f32;

/// Thickness of the walls, metres: more than any body moves in one tick.
const THICKNESS: f32 = 8.0;

/// Distance of walls and ceiling inside the codec's bounds, metres, in case a body is pressed into them.
const MARGIN: f32 = 0.5;

/// A cube in the physics world, by index.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct SimulatedCube(usize);

/// Marks the entities that a reset despawns.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct DespawnOnReset;

/// Maps cubes to Rapier body handles and back.
#[derive(Resource, Debug, Default)]
pub(super) struct Bodies {
    /// Body handle by cube index.
    pub(super) handles: Vec<RigidBodyHandle>,
    /// Cube index by the index part of its body handle.
    cubes: Vec<Option<u16>>,
}

impl Bodies {
    /// The index of the cube with this body; none if it is not a cube.
    pub(super) fn cube(&self, handle: RigidBodyHandle) -> Option<u16> {
        let (index, _) = handle.into_raw_parts();
        self.cubes.get(index as usize).copied().flatten()
    }
}

/// The state of every cube at the start.
fn initial_snapshot() -> Snapshot {
    let cubes = (0..CUBES).map(|cube| CubeState {
        position: scene::initial_position(cube),
        interacting: cube == PLAYER,
        ..CubeState::default()
    });
    Snapshot {
        cubes: cubes.collect(),
    }
}

impl Default for CubeWorld {
    fn default() -> Self {
        Self {
            tick: 0,
            ticks_since_reset: 0,
            current: initial_snapshot(),
            previous: initial_snapshot(),
            interaction: scene::Interaction::new(CUBES),
            at_rest: vec![false; CUBES],
        }
    }
}

/// Spawns a physics world and everything in it.
pub(super) fn build(mut commands: Commands) {
    let mut configuration = RapierConfiguration::new(1.0);
    configuration.gravity = Vec3::NEG_Z * scene::GRAVITY;
    let mut simulation = RapierContextSimulation::default();
    let parameters = &mut simulation.integration_parameters;
    parameters.normalized_max_linear_velocity = scene::MAX_LINEAR_SPEED;
    // The player is as heavy as fifty cubes and lands on them: with the default of four iterations it
    // presses them into the floor.
    parameters.num_solver_iterations = SOLVER_ITERATIONS;
    commands.spawn((
        DespawnOnReset,
        DefaultRapierContext,
        configuration,
        simulation,
    ));

    let surface = (
        DespawnOnReset,
        Friction::coefficient(scene::FRICTION),
        Restitution::coefficient(0.0),
    );
    commands.spawn((
        surface,
        Collider::halfspace(Vec3::Z).expect("the axis has a length"),
        Transform::default(),
    ));
    for (centre, half) in walls() {
        commands.spawn((
            surface,
            Collider::cuboid(half.x, half.y, half.z),
            Transform::from_translation(centre),
        ));
    }
    for cube in 0..CUBES {
        let half = scene::side(cube) / 2.0;
        commands.spawn((
            surface,
            SimulatedCube(cube),
            RigidBody::Dynamic,
            Collider::cuboid(half, half, half),
            ColliderMassProperties::Density(scene::DENSITY),
            SoftCcd {
                prediction: LOOK_AHEAD,
            },
            Transform::from_translation(scene::initial_position(cube)),
        ));
    }
}

/// Centre and half extents of the four walls and the ceiling.
fn walls() -> [(Vec3, Vec3); 5] {
    let half = THICKNESS / 2.0;
    let middle = CEILING / 2.0;
    let at = WALL - MARGIN + half;
    let wide = WALL + THICKNESS;
    [
        (Vec3::new(at, 0.0, middle), Vec3::new(half, wide, wide)),
        (Vec3::new(-at, 0.0, middle), Vec3::new(half, wide, wide)),
        (Vec3::new(0.0, at, middle), Vec3::new(wide, half, wide)),
        (Vec3::new(0.0, -at, middle), Vec3::new(wide, half, wide)),
        (
            Vec3::new(0.0, 0.0, CEILING - MARGIN + half),
            Vec3::new(wide, wide, half),
        ),
    ]
}

/// Records the handles of new bodies and sets their sleep thresholds.
pub(super) fn register_bodies(
    mut commands: Commands,
    mut bodies: ResMut<Bodies>,
    mut sets: Query<&mut RapierRigidBodySet>,
    added: Query<(Entity, &SimulatedCube, &RapierRigidBodyHandle), Added<RapierRigidBodyHandle>>,
) -> Result {
    if added.is_empty() {
        return Ok(());
    }
    let mut set = sets.single_mut()?;
    bodies.handles = vec![RigidBodyHandle::invalid(); CUBES];
    bodies.cubes.clear();
    for (entity, &SimulatedCube(cube), &RapierRigidBodyHandle(handle)) in &added {
        // The transform only sets the initial position of the body; nothing reads it afterwards.
        commands
            .entity(entity)
            .remove::<(Transform, GlobalTransform)>();
        bodies.handles[cube] = handle;
        let index = handle.into_raw_parts().0 as usize;
        if bodies.cubes.len() <= index {
            bodies.cubes.resize(index + 1, None);
        }
        bodies.cubes[index] = Some(cube as u16);
        if let Some(body) = set.bodies.get_mut(handle) {
            let activation = body.activation_mut();
            activation.normalized_linear_threshold = scene::REST_LINEAR_SPEED;
            activation.angular_threshold = scene::REST_ANGULAR_SPEED;
            activation.time_until_sleep = scene::REST_SECONDS;
        }
    }
    Ok(())
}

/// Restarts in a new physics world: cached contacts of the old one would affect the simulation.
pub(super) fn reset(
    mut commands: Commands,
    mut resets: MessageReader<ResetSimulation>,
    mut world: ResMut<CubeWorld>,
    stale: Query<Entity, With<DespawnOnReset>>,
) {
    if resets.is_empty() {
        return;
    }
    resets.clear();
    for entity in &stale {
        commands.entity(entity).despawn();
    }
    let tick = world.tick;
    *world = CubeWorld {
        tick,
        ..CubeWorld::default()
    };
    commands.run_system_cached(build);
}
