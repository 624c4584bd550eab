//! Where a baseline's own motion leads.
//!
//! The prediction is the reference encoder's of *The Networked Physics Data Compression
//! Challenge* (Glenn Fiedler, 2015), carried over to any number of ticks: the cube keeps the
//! velocity of its motion up to the baseline, less drag; if it was falling freely, gravity goes on
//! pulling; it does not go through the floor. It is integer arithmetic, so that both sides get the
//! same result.

use crate::baseline::Baseline;
use crate::motion::{GRAVITY, MAX_TICKS};
use crate::sequence::Sequence;

/// Velocity kept from tick to tick, in 1/65536: 0.938 over six ticks.
pub const DRAG_PER_TICK: i64 = 64_841;

/// Height in 1/512 m of the centre of a cube of 0.4 m that lies on the floor.
pub const REST_HEIGHT: i32 = 102;

/// Foresees positions a fixed time after one baseline.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    baseline: &'a Baseline,
    /// Displacement expected, for one of the baseline's, in 1/65536.
    factor: i64,
    /// Fall expected of a falling cube beyond what its displacement says, in 1/512 m.
    fall: i32,
}

/// What is expected of one cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Position in 1/512 m.
    pub position: [i32; 3],
    /// Which ranges suit what the prediction may miss by.
    pub class: usize,
}

impl<'a> Predictor<'a> {
    /// For the snapshot `sequence`, given a baseline. Positions that are not quantized are expected
    /// to stay what they are.
    #[must_use]
    pub fn new(baseline: &'a Baseline, sequence: Sequence) -> Self {
        let ticks = sequence.ticks_since(baseline.sequence());
        let before_ticks = baseline.motion.ticks;
        let (factor, fall) = if before_ticks == 0 || ticks > MAX_TICKS {
            (0, 0)
        } else {
            extrapolation(i64::from(ticks), i64::from(before_ticks))
        };
        Self {
            baseline,
            factor,
            fall,
        }
    }

    /// What is expected of `cube`.
    ///
    /// # Panics
    /// If there is no such cube.
    #[must_use]
    pub fn expect(&self, cube: usize) -> Expected {
        let motion = &self.baseline.motion;
        let from = self.baseline.snapshot.positions[cube];
        if !motion.moved[cube] {
            return Expected {
                position: from,
                class: 0,
            };
        }
        let step = motion.displacements[cube]
            .map(|moved| ((i64::from(moved) * self.factor + (1 << 15)) >> 16) as i32);
        let mut position: [i32; 3] = std::array::from_fn(|axis| from[axis] + step[axis]);
        if motion.falling[cube] {
            position[2] -= self.fall;
        }
        position[2] = position[2].max(from[2].min(REST_HEIGHT));
        Expected {
            position,
            class: class(step, motion.falling[cube]),
        }
    }
}

/// Displacement expected over `ticks` for one of 1 over the `before_ticks` before, in 1/65536,
/// and what free fall takes off beyond that, in 1/512 m.
fn extrapolation(ticks: i64, before_ticks: i64) -> (i64, i32) {
    // The mean velocities of two spans are half of each span apart.
    let drag = (0..(ticks + before_ticks) / 2)
        .fold(1 << 16, |kept, _| (kept * DRAG_PER_TICK + (1 << 15)) >> 16);
    let (numerator, denominator) = GRAVITY;
    let fall = numerator * ticks * (ticks + before_ticks) / (2 * denominator);
    (drag * ticks / before_ticks, fall as i32)
}

/// Number of classes that [`Expected::class`] tells apart.
pub const CLASSES: usize = 6;

/// Class of a cube by its largest expected step along an axis, in 1/512 m: 0 for 0 and 1, 1 from
/// 2, 2 from 8, 3 from 32, 4 from 128, and 5 for a falling cube.
fn class(step: [i32; 3], falling: bool) -> usize {
    if falling {
        return CLASSES - 1;
    }
    let largest = step.into_iter().map(i32::unsigned_abs).max();
    let bits = u32::BITS - largest.unwrap_or(0).leading_zeros();
    (bits as usize / 2).min(CLASSES - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_change_at_the_steps_that_the_doc_names() {
        for (step, expected) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (7, 1),
            (8, 2),
            (31, 2),
            (32, 3),
            (127, 3),
            (128, 4),
            (-200_000, 4),
        ] {
            assert_eq!(class([0, step, 0], false), expected, "{step}");
        }
        assert_eq!(class([0; 3], true), 5);
    }

    #[test]
    fn six_ticks_keep_938_thousandths_and_free_fall_adds_100_units() {
        let (factor, fall) = extrapolation(6, 6);
        let kept = factor as f64 / 65_536.0;
        assert!((kept - 0.938).abs() < 1e-3, "{kept}");
        assert_eq!(fall, 100);
    }

    #[test]
    fn a_longer_time_leads_further() {
        let (once, _) = extrapolation(6, 6);
        let (twice, _) = extrapolation(12, 6);
        assert!(twice > once && twice < 2 * once, "{once} {twice}");
    }
}
