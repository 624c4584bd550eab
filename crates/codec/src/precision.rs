//! Precision: the meaning of the integers of a snapshot.

use serde::{Deserialize, Serialize};

/// The meaning of the integers of a [`QuantizedSnapshot`](crate::QuantizedSnapshot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Precision {
    /// Orientations.
    pub orientation: Orientation,
    /// Linear velocities. [`Velocity::AtRestFlag`] has the integers of [`Velocity::Quantized`].
    pub velocity: Velocity,
    /// Positions.
    pub position: Position,
}

impl Precision {
    /// Bits per component of orientations if a snapshot packs the fields of bodies: if positions are quantized,
    /// orientations are smallest-three and velocities are omitted.
    pub(crate) fn packed_component_bits(&self) -> Option<u8> {
        match (self.orientation, self.velocity, self.position) {
            (
                Orientation::SmallestThree { bits },
                Velocity::Omitted,
                Position::Quantized { .. },
            ) => Some(bits),
            _ => None,
        }
    }
}

/// Encoding of linear velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Velocity {
    /// Three `f32`, 96 bits.
    Full,
    /// 1024 steps up to the schema's maximum speed, in the demo 32 steps per m/s inside [−32, 32): 33 bits.
    Quantized,
    /// 1 bit for a velocity of zero, 1 + 33 bits otherwise.
    AtRestFlag,
    /// Omitted; zero at the receiver.
    Omitted,
    /// Difference from the baseline's velocity in steps of
    /// [`AFFINE_VELOCITY`](crate::quantize::affine::AFFINE_VELOCITY): 63 bits.
    Affine,
}

impl Velocity {
    /// Every variant, in the order of the codes on the wire.
    pub const ALL: [Self; 5] =
        [Self::Full, Self::Quantized, Self::AtRestFlag, Self::Omitted, Self::Affine];
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

/// Encoding of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Position {
    /// Three `f32`, 96 bits.
    Full,
    /// Steps inside the schema's range, in the demo [−256, 256) × [−256, 256) × [0, 32) m. There they take 50 bits at
    /// 512 steps per metre, and 3 bits more for each doubling. In other scenes, 512 stands for the schema's steps, and
    /// other numbers are multiples of them.
    Quantized {
        /// A power of two from [`Position::MIN_STEPS`] to [`Position::MAX_STEPS`].
        steps_per_metre: u16,
    },
    /// One bit, then an affine-quantized difference from the baseline's position, 63 bits. If it is out
    /// of range, the position itself, 71 bits.
    Affine,
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

    /// Whether positions are in 1/512 m, the unit of the constants of motion and of ranges by class.
    pub(crate) const fn has_usual_steps(self) -> bool {
        matches!(self, Self::Quantized { steps_per_metre: 512 })
    }
}
