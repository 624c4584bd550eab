//! The description of a scene that both ends know before the first packet.
//!
//! On the wire and in recordings, a schema is [postcard](https://postcard.jamesmunns.com/wire-format) of its serde
//! form. People write it in a serde format such as RON, and read it as a [text with a line for each
//! item](Schema::text).

mod check;
mod text;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::hash::mix;

pub use self::check::SchemaError;
pub use self::text::first_difference;
pub use crate::quantize::smallest_three::Levels;

/// Maximum tick rate. The short form of the header names a baseline of up to 256 ticks, which is a round trip of 1.07 s
/// at this rate.
pub const MAX_TICKS_PER_SECOND: u16 = 240;

/// The description of a scene that both ends know before the first packet.
///
/// The fields can be set to any value. [`check`](Self::check) tells whether they are legal, and
/// [`decode`](Self::decode) returns only legal schemas. No number may be −0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Name of the scene. All names of a schema have 1 to 32 characters, each of a-z, 0-9, `-` and `_`.
    pub name: Cow<'static, str>,
    /// Tick rate, `1..=`[`MAX_TICKS_PER_SECOND`].
    pub ticks_per_second: u16,
    /// The axis that points up.
    pub up: Axis,
    /// Range of positions along the caller's x, y and z.
    pub position: [Range; 3],
    /// Bits of each of the smallest three components of an orientation, `2..=15`.
    pub component_bits: u8,
    /// Levels of each component. With [`Levels::Odd`], the default, the identity arrives exactly.
    pub levels: Levels,
    /// Index of the body that others gather around, such as the player of the demo. Below the maximum of
    /// [`Slots::Living`].
    pub anchor: Option<u16>,
    /// 1 to [`Schema::MAX_KINDS`] kinds with different names.
    pub kinds: Cow<'static, [Kind]>,
    /// 0 to [`Schema::MAX_FIELDS`] fields with different names, in the order of the wire. If the first one is a
    /// [flag](FieldForm::Flag), it is stored with the position and takes no extra memory.
    pub fields: Cow<'static, [Field]>,
    /// Gravity, floor and speed limit.
    pub world: World,
    /// Whether bodies come and go.
    pub slots: Slots,
    /// Optional capabilities. Stages that need another one are illegal.
    pub support: Support,
    /// Number of seats for players, `1..=`[`Schema::MAX_SEATS`].
    pub seats: u8,
}

/// Optional capabilities of a scene. Without any, all positions and orientations are sent in the schema's steps and bits,
/// and velocities are omitted.
///
/// A serde format with names of fields, such as RON, can omit fields that are false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Support {
    /// Whether positions, orientations and velocities can be floats.
    pub floats: bool,
    /// Whether positions can be affine or in coarser or finer steps, and orientations in any number of bits.
    pub other_steps: bool,
    /// Whether packets can have linear velocities.
    pub velocities: bool,
    /// Whether receivers can [simulate](crate::simulation) the scene.
    pub simulation: bool,
}

/// One of the caller's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Axis {
    /// The first axis.
    X,
    /// The second axis.
    Y,
    /// The third axis.
    Z,
}

/// Range of positions along an axis, `[min, max)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Smallest position, in units.
    pub min: f64,
    /// Upper bound of positions, exclusive, in units.
    pub max: f64,
    /// Steps per unit, above 0.
    pub steps_per_unit: f64,
}

/// A kind of body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Name, with the characters of [`Schema::name`].
    pub name: Cow<'static, str>,
    /// The shape of its bodies.
    pub shape: Shape,
}

/// Shape of a body, in units. Lengths are above 0, and below 2²⁰ steps of the finest axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// Half extents along the body's x, y and z.
    Box([f32; 3]),
    /// Radius.
    Ball(f32),
    /// A cylinder along the body's y between two half balls.
    Capsule {
        /// Half the length of the cylinder.
        half: f32,
        /// Radius of the cylinder and the balls.
        radius: f32,
    },
    /// Any other shape.
    Unknown,
}

/// A value of each body besides position and orientation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Name, with the characters of [`Schema::name`].
    pub name: Cow<'static, str>,
    /// Type and range of the values.
    pub form: FieldForm,
}

/// Type and range of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FieldForm {
    /// True or false.
    Flag,
    /// A whole number.
    Int {
        /// Smallest value, below `max`.
        min: i32,
        /// Largest value.
        max: i32,
    },
    /// A number in steps from `min`: 2 to 2³¹ values.
    Float {
        /// Smallest value, below `max`.
        min: f32,
        /// Largest value, rounded to the nearest step.
        max: f32,
        /// Distance between values, above 0.
        step: f32,
    },
    /// An angle, in turns.
    Angle {
        /// Bits of the angle, `1..=16`.
        bits: u8,
    },
    /// A reference to a body, or to no body. The caller numbers bodies over time with 0 to 2²⁴ − 1, for example by slot
    /// and generation.
    Body,
}

/// Laws of motion of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Downward acceleration in units/s²: at least 0, and at most 2²⁰ steps per tick².
    pub gravity: f32,
    /// Height of the floor along the axis that points up, in units: at most 2²⁰ steps above or below 0.
    pub floor: Option<f32>,
    /// Maximum speed of bodies in units/s: above 0, and at most 2²⁰ steps of the finest axis per tick.
    pub max_speed: f32,
    /// Linear predictor. `None` derives one from the other values.
    pub linear: Option<Linear>,
}

/// Integers of the linear predictor, in steps and ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Linear {
    /// Downward acceleration in steps per tick², as a numerator, `-2³¹..=2³¹`, and a denominator, `1..=2³¹`.
    pub gravity: (i64, i64),
    /// Share of a speed that is left after a tick, in 1/65 536: `0..=65_536`.
    pub drag_per_tick: i64,
    /// Height of a small body at rest on the floor, `-2²¹..=2²¹` steps.
    pub rest_height: i32,
    /// Height above which a body can fall freely, `-2²¹..=2²¹` steps.
    pub fall_height: i32,
}

/// Whether bodies come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Slots {
    /// Bodies are fixed. Their number is that of the initial state. Body n has kind n, and bodies after the last kind
    /// have the last kind.
    Fixed,
    /// Bodies come and go. Every new body has a kind.
    Living {
        /// Maximum number of bodies at a time, `1..=65_536`.
        max: u32,
    },
}

impl Axis {
    /// All axes in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// Index for arrays by axis.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Range {
    /// A range from `min` to `max`, in scene units.
    pub const fn new(min: f64, max: f64, steps_per_unit: f64) -> Self {
        Self { min, max, steps_per_unit }
    }

    /// Range of whole steps. In a legal schema there are 1 to 2²⁰ of them, inside `-2²⁰..2²⁰`.
    pub const fn integers(&self) -> RangeInclusive<i64> {
        let first = (self.min * self.steps_per_unit).ceil() as i64;
        let end = (self.max * self.steps_per_unit).ceil() as i64;
        first..=end.saturating_sub(1)
    }
}

impl Support {
    /// No optional capability.
    pub const NONE: Self =
        Self { floats: false, other_steps: false, velocities: false, simulation: false };
    /// Every optional capability.
    pub const ALL: Self =
        Self { floats: true, other_steps: true, velocities: true, simulation: true };
}

impl FieldForm {
    /// Largest number of a value.
    pub const fn max(&self) -> u32 {
        match *self {
            Self::Flag => 1,
            Self::Int { min, max } => max.abs_diff(min),
            Self::Float { min, max, step } => {
                ((max as f64 - min as f64) / step as f64).round() as u32
            }
            Self::Angle { bits } => (1 << bits) - 1,
            // 0 means no body; body n is n + 1.
            Self::Body => 1 << 24,
        }
    }

    /// Number of bits of a value in a legal schema, `1..=32`.
    pub const fn bits(&self) -> u32 {
        u32::BITS - self.max().leading_zeros()
    }
}

impl Schema {
    /// Maximum number of kinds.
    pub const MAX_KINDS: usize = 64;
    /// Maximum number of fields. A field has at most 32 bits and does not cross a word, so 32 words are enough.
    pub const MAX_FIELDS: usize = 32;
    /// Maximum number of seats.
    pub const MAX_SEATS: u8 = 4;
    /// Maximum number of bytes of an [encoded](Self::encode) schema. Every legal schema has fewer.
    pub const MAX_BYTES: usize = 5 * 1024;

    /// Encodes the schema as postcard.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("every sequence of a schema has a length")
    }

    /// Decodes a schema. Time and memory are bounded by [`MAX_BYTES`](Self::MAX_BYTES).
    ///
    /// # Errors
    /// If the bytes are not exactly the [encoded](Self::encode) form of a schema, or it is not [legal](Self::check).
    pub fn decode(bytes: &[u8]) -> Result<Self, SchemaError> {
        let refused = |fault| SchemaError::new("schema", fault);
        if bytes.len() > Self::MAX_BYTES {
            return Err(refused("it is longer than 5120 bytes"));
        }
        let schema: Self = postcard::from_bytes(bytes).map_err(|_| refused("malformed"))?;
        schema.check()?;
        // Postcard also accepts longer forms of integers, and ignores bytes after the value.
        if schema.encode() == bytes { Ok(schema) } else { Err(refused("malformed")) }
    }

    /// Hash of the [encoded](Self::encode) schema. Equal hashes mean equal schemas.
    pub fn hash(&self) -> u64 {
        let bytes = self.encode();
        let start = mix(0, bytes.len() as u64);
        bytes.into_iter().fold(start, |hash, byte| mix(hash, byte.into()))
    }
}

const KINDS: &[Kind] = &[
    Kind { name: Cow::Borrowed("player"), shape: Shape::Box([0.75; 3]) },
    Kind { name: Cow::Borrowed("cube"), shape: Shape::Box([0.2; 3]) },
];

const FIELDS: &[Field] = &[Field { name: Cow::Borrowed("interacting"), form: FieldForm::Flag }];

/// The demo: a player's cube among small cubes.
///
/// Orientations have the article's 2⁹ levels, so that packets can be compared with the article's. 0 is between two
/// levels, so the identity arrives turned by 0.27 degrees.
pub const CUBES: Schema = Schema {
    name: Cow::Borrowed("cubes"),
    ticks_per_second: 60,
    up: Axis::Z,
    position: [
        Range::new(-256.0, 256.0, 512.0),
        Range::new(-256.0, 256.0, 512.0),
        Range::new(0.0, 32.0, 512.0),
    ],
    component_bits: 9,
    levels: Levels::Even,
    anchor: Some(0),
    kinds: Cow::Borrowed(KINDS),
    fields: Cow::Borrowed(FIELDS),
    world: World {
        gravity: 20.0,
        floor: Some(0.0),
        max_speed: 32.0,
        // Part of the wire format. This gravity is 2 % less than the gravity above, which is 2.84 steps per tick².
        linear: Some(Linear {
            gravity: (25, 9),
            drag_per_tick: 64_841,
            rest_height: 102,
            fall_height: 250,
        }),
    },
    slots: Slots::Fixed,
    support: Support::ALL,
    seats: 1,
};

#[cfg(test)]
mod tests;
