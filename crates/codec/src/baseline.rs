//! Snapshots that a later packet can be relative to.

use crate::entropy::{AdaptiveState, HeldSnapshot};
use crate::ladder;
use crate::motion::Motion;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Stages;

/// A snapshot as one receiver has it after decoding one packet, with what a later packet may refer
/// to. A default one has no cubes yet: a place for the encoder or the decoder to fill.
///
/// Keep a store of them for each receiver. Two receivers of the same snapshot have different ones,
/// because the stages and the motion in them are those of the packet that each was sent; an encoder
/// that is given another receiver's makes packets that are refused, or decoded wrongly.
///
/// A receiver can only acknowledge what it can decode. So it must hold on to snapshots for longer
/// than the sender goes on naming them, with the time that packets are under way on top: if the
/// sender names none older than `n` ticks and starts again from the initial state instead, `2 × n`
/// are ample. Otherwise one long gap in the acks ends the conversation for good.
///
/// The receiver keeps what [`Decoder::decode`](crate::Decoder::decode) gives it, the sender what
/// [`Encoder::encode`](crate::Encoder::encode) gives it of the same packet: the two are equal.
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

    /// The stages of the packet that brought it.
    #[must_use]
    pub const fn stages(&self) -> Stages {
        self.stages
    }

    /// The cubes.
    #[must_use]
    pub const fn snapshot(&self) -> &QuantizedSnapshot {
        &self.snapshot
    }

    /// By cube: whether it differs from what it was in the snapshot's own baseline, as far as that
    /// is [known](crate::motion).
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

    /// What the entropy coder uses of it.
    pub(crate) fn held(&self) -> HeldSnapshot<'_> {
        HeldSnapshot {
            sequence: self.sequence,
            snapshot: &self.snapshot,
            moved: &self.motion.moved,
            state: self.state.as_deref(),
        }
    }

    /// Becomes what [`Encoder::encode`](crate::Encoder::encode) would make of the same arguments,
    /// without a packet and without what arithmetic coding would learn from it: for tools that follow a
    /// recording. Reuses its memory.
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

    /// The baseline that a packet of these stages names, given the one on offer. None is named
    /// where it would be of no use, or where its integers mean something else: after a change of
    /// precision the packets start again from the initial state.
    pub(crate) fn named(baseline: Option<&Self>, stages: Stages) -> Option<&Self> {
        baseline.filter(|baseline| stages.uses_baseline() && baseline.serves(stages.precision()))
    }

    /// Whether its integers mean the same as those of `precision`.
    pub(crate) fn serves(&self, precision: Precision) -> bool {
        self.snapshot.precision() == precision
    }

    /// Derives everything else from the snapshot that is already here and the baseline that its
    /// packet named. Only cubes among those `sent`, if given, can differ from it.
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
            None => self.motion.forget(self.snapshot.len()),
        }
    }
}
