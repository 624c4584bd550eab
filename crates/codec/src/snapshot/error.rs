//! Errors of quantization.

use crate::ledger::BitKind;
use crate::stages::IllegalStages;

/// Error of quantizing a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum QuantizeError {
    /// Illegal number of bits of a smallest-three component, or of steps per metre.
    #[error(transparent)]
    Precision(#[from] IllegalStages),
    /// Bodies come and go in this scene, so they must be put into slots one by one.
    #[error("bodies of this scene can spawn and despawn: put them into slots one by one")]
    Lives,
    /// A component is NaN or infinite.
    #[error("body {body}: {field} has the component {value}, which is not a finite number")]
    NotFinite { body: usize, field: BitKind, value: f32 },
    /// A quaternion is too short to have a direction.
    #[error("body {body}: the orientation is a quaternion of length zero")]
    NoDirection { body: usize },
    /// An integer is outside the range of its precision.
    #[error("body {body}: {field} {value} is outside {min}..={max}")]
    OutOfRange { body: usize, field: BitKind, value: i64, min: i64, max: i64 },
}
