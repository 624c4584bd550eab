//! Precision: the meaning of the integers of a snapshot.

use serde::{Deserialize, Serialize};

use crate::quantize::smallest_three::{ComponentBitsError, MAX_BITS, MIN_BITS};

/// The meaning of the integers of a [`QuantizedSnapshot`](crate::QuantizedSnapshot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Precision {
    /// Orientations.
    pub orientation: Orientation,
    /// Linear velocities.
    pub velocity: VelocityPrecision,
    /// Positions.
    pub position: Position,
}

/// Quantization of velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VelocityPrecision {
    /// The bits of an `f32`.
    Full,
    /// Steps of 1/32 m/s.
    Quantized,
    /// Steps of [`AFFINE_VELOCITY`](crate::quantize::affine::AFFINE_VELOCITY).
    Affine,
    /// No velocities.
    Omitted,
}

/// Encoding of orientations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Orientation {
    /// Four `f32`, 128 bits.
    Full,
    /// Index of the largest component and the other three components: 2 + 3 × `bits` bits.
    SmallestThree {
        /// Bits per component, `2..=15`; the article uses 9.
        bits: u8,
    },
}

impl Orientation {
    pub(crate) const fn check(&self) -> Result<(), ComponentBitsError> {
        match *self {
            Self::SmallestThree { bits } if bits < MIN_BITS || bits > MAX_BITS => {
                Err(ComponentBitsError { bits })
            }
            _ => Ok(()),
        }
    }
}

/// Encoding of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Position {
    /// Three `f32`, 96 bits.
    Full,
    /// Steps inside [−256, 256) × [−256, 256) × [0, 32) m. 50 bits at 512 steps per metre, and 3 bits more
    /// for each doubling.
    Quantized {
        /// A power of two from [`Position::MIN_STEPS`] to [`Position::MAX_STEPS`].
        steps_per_metre: u16,
    },
    /// One bit, then an affine-quantized difference from the baseline's position, 63 bits. If it is out
    /// of range, the position itself, 71 bits.
    Affine,
}

/// Number of steps per metre that positions cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "quantized positions have a power of two from {} to {} steps per metre, not {steps_per_metre}",
    Position::MIN_STEPS,
    Position::MAX_STEPS
)]
pub struct StepsPerMetreError {
    /// The number of steps.
    pub steps_per_metre: u16,
}

impl Position {
    /// Minimum steps per metre.
    pub const MIN_STEPS: u16 = 32;
    /// Maximum steps per metre.
    pub const MAX_STEPS: u16 = 4096;
    /// 512 steps per metre, as in the article.
    pub const QUANTIZED: Self = Self::Quantized { steps_per_metre: 512 };

    /// Every variant with its usual parameters, in the order of the codes on the wire.
    pub const ALL: [Self; 3] = [Self::Full, Self::QUANTIZED, Self::Affine];

    pub(crate) const fn check(self) -> Result<(), StepsPerMetreError> {
        match self {
            Self::Quantized { steps_per_metre }
                if !steps_per_metre.is_power_of_two()
                    || steps_per_metre < Self::MIN_STEPS
                    || steps_per_metre > Self::MAX_STEPS =>
            {
                Err(StepsPerMetreError { steps_per_metre })
            }
            _ => Ok(()),
        }
    }

    /// Whether positions are in 1/512 m, the unit of the constants of motion and of ranges by class.
    pub(crate) const fn has_usual_steps(self) -> bool {
        matches!(self, Self::Quantized { steps_per_metre: 512 })
    }
}
