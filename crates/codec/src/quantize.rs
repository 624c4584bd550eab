//! Quantization: bounded steps, affine maps, and the smallest three.

pub mod affine;
pub mod bounded;
pub mod smallest_three;

/// The nearest integer, halves away from zero, clamped to i32. NaN gives 0.
///
/// Not `f64::round`, which is a library call on processors without an instruction for it; this runs for every
/// number of every body.
pub(crate) fn nearest(value: f64) -> i32 {
    (value + 0.5_f64.copysign(value)) as i32
}

pub use bounded::Bounded;
pub use smallest_three::SmallestThree;
