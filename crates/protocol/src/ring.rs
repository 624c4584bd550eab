//! Snapshots by tick, on either side of the link.

use cubewire_codec::Baseline;

/// The last few snapshots that were sent or received, by the sender's tick. The place of one is
/// reused by the one whose tick is a multiple of the capacity later.
///
/// Ticks do not wrap. Sequence numbers do, every 18 minutes at 60 Hz, and a snapshot that stayed
/// through a silence as long must not be taken for another of the same number.
#[derive(Clone, Debug)]
pub struct BaselineRing {
    slots: Vec<Option<(u64, Baseline)>>,
}

impl BaselineRing {
    /// Room for `capacity` snapshots.
    ///
    /// # Panics
    /// If that is 0.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "a ring has places");
        Self {
            slots: (0..capacity).map(|_| None).collect(),
        }
    }

    /// The snapshot of that tick, if it is still here.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        let (held, baseline) = self.slots[self.slot(tick)].as_ref()?;
        (*held == tick).then_some(baseline)
    }

    /// Takes out the place for a snapshot of that tick, with whatever was in it: memory for the
    /// encoder or decoder to fill.
    #[must_use]
    pub fn take_slot(&mut self, tick: u64) -> Baseline {
        let slot = self.slot(tick);
        let taken = self.slots[slot].take();
        taken.map(|(_, baseline)| baseline).unwrap_or_default()
    }

    /// Puts a snapshot in its place, and gives back what was there: memory to use again.
    pub fn insert(&mut self, tick: u64, baseline: Baseline) -> Option<Baseline> {
        let slot = self.slot(tick);
        let old = self.slots[slot].replace((tick, baseline));
        old.map(|(_, baseline)| baseline)
    }

    /// Bytes of memory that the snapshots take up.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let held = self.slots.iter().flatten();
        held.map(|(_, baseline)| baseline.memory_bytes()).sum()
    }

    fn slot(&self, tick: u64) -> usize {
        (tick % self.slots.len() as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_reused_a_capacity_later() {
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
    fn ticks_of_one_sequence_number_are_told_apart() {
        let mut ring = BaselineRing::new(512);
        ring.insert(7, Baseline::default());
        assert!(ring.get(7 + 65_536).is_none());
    }
}
