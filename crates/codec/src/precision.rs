//! What the integers of a snapshot mean.

use crate::stages::{Orientation, Position};

/// What the integers of a [`QuantizedSnapshot`](crate::QuantizedSnapshot) mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Precision {
    /// Orientations.
    pub orientation: Orientation,
    /// Linear velocities.
    pub velocity: VelocityPrecision,
    /// Positions.
    pub position: Position,
}

/// What the integers of a velocity mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VelocityPrecision {
    /// The bits of an f32.
    Full,
    /// 1/32 m/s.
    Quantized,
    /// Steps of [`AFFINE_VELOCITY`](crate::quantize::affine::AFFINE_VELOCITY).
    Affine,
    /// There are none.
    Omitted,
}
