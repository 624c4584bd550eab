//! Snapshots by tick, on either side of the link.

use cubewire_codec::Baseline;

/// A ring of the last snapshots that were sent or received, by the sender's tick. A tick's slot is its
/// remainder modulo the capacity.
///
/// Ticks do not wrap. Sequence numbers do, every 18 minutes at 60 Hz, and a snapshot held through so
/// long a silence must not be confused with a newer one of the same number.
#[derive(Clone, Debug)]
pub struct BaselineRing {
    slots: Vec<Option<(u64, Baseline)>>,
}

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
        }
    }

    /// The snapshot of `tick`, if it is still held.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        let (held, baseline) = self.slots[self.slot(tick)].as_ref()?;
        (*held == tick).then_some(baseline)
    }

    /// Takes the old snapshot out of the slot for `tick`, so that its memory can be reused; an empty
    /// one if the slot was free.
    #[must_use]
    pub fn take_slot(&mut self, tick: u64) -> Baseline {
        let slot = self.slot(tick);
        let taken = self.slots[slot].take();
        taken.map(|(_, baseline)| baseline).unwrap_or_default()
    }

    /// Puts a snapshot into its slot. Returns the one that it replaces, so that its memory can be
    /// reused.
    pub fn insert(&mut self, tick: u64, baseline: Baseline) -> Option<Baseline> {
        let slot = self.slot(tick);
        let old = self.slots[slot].replace((tick, baseline));
        old.map(|(_, baseline)| baseline)
    }

    /// Memory held by the snapshots, bytes. What several of them share counts once.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let held = self.slots.iter().flatten();
        Baseline::memory_bytes_of(held.map(|(_, baseline)| baseline))
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
    fn ticks_with_the_same_sequence_number_are_distinguished() {
        let mut ring = BaselineRing::new(512);
        ring.insert(7, Baseline::default());
        assert!(ring.get(7 + 65_536).is_none());
    }
}
