//! The motion of bodies on the way to a baseline.
//!
//! Both sides keep, with each snapshot, how it differs from its own baseline. Both know this motion whatever
//! other packets were lost, so that it can be used to predict the next snapshot. All arithmetic is in
//! integers, so that both sides get the same result.

use std::sync::Arc;

use crate::flags::{Bits, flagged};
use crate::memory::SharedMemory;
use crate::snapshot::{QuantizedSnapshot, Spares};

/// Maximum time between two snapshots, in ticks, for a known motion.
pub const MAX_TICKS: u16 = 64;

/// The motion of the bodies of a snapshot since its baseline.
///
/// It is known only if the packet named a baseline at most [`MAX_TICKS`] old; otherwise no body counts as
/// moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    /// Ticks since the baseline, `1..=MAX_TICKS`; 0 if the motion is unknown.
    pub(crate) ticks: u16,
    /// The snapshot that it begins with, shared with the baseline. None if the motion is unknown, and unless
    /// positions are in 512 steps per metre: no other stages use displacements.
    from: Option<Arc<QuantizedSnapshot>>,
    /// By body: any field differs from the baseline's.
    pub(crate) moved: Vec<bool>,
    /// By body: its downward acceleration was above half of gravity.
    pub(crate) falling: Bits,
}

/// Where a motion begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) snapshot: &'a Arc<QuantizedSnapshot>,
    pub(crate) motion: &'a Motion,
    /// Ticks ago.
    pub(crate) ticks: u16,
    /// If given, only these bodies can have moved.
    pub(crate) sent: Option<&'a [bool]>,
}

impl Motion {
    /// Sets this to the motion from a baseline to `current`, which is unknown without one. Reuses its memory.
    pub(crate) fn observe(
        &mut self,
        current: &QuantizedSnapshot,
        from: Option<Origin<'_>>,
        spares: &mut Spares,
    ) {
        if let Some(old) = self.from.take() {
            spares.release(old);
        }
        self.ticks = 0;
        self.moved.clear();
        self.moved.resize(current.len(), false);
        self.falling.clear(current.len());
        let Some(Origin {
            snapshot: baseline,
            motion: before,
            ticks: ticks @ 1..=MAX_TICKS,
            sent,
        }) = from
        else {
            return;
        };
        self.ticks = ticks;
        match sent {
            Some(sent) => {
                for body in flagged(sent) {
                    self.moved[body] = current.differs(baseline, body);
                }
            }
            None => current.compare(baseline, &mut self.moved),
        }
        if !current.precision().position.has_usual_steps() {
            return;
        }
        self.from = Some(Arc::clone(baseline));
        if before.ticks == 0 {
            return;
        }
        let linear = current.plan().linear;
        for body in flagged(&self.moved) {
            let height = current.position(body)[2];
            if height > linear.fall_height && current.is_same_life(baseline, body) {
                let rise = height - baseline.position(body)[2];
                let before = (before.displacement(baseline, body)[2], before.ticks);
                if is_falling(linear.gravity, (rise, ticks), before) {
                    self.falling.set_if(body, true);
                }
            }
        }
    }

    /// The snapshot that the motion starts from and its age in ticks, if it is known.
    pub(crate) fn reference(&self) -> Option<(&QuantizedSnapshot, u16)> {
        let from = self.from.as_deref()?;
        Some((from, self.ticks))
    }

    /// Displacement of a body in 1/512 m; `current` is the snapshot that the motion leads to.
    pub(crate) fn displacement(&self, current: &QuantizedSnapshot, body: usize) -> [i32; 3] {
        self.from.as_ref().map_or([0; 3], |from| {
            if !current.is_same_life(from, body) {
                return [0; 3];
            }
            let (now, then) = (current.position(body), from.position(body));
            std::array::from_fn(|axis| now[axis] - then[axis])
        })
    }

    /// Bytes of memory in use, without what is shared.
    pub(crate) fn count_memory(&self, shared: &mut SharedMemory) -> usize {
        if let Some(from) = &self.from {
            shared.count(from, QuantizedSnapshot::memory_bytes);
        }
        size_of_val(&*self.moved) + self.falling.memory_bytes()
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

#[cfg(test)]
mod tests {
    use super::*;

    const GRAVITY: (i64, i64) = (25, 9);

    #[test]
    fn a_body_counts_as_falling_beyond_half_of_gravity() {
        assert!(is_falling(GRAVITY, (-51, 6), (0, 6)));
        assert!(!is_falling(GRAVITY, (-50, 6), (0, 6)));
        assert!(!is_falling(GRAVITY, (0, 6), (0, 6)));
        assert!(is_falling(GRAVITY, (-30, 6), (30, 6)));
    }
}
