//! The motion of cubes on the way to a baseline.
//!
//! Both sides keep, with each snapshot, how it differs from its own baseline. Both know this motion whatever
//! other packets were lost, so that it can be used to predict the next snapshot. All arithmetic is in
//! integers, so that both sides get the same result.

use crate::flags::flagged;
use crate::snapshot::QuantizedSnapshot;

/// Maximum time between two snapshots, in ticks, for a known motion.
pub const MAX_TICKS: u16 = 64;

/// Gravity in 1/512 m per tick², as a numerator and a denominator: 20 m/s², reduced by the drag over twelve
/// ticks.
pub const GRAVITY: (i64, i64) = (25, 9);

/// Height in 1/512 m above which a cube can fall freely: a little less than half a metre.
pub const FALL_HEIGHT: i32 = 250;

/// The motion of the cubes of a snapshot since its baseline.
///
/// It is known only if the packet named a baseline at most [`MAX_TICKS`] old; otherwise no cube counts as
/// moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    /// Ticks since the baseline, `1..=MAX_TICKS`; 0 if the motion is unknown.
    pub(crate) ticks: u16,
    /// By cube, in 1/512 m. Zero unless positions are quantized in 512 steps per metre: no other stages
    /// use it.
    pub(crate) displacements: Vec<[i32; 3]>,
    /// By cube: any field differs from the baseline's.
    pub(crate) moved: Vec<bool>,
    /// By cube: its downward acceleration was above half of gravity.
    pub(crate) falling: Vec<bool>,
}

impl Motion {
    /// Sets this to the unknown motion. Reuses its memory.
    pub(crate) fn reset(&mut self, cubes: usize) {
        self.ticks = 0;
        self.displacements.clear();
        self.displacements.resize(cubes, [0; 3]);
        self.moved.clear();
        self.moved.resize(cubes, false);
        self.falling.clear();
        self.falling.resize(cubes, false);
    }

    /// Sets this to the motion from `baseline`, whose own motion is `before`, to `current`, `ticks` later. If
    /// `candidates` is given, only those cubes can have moved. Reuses its memory.
    pub(crate) fn observe(
        &mut self,
        current: &QuantizedSnapshot,
        baseline: &QuantizedSnapshot,
        before: &Self,
        ticks: u16,
        candidates: Option<&[bool]>,
    ) {
        self.reset(current.len());
        if ticks == 0 || ticks > MAX_TICKS {
            return;
        }
        self.ticks = ticks;
        match candidates {
            Some(candidates) => {
                for cube in flagged(candidates) {
                    self.moved[cube] = current.differs(baseline, cube);
                }
            }
            None => current.compare(baseline, &mut self.moved),
        }
        if !current.precision().position.has_usual_steps() {
            return;
        }
        for cube in flagged(&self.moved) {
            let (now, then) = (current.positions[cube], baseline.positions[cube]);
            self.displacements[cube] = std::array::from_fn(|axis| now[axis] - then[axis]);
            self.falling[cube] = now[2] > FALL_HEIGHT
                && before.ticks != 0
                && is_falling(
                    (self.displacements[cube][2], ticks),
                    (before.displacements[cube][2], before.ticks),
                );
        }
    }

    /// Bytes of memory in use.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.displacements) + size_of_val(&*self.moved) + size_of_val(&*self.falling)
    }
}

/// Whether the downward acceleration between two vertical displacements, each over its ticks, is above half
/// of gravity.
fn is_falling((now, ticks): (i32, u16), (before, before_ticks): (i32, u16)) -> bool {
    let (now, before) = (i64::from(now), i64::from(before));
    let (ticks, before_ticks) = (i64::from(ticks), i64::from(before_ticks));
    // now / ticks − before / before_ticks < −gravity / 2 × (ticks + before_ticks) / 2, multiplied by the
    // denominators.
    let (numerator, denominator) = GRAVITY;
    (now * before_ticks - before * ticks) * 4 * denominator
        < -numerator * (ticks + before_ticks) * ticks * before_ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_counts_as_falling_beyond_half_of_gravity() {
        assert!(is_falling((-51, 6), (0, 6)));
        assert!(!is_falling((-50, 6), (0, 6)));
        assert!(!is_falling((0, 6), (0, 6)));
        assert!(is_falling((-30, 6), (30, 6)));
    }
}
