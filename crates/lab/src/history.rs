//! Baselines by sequence, on either side of the link.

use cubewire_codec::{Baseline, Sequence};

/// The last few snapshots that were sent or received. The place of a snapshot is reused when one
/// comes whose number is a multiple of the capacity later.
#[derive(Debug)]
pub(crate) struct History {
    slots: Vec<Option<Baseline>>,
}

impl History {
    /// Room for `capacity` snapshots, a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(capacity.is_power_of_two(), "numbers must wrap evenly");
        Self {
            slots: (0..capacity).map(|_| None).collect(),
        }
    }

    /// The snapshot of that number, if it is still here.
    pub(crate) fn get(&self, sequence: Sequence) -> Option<&Baseline> {
        let slot = usize::from(sequence.0) % self.slots.len();
        self.slots[slot]
            .as_ref()
            .filter(|baseline| baseline.sequence() == sequence)
    }

    /// Takes out the place for a snapshot of that number, with whatever was in it.
    pub(crate) fn take_slot(&mut self, sequence: Sequence) -> Baseline {
        let slot = usize::from(sequence.0) % self.slots.len();
        self.slots[slot].take().unwrap_or_default()
    }

    /// Puts a snapshot in its place.
    pub(crate) fn insert(&mut self, baseline: Baseline) {
        let slot = usize::from(baseline.sequence().0) % self.slots.len();
        self.slots[slot] = Some(baseline);
    }
}
