//! The parts of the scene: floor, walls, ceiling and cubes.

use cubewire_codec::Snapshot;
use cubewire_scene::{self as scene, CEILING, DENSITY, FRICTION, TICKS_PER_SECOND, WALL};
use glam::Vec3;
use rapier3d::prelude::{
    Collider, ColliderBuilder, IntegrationParameters, Pose, RigidBody, RigidBodyBuilder,
    SharedShape,
};

use crate::state::{ExactBody, WorldState};

/// The player has the mass of fifty cubes and lands on them. With Rapier's default of four iterations it would press
/// them into the floor.
const SOLVER_ITERATIONS: usize = 8;

/// Thickness of the walls, metres: more than any body moves in one tick.
const THICKNESS: f32 = 8.0;

/// Distance of walls and ceiling inside the codec's bounds, metres, because a body can be pressed into them.
const MARGIN: f32 = 0.5;

/// Soft-CCD prediction distance of a cube, metres: its distance in one tick at the maximum speed.
pub const LOOK_AHEAD: f32 = scene::MAX_LINEAR_SPEED / TICKS_PER_SECOND as f32;

/// Acceleration of every cube without other forces, m/s².
pub const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -scene::GRAVITY);

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// The half-space below z = 0.
    Floor,
    Wall {
        /// Centre, metres.
        centre: Vec3,
        /// Half of its extent along each axis, metres.
        half: Vec3,
    },
    Cube {
        cube: usize,
        /// Centre at tick 0, metres.
        centre: Vec3,
        /// Half the length of its edges, metres.
        half: f32,
    },
}

/// All parts of the scene with this number of players, in the order of insertion into Rapier's sets. Results depend on the order.
pub fn solids(players: usize) -> impl Iterator<Item = Solid> {
    let walls = walls().map(|(centre, half)| Solid::Wall { centre, half });
    std::iter::once(Solid::Floor).chain(walls).chain((0..scene::cubes(players)).map(cube))
}

pub(crate) fn cube(cube: usize) -> Solid {
    Solid::Cube { cube, centre: scene::initial_position(cube), half: scene::side(cube) / 2.0 }
}

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
        (Vec3::new(0.0, 0.0, CEILING - MARGIN + half), Vec3::new(wide, wide, half)),
    ]
}

pub(crate) fn collider(solid: Solid) -> Collider {
    let builder = match solid {
        Solid::Floor => ColliderBuilder::new(SharedShape::halfspace(Vec3::Z)),
        Solid::Wall { centre, half } => {
            ColliderBuilder::cuboid(half.x, half.y, half.z).translation(centre)
        }
        Solid::Cube { half, .. } => ColliderBuilder::cuboid(half, half, half).density(DENSITY),
    };
    builder.friction(FRICTION).restitution(0.0).build()
}

/// Body of a cube, to be inserted.
pub(crate) fn body(state: &ExactBody) -> RigidBody {
    let mut body = RigidBodyBuilder::dynamic()
        .pose(Pose::from_parts(state.position, state.orientation))
        .linvel(state.linear_velocity)
        .angvel(state.angular_velocity)
        .soft_ccd_prediction(LOOK_AHEAD)
        .build();
    set_rest_thresholds(&mut body);
    let activation = body.activation_mut();
    activation.sleeping = state.sleeping;
    activation.time_since_can_sleep = state.seconds_still;
    body
}

/// Rapier's parameters for this scene: one tick per step.
pub fn parameters() -> IntegrationParameters {
    IntegrationParameters {
        dt: 1.0 / TICKS_PER_SECOND as f32,
        normalized_max_linear_velocity: scene::MAX_LINEAR_SPEED,
        num_solver_iterations: SOLVER_ITERATIONS,
        ..IntegrationParameters::default()
    }
}

pub fn set_rest_thresholds(body: &mut RigidBody) {
    let activation = body.activation_mut();
    activation.normalized_linear_threshold = scene::REST_LINEAR_SPEED;
    activation.angular_threshold = scene::REST_ANGULAR_SPEED;
    activation.time_until_sleep = scene::REST_SECONDS;
}

/// All cubes of a scene with this number of players before the first tick.
pub fn initial_snapshot(players: usize) -> Snapshot {
    Snapshot { bodies: WorldState::initial(players).bodies.iter().map(ExactBody::cube).collect() }
}
