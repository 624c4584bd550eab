//! Snapshots that a later packet can be relative to.

use crate::motion::Motion;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Stages;

/// A snapshot as the receiver has it after decoding, with what a later packet may refer to.
///
/// The receiver keeps what [`Decoder::decode`](crate::Decoder::decode) gives it, the sender what
/// [`Encoder::encode`](crate::Encoder::encode) gives it of the same packet: the two are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    sequence: Sequence,
    stages: Stages,
    pub(crate) snapshot: QuantizedSnapshot,
    pub(crate) motion: Motion,
}

impl Baseline {
    /// A place to record a snapshot in, with no cubes yet.
    #[must_use]
    pub fn new(stages: Stages) -> Self {
        Self {
            sequence: Sequence::default(),
            stages,
            snapshot: QuantizedSnapshot::new(stages.precision()),
            motion: Motion::default(),
        }
    }

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

    /// Bytes of memory that the cubes and their motion take up.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.snapshot.memory_bytes() + self.motion.memory_bytes()
    }

    /// Becomes what [`Encoder::encode`](crate::Encoder::encode) would make of the same arguments,
    /// without a packet: for tools that follow a recording. Reuses its memory.
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
        self.settle(sequence, stages, Self::named(baseline, stages), None);
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
    pub(crate) fn settle(
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
