//! How cubes moved up to a baseline.
//!
//! Both sides keep, with each snapshot, how it differs from its own baseline. That is known to
//! whoever holds the snapshot, whatever was lost before or since, so it can be used to foresee the
//! next one. It is integer arithmetic, so that both sides get the same result.

use crate::flags::flagged;
use crate::precision::Position;
use crate::snapshot::QuantizedSnapshot;

/// Longest time between two snapshots, in ticks, over which a motion is taken to say anything.
pub const MAX_TICKS: u16 = 64;

/// Gravity in 1/512 m per tick², as a numerator and a denominator: 20 m/s², less the drag on what
/// it adds over twelve ticks.
pub const GRAVITY: (i64, i64) = (25, 9);

/// Height in 1/512 m above which a cube can fall freely: half a metre less a little.
pub const FALL_HEIGHT: i32 = 250;

/// How the cubes of a snapshot moved since its baseline.
///
/// Known only if the packet named a baseline not older than [`MAX_TICKS`]; otherwise every cube
/// counts as unmoved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Motion {
    /// Ticks since the baseline, `1..=MAX_TICKS`; 0 if the motion is not known.
    pub(crate) ticks: u16,
    /// By cube, in 1/512 m. Zero unless positions are quantized.
    pub(crate) displacements: Vec<[i32; 3]>,
    /// By cube: any field differs from the baseline's.
    pub(crate) moved: Vec<bool>,
    /// By cube: it gained downward speed at more than half the rate of gravity.
    pub(crate) falling: Vec<bool>,
}

impl Motion {
    /// Becomes "nothing is known to have moved". Reuses its memory.
    pub(crate) fn forget(&mut self, cubes: usize) {
        self.ticks = 0;
        self.displacements.clear();
        self.displacements.resize(cubes, [0; 3]);
        self.moved.clear();
        self.moved.resize(cubes, false);
        self.falling.clear();
        self.falling.resize(cubes, false);
    }

    /// Becomes the motion that led from `baseline`, which itself had `before`, to `current`,
    /// `ticks` later. Only cubes among `candidates`, if given, can have moved. Reuses its memory.
    pub(crate) fn observe(
        &mut self,
        current: &QuantizedSnapshot,
        baseline: &QuantizedSnapshot,
        before: &Self,
        ticks: u16,
        candidates: Option<&[bool]>,
    ) {
        self.forget(current.len());
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
        if current.precision().position != Position::Quantized {
            return;
        }
        for cube in flagged(&self.moved) {
            let (now, then) = (current.positions[cube], baseline.positions[cube]);
            self.displacements[cube] = std::array::from_fn(|axis| now[axis] - then[axis]);
            self.falling[cube] = now[2] > FALL_HEIGHT
                && before.ticks != 0
                && gained_fall(
                    (self.displacements[cube][2], ticks),
                    (before.displacements[cube][2], before.ticks),
                );
        }
    }

    /// Bytes of memory that it takes up.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.displacements) + size_of_val(&*self.moved) + size_of_val(&*self.falling)
    }
}

/// Whether the change from one vertical displacement to the next, each over its ticks, is faster
/// downward than half of gravity.
fn gained_fall((now, ticks): (i32, u16), (before, before_ticks): (i32, u16)) -> bool {
    let (now, before) = (i64::from(now), i64::from(before));
    let (ticks, before_ticks) = (i64::from(ticks), i64::from(before_ticks));
    // now / ticks − before / before_ticks < −gravity / 2 × (ticks + before_ticks) / 2, times the
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
        assert!(gained_fall((-51, 6), (0, 6)));
        assert!(!gained_fall((-50, 6), (0, 6)));
        assert!(!gained_fall((0, 6), (0, 6)));
        assert!(gained_fall((-30, 6), (30, 6)));
    }
}
