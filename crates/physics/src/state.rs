//! Exact state of a world.

pub(crate) mod bytes;

use cubewire_codec::{BodyState, Plan, QuantizeError, QuantizedSnapshot, Snapshot};
use cubewire_scene::{self as scene, CUBES, PLAYER};
use glam::{Quat, Vec3};

pub use self::bytes::{MAX_STATE_BYTES, WorldStateError};
use crate::pose::PRECISION;

/// Exact state to restore a world from. [`World::restored`](crate::World::restored) builds a world, and all worlds
/// restored from the same state continue alike.
///
/// The world that the state was read from continues slightly differently, because the engine also keeps contacts with
/// the impulses of the last tick, and an order of pairs and islands that depends on the past. A
/// [rebuilt](crate::World::rebuild) world continues like the world restored from its [rounded](Self::rounded) state.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldState {
    pub(crate) ticks: u64,
    pub(crate) bodies: Vec<ExactBody>,
}

#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) struct ExactBody {
    /// Centre, metres.
    pub(crate) position: Vec3,
    /// Rotation from local to world axes.
    pub(crate) orientation: Quat,
    /// Metres per second; zero if the cube is asleep.
    pub(crate) linear_velocity: Vec3,
    /// About world axes, radians per second; zero if the cube is asleep.
    pub(crate) angular_velocity: Vec3,
    pub(crate) sleeping: bool,
    /// Time since the cube became slow enough to fall asleep, seconds.
    pub(crate) seconds_still: f32,
    pub(crate) interacting: bool,
    pub(crate) rest_ticks: u16,
}

impl WorldState {
    /// The state before the first tick.
    pub fn initial() -> Self {
        let bodies = (0..CUBES).map(|cube| ExactBody {
            position: scene::initial_position(cube),
            interacting: cube == PLAYER,
            ..ExactBody::default()
        });
        Self { ticks: 0, bodies: bodies.collect() }
    }

    /// Ticks since the start or the last reset.
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Rounds to the nearest state that needs few bytes if the receiver has the snapshot of the same tick: poses as
    /// [dequantized](cubewire_codec::QuantizedSnapshot::dequantize), velocities and times as small integers. Rounding
    /// a rounded state does not change it.
    ///
    /// # Errors
    /// [`QuantizeError`] if a number is not finite.
    pub fn rounded(&self) -> Result<Self, QuantizeError> {
        let mut snapshot = QuantizedSnapshot::new(Plan::cubes(), PRECISION);
        let cubes = self.bodies.iter().map(ExactBody::cube).collect();
        snapshot.quantize(&Snapshot { bodies: cubes }, PRECISION)?;
        Ok(Self::from_records(&snapshot, &self.to_records()).expect("they were just written"))
    }
}

impl ExactBody {
    pub(crate) fn cube(&self) -> BodyState {
        BodyState {
            position: self.position,
            orientation: self.orientation,
            linear_velocity: self.linear_velocity,
            interacting: self.interacting,
        }
    }
}
