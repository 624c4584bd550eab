//! Affine ("zero-point") quantization.
//!
//! Source: *Data Quantization and Networking* (2025), which borrows it from machine learning. The
//! source sends a 64-byte state in 20 bytes: an orientation in 32 bits, and position and velocity
//! as affine-quantized differences to the previous frame. It does not say how the other 128 bits are
//! divided; here position and velocity take 3 × 21 bits each, and the remaining two bits are the
//! interacting flag and the flag of a full position.
//!
//! ```text
//! scale      = (max − min) / (2^bits − 1)
//! zero_point = round(−min / scale)
//! integer    = round(value / scale) + zero_point
//! value'     = (integer − zero_point) × scale
//! ```
//!
//! Both ends of a difference are multiples of the same step. Differences are therefore exact, and errors do not
//! accumulate from frame to frame.

use super::Bounded;

/// Width of an affine-quantized difference, per component.
pub const DIFFERENCE_BITS: u32 = 21;

const DIFFERENCE_STEPS: f64 = ((1_u32 << DIFFERENCE_BITS) - 1) as f64;

/// Integer of a difference of 0: the zero point of a range that is symmetric about 0.
pub const DIFFERENCE_ZERO_POINT: i32 = 1 << (DIFFERENCE_BITS - 1);

/// Position along each axis in steps of the affine scale for differences of ±16 m: 15.3 µm.
pub const AFFINE_POSITION: [Bounded; 3] = {
    const STEPS: f64 = DIFFERENCE_STEPS / 32.0;
    let across = Bounded::new(STEPS, -16_777_208, 16_777_208);
    [across, across, Bounded::new(STEPS, 0, 2_097_151)]
};

/// A component of velocity in steps of the affine scale for differences of ±64 m/s: 61 µm/s.
/// The difference of any two integers in range fits [`DIFFERENCE_BITS`].
pub const AFFINE_VELOCITY: Bounded = Bounded::new(DIFFERENCE_STEPS / 128.0, -524_287, 524_287);
