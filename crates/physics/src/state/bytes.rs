//! States as bytes: exact floats, compressed.
//!
//! ```text
//! deflate(
//!     ticks                8 bytes
//!     for each cube:
//!         flags            1 byte         bit 0: asleep, bit 1: interacting
//!         rest ticks       2 bytes
//!         seconds still    4 bytes
//!         position         x, y, z        4 bytes each, xor those at tick 0
//!         orientation      x, y, z, w     4 bytes each, xor those at tick 0
//!         if it is awake:
//!             velocity           x, y, z  4 bytes each
//!             angular velocity   x, y, z  4 bytes each
//! )
//! ```
//!
//! Everything is little-endian. By the exclusive or, a cube that never moved is zeros: that saves a seventh. Grouping
//! bytes of the same meaning instead of those of a cube would take a tenth more.

#[cfg(test)]
mod tests;

use cubewire_scene::{self as scene, CUBES, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, PLAYER};
use glam::{Quat, Vec3};
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{BodyState, WorldState};
use crate::crowd::are_crowded;

/// Bytes of a state before compression, if every cube is awake: more are never decompressed.
pub const MAX_STATE_BYTES: usize = 8 + CUBES * (1 + 2 + 4 + 4 * POSE_FLOATS + 4 * VELOCITY_FLOATS);

const POSE_FLOATS: usize = 7;
const VELOCITY_FLOATS: usize = 6;

const SLEEPING: u8 = 1;
const INTERACTING: u8 = 2;

/// The compressor's level: a higher one takes longer and saves nothing.
const LEVEL: u8 = 6;

/// Distance outside the scene up to which positions are taken, metres: the engine may press a body into the floor,
/// a wall or the ceiling.
const MARGIN: f32 = 1.0;

/// Share of a speed limit up to which velocities are taken: the limits are applied in floats.
const ROUNDING: f32 = 1.001;

/// Difference from 1 up to which the length of a quaternion is taken.
const LENGTH_ERROR: f32 = 1e-3;

/// Bytes are not those of a state.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum WorldStateError {
    /// They are not compressed as they should be, end early, or hold more than [`MAX_STATE_BYTES`].
    #[error("the bytes of a state do not decompress to at most {MAX_STATE_BYTES} bytes")]
    Compression,
    /// Some follow those of a state, compressed or not.
    #[error("{bytes} bytes follow those of a state")]
    Trailing {
        /// How many.
        bytes: usize,
    },
    /// Decompressed, they end before the last cube.
    #[error("the bytes of a state end in cube {cube}")]
    Short {
        /// Index of the cube.
        cube: usize,
    },
    /// The number of ticks is beyond what a world counts.
    #[error("{ticks} ticks are more than {}", u32::MAX)]
    Ticks {
        /// The number.
        ticks: u64,
    },
    /// A cube has a flag that does not exist, or the player is not interacting.
    #[error("cube {cube} cannot have flags {flags:#04x}")]
    Flags {
        /// Index of the cube.
        cube: usize,
        /// Its flags.
        flags: u8,
    },
    /// More cubes overlap than in any simulation, which would take seconds.
    #[error("too many cubes overlap")]
    Crowded,
    /// A field of a cube is not finite, or outside the scene's limits.
    #[error("the {field} of cube {cube} is out of range")]
    OutOfRange {
        /// Index of the cube.
        cube: usize,
        /// The field.
        field: &'static str,
    },
}

impl WorldState {
    /// The state as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        compress_to_vec(&self.to_records(), LEVEL)
    }

    /// The state that [`to_bytes`](Self::to_bytes) gives these bytes. Allocates less than three times
    /// [`MAX_STATE_BYTES`], whatever they are.
    ///
    /// # Errors
    /// [`WorldStateError`] for any other bytes, and for those of states outside the limits of the scene.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WorldStateError> {
        let mut records = vec![0; MAX_STATE_BYTES];
        let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let mut decompressor = Box::<DecompressorOxide>::default();
        let (status, read, written) = decompress(&mut decompressor, bytes, &mut records, 0, flags);
        if status != TINFLStatus::Done {
            return Err(WorldStateError::Compression);
        }
        check_end(&bytes[read..])?;
        Self::from_records(&records[..written])
    }

    fn to_records(&self) -> Vec<u8> {
        let mut records = Vec::with_capacity(MAX_STATE_BYTES);
        records.extend(self.ticks.to_le_bytes());
        for (cube, body) in self.bodies.iter().enumerate() {
            records.push(body.flags());
            records.extend(body.rest_ticks.to_le_bytes());
            records.extend(body.seconds_still.to_le_bytes());
            let pose = pose_bits(body.position, body.orientation).into_iter();
            for (bits, initial) in pose.zip(initial_pose(cube)) {
                records.extend((bits ^ initial).to_le_bytes());
            }
            if !body.sleeping {
                for velocity in [body.linear_velocity, body.angular_velocity] {
                    records.extend(velocity.to_array().map(f32::to_le_bytes).as_flattened());
                }
            }
        }
        records
    }

    fn from_records(mut records: &[u8]) -> Result<Self, WorldStateError> {
        let ticks = take(&mut records).ok_or(WorldStateError::Short { cube: 0 })?;
        let ticks = u64::from_le_bytes(ticks);
        if ticks > u64::from(u32::MAX) {
            return Err(WorldStateError::Ticks { ticks });
        }
        let mut bodies = Vec::with_capacity(CUBES);
        for cube in 0..CUBES {
            let body =
                BodyState::read(cube, &mut records).ok_or(WorldStateError::Short { cube })?;
            bodies.push(body?);
        }
        check_end(records)?;
        if are_crowded(bodies.iter().map(|body| body.position)) {
            return Err(WorldStateError::Crowded);
        }
        Ok(Self { ticks, bodies })
    }
}

impl BodyState {
    /// None if there are too few bytes.
    fn read(cube: usize, records: &mut &[u8]) -> Option<Result<Self, WorldStateError>> {
        let [flags] = take(records)?;
        if flags & !(SLEEPING | INTERACTING) != 0 || cube == PLAYER && flags & INTERACTING == 0 {
            return Some(Err(WorldStateError::Flags { cube, flags }));
        }
        let sleeping = flags & SLEEPING != 0;
        let rest_ticks = u16::from_le_bytes(take(records)?);
        let seconds_still = f32::from_le_bytes(take(records)?);
        let mut pose = [0.0; POSE_FLOATS];
        for (value, initial) in pose.iter_mut().zip(initial_pose(cube)) {
            *value = f32::from_bits(u32::from_le_bytes(take(records)?) ^ initial);
        }
        let mut velocity = [0.0; VELOCITY_FLOATS];
        if !sleeping {
            for value in &mut velocity {
                *value = f32::from_le_bytes(take(records)?);
            }
        }
        let body = Self {
            position: Vec3::from_slice(&pose),
            orientation: Quat::from_slice(&pose[3..]),
            linear_velocity: Vec3::from_slice(&velocity),
            angular_velocity: Vec3::from_slice(&velocity[3..]),
            sleeping,
            seconds_still,
            interacting: flags & INTERACTING != 0,
            rest_ticks,
        };
        Some(match body.field_out_of_range() {
            Some(field) => Err(WorldStateError::OutOfRange { cube, field }),
            None => Ok(body),
        })
    }

    fn flags(&self) -> u8 {
        let sleeping = if self.sleeping { SLEEPING } else { 0 };
        let interacting = if self.interacting { INTERACTING } else { 0 };
        sleeping | interacting
    }

    /// The first field that is not finite or outside the scene's limits. A comparison with NaN is false.
    fn field_out_of_range(&self) -> Option<&'static str> {
        let [x, y, z] = self.position.to_array();
        let [wall, ceiling] = [scene::WALL, scene::CEILING].map(|at| at + MARGIN);
        let inside = x.abs() <= wall && y.abs() <= wall && (-MARGIN..=ceiling).contains(&z);
        let length_error = (self.orientation.length() - 1.0).abs();
        let fields = [
            ("position", inside),
            ("orientation", length_error <= LENGTH_ERROR),
            (
                "linear velocity",
                self.linear_velocity.length() <= MAX_LINEAR_SPEED * ROUNDING,
            ),
            (
                "angular velocity",
                self.angular_velocity.length() <= MAX_ANGULAR_SPEED * ROUNDING,
            ),
            (
                "time since it can sleep",
                (0.0..f32::INFINITY).contains(&self.seconds_still),
            ),
        ];
        let wrong = fields.into_iter().find(|&(_, is_right)| !is_right);
        wrong.map(|(field, _)| field)
    }
}

fn initial_pose(cube: usize) -> [u32; POSE_FLOATS] {
    pose_bits(scene::initial_position(cube), Quat::IDENTITY)
}

fn pose_bits(position: Vec3, orientation: Quat) -> [u32; POSE_FLOATS] {
    let [x, y, z] = position.to_array();
    let [a, b, c, d] = orientation.to_array();
    [x, y, z, a, b, c, d].map(f32::to_bits)
}

fn take<const BYTES: usize>(records: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (first, rest) = records.split_first_chunk()?;
    *records = rest;
    Some(*first)
}

fn check_end(rest: &[u8]) -> Result<(), WorldStateError> {
    match rest.len() {
        0 => Ok(()),
        bytes => Err(WorldStateError::Trailing { bytes }),
    }
}
