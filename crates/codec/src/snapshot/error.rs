//! Why a snapshot cannot be quantized.

use crate::ledger::BitKind;
use crate::precision::StepsPerMetreError;
use crate::quantize::smallest_three::ComponentBitsError;

/// Why a snapshot cannot be quantized.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QuantizeError {
    /// The bits of a smallest-three component are outside 2..=15.
    #[error(transparent)]
    ComponentBits(#[from] ComponentBitsError),
    /// The steps of a position are no power of two from 32 to 4096 per metre.
    #[error(transparent)]
    StepsPerMetre(#[from] StepsPerMetreError),
    /// Bodies come and go, and it is not known which are there.
    #[error("in this scene bodies come and go: they are put into slots one by one")]
    Lives,
    /// A component is NaN or infinite.
    #[error("body {body}: {field} has the component {value}, which is not a finite number")]
    NotFinite {
        /// Index of the body.
        body: usize,
        /// [`BitKind::Position`], [`BitKind::Orientation`] or [`BitKind::Velocity`].
        field: BitKind,
        /// The component.
        value: f32,
    },
    /// A quaternion is too short to have a direction.
    #[error("body {body}: the orientation is a quaternion of length zero")]
    NoDirection {
        /// Index of the body.
        body: usize,
    },
    /// An integer is outside the range of its precision.
    #[error("body {body}: {field} {value} is outside {min}..={max}")]
    OutOfRange {
        /// Index of the body.
        body: usize,
        /// [`BitKind::Position`] or [`BitKind::Orientation`].
        field: BitKind,
        /// The integer.
        value: i64,
        /// Smallest integer allowed.
        min: i64,
        /// Largest integer allowed.
        max: i64,
    },
}
