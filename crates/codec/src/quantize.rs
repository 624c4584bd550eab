//! Floats to integers and back: bounded steps, affine maps, and the smallest three.

pub mod affine;
pub mod bounded;
pub mod smallest_three;

pub use affine::{Affine, AffineError};
pub use bounded::Bounded;
pub use smallest_three::SmallestThree;
