//! Baselines by sequence, on either side of the link.

use cubewire_codec::{Baseline, Sequence};

use crate::Ack;

/// The sender names no baseline older than this; after a longer gap in the acks it starts again
/// from the initial state.
pub const MAX_BASELINE_AGE_TICKS: u16 = 255;

/// Snapshots that a receiver keeps: twice the sender's, so that it still holds whatever a packet
/// that was long under way names.
pub const RECEIVER_RING: usize = 512;

/// The last few snapshots that were sent or received. The place of a snapshot is reused when one
/// comes whose number is a multiple of the capacity later.
#[derive(Debug)]
pub struct BaselineRing {
    slots: Vec<Option<Baseline>>,
}

impl BaselineRing {
    /// Room for `capacity` snapshots.
    ///
    /// # Panics
    /// If that is not a power of two, or more than 2¹⁵.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(
            capacity.is_power_of_two() && capacity <= 1 << 15,
            "{capacity} places: numbers must wrap evenly"
        );
        Self {
            slots: (0..capacity).map(|_| None).collect(),
        }
    }

    /// The snapshot of that number, if it is still here.
    #[must_use]
    pub fn get(&self, sequence: Sequence) -> Option<&Baseline> {
        self.slots[self.slot(sequence)]
            .as_ref()
            .filter(|baseline| baseline.sequence() == sequence)
    }

    /// Takes out the place for a snapshot of that number, with whatever was in it: memory for the
    /// encoder or decoder to fill.
    #[must_use]
    pub fn take_slot(&mut self, sequence: Sequence) -> Baseline {
        let slot = self.slot(sequence);
        self.slots[slot].take().unwrap_or_default()
    }

    /// Puts a snapshot in its place, and gives back what was there: memory to use again.
    pub fn insert(&mut self, baseline: Baseline) -> Option<Baseline> {
        let slot = self.slot(baseline.sequence());
        self.slots[slot].replace(baseline)
    }

    fn slot(&self, sequence: Sequence) -> usize {
        usize::from(sequence.0) % self.slots.len()
    }
}

/// The sender's side for one receiver: what it sent, and the newest of it that it knows to be held.
#[derive(Debug)]
pub struct SentBaselines {
    ring: BaselineRing,
    newest_acked: Option<Sequence>,
}

impl Default for SentBaselines {
    fn default() -> Self {
        Self::new()
    }
}

impl SentBaselines {
    /// Nothing sent yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            ring: BaselineRing::new(usize::from(MAX_BASELINE_AGE_TICKS) + 1),
            newest_acked: None,
        }
    }

    /// The receiver has decoded a snapshot. Acks that are no news are ignored, and so are those of
    /// snapshots that were never sent or are gone.
    pub fn on_ack(&mut self, ack: Ack) {
        let is_news = self
            .newest_acked
            .is_none_or(|acked| ack.newest.is_newer_than(acked));
        if is_news && self.ring.get(ack.newest).is_some() {
            self.newest_acked = Some(ack.newest);
        }
    }

    /// The newest snapshot that is known to be held, to encode number `next` against. None before
    /// the first ack, and once it is older than [`MAX_BASELINE_AGE_TICKS`].
    pub fn baseline(&mut self, next: Sequence) -> Option<&Baseline> {
        let acked = self.newest_acked?;
        if next.ticks_since(acked) > MAX_BASELINE_AGE_TICKS {
            self.newest_acked = None;
        }
        self.ring.get(self.newest_acked?)
    }

    /// The number of that snapshot.
    #[must_use]
    pub const fn newest_acked(&self) -> Option<Sequence> {
        self.newest_acked
    }

    /// A snapshot that was sent, if it is still here.
    #[must_use]
    pub fn get(&self, sequence: Sequence) -> Option<&Baseline> {
        self.ring.get(sequence)
    }

    /// See [`BaselineRing::take_slot`].
    #[must_use]
    pub fn take_slot(&mut self, sequence: Sequence) -> Baseline {
        self.ring.take_slot(sequence)
    }

    /// Keeps what was sent.
    pub fn insert(&mut self, baseline: Baseline) {
        self.ring.insert(baseline);
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::UNCOMPRESSED;
    use cubewire_codec::{CubeState, QuantizedSnapshot, Snapshot};

    use super::*;

    fn baseline(sequence: u16) -> Baseline {
        let mut quantized = QuantizedSnapshot::new(UNCOMPRESSED.stages.precision());
        let snapshot = Snapshot {
            cubes: vec![CubeState::default()],
        };
        quantized
            .quantize(&snapshot, UNCOMPRESSED.stages.precision())
            .unwrap();
        let mut baseline = Baseline::default();
        baseline.record(Sequence(sequence), UNCOMPRESSED.stages, &quantized, None);
        baseline
    }

    const fn ack(sequence: u16) -> Ack {
        Ack {
            newest: Sequence(sequence),
        }
    }

    #[test]
    fn a_place_is_reused_a_capacity_later_and_never_mistaken() {
        let mut ring = BaselineRing::new(4);
        ring.insert(baseline(65_535));
        ring.insert(baseline(0));
        assert!(ring.get(Sequence(65_535)).is_some());
        assert!(ring.get(Sequence(0)).is_some());
        assert!(ring.get(Sequence(4)).is_none());
        ring.insert(baseline(4));
        assert!(ring.get(Sequence(0)).is_none());
    }

    #[test]
    fn nothing_serves_as_a_baseline_before_its_ack() {
        let mut sent = SentBaselines::new();
        sent.insert(baseline(1));
        assert!(sent.baseline(Sequence(2)).is_none());
        sent.on_ack(ack(1));
        assert_eq!(sent.baseline(Sequence(2)).unwrap().sequence(), Sequence(1));
    }

    #[test]
    fn late_acks_and_acks_of_what_was_never_sent_change_nothing() {
        let mut sent = SentBaselines::new();
        for sequence in [65_534, 65_535, 0] {
            sent.insert(baseline(sequence));
        }
        sent.on_ack(ack(0));
        sent.on_ack(ack(65_534));
        sent.on_ack(ack(7));
        assert_eq!(sent.newest_acked(), Some(Sequence(0)));
    }

    #[test]
    fn after_a_long_silence_there_is_no_baseline_until_a_new_ack() {
        let mut sent = SentBaselines::new();
        sent.insert(baseline(1));
        sent.on_ack(ack(1));
        assert!(
            sent.baseline(Sequence(1 + MAX_BASELINE_AGE_TICKS))
                .is_some()
        );
        assert!(
            sent.baseline(Sequence(2 + MAX_BASELINE_AGE_TICKS))
                .is_none()
        );
        sent.insert(baseline(300));
        sent.on_ack(ack(300));
        assert!(sent.baseline(Sequence(301)).is_some());
    }
}
