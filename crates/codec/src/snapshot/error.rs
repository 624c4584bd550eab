//! Errors of quantization.

use crate::ledger::BitKind;
use crate::precision::StepsPerMetreError;
use crate::quantize::smallest_three::ComponentBitsError;

/// Error of quantizing a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum QuantizeError {
    /// Illegal number of bits of a smallest-three component.
    #[error(transparent)]
    ComponentBits(#[from] ComponentBitsError),
    /// Illegal number of steps per metre.
    #[error(transparent)]
    StepsPerMetre(#[from] StepsPerMetreError),
    /// Bodies come and go in this scene, so they must be put into slots one by one.
    #[error("bodies of this scene can spawn and despawn: put them into slots one by one")]
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
