//! Precision: the meaning of the integers of a snapshot.

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

/// How the integers of a velocity are quantized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VelocityPrecision {
    /// The bits of an f32.
    Full,
    /// 1/32 m/s.
    Quantized,
    /// Steps of [`AFFINE_VELOCITY`](crate::quantize::affine::AFFINE_VELOCITY).
    Affine,
    /// Left out.
    Omitted,
}

/// How orientations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// Four f32, 128 bits.
    Full,
    /// Index of the largest component and the other three: 2 + 3 × `bits`.
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

/// How positions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// Three f32, 96 bits.
    Full,
    /// 512 steps a metre inside [−256, 256) × [−256, 256) × [0, 32): 50 bits.
    Quantized,
    /// 1 bit, then an affine-quantized difference from the baseline's position, 63 bits, or, if that is out
    /// of range, the position itself, 71 bits.
    Affine,
}

impl Position {
    /// Every variant, in the order of its codes on the wire.
    pub const ALL: [Self; 3] = [Self::Full, Self::Quantized, Self::Affine];
}
