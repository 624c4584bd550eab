//! Snapshots by tick, at the sender and at the receiver.

use std::collections::VecDeque;

use cubewire_codec::Baseline;

/// A ring of the last snapshots that were sent or received, by the sender's tick. The slot of a tick is the tick
/// modulo the capacity.
///
/// Ticks do not wrap. Sequence numbers wrap every 18 minutes at 60 Hz. A snapshot that is kept during such a long
/// silence must not be confused with a newer one of the same number.
#[derive(Clone, Debug)]
pub struct BaselineRing {
    slots: Vec<Option<(u64, Baseline)>>,
    /// Ticks of the stored snapshots, ascending.
    ticks: VecDeque<u64>,
    /// Dropped snapshots, for reuse of their memory.
    spare: Vec<Baseline>,
}

/// Maximum number of dropped snapshots that are kept for reuse. One ack can drop several snapshots.
const MAX_SPARE: usize = 8;

impl BaselineRing {
    /// Creates an empty ring for `capacity` snapshots.
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "the capacity must not be 0");
        Self {
            slots: (0..capacity).map(|_| None).collect(),
            ticks: VecDeque::with_capacity(capacity + 1),
            spare: Vec::new(),
        }
    }

    /// Returns the snapshot of `tick` if it is still stored.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        let (held, baseline) = self.slots[self.slot(tick)].as_ref()?;
        (*held == tick).then_some(baseline)
    }

    /// Takes the old snapshot out of the slot of `tick`, or else a dropped one, so that its memory can be reused.
    /// Returns an empty snapshot if neither exists.
    #[must_use]
    pub fn take_slot(&mut self, tick: u64) -> Baseline {
        let taken = self.remove(tick).or_else(|| self.spare.pop());
        taken.unwrap_or_default()
    }

    /// Stores a snapshot in its slot. Returns the snapshot that it replaces, so that its memory can be reused.
    pub fn insert(&mut self, tick: u64, baseline: Baseline) -> Option<Baseline> {
        let old = self.remove(tick);
        let index = self.ticks.partition_point(|&held| held < tick);
        self.ticks.insert(index, tick);
        let slot = self.slot(tick);
        self.slots[slot] = Some((tick, baseline));
        old
    }

    /// Drops the snapshots before a tick, except for the newest `count` of them.
    pub fn forget_before(&mut self, tick: u64, count: usize) {
        let before = self.ticks.partition_point(|&held| held < tick);
        for _ in count..before {
            let oldest = self.ticks[0];
            if let Some(baseline) = self.remove(oldest) {
                self.recycle(baseline);
            }
        }
    }

    /// Keeps a snapshot so that its memory can be reused.
    pub fn recycle(&mut self, baseline: Baseline) {
        if self.spare.len() < MAX_SPARE {
            self.spare.push(baseline);
        }
    }

    /// Memory in use for the snapshots, bytes. Shared parts count once.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let held = self.slots.iter().flatten();
        Baseline::memory_bytes_of(held.map(|(_, baseline)| baseline))
    }

    /// Removes the snapshot from the slot of `tick`.
    fn remove(&mut self, tick: u64) -> Option<Baseline> {
        let slot = self.slot(tick);
        let (held, baseline) = self.slots[slot].take()?;
        if let Ok(index) = self.ticks.binary_search(&held) {
            self.ticks.remove(index);
        }
        Some(baseline)
    }

    fn slot(&self, tick: u64) -> usize {
        (tick % self.slots.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_reused_a_capacity_later() {
        let mut ring = BaselineRing::new(4);
        for tick in 0..4 {
            assert!(ring.insert(tick, Baseline::default()).is_none());
        }
        assert!(ring.get(0).is_some());
        assert!(ring.get(4).is_none());
        assert!(ring.insert(4, Baseline::default()).is_some());
        assert!(ring.get(0).is_none());
        assert!(ring.get(4).is_some());
    }

    #[test]
    fn what_is_forgotten_is_reused() {
        let mut ring = BaselineRing::new(16);
        for tick in [0, 1, 3, 2, 7] {
            ring.insert(tick, Baseline::default());
        }
        ring.forget_before(3, 5);
        assert!(ring.get(0).is_some());
        ring.forget_before(3, 1);
        let held = [0, 1, 2, 3, 7].map(|tick| ring.get(tick).is_some());
        assert_eq!(held, [false, false, true, true, true]);
        assert_eq!(ring.spare.len(), 2);
        let _ = ring.take_slot(8);
        assert_eq!(ring.spare.len(), 1);
    }

    #[test]
    fn ticks_with_the_same_sequence_number_are_distinguished() {
        let mut ring = BaselineRing::new(512);
        ring.insert(7, Baseline::default());
        assert!(ring.get(7 + 65_536).is_none());
    }
}
