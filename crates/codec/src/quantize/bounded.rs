//! Bounded quantization: a number as an integer number of steps, clamped to a range.

use super::nearest;

/// Maps a number to the nearest of evenly spaced steps, clamped to a range.
///
/// ```text
/// integer = clamp(round(value × steps_per_unit), min, max)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// Steps per unit, above 0.
    pub steps_per_unit: f64,
    /// Smallest integer.
    pub min: i32,
    /// Largest integer.
    pub max: i32,
}

/// Position along x and y: 512 steps per metre over [−256, 256) m, 18 bits.
pub const POSITION_XY: Bounded = Bounded::new(512.0, -131_072, 131_071);
/// Position along z: 512 steps per metre over [0, 32) m, 14 bits.
pub const POSITION_Z: Bounded = Bounded::new(512.0, 0, 16_383);
/// Position along each axis.
pub const POSITION: [Bounded; 3] = [POSITION_XY, POSITION_XY, POSITION_Z];
/// A component of linear velocity: 32 steps per m/s over [−32, 32) m/s, 11 bits.
pub const VELOCITY: Bounded = Bounded::new(32.0, -1024, 1023);

impl Bounded {
    const fn new(steps_per_unit: f64, min: i32, max: i32) -> Self {
        Self {
            steps_per_unit,
            min,
            max,
        }
    }

    /// The nearest integer in the range. NaN gives 0.
    #[must_use]
    pub fn quantize(&self, value: f32) -> i32 {
        // In f64 the product is precise enough for the nearest step.
        nearest(f64::from(value) * self.steps_per_unit).clamp(self.min, self.max)
    }

    /// The value that `integer` represents.
    #[must_use]
    pub fn dequantize(&self, integer: i32) -> f32 {
        (f64::from(integer) / self.steps_per_unit) as f32
    }

    /// Whether `integer` lies inside the range.
    #[must_use]
    pub const fn contains(&self, integer: i32) -> bool {
        self.min <= integer && integer <= self.max
    }

    /// Bits of every integer of the range minus `min`.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        u32::BITS - self.max.abs_diff(self.min).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_articles() {
        assert_eq!(POSITION_XY.bits(), 18);
        assert_eq!(POSITION_Z.bits(), 14);
        assert_eq!(VELOCITY.bits(), 11);
    }

    #[test]
    fn values_round_to_the_nearest_step_and_clamp() {
        assert_eq!(POSITION_XY.quantize(1.0), 512);
        assert_eq!(POSITION_XY.quantize(0.0014), 1);
        assert_eq!(POSITION_XY.quantize(-0.0014), -1);
        assert_eq!(POSITION_XY.quantize(1e9), 131_071);
        assert_eq!(POSITION_XY.quantize(-1e9), -131_072);
        assert_eq!(POSITION_Z.quantize(-0.5), 0);
        assert_eq!(VELOCITY.quantize(32.0), 1023);
        assert_eq!(VELOCITY.quantize(-32.0), -1024);
    }

    #[test]
    fn every_integer_survives_a_round_trip() {
        for bounded in [POSITION_XY, POSITION_Z, VELOCITY] {
            for integer in bounded.min..=bounded.max {
                assert_eq!(bounded.quantize(bounded.dequantize(integer)), integer);
            }
        }
    }
}
