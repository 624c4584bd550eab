//! Bounded quantization: a number as an integer number of steps, clamped to a range.

use std::ops::RangeInclusive;

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

/// Position along each axis at the usual 512 steps per metre: [−256, 256) m in 18 bits for x and y, [0, 32) m in 14 bits
/// for z.
pub const POSITION: [Bounded; 3] = {
    let across = Bounded::new(512.0, -131_072, 131_071);
    [across, across, Bounded::new(512.0, 0, 16_383)]
};
/// A component of linear velocity: 32 steps per m/s over [−32, 32) m/s, 11 bits.
pub const VELOCITY: Bounded = Bounded::new(32.0, -1024, 1023);

impl Bounded {
    pub(crate) const fn new(steps_per_unit: f64, min: i32, max: i32) -> Self {
        Self { steps_per_unit, min, max }
    }

    /// Returns the nearest integer in the range. NaN gives 0.
    pub fn quantize(&self, value: f32) -> i32 {
        // The product in f64 is precise enough to find the nearest step.
        nearest(f64::from(value) * self.steps_per_unit).clamp(self.min, self.max)
    }

    /// Returns the value of `integer`.
    pub fn dequantize(&self, integer: i32) -> f32 {
        (f64::from(integer) / self.steps_per_unit) as f32
    }

    /// Range of integers, `min..=max`.
    pub const fn range(&self) -> RangeInclusive<i32> {
        self.min..=self.max
    }

    /// Number of bits for `integer − min`, which is the same for all integers of the range.
    pub const fn bits(&self) -> u32 {
        u32::BITS - self.max.abs_diff(self.min).leading_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::precision::Position;

    #[test]
    fn every_integer_survives_a_round_trip() {
        let finest = Position::Quantized { steps_per_metre: Position::MAX_STEPS };
        let finest = Plan::cubes().position_bounds(finest).unwrap();
        for bounded in [POSITION[0], POSITION[2], finest[0], finest[2], VELOCITY] {
            for integer in bounded.min..=bounded.max {
                assert_eq!(bounded.quantize(bounded.dequantize(integer)), integer);
            }
        }
    }
}
