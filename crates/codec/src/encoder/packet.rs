//! What an encoder is given, and what it makes of it.

use std::ops::Deref;
use std::sync::Arc;

use crate::baseline::Baseline;
use crate::ledger::BitLedger;
use crate::precision::Precision;
use crate::simulation::{MAX_STATE_CHUNK_BYTES, Simulated};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::IllegalStages;

/// An encoded snapshot, with counts of its bits and bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// The bytes to send.
    pub bytes: Vec<u8>,
    /// Its bits by kind. Set it to [`BitLedger::itemized`] to list them by body as well.
    pub ledger: BitLedger,
    /// Bodies that differ from the given baseline if its precision is the packet's, and otherwise from the
    /// initial state. Counted also where the stages send every body.
    pub changed_bodies: usize,
    /// Bodies that the packet carries: every body [without delta](crate::stages::Delta::Off); none if the receiver
    /// [simulates](crate::simulation) them; otherwise the changed ones.
    pub sent_bodies: usize,
}

/// The baselines that a packet can be relative to. The receiver must have acknowledged all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Baselines<'a> {
    /// The baseline; `None` stands for the initial state.
    pub baseline: Option<&'a Baseline>,
    /// Two more baselines, up to fifteen ticks older than the first; preferably the two just before it.
    /// Stages that [predict](crate::stages::Delta::ArithmeticPredicted) or
    /// [simulate](crate::stages::Delta::ArithmeticSimulated) estimate velocities with them, others ignore them.
    pub additional: [Option<&'a Baseline>; 2],
    /// What a receiver simulates. Only [`ArithmeticSimulated`](crate::stages::Delta::ArithmeticSimulated) uses it.
    pub simulated: Simulated<'a>,
    /// Packets between a partial baseline and its own, which are [merged](crate::merge) with it. Others are ignored.
    pub merged: &'a [&'a Baseline],
    /// By body: whether a partial packet carries it. One of complete [coverage](crate::Stages::coverage) ignores this.
    pub carried: &'a [bool],
}

impl<'a> From<Option<&'a Baseline>> for Baselines<'a> {
    fn from(baseline: Option<&'a Baseline>) -> Self {
        Self {
            baseline,
            ..Self::default()
        }
    }
}

/// A snapshot to encode, of which the encoder makes a baseline.
#[derive(Clone, Copy, Debug)]
pub enum CurrentSnapshot<'a> {
    /// The baseline has a copy.
    Borrowed(&'a QuantizedSnapshot),
    /// The baseline holds the snapshot itself: a server that sends it to many receivers keeps it once.
    /// [`SnapshotPool`](crate::SnapshotPool) reuses the memory of such snapshots.
    Shared(&'a Arc<QuantizedSnapshot>),
}

impl<'a> From<&'a QuantizedSnapshot> for CurrentSnapshot<'a> {
    fn from(snapshot: &'a QuantizedSnapshot) -> Self {
        Self::Borrowed(snapshot)
    }
}

impl<'a> From<&'a Arc<QuantizedSnapshot>> for CurrentSnapshot<'a> {
    fn from(snapshot: &'a Arc<QuantizedSnapshot>) -> Self {
        Self::Shared(snapshot)
    }
}

impl Deref for CurrentSnapshot<'_> {
    type Target = QuantizedSnapshot;

    fn deref(&self) -> &QuantizedSnapshot {
        match self {
            Self::Borrowed(snapshot) => snapshot,
            Self::Shared(snapshot) => snapshot,
        }
    }
}

/// Why a snapshot cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum EncodeError {
    /// The snapshot was quantized for other stages.
    #[error("the snapshot is quantized as {snapshot:?}, but the stages ask for {stages:?}")]
    Precision {
        /// Precision of the snapshot.
        snapshot: Precision,
        /// Precision of the stages.
        stages: Precision,
    },
    /// The stages are not for this scene.
    #[error(transparent)]
    Stages(#[from] IllegalStages),
    /// The snapshot is of another scene.
    #[error("the snapshot is of another scene than the initial state")]
    Scene,
    /// The number of bodies differs from the initial state's.
    #[error(
        "the snapshot or its baseline has {bodies} bodies, but the initial state has {initial}"
    )]
    BodyCount {
        /// Number of bodies in the snapshot or the baseline.
        bodies: usize,
        /// Number of bodies in the initial state.
        initial: usize,
    },
    /// It is not said of every body whether a partial packet carries it.
    #[error("a partial packet of {bodies} bodies needs as many flags, not {carried}")]
    Carried {
        /// Number of flags.
        carried: usize,
        /// Number of bodies in the snapshot.
        bodies: usize,
    },
    /// The state chunk is too long.
    #[error("a state chunk has {MAX_STATE_CHUNK_BYTES} bytes at most, not {0}")]
    StateChunk(usize),
}
