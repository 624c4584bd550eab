//! Baselines: snapshots that later packets can be relative to.

use crate::entropy::{AdaptiveState, HeldSnapshot};
use crate::ladder;
use crate::motion::Motion;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Stages;

/// A snapshot as one receiver has it after decoding a packet, with the state that later packets refer to.
/// The default has no cubes, and is filled by the encoder or the decoder.
///
/// Keep a separate store of baselines for each receiver. Two receivers of the same snapshot have different
/// baselines, because stages, motion and adaptive state depend on the packets that each was sent. With
/// another receiver's baseline, an encoder writes packets that are refused or decoded wrongly.
///
/// A receiver can only acknowledge packets that it can decode, so it must hold snapshots for longer than the
/// sender names them, plus the time that packets are in flight. If the sender falls back to the initial state
/// rather than name a baseline older than `n` ticks, `2 × n` ticks are enough. Otherwise, after one long gap
/// in the acks, no packet can be decoded any more.
///
/// [`Encoder::encode`](crate::Encoder::encode) and [`Decoder::decode`](crate::Decoder::decode) fill equal
/// baselines for the same packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    sequence: Sequence,
    stages: Stages,
    pub(crate) snapshot: QuantizedSnapshot,
    pub(crate) motion: Motion,
    /// The adaptive state after the packet, if it was coded arithmetically.
    pub(crate) state: Option<Box<AdaptiveState>>,
}

impl Default for Baseline {
    fn default() -> Self {
        let stages = ladder::UNCOMPRESSED.stages;
        Self {
            sequence: Sequence::default(),
            stages,
            snapshot: QuantizedSnapshot::new(stages.precision()),
            motion: Motion::default(),
            state: None,
        }
    }
}

impl Baseline {
    /// The snapshot's number.
    #[must_use]
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// The stages of the packet that carried it.
    #[must_use]
    pub const fn stages(&self) -> Stages {
        self.stages
    }

    /// The cubes.
    #[must_use]
    pub const fn snapshot(&self) -> &QuantizedSnapshot {
        &self.snapshot
    }

    /// By cube: whether it differs from the baseline of the packet that carried the snapshot; all false if
    /// the [motion](crate::motion) is unknown.
    #[must_use]
    pub fn moved(&self) -> &[bool] {
        &self.motion.moved
    }

    /// Bytes of memory that the cubes, their motion and the adaptive state take up.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let state = self.state.as_ref();
        self.snapshot.memory_bytes()
            + self.motion.memory_bytes()
            + state.map_or(0, |state| state.memory_bytes())
    }

    /// The parts that the entropy coder uses.
    pub(crate) fn held(&self) -> HeldSnapshot<'_> {
        HeldSnapshot {
            sequence: self.sequence,
            snapshot: &self.snapshot,
            moved: &self.motion.moved,
            state: self.state.as_deref(),
        }
    }

    /// Sets this to the baseline that [`Encoder::encode`](crate::Encoder::encode) would fill, without
    /// encoding a packet and without an adaptive state: for tools that replay a recording. Reuses its memory.
    ///
    /// # Panics
    /// If the baseline has another number of cubes.
    pub fn record(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: Option<&Self>,
    ) {
        self.snapshot.copy_from(current);
        self.finalize(sequence, stages, Self::named(baseline, stages), None);
        self.state = None;
    }

    /// The baseline that a packet of these stages names, given the offered one: none if the stages do not use
    /// a baseline, or if its precision differs. After a change of precision, packets are relative to the
    /// initial state.
    pub(crate) fn named(baseline: Option<&Self>, stages: Stages) -> Option<&Self> {
        baseline
            .filter(|baseline| stages.uses_baseline() && baseline.has_precision(stages.precision()))
    }

    /// Whether its integers are in `precision`.
    pub(crate) fn has_precision(&self, precision: Precision) -> bool {
        self.snapshot.precision() == precision
    }

    /// Derives everything else from the snapshot, which must be set already, and the baseline that its packet
    /// named. If `sent` is given, only those cubes can differ from it.
    pub(crate) fn finalize(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        named: Option<&Self>,
        sent: Option<&[bool]>,
    ) {
        self.sequence = sequence;
        self.stages = stages;
        match named {
            Some(baseline) => self.motion.observe(
                &self.snapshot,
                &baseline.snapshot,
                &baseline.motion,
                sequence.ticks_since(baseline.sequence),
                sent,
            ),
            None => self.motion.reset(self.snapshot.len()),
        }
    }
}
