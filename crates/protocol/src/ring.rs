//! Snapshots by tick, at the sender and at the receiver.

use std::collections::VecDeque;

use cubewire_codec::Baseline;

/// The last snapshots that were sent or received, by the sender's tick.
///
/// Ticks do not wrap. Sequence numbers wrap every 18 minutes at 60 Hz. A snapshot that is kept during such a long
/// silence must not be confused with a newer one of the same number.
#[derive(Clone, Debug)]
pub struct BaselineRing {
    capacity: usize,
    /// Ascending by tick.
    snapshots: VecDeque<(u64, Baseline)>,
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
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "the capacity must not be 0");
        Self { capacity, snapshots: VecDeque::with_capacity(capacity + 1), spare: Vec::new() }
    }

    /// Returns the snapshot of `tick` if it is still stored.
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        let index = self.snapshots.binary_search_by_key(&tick, |&(held, _)| held).ok()?;
        Some(&self.snapshots[index].1)
    }

    /// Takes a dropped snapshot, so that its memory can be reused, or creates an empty one. If the ring is full, drops
    /// the oldest snapshot for this.
    pub fn take_spare(&mut self) -> Baseline {
        let is_full = self.snapshots.len() == self.capacity;
        let oldest = self.snapshots.pop_front_if(|_| is_full);
        oldest.map(|(_, baseline)| baseline).or_else(|| self.spare.pop()).unwrap_or_default()
    }

    /// Stores the snapshot of a tick. Returns the one that it replaces, so that its memory can be reused: the earlier
    /// one of this tick, or the oldest one if the ring was full.
    pub fn insert(&mut self, tick: u64, baseline: Baseline) -> Option<Baseline> {
        match self.snapshots.binary_search_by_key(&tick, |&(held, _)| held) {
            Ok(index) => return Some(std::mem::replace(&mut self.snapshots[index].1, baseline)),
            Err(index) => self.snapshots.insert(index, (tick, baseline)),
        }
        let is_over = self.snapshots.len() > self.capacity;
        Some(self.snapshots.pop_front_if(|_| is_over)?.1)
    }

    /// Drops the snapshots before a tick, except for the newest `count` of them.
    pub fn forget_before(&mut self, tick: u64, count: usize) {
        let before = self.snapshots.partition_point(|&(held, _)| held < tick);
        let dropped = self.snapshots.drain(..before.saturating_sub(count));
        let room = MAX_SPARE.saturating_sub(self.spare.len());
        self.spare.extend(dropped.map(|(_, baseline)| baseline).take(room));
    }

    /// Memory in use for the snapshots, bytes. Shared parts count once.
    pub fn memory_bytes(&self) -> usize {
        Baseline::memory_bytes_of(self.snapshots.iter().map(|(_, baseline)| baseline))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held<const N: usize>(ring: &BaselineRing, ticks: [u64; N]) -> [bool; N] {
        ticks.map(|tick| ring.get(tick).is_some())
    }

    #[test]
    fn a_full_ring_drops_the_oldest() {
        let mut ring = BaselineRing::new(4);
        for tick in [0, 1, 3, 2] {
            assert!(ring.insert(tick, Baseline::default()).is_none());
        }
        // The same sequence number, a wrap later.
        assert_eq!(held(&ring, [0, 3, 4, 65_536]), [true, true, false, false]);
        assert!(ring.insert(4, Baseline::default()).is_some());
        assert_eq!(held(&ring, [0, 1, 4]), [false, true, true]);
    }

    #[test]
    fn what_is_forgotten_is_reused() {
        let mut ring = BaselineRing::new(16);
        for tick in [0, 1, 3, 2, 7] {
            ring.insert(tick, Baseline::default());
        }
        ring.forget_before(3, 5);
        assert_eq!(held(&ring, [0]), [true]);
        ring.forget_before(3, 1);
        assert_eq!(held(&ring, [0, 1, 2, 3, 7]), [false, false, true, true, true]);
        assert_eq!(ring.spare.len(), 2);
        let _ = ring.take_spare();
        assert_eq!(ring.spare.len(), 1);
    }
}
