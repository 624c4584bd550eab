//! What both ends know of a scene before the first packet, as data.
//!
//! On the wire and in recordings a schema is [postcard](https://postcard.jamesmunns.com/wire-format) of its serde form. People
//! write it in a format of serde such as RON, and read it [a line for each item](Schema::text).

mod check;
mod cubes;
mod error;
mod text;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::hash::mix;

pub use self::cubes::CUBES;
pub use self::error::{Fault, SchemaError};
pub use self::text::first_difference;
pub use crate::quantize::smallest_three::Levels;

/// Most ticks in a second. A packet names its baseline by an age of up to 255 ticks, so that the age covers a round trip of up to
/// 1.06 s.
pub const MAX_TICKS_PER_SECOND: u16 = 240;

/// What both ends know of a scene before the first packet.
///
/// The fields can be set to anything; [`check`](Self::check) tells whether they are legal, and
/// [`decode`](Self::decode) returns legal schemas only. No number can be −0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// 1 to 32 characters, each of a-z, 0-9, `-` and `_`, as all names of a schema.
    pub name: Cow<'static, str>,
    /// `1..=`[`MAX_TICKS_PER_SECOND`].
    pub ticks_per_second: u16,
    /// The axis that points up.
    pub up: Axis,
    /// Positions along x, y and z of the caller.
    pub position: [Range; 3],
    /// Bits of each of the smallest three components of an orientation, `2..=15`.
    pub component_bits: u8,
    /// Levels of such a component. Odd for all scenes but the demo: bodies that are not turned arrive not turned.
    pub levels: Levels,
    /// The body that others gather around, as the player of the demo. Below the maximum of [`Slots::Living`].
    pub anchor: Option<u16>,
    /// 1 to [`Schema::MAX_KINDS`], with different names.
    pub kinds: Cow<'static, [Kind]>,
    /// 0 to [`Schema::MAX_FIELDS`], with different names, in the order of the wire. The first, if it is a
    /// [flag](FieldForm::Flag), is stored with the position and costs nothing extra.
    pub fields: Cow<'static, [Field]>,
    /// What moves the bodies.
    pub world: World,
    /// How bodies come and go.
    pub slots: Slots,
}

/// An axis of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// Positions along an axis, `[min, max)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Smallest position, in units.
    pub min: f64,
    /// Above the largest position, in units.
    pub max: f64,
    /// Steps per unit, above 0.
    pub steps_per_unit: f64,
}

/// A kind of body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// As [`Schema::name`].
    pub name: Cow<'static, str>,
    /// The shape of its bodies.
    pub shape: Shape,
}

/// The shape of a body, in units. Lengths are above 0, and below 2²⁰ steps of the finest axis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// Half extents along its own x, y and z.
    Box([f32; 3]),
    /// Radius.
    Ball(f32),
    /// A cylinder along its own y between two half balls.
    Capsule {
        /// Half the length of the cylinder.
        half: f32,
        /// Radius of the cylinder and the balls.
        radius: f32,
    },
    /// Any other.
    Unknown,
}

/// A value of each body in addition to position and orientation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// As [`Schema::name`].
    pub name: Cow<'static, str>,
    /// Its values.
    pub form: FieldForm,
}

/// The values of a field.
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
        /// Largest value, to the nearest step.
        max: f32,
        /// Distance from a value to the next, above 0.
        step: f32,
    },
    /// An angle, in fractions of a turn.
    Angle {
        /// `1..=16`.
        bits: u8,
    },
    /// A reference to a body, or none.
    Body,
}

/// What moves the bodies of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Downward acceleration in units/s²: at least 0, and at most 2²⁰ steps per tick².
    pub gravity: f32,
    /// Height of the floor along the axis that points up, in units: at most 2²⁰ steps above or below 0.
    pub floor: Option<f32>,
    /// Maximum speed of bodies in units/s: above 0, and at most 2²⁰ steps of the finest axis per tick.
    pub max_speed: f32,
    /// The linear predictor, if there is one.
    pub linear: Option<Linear>,
}

/// Exact integers of the linear predictor, in steps and ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Linear {
    /// Downward acceleration in steps per tick², as a numerator, `-2³¹..=2³¹`, and a denominator, `1..=2³¹`.
    pub gravity: (i64, i64),
    /// What a tick leaves of a speed, in 1/65 536: `0..=65_536`.
    pub drag_per_tick: i64,
    /// Height of a small body at rest on the floor, `-2²¹..=2²¹` steps.
    pub rest_height: i32,
    /// Height above which a body can fall freely, `-2²¹..=2²¹` steps.
    pub fall_height: i32,
}

/// How bodies come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Slots {
    /// They do not. Their number follows from the initial state; body n has kind n, and all after the last kind have
    /// the last kind.
    Fixed,
    /// They do. Every birth names its kind.
    Living {
        /// Most bodies at a time, `1..=65_536`.
        max: u32,
    },
}

impl Axis {
    /// Every axis in order.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// Index in arrays by axis.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Range {
    /// A range from its fields.
    #[must_use]
    pub const fn new(min: f64, max: f64, steps_per_unit: f64) -> Self {
        Self {
            min,
            max,
            steps_per_unit,
        }
    }

    /// The whole steps inside. In a legal schema there is at least one and at most 2²⁰, inside `-2²⁰..2²⁰`.
    #[must_use]
    pub const fn integers(&self) -> RangeInclusive<i64> {
        let first = (self.min * self.steps_per_unit).ceil() as i64;
        let end = (self.max * self.steps_per_unit).ceil() as i64;
        first..=end.saturating_sub(1)
    }
}

impl FieldForm {
    /// The largest number that stands for a value.
    #[must_use]
    pub const fn max(&self) -> u32 {
        match *self {
            Self::Flag => 1,
            Self::Int { min, max } => max.abs_diff(min),
            Self::Float { min, max, step } => {
                ((max as f64 - min as f64) / step as f64).round() as u32
            }
            Self::Angle { bits } => (1 << bits) - 1,
            // 0 for none, otherwise the index and 1.
            Self::Body => 1 << 16,
        }
    }

    /// Bits of a value of a legal schema, `1..=32`.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        u32::BITS - self.max().leading_zeros()
    }
}

impl Schema {
    /// Most kinds.
    pub const MAX_KINDS: usize = 64;
    /// Most fields. Each has at most 32 bits, so that all fit as many words of 32 bits, none in two.
    pub const MAX_FIELDS: usize = 32;
    /// Most bytes of an [encoded](Self::encode) schema. Every legal one has fewer.
    pub const MAX_BYTES: usize = 5 * 1024;

    /// Encodes the schema as postcard.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("every sequence of a schema has a length")
    }

    /// Decodes a schema, in time and memory that are bounded by [`MAX_BYTES`](Self::MAX_BYTES).
    ///
    /// # Errors
    /// If the bytes are not those of a schema as [`encode`](Self::encode) writes it, or it is not [legal](Self::check).
    pub fn decode(bytes: &[u8]) -> Result<Self, SchemaError> {
        let refused = |fault| SchemaError::new("schema", fault);
        if bytes.len() > Self::MAX_BYTES {
            return Err(refused(Fault::TooLong));
        }
        let schema: Self = postcard::from_bytes(bytes).map_err(|_| refused(Fault::Malformed))?;
        schema.check()?;
        // Postcard also reads longer forms of its integers, and what follows a value.
        match schema.encode() == bytes {
            true => Ok(schema),
            false => Err(refused(Fault::Malformed)),
        }
    }

    /// A hash of the [encoded](Self::encode) schema. Ends with equal hashes know the same of the scene.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let bytes = self.encode();
        let start = mix(0, bytes.len() as u64);
        bytes
            .into_iter()
            .fold(start, |hash, byte| mix(hash, byte.into()))
    }
}

#[cfg(test)]
mod tests;
