//! Baselines: decoded snapshots that later packets can be encoded against.

use std::sync::Arc;

use crate::entropy::simulated::SceneBaseline;
use crate::entropy::{BaselineView, StoredState};
use crate::flags::flagged;
use crate::hash::mix;
use crate::limits::MAX_MERGED;
use crate::memory::SharedMemory;
use crate::motion::{Motion, MotionReference};
use crate::sequence::Sequence;
use crate::simulation::{MAX_SEATS, Origin};
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Coverage, Stages};

/// A snapshot as one receiver has it after decoding a packet, with the state that later packets refer to.
/// The default has no bodies. [`Encoder::encode`](crate::Encoder::encode) and
/// [`Decoder::decode`](crate::Decoder::decode) fill it, with equal contents for the same packet.
///
/// Keep a separate store of baselines for each receiver. Two receivers of the same snapshot have different
/// baselines, because stages, motion and adaptive state depend on the packets sent to each of them. An encoder that
/// is given another receiver's baseline writes packets that are refused or decoded wrongly.
///
/// A receiver can only acknowledge packets that it can decode. It must therefore hold snapshots for longer than the
/// sender names them, plus the time that packets are in flight. `2 × n` ticks are enough if the sender falls back to
/// the initial state instead of naming a baseline older than `n` ticks. With fewer, no packet can be decoded any more
/// after one long gap in the acks.
///
/// Baselines share memory. A baseline keeps the snapshot of the baseline that its packet named, and shares with it
/// the pages of the adaptive state that the packet did not change. Baselines of several receivers share [snapshots
/// passed to the encoder as shared](crate::CurrentSnapshot::Shared).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    sequence: Sequence,
    stages: Stages,
    pub(crate) snapshot: Arc<QuantizedSnapshot>,
    pub(crate) motion: Motion,
    /// The adaptive state after the packet, if it was coded arithmetically.
    pub(crate) state: Option<Box<StoredState>>,
    /// The origin that the snapshot was simulated from, and the input of its last tick.
    pub(crate) simulated: Option<(Origin, [u8; MAX_SEATS])>,
    /// Maximum age of packets to merge, relative to this partial packet, in ticks: back to the baseline that the packet
    /// named. 0 for a complete packet.
    merge_reach: u8,
}

impl Baseline {
    /// Sequence number of the snapshot.
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// The stages of the packet that carried it.
    pub const fn stages(&self) -> Stages {
        self.stages
    }

    /// The decoded bodies.
    pub fn snapshot(&self) -> &QuantizedSnapshot {
        &self.snapshot
    }

    /// Whether each body differs from the baseline of the packet that carried the snapshot. All false if
    /// the [motion](crate::motion) is unknown.
    pub fn moved(&self) -> &[bool] {
        &self.motion.moved
    }

    /// Whether the packet carried a body. A partial packet carries the bodies that the sender chose. A complete
    /// packet counts as carrying every body, changed or not.
    ///
    /// # Panics
    /// If `body` is out of range.
    pub fn carried(&self, body: usize) -> bool {
        assert!(body < self.snapshot.len(), "there is no body {body}");
        self.motion.carried(body)
    }

    /// The bodies that the packet [carried](Self::carried), ascending.
    pub fn carried_bodies(&self) -> impl Iterator<Item = usize> {
        let carried = &self.motion.tracks.carried;
        let all = if carried.is_empty() { self.snapshot.len() } else { 0 };
        flagged(carried).chain(0..all)
    }

    /// Age of each body: ticks from the last packet that carried it, [merged](crate::merge) packets included, to this
    /// one. 255 means 255 or more.
    pub fn ages(&self) -> impl Iterator<Item = u8> {
        let ages = &self.motion.tracks.ages;
        let none = self.snapshot.len() - ages.len();
        ages.iter().copied().chain(std::iter::repeat_n(0, none))
    }

    /// Maximum age of packets that can be [merged](crate::merge), relative to this partial packet, in ticks. 0 for a
    /// complete packet.
    pub const fn merge_reach(&self) -> usize {
        self.merge_reach as usize
    }

    /// The origin that the snapshot was simulated from. `None` if its packet carried bodies.
    pub fn origin(&self) -> Option<Origin> {
        self.simulated.map(|(origin, _)| origin)
    }

    /// Hash to look up equal baselines: equal baselines have the same digest, and different ones rarely do. It is
    /// cheap, because it leaves out the bodies and the large tables.
    pub fn digest(&self) -> u64 {
        let Sequence(sequence) = self.sequence;
        let state = self.state.as_ref().map_or(0, |state| state.digest());
        let packet = [sequence, self.motion.ticks, self.merge_reach.into()];
        packet.iter().fold(state, |hash, &part| mix(hash, part.into()))
    }

    /// Bytes of memory of the bodies of several baselines, their motion and the adaptive state. Shared parts are counted
    /// once.
    pub fn memory_bytes_of<'b>(baselines: impl IntoIterator<Item = &'b Self>) -> usize {
        let mut shared = SharedMemory::default();
        let own = baselines.into_iter().map(|baseline| {
            shared.count(&baseline.snapshot, QuantizedSnapshot::memory_bytes);
            let state = baseline.state.as_ref();
            baseline.motion.count_memory(&mut shared)
                + state.map_or(0, |state| state.count_memory(&mut shared))
        });
        own.sum::<usize>() + shared.bytes
    }

    /// Input and age of this baseline, for a packet of a simulated scene that names it.
    pub(crate) fn scene(&self, sequence: Sequence) -> SceneBaseline {
        SceneBaseline {
            ticks: sequence.ticks_since(self.sequence),
            input: self.simulated.map_or([0; MAX_SEATS], |(_, input)| input),
        }
    }

    /// Borrows the parts that the entropy coder uses.
    pub(crate) fn view(&self) -> BaselineView<'_> {
        BaselineView {
            sequence: self.sequence,
            snapshot: &self.snapshot,
            motion: &self.motion,
            state: self.state.as_deref(),
            merged: &[],
            hash: self.state.as_ref().map(|state| state.hash),
        }
    }

    /// Sets this to the baseline that [`Encoder::encode`](crate::Encoder::encode) would fill, but does not encode a
    /// packet and leaves out the adaptive state. For tools that replay a recording. Reuses memory.
    ///
    /// # Panics
    /// If `baseline` and `current` have different numbers of bodies.
    pub fn record(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        current: &QuantizedSnapshot,
        baseline: Option<&Self>,
    ) {
        Arc::make_mut(&mut self.snapshot).copy_from(current);
        let named = Self::named(baseline, stages);
        let initial = Self::default();
        let ticks = named.map(|named| sequence.ticks_since(named.sequence));
        let from = named.unwrap_or(&initial);
        self.finalize(sequence, stages, from, ticks, None, &mut Spares::default());
        self.state = None;
        self.simulated = None;
    }

    /// Returns the baseline that a packet of these stages names, if `baseline` is offered. `None` if the stages do
    /// not use a baseline or if its precision differs: after a change of precision, packets are relative to the
    /// initial state.
    pub(crate) fn named(baseline: Option<&Self>, stages: Stages) -> Option<&Self> {
        baseline.filter(|baseline| {
            stages.uses_baseline() && baseline.snapshot.precision() == stages.precision()
        })
    }

    /// Computes the motion and the packet's data. The snapshot must be set already, and the caller sets `state` and
    /// `simulated`. The packet was relative to `from`, a baseline `ticks` older, or the initial state if `ticks` is
    /// `None`. If `sent` is given, only those bodies can differ from `from`.
    pub(crate) fn finalize(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        from: &Self,
        ticks: Option<u16>,
        sent: Option<&[bool]>,
        spares: &mut Spares,
    ) {
        self.sequence = sequence;
        self.stages = stages;
        let is_partial = stages.coverage() == Coverage::Partial;
        self.merge_reach = match is_partial {
            true => ticks.map_or(MAX_MERGED, |ticks| usize::from(ticks.saturating_sub(1))),
            false => 0,
        }
        .min(MAX_MERGED) as u8;
        let reference = MotionReference {
            snapshot: &from.snapshot,
            motion: &from.motion,
            ticks,
            sent,
            is_partial,
            keeps_past: stages.uses_displacements(),
        };
        self.motion.observe(&self.snapshot, reference, spares);
    }

    /// Copies everything except the adaptive state. The motion gets tracks, so that bodies of other baselines can be
    /// put in with [`merge_bodies`](Self::merge_bodies). `stages` are the stages of the packet that will use the copy.
    pub(crate) fn copy_bodies(&mut self, other: &Self, stages: Stages, spares: &mut Spares) {
        (self.sequence, self.stages) = (other.sequence, other.stages);
        (self.state, self.simulated) = (None, None);
        self.merge_reach = other.merge_reach;
        spares.unshared(&mut self.snapshot).copy_from(&other.snapshot);
        let has_past = stages.uses_displacements();
        self.motion.copy_from(&other.motion, &other.snapshot, has_past, spares);
    }

    /// Copies `bodies` from another baseline, which is `ticks` older, into a copy made by
    /// [`copy_bodies`](Self::copy_bodies).
    pub(crate) fn merge_bodies<I: Iterator<Item = usize>>(
        &mut self,
        bodies: impl Fn() -> I,
        other: &Self,
        ticks: u16,
    ) {
        let snapshot = Arc::get_mut(&mut self.snapshot).expect("a copy does not share it");
        snapshot.put_slots(|| bodies().map(|body| (&*other.snapshot, body)), &bodies);
        self.motion.merge_bodies(&bodies, &other.motion, &other.snapshot, ticks);
    }
}
