//! Linear prediction from the motion of a baseline.
//!
//! This is the prediction of the reference encoder of *The Networked Physics Data Compression Challenge*
//! (Glenn Fiedler, 2015), generalized to any number of ticks. A body keeps the velocity of its motion up to
//! the baseline, with drag. If it was falling freely, gravity accelerates it. It does not go through the
//! floor. All arithmetic is in integers, so that both sides get the same result.

use crate::baseline::Baseline;
use crate::motion::MAX_TICKS;
use crate::schema::Linear;
use crate::sequence::Sequence;

/// Predicts positions at one tick from one baseline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinearPredictor<'a> {
    baseline: &'a Baseline,
    /// Ticks since the baseline.
    ticks: u16,
    /// Result of [`extrapolation`] for a body that was carried with the baseline.
    usual: (i64, i32),
    rest_height: i32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prediction {
    /// Position in 1/512 m.
    pub(crate) position: [i32; 3],
    /// Class of the motion, `0..CLASSES`. It selects the ranges for the prediction error.
    pub(crate) class: usize,
}

impl<'a> LinearPredictor<'a> {
    /// Creates a predictor for snapshot `sequence`. Positions that are not quantized are predicted to stay.
    pub(crate) fn new(baseline: &'a Baseline, sequence: Sequence) -> Self {
        let ticks = sequence.ticks_since(baseline.sequence());
        let linear = &baseline.snapshot.plan().linear;
        Self {
            baseline,
            ticks,
            usual: extrapolation(linear, ticks, baseline.motion.ticks),
            rest_height: linear.rest_height,
        }
    }

    pub(crate) fn predict(&self, body: usize) -> Prediction {
        let motion = &self.baseline.motion;
        let from = self.baseline.snapshot.position(body);
        if !motion.moved[body] {
            return Prediction { position: from, class: 0 };
        }
        let (factor, fall) = match motion.tracks.is_empty() {
            true => self.usual,
            false => {
                let linear = &self.baseline.snapshot.plan().linear;
                let ticks = self.ticks.saturating_add(motion.age(body).into());
                extrapolation(linear, ticks, motion.span(body))
            }
        };
        let displacement = motion.displacement(&self.baseline.snapshot, body);
        let step = displacement.map(|moved| ((i64::from(moved) * factor + (1 << 15)) >> 16) as i32);
        let mut position: [i32; 3] = std::array::from_fn(|axis| from[axis] + step[axis]);
        if motion.falling.get(body) {
            position[2] -= fall;
        }
        // A body that is lower than the rest height already is not lifted.
        position[2] = position[2].max(from[2].min(self.rest_height));
        Prediction { position, class: class(step, motion.falling.get(body)) }
    }
}

/// Returns two numbers: the displacement over `ticks` as a factor of the displacement over the `motion_ticks` before,
/// in 1/65536, and the additional fall of a freely falling body, in 1/512 m. Both are 0 if the motion is unknown or
/// too old.
fn extrapolation(linear: &Linear, ticks: u16, motion_ticks: u16) -> (i64, i32) {
    if motion_ticks == 0 || ticks > MAX_TICKS {
        return (0, 0);
    }
    let (ticks, motion_ticks) = (i64::from(ticks), i64::from(motion_ticks));
    // The midpoints of the two spans are half of both spans apart.
    let drag = (0..(ticks + motion_ticks) / 2)
        .fold(1 << 16, |kept, _| (kept * linear.drag_per_tick + (1 << 15)) >> 16);
    let (numerator, denominator) = linear.gravity;
    let fall = numerator * ticks * (ticks + motion_ticks) / (2 * denominator);
    (drag * ticks / motion_ticks, fall.clamp(-MAX_FALL, MAX_FALL) as i32)
}

/// Larger than any distance between two positions, and small enough that arithmetic on positions does not overflow.
const MAX_FALL: i64 = 1 << 21;

/// Number of classes of `Prediction::class`.
pub const CLASSES: usize = 6;

/// Class of a body by its largest predicted step along an axis, in 1/512 m. Class 0 is below 2, class 1 from 2,
/// class 2 from 8, class 3 from 32, class 4 from 128. Falling bodies have class 5.
fn class(step: [i32; 3], falling: bool) -> usize {
    if falling {
        return CLASSES - 1;
    }
    let largest = step.into_iter().map(i32::unsigned_abs).max();
    let bits = u32::BITS - largest.unwrap_or(0).leading_zeros();
    (bits as usize / 2).min(CLASSES - 2)
}
