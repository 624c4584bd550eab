//! The exact state of a world.

mod bytes;

use cubewire_scene::{self as scene, CUBES, PLAYER};
use glam::{Quat, Vec3};

pub use self::bytes::{MAX_STATE_BYTES, WorldStateError};

/// The exact state from which a world goes on: [`World::restored`](crate::World::restored) builds one, and all worlds
/// that are built from the same state go on alike.
///
/// A world from which a state is read goes on a little differently, unless it is
/// [rebuilt](crate::World::rebuild): the engine also keeps contacts with the impulses of the last tick, and an order
/// of pairs and islands, which depends on the past.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldState {
    pub(crate) ticks: u64,
    /// One for each cube, by index.
    pub(crate) bodies: Vec<BodyState>,
}

/// The exact state of a cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyState {
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Metres per second; zero while the cube is asleep.
    pub(crate) linear_velocity: Vec3,
    /// About world axes, radians per second; zero while the cube is asleep.
    pub(crate) angular_velocity: Vec3,
    /// Whether the cube is asleep.
    pub(crate) sleeping: bool,
    /// For how long the cube has been slow enough to fall asleep.
    pub(crate) seconds_still: f32,
    /// Whether the cube is interacting.
    pub(crate) interacting: bool,
    /// Ticks for which the cube has been asleep.
    pub(crate) rest_ticks: u16,
}

impl WorldState {
    /// The state before the first tick.
    #[must_use]
    pub fn initial() -> Self {
        let bodies = (0..CUBES).map(|cube| BodyState {
            position: scene::initial_position(cube),
            orientation: Quat::IDENTITY,
            linear_velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            sleeping: false,
            seconds_still: 0.0,
            interacting: cube == PLAYER,
            rest_ticks: 0,
        });
        Self {
            ticks: 0,
            bodies: bodies.collect(),
        }
    }

    /// Ticks since the start or the last reset.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }
}
