//! What a state says besides the snapshot of its tick, as bytes.
//!
//! ```text
//! deflate(
//!     ticks                       4 bytes
//!     for each cube:
//!         rest                    1 byte   asleep: for how many ticks, 100 at most;
//!                                          awake: 128 + for how many ticks slow enough to fall asleep
//!     for each cube that is awake:
//!         velocity           x, y, z   2 bytes each, in 1/64 m/s
//!         angular velocity   x, y, z   2 bytes each, in 1/64 rad/s
//! )
//! ```
//!
//! Everything is little-endian. Numbers are rounded towards zero, so that speeds stay within their limits.

#[cfg(test)]
mod tests;

use cubewire_codec::QuantizedSnapshot;
use cubewire_scene::{
    CUBES, GREY_AFTER_TICKS, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, REST_SECONDS, TICKS_PER_SECOND,
};
use glam::Vec3;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{ExactBody, WorldState};
use crate::crowd::is_crowded;
use crate::pose::{dequantize, is_of_scene};

/// Bytes of a state before compression, if every cube is awake: more are never decompressed.
pub const MAX_STATE_BYTES: usize = TICKS_BYTES + CUBES * (1 + VELOCITY_BYTES);

const TICKS_BYTES: usize = 4;
const VELOCITY_BYTES: usize = 12;

/// Added to the rest byte of a cube that is awake.
const AWAKE: u8 = 128;

/// Velocities are in these shares of a metre or radian a second.
const STEPS: f32 = 64.0;

/// Share of a speed limit up to which velocities are taken: the limits are applied in floats.
const ROUNDING: f32 = 1.001;

/// The compressor's level: a higher one takes longer and saves nothing.
const LEVEL: u8 = 6;

/// Bytes are not those of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorldStateError {
    /// They are not compressed as they should be, end early, or hold more than [`MAX_STATE_BYTES`].
    #[error("the bytes of a state do not decompress to at most {MAX_STATE_BYTES} bytes")]
    Compression,
    /// Some follow those of a state, compressed or not.
    #[error("{bytes} bytes follow those of a state")]
    Trailing {
        /// The number of them.
        bytes: usize,
    },
    /// Decompressed, they end before the last cube.
    #[error("the bytes of a state end in cube {cube}")]
    Short {
        /// Index of the cube.
        cube: usize,
    },
    /// The snapshot is not one of the scene, in the precision of [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    #[error("the snapshot of a state has {cubes} cubes, or another precision")]
    Snapshot {
        /// Its number of cubes.
        cubes: usize,
    },
    /// More cubes of the snapshot overlap than in any simulation, which would take seconds.
    #[error("too many cubes overlap")]
    Crowded,
    /// A cube has rested for a time that is not written so.
    #[error("cube {cube} cannot rest as {rest}")]
    Rest {
        /// Index of the cube.
        cube: usize,
        /// The byte.
        rest: u8,
    },
    /// A cube is faster than the scene lets it be.
    #[error("cube {cube} is too fast")]
    Speed {
        /// Index of the cube.
        cube: usize,
    },
}

impl WorldState {
    /// What the [rounded](Self::rounded) state says besides its snapshot.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        compress_to_vec(&self.to_records(), LEVEL)
    }

    /// The rounded state of these [bytes](Self::to_bytes), and of the snapshot of its tick. Allocates a bounded number
    /// of bytes, whatever they are.
    ///
    /// # Errors
    /// [`WorldStateError`] for any other bytes or snapshots, and for states outside the limits of the scene.
    pub fn from_bytes(snapshot: &QuantizedSnapshot, bytes: &[u8]) -> Result<Self, WorldStateError> {
        if !is_of_scene(snapshot) {
            let cubes = snapshot.len();
            return Err(WorldStateError::Snapshot { cubes });
        }
        if is_crowded(snapshot) {
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

    pub(super) fn to_records(&self) -> Vec<u8> {
        let mut records = Vec::with_capacity(MAX_STATE_BYTES);
        // Only the player's hovering depends on them.
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

    /// The snapshot is one of the scene.
    pub(super) fn from_records(
        snapshot: &QuantizedSnapshot,
        mut records: &[u8],
    ) -> Result<Self, WorldStateError> {
        let short = |cube| WorldStateError::Short { cube };
        let ticks = take(&mut records).ok_or(short(0))?;
        let Some((rests, mut records)) = records.split_at_checked(CUBES) else {
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
            Ok(ExactBody {
                linear_velocity,
                angular_velocity,
                ..body
            })
        });
        let bodies = bodies.collect::<Result<_, _>>()?;
        check_end(records)?;
        Ok(Self {
            ticks: u32::from_le_bytes(ticks).into(),
            bodies,
        })
    }
}

impl ExactBody {
    /// For how long it has rested, or been slow, as one byte.
    fn rest(&self) -> u8 {
        match self.sleeping {
            true => self.rest_ticks.min(GREY_AFTER_TICKS) as u8,
            false => {
                let ticks = (self.seconds_still * TICKS_PER_SECOND as f32).round();
                AWAKE | ticks.clamp(0.0, f32::from(AWAKE - 1)) as u8
            }
        }
    }

    /// A cube with these bytes, without velocities.
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
