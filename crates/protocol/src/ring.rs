//! Snapshots by tick, at the sender and at the receiver.

use std::collections::VecDeque;
use std::mem;

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
        Self { capacity, snapshots: VecDeque::with_capacity(capacity), spare: Vec::new() }
    }

    /// Returns the snapshot of `tick` if it is still stored.
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        let index = self.snapshots.binary_search_by_key(&tick, |&(held, _)| held).ok()?;
        Some(&self.snapshots[index].1)
    }

    /// Stores the snapshot of a tick. Leaves a dropped or empty one in `snapshot`, so that its memory can be reused.
    pub fn store(&mut self, tick: u64, snapshot: &mut Baseline) {
        if let Ok(index) = self.snapshots.binary_search_by_key(&tick, |&(held, _)| held) {
            return mem::swap(&mut self.snapshots[index].1, snapshot);
        }
        let is_full = self.snapshots.len() == self.capacity;
        let oldest = self.snapshots.pop_front_if(|_| is_full).map(|(_, oldest)| oldest);
        let spare = oldest.or_else(|| self.spare.pop()).unwrap_or_default();
        let index = self.snapshots.partition_point(|&(held, _)| held < tick);
        self.snapshots.insert(index, (tick, mem::replace(snapshot, spare)));
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
            ring.store(tick, &mut Baseline::default());
        }
        // The same sequence number, a wrap later.
        assert_eq!(held(&ring, [0, 3, 4, 65_536]), [true, true, false, false]);
        ring.store(4, &mut Baseline::default());
        assert_eq!(held(&ring, [0, 1, 4]), [false, true, true]);
    }

    #[test]
    fn what_is_forgotten_is_reused() {
        let mut ring = BaselineRing::new(16);
        for tick in [0, 1, 3, 2, 7] {
            ring.store(tick, &mut Baseline::default());
        }
        ring.forget_before(3, 5);
        assert_eq!(held(&ring, [0]), [true]);
        ring.forget_before(3, 1);
        assert_eq!(held(&ring, [0, 1, 2, 3, 7]), [false, false, true, true, true]);
        assert_eq!(ring.spare.len(), 2);
        ring.store(8, &mut Baseline::default());
        assert_eq!(ring.spare.len(), 1);
    }
}
