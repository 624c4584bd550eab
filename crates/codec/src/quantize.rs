//! Quantization: bounded steps, affine maps, and smallest-three orientations.

pub mod affine;
pub mod bounded;
pub mod smallest_three;

/// Rounds to the nearest integer, halves away from zero, and clamps to `i32`. NaN gives 0.
///
/// It runs for every number of every body. `f64::round` is a library call on processors without an instruction for
/// it.
pub(crate) fn nearest(value: f64) -> i32 {
    (value + 0.5_f64.copysign(value)) as i32
}

pub use bounded::Bounded;
pub use smallest_three::SmallestThree;
