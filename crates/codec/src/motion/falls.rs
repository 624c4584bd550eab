//! Detects falling bodies.

use super::Motion;
use crate::schema::Linear;
use crate::snapshot::QuantizedSnapshot;

/// Detects bodies that fall between two snapshots.
pub(super) struct Falls<'a> {
    linear: Linear,
    current: &'a QuantizedSnapshot,
    baseline: &'a QuantizedSnapshot,
    /// The motion to the baseline.
    before: &'a Motion,
}

impl<'a> Falls<'a> {
    pub(super) fn new(
        current: &'a QuantizedSnapshot,
        baseline: &'a QuantizedSnapshot,
        before: &'a Motion,
    ) -> Self {
        Self { linear: current.plan().linear, current, baseline, before }
    }

    /// Whether a body falls that moved for `ticks` to the current snapshot and for `span` before the baseline.
    #[inline(always)]
    pub(super) fn is_falling(&self, body: usize, ticks: u16, span: u16) -> bool {
        let height = self.current.position(body)[2];
        if height <= self.linear.fall_height || !self.current.is_same_life(self.baseline, body) {
            return false;
        }
        let rise = height - self.baseline.position(body)[2];
        let before = (self.before.displacement(self.baseline, body)[2], span);
        is_falling(self.linear.gravity, (rise, ticks), before)
    }
}

/// Whether the downward acceleration between two vertical displacements, each over its ticks, is above half
/// of gravity.
fn is_falling(
    (numerator, denominator): (i64, i64),
    (now, ticks): (i32, u16),
    (before, before_ticks): (i32, u16),
) -> bool {
    let (now, before) = (i64::from(now), i64::from(before));
    let (ticks, before_ticks) = (i64::from(ticks), i64::from(before_ticks));
    // now / ticks − before / before_ticks < −gravity / 2 × (ticks + before_ticks) / 2, multiplied by the
    // denominators.
    (now * before_ticks - before * ticks) * 4 * denominator
        < -numerator * (ticks + before_ticks) * ticks * before_ticks
}
