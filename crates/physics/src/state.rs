//! Exact state of a world, and its bytes: the data that the snapshot of its tick does not contain.
//!
//! ```text
//! deflate(
//!     ticks                       4 bytes
//!     for each cube:
//!         rest                    1 byte   asleep: number of ticks, at most 100;
//!                                          awake: 128 + number of ticks slow enough to fall asleep
//!     for each cube that is awake:
//!         velocity           x, y, z   2 bytes each, in 1/64 m/s
//!         angular velocity   x, y, z   2 bytes each, in 1/64 rad/s
//! )
//! ```
//!
//! All numbers are little-endian. They are rounded towards zero, so that speeds stay within their limits.

use cubewire_codec::{BodyState, Plan, QuantizeError, QuantizedSnapshot, Snapshot};
use cubewire_scene::{
    self as scene, GREY_AFTER_TICKS, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, MAX_PLAYERS,
    REST_SECONDS, TICKS_PER_SECOND,
};
use glam::{Quat, Vec3};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::crowd::is_crowded;
use crate::pose::{PRECISION, dequantize, is_of_scene};

/// Maximum size of a state before compression, if every cube is awake. Decompression stops there.
pub(crate) const MAX_STATE_BYTES: usize =
    TICKS_BYTES + scene::cubes(MAX_PLAYERS) * (1 + VELOCITY_BYTES);

pub(crate) const TICKS_BYTES: usize = 4;
pub(crate) const VELOCITY_BYTES: usize = 12;

/// Added to the rest byte of an awake cube.
const AWAKE: u8 = 128;

/// Steps of velocities per metre or radian per second.
pub(crate) const STEPS: f32 = 64.0;

/// Tolerance of the speed limits, as a factor. The limits are applied in floats.
const ROUNDING: f32 = 1.001;

/// Compression level. Higher levels take longer and do not save bytes.
const LEVEL: u8 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorldStateError {
    /// The compressed bytes are invalid, end early, or decompress to more than 16 MiB.
    #[error("the bytes of a state do not decompress to at most {MAX_STATE_BYTES} bytes")]
    Compression,
    /// Bytes follow the end of the state, compressed or not.
    #[error("{bytes} bytes are left over after the state")]
    Trailing { bytes: usize },
    /// The decompressed bytes end before the last cube.
    #[error("the bytes of a state end in cube {cube}")]
    Short { cube: usize },
    /// The snapshot does not have all cubes of the scene in the precision of
    /// [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    #[error("the snapshot of a state has {cubes} cubes, or another precision")]
    Snapshot { cubes: usize },
    /// More cubes of the snapshot overlap than in any simulation. Simulating them would take seconds.
    #[error("too many cubes overlap")]
    Crowded,
    #[error("cube {cube} cannot rest as {rest}")]
    Rest { cube: usize, rest: u8 },
    #[error("cube {cube} is too fast")]
    Speed { cube: usize },
}

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
    /// The state with this number of players before the first tick.
    pub fn initial(players: usize) -> Self {
        let bodies = (0..scene::cubes(players)).map(|cube| ExactBody {
            position: scene::initial_position(cube),
            interacting: scene::seat(cube).is_some(),
            ..ExactBody::default()
        });
        Self { ticks: 0, bodies: bodies.collect() }
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

    /// Returns the data of the [rounded](Self::rounded) state that its snapshot does not contain, compressed.
    pub fn to_bytes(&self) -> Vec<u8> {
        compress_to_vec(&self.to_records(), LEVEL)
    }

    /// Reads a rounded state from [bytes](Self::to_bytes) and the snapshot of its tick. The allocated memory is
    /// bounded for any bytes.
    ///
    /// # Errors
    /// [`WorldStateError`] for invalid bytes or snapshots, and for states outside the limits of the scene.
    pub fn from_bytes(snapshot: &QuantizedSnapshot, bytes: &[u8]) -> Result<Self, WorldStateError> {
        if !is_of_scene(snapshot) {
            let cubes = snapshot.len();
            return Err(WorldStateError::Snapshot { cubes });
        }
        if is_crowded((0..snapshot.len()).map(|cube| snapshot.body(cube).position)) {
            return Err(WorldStateError::Crowded);
        }
        let mut records = vec![0; MAX_STATE_BYTES];
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let mut decompressor = Box::<DecompressorOxide>::default();
        let (status, read, written) = decompress(&mut decompressor, bytes, &mut records, 0, flags);
        if status != TINFLStatus::Done {
            return Err(WorldStateError::Compression);
        }
        check_end(&bytes[read..])?;
        Self::from_records(snapshot, &records[..written])
    }

    pub(crate) fn to_records(&self) -> Vec<u8> {
        let mut records = Vec::with_capacity(MAX_STATE_BYTES);
        // 32 bits are enough, because only the player's hovering depends on the ticks.
        records.extend((self.ticks as u32).to_le_bytes());
        records.extend(self.bodies.iter().map(ExactBody::rest));
        for body in self.bodies.iter().filter(|body| !body.sleeping) {
            let linear = body.linear_velocity.clamp_length_max(MAX_LINEAR_SPEED);
            let angular = body.angular_velocity.clamp_length_max(MAX_ANGULAR_SPEED);
            for velocity in [linear, angular] {
                let steps = velocity.to_array().map(|speed| (speed * STEPS) as i16);
                records.extend(steps.map(i16::to_le_bytes).as_flattened());
            }
        }
        records
    }

    /// Reads uncompressed bytes. The snapshot must be one of the scene.
    fn from_records(
        snapshot: &QuantizedSnapshot,
        mut records: &[u8],
    ) -> Result<Self, WorldStateError> {
        let short = |cube| WorldStateError::Short { cube };
        let ticks = take(&mut records).ok_or(short(0))?;
        let Some((rests, mut records)) = records.split_at_checked(snapshot.len()) else {
            return Err(short(records.len()));
        };
        let bodies = (0..).zip(rests).map(|(cube, &rest)| {
            let body = ExactBody::at_rest(snapshot, cube, rest)?;
            if body.sleeping {
                return Ok(body);
            }
            let linear_velocity = take_velocity(&mut records).ok_or(short(cube))?;
            let angular_velocity = take_velocity(&mut records).ok_or(short(cube))?;
            if linear_velocity.length() > MAX_LINEAR_SPEED * ROUNDING
                || angular_velocity.length() > MAX_ANGULAR_SPEED * ROUNDING
            {
                return Err(WorldStateError::Speed { cube });
            }
            Ok(ExactBody { linear_velocity, angular_velocity, ..body })
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        check_end(records)?;
        Ok(Self { ticks: u32::from_le_bytes(ticks).into(), bodies })
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

    /// Packs the rest time of an asleep cube, or the slow time of an awake one, into a byte.
    fn rest(&self) -> u8 {
        match self.sleeping {
            true => self.rest_ticks.min(GREY_AFTER_TICKS) as u8,
            false => {
                let ticks = (self.seconds_still * TICKS_PER_SECOND as f32).round();
                AWAKE | ticks.clamp(0.0, f32::from(AWAKE - 1)) as u8
            }
        }
    }

    fn at_rest(
        snapshot: &QuantizedSnapshot,
        cube: usize,
        rest: u8,
    ) -> Result<Self, WorldStateError> {
        let sleeping = rest < AWAKE;
        if sleeping && u16::from(rest) > GREY_AFTER_TICKS {
            return Err(WorldStateError::Rest { cube, rest });
        }
        let state = dequantize(snapshot, cube);
        Ok(Self {
            position: state.position,
            orientation: state.orientation,
            sleeping,
            seconds_still: match sleeping {
                true => REST_SECONDS,
                false => f32::from(rest - AWAKE) / TICKS_PER_SECOND as f32,
            },
            interacting: state.interacting,
            rest_ticks: if sleeping { rest.into() } else { 0 },
            ..Self::default()
        })
    }
}

fn take<const BYTES: usize>(records: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (first, rest) = records.split_first_chunk()?;
    *records = rest;
    Some(*first)
}

fn take_velocity(records: &mut &[u8]) -> Option<Vec3> {
    let bytes: [u8; VELOCITY_BYTES / 2] = take(records)?;
    let steps = [0, 2, 4].map(|first| i16::from_le_bytes([bytes[first], bytes[first + 1]]));
    Some(Vec3::from_array(steps.map(f32::from)) / STEPS)
}

fn check_end(rest: &[u8]) -> Result<(), WorldStateError> {
    match rest.len() {
        0 => Ok(()),
        bytes => Err(WorldStateError::Trailing { bytes }),
    }
}
