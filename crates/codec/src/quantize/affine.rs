//! Affine ("zero-point") quantization.
//!
//! Source: *Data Quantization and Networking* (2025), which borrows it from machine learning. The
//! source sends a 64-byte state in 20 bytes: an orientation in 32 bits, and position and velocity
//! as affine-quantized differences to the previous frame. It does not say how the other 128 bits are
//! divided; here position and velocity take 3 × 21 bits each, and the remaining two bits are the
//! interacting flag and the flag of a full position.
//!
//! A difference is between multiples of one step, so that it is exact and errors do not accumulate
//! from frame to frame.

use super::Bounded;

/// An affine map from a range of numbers onto the unsigned integers of some width.
///
/// ```text
/// scale      = (max − min) / (2^bits − 1)
/// zero_point = round(−min / scale)
/// integer    = clamp(round(value / scale) + zero_point, 0, 2^bits − 1)
/// value'     = (integer − zero_point) × scale
/// ```
///
/// The arithmetic is in f64, because in f32 the zero point can be off by one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    scale: f64,
    zero_point: i64,
    max_integer: i64,
}

/// The range or the width given to [`Affine::new`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AffineError {
    /// The range is empty, reversed, not finite, or too narrow for its magnitude.
    #[error("the range {min}..{max} is empty, not finite, or too narrow for its magnitude")]
    Range {
        /// Lower end.
        min: f64,
        /// Upper end.
        max: f64,
    },
    /// The width is outside 1..=32 bits.
    #[error("{bits} bits are outside 1..=32")]
    Bits {
        /// The width.
        bits: u32,
    },
}

impl Affine {
    /// The map from `min..=max` onto `0..=2^bits − 1`.
    ///
    /// # Errors
    /// [`AffineError`] if `min` is not below `max`, if either is not finite, if the steps between
    /// them are too small for f64, or if `bits` is outside `1..=32`.
    pub fn new(min: f64, max: f64, bits: u32) -> Result<Self, AffineError> {
        let width = max - min;
        if !(min.is_finite() && max.is_finite() && width.is_finite() && width > 0.0) {
            return Err(AffineError::Range { min, max });
        }
        if !(1..=32).contains(&bits) {
            return Err(AffineError::Bits { bits });
        }
        let max_integer = (1_i64 << bits) - 1;
        let scale = width / max_integer as f64;
        let zero_point = (-min / scale).round();
        // Beyond this, neighbouring integers are one f64.
        if zero_point.abs() >= EXACT_INTEGERS {
            return Err(AffineError::Range { min, max });
        }
        Ok(Self {
            scale,
            zero_point: zero_point as i64,
            max_integer,
        })
    }

    /// The step between two neighbouring values.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// The integer that represents 0.
    #[must_use]
    pub const fn zero_point(&self) -> i64 {
        self.zero_point
    }

    /// The nearest integer, clamped to `0..=2^bits − 1`. NaN gives the zero point.
    #[must_use]
    pub fn quantize(&self, value: f64) -> u32 {
        let integer = ((value / self.scale).round() as i64).saturating_add(self.zero_point);
        integer.clamp(0, self.max_integer) as u32
    }

    /// The value that `integer` stands for.
    #[must_use]
    pub fn dequantize(&self, integer: u32) -> f64 {
        (i64::from(integer) - self.zero_point) as f64 * self.scale
    }
}

/// All integers up to here are exact in f64.
const EXACT_INTEGERS: f64 = (1_u64 << 53) as f64;

/// Width of an affine-quantized difference, per component.
pub const DIFFERENCE_BITS: u32 = 21;

const DIFFERENCE_STEPS: f64 = ((1_u32 << DIFFERENCE_BITS) - 1) as f64;

/// The integer that represents a difference of 0: the zero point of a range that is symmetric
/// about 0.
pub const DIFFERENCE_ZERO_POINT: i32 = 1 << (DIFFERENCE_BITS - 1);

/// Position along x and y in steps of the affine scale for differences of ±16 m: 15.3 µm.
pub const AFFINE_POSITION_XY: Bounded = Bounded {
    steps_per_unit: DIFFERENCE_STEPS / 32.0,
    min: -16_777_208,
    max: 16_777_208,
};

/// Position along z in the same steps.
pub const AFFINE_POSITION_Z: Bounded = Bounded {
    steps_per_unit: DIFFERENCE_STEPS / 32.0,
    min: 0,
    max: 2_097_151,
};

/// Position along each axis in those steps.
pub const AFFINE_POSITION: [Bounded; 3] =
    [AFFINE_POSITION_XY, AFFINE_POSITION_XY, AFFINE_POSITION_Z];

/// A component of velocity in steps of the affine scale for differences of ±64 m/s: 61 µm/s.
/// Every difference of two such integers has a code.
pub const AFFINE_VELOCITY: Bounded = Bounded {
    steps_per_unit: DIFFERENCE_STEPS / 128.0,
    min: -524_287,
    max: 524_287,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_worked_example_comes_out() {
        let affine = Affine::new(-128.0, 128.0, 8).unwrap();
        assert!((affine.scale() - 1.003_92).abs() < 1e-5);
        assert_eq!(affine.zero_point(), 128);
        assert_eq!(affine.quantize(42.78), 171);
        assert!((affine.dequantize(171) - 43.168).abs() < 1e-3);
    }

    #[test]
    fn values_outside_the_range_clamp() {
        let affine = Affine::new(-1.0, 3.0, 4).unwrap();
        assert_eq!(affine.quantize(-1e300), 0);
        assert_eq!(affine.quantize(1e300), 15);
        assert_eq!(affine.quantize(f64::INFINITY), 15);
    }

    #[test]
    fn a_quantized_value_is_within_half_a_step() {
        let affine = Affine::new(-7.0, 9.0, 10).unwrap();
        for i in 0..=1000 {
            let value = -7.0 + 16.0 * f64::from(i) / 1000.0;
            let error = affine.dequantize(affine.quantize(value)) - value;
            assert!(error.abs() <= affine.scale() * 0.501, "{value}: {error}");
        }
    }

    #[test]
    fn useless_ranges_and_widths_are_refused() {
        assert!(matches!(
            Affine::new(1.0, 1.0, 8),
            Err(AffineError::Range { .. })
        ));
        assert!(matches!(
            Affine::new(f64::NAN, 1.0, 8),
            Err(AffineError::Range { .. })
        ));
        assert!(matches!(
            Affine::new(f64::MIN, f64::MAX, 8),
            Err(AffineError::Range { .. })
        ));
        assert!(matches!(
            Affine::new(1.0, 1.0 + f64::EPSILON, 32),
            Err(AffineError::Range { .. })
        ));
        assert_eq!(
            Affine::new(0.0, 1.0, 33),
            Err(AffineError::Bits { bits: 33 })
        );
    }

    #[test]
    fn the_constants_are_those_of_the_affine_map() {
        for (range, grid) in [
            (16.0, AFFINE_POSITION_XY),
            (16.0, AFFINE_POSITION_Z),
            (64.0, AFFINE_VELOCITY),
        ] {
            let affine = Affine::new(-range, range, DIFFERENCE_BITS).unwrap();
            assert_eq!(affine.zero_point(), i64::from(DIFFERENCE_ZERO_POINT));
            assert!((affine.scale() * grid.steps_per_unit - 1.0).abs() < 1e-15);
        }
        assert_eq!(
            (AFFINE_POSITION_XY.bits(), AFFINE_POSITION_Z.bits()),
            (25, 21)
        );
        let widest = AFFINE_VELOCITY.max - AFFINE_VELOCITY.min;
        assert!(widest + DIFFERENCE_ZERO_POINT < 1 << DIFFERENCE_BITS);
        assert!(DIFFERENCE_ZERO_POINT - widest >= 0);
    }
}
