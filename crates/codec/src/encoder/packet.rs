//! Arguments and result of [`Encoder::encode`](super::Encoder::encode).

use std::ops::Deref;
use std::sync::Arc;

use crate::baseline::Baseline;
use crate::ledger::BitLedger;
use crate::precision::Precision;
use crate::simulation::{MAX_STATE_CHUNK_BYTES, Simulated};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::IllegalStages;

/// An encoded snapshot, with the number of its bits and bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// The bytes to send.
    pub bytes: Vec<u8>,
    /// Bits of the packet by kind. Set it to [`BitLedger::itemized`] to list them by body as well.
    pub ledger: BitLedger,
    /// Number of bodies that differ from the given baseline if its precision equals the packet's, and otherwise from
    /// the initial state. Also counted if the stages send every body.
    pub changed_bodies: usize,
    /// Number of bodies in the packet: all bodies [without delta](crate::stages::Delta::Off), 0 if the receiver
    /// [simulates](crate::simulation) them, and the changed bodies otherwise. A partial packet counts the bodies that
    /// the sender chose.
    pub sent_bodies: usize,
}

/// Baselines that a packet can be relative to. The receiver must have acknowledged all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Baselines<'a> {
    /// The baseline; `None` stands for the initial state.
    pub baseline: Option<&'a Baseline>,
    /// Two more baselines, up to 15 ticks older than the first; preferably the two just before it.
    /// Stages that [predict](crate::stages::Delta::ArithmeticPredicted) or
    /// [simulate](crate::stages::Delta::ArithmeticSimulated) estimate velocities from them. Other stages ignore them.
    pub additional: [Option<&'a Baseline>; 2],
    /// Data for a receiver that simulates. Only
    /// [`ArithmeticSimulated`](crate::stages::Delta::ArithmeticSimulated) uses it.
    pub simulated: Simulated<'a>,
    /// Baselines to [merge](crate::merge) into a partial `baseline`: those with sequence numbers between it and the
    /// baseline that its own packet named. Others are ignored.
    pub merged: &'a [&'a Baseline],
    /// Whether each body is in a partial packet. Ignored if the [coverage](crate::Stages::coverage) is complete.
    pub carried: &'a [bool],
}

impl<'a> From<Option<&'a Baseline>> for Baselines<'a> {
    fn from(baseline: Option<&'a Baseline>) -> Self {
        Self { baseline, ..Self::default() }
    }
}

/// A snapshot to encode. The encoder also stores it in the new baseline.
#[derive(Clone, Copy, Debug)]
pub enum CurrentSnapshot<'a> {
    /// The baseline gets a copy.
    Borrowed(&'a QuantizedSnapshot),
    /// The baseline shares the snapshot. A server that sends it to many receivers keeps one copy.
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

/// Error of encoding a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the variants and their fields")]
pub enum EncodeError {
    #[error("the snapshot is quantized as {snapshot:?}, but the stages ask for {stages:?}")]
    Precision { snapshot: Precision, stages: Precision },
    #[error(transparent)]
    Stages(#[from] IllegalStages),
    #[error("the snapshot and the initial state have different scenes")]
    Scene,
    #[error("the inputs are of {inputs} seats, but the scene has {scene}")]
    Seats { inputs: u8, scene: u8 },
    #[error(
        "the snapshot or its baseline has {bodies} bodies, but the initial state has {initial}"
    )]
    BodyCount { bodies: usize, initial: usize },
    /// The length of [`Baselines::carried`] differs from the number of bodies.
    #[error("a partial packet of {bodies} bodies needs one flag per body, not {carried} flags")]
    Carried { carried: usize, bodies: usize },
    #[error("a state chunk has {MAX_STATE_CHUNK_BYTES} bytes at most, not {0}")]
    StateChunk(usize),
}
