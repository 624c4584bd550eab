//! Baselines: snapshots that later packets can be relative to.

use std::sync::Arc;

use crate::entropy::simulated::SceneBaseline;
use crate::entropy::{BaselineView, StoredState};
use crate::flags::flagged;
use crate::hash::mix;
use crate::ladder;
use crate::limits::MAX_MERGED;
use crate::memory::SharedMemory;
use crate::motion::{Motion, Origin as MotionOrigin, TakingMotion, TrackedOrigin};
use crate::plan::Plan;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::simulation::Origin;
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Coverage, Stages};

/// A snapshot as one receiver has it after decoding a packet, with the state that later packets refer to.
/// The default has no bodies, and is filled by the encoder or the decoder.
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
///
/// Baselines share memory: with the baseline that their packet named, its snapshot and the parts of the adaptive
/// state that the packet left as they were; with the baselines of other receivers, [snapshots that the encoder
/// was given to share](crate::CurrentSnapshot::Shared).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Baseline {
    sequence: Sequence,
    stages: Stages,
    pub(crate) snapshot: Arc<QuantizedSnapshot>,
    pub(crate) motion: Motion,
    /// The adaptive state after the packet, if it was coded arithmetically.
    pub(crate) state: Option<Box<StoredState>>,
    /// The origin that its packet was simulated from, and the input of its tick.
    pub(crate) simulated: Option<(Origin, u8)>,
    /// Ticks before its packet in which others can be merged with it, if that was partial.
    merge_reach: u8,
}

impl Default for Baseline {
    fn default() -> Self {
        let stages = ladder::UNCOMPRESSED.stages;
        Self {
            sequence: Sequence::default(),
            stages,
            snapshot: Arc::new(QuantizedSnapshot::new(Plan::cubes(), stages.precision())),
            motion: Motion::default(),
            state: None,
            simulated: None,
            merge_reach: 0,
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

    /// The bodies.
    #[must_use]
    pub fn snapshot(&self) -> &QuantizedSnapshot {
        &self.snapshot
    }

    /// By body: whether it differs from the baseline of the packet that carried the snapshot; all false if
    /// the [motion](crate::motion) is unknown.
    #[must_use]
    pub fn moved(&self) -> &[bool] {
        &self.motion.moved
    }

    /// Whether the packet carried a body: of a partial one, those that the sender chose; otherwise all, whether they had
    /// changed or not.
    ///
    /// # Panics
    /// If there is no such body.
    #[must_use]
    pub fn carried(&self, body: usize) -> bool {
        assert!(body < self.snapshot.len(), "there is no body {body}");
        self.motion.carried(body)
    }

    /// The bodies that the packet [carried](Self::carried), ascending.
    pub fn carried_bodies(&self) -> impl Iterator<Item = usize> {
        let carried = &self.motion.tracks.carried;
        let all = if carried.is_empty() {
            self.snapshot.len()
        } else {
            0
        };
        flagged(carried).chain(0..all)
    }

    /// By body: ticks from the last packet that carried it, or what is [merged](crate::merge) of it, to this one; 255 for
    /// as many or more.
    pub fn ages(&self) -> impl Iterator<Item = u8> {
        let ages = &self.motion.tracks.ages;
        let none = self.snapshot.len() - ages.len();
        ages.iter().copied().chain(std::iter::repeat_n(0, none))
    }

    /// Ticks before the packet in which others can be [merged](crate::merge) with it.
    #[must_use]
    pub const fn merge_reach(&self) -> usize {
        self.merge_reach as usize
    }

    /// The origin that the snapshot was simulated from; none if its packet carried bodies.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        self.simulated.map(|(origin, _)| origin)
    }

    /// A hash that equal baselines have in common, and that others seldom have. It takes no time to compute: the large parts
    /// are left out.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let Sequence(sequence) = self.sequence;
        let state = self.state.as_ref().map_or(0, |state| state.digest());
        let packet = [sequence, self.motion.ticks, self.merge_reach.into()];
        packet
            .iter()
            .fold(state, |hash, &part| mix(hash, part.into()))
    }

    /// Bytes of memory that the bodies, their motion and the adaptive state take up.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        Self::memory_bytes_of([self])
    }

    /// Bytes of memory that several baselines take up. What they share counts once.
    #[must_use]
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

    /// What a packet of a simulated scene that names this baseline refers to.
    pub(crate) fn scene(&self, sequence: Sequence) -> SceneBaseline {
        SceneBaseline {
            ticks: sequence.ticks_since(self.sequence),
            input: self.simulated.map_or(0, |(_, input)| input),
        }
    }

    /// The parts that the entropy coder uses.
    pub(crate) fn held(&self) -> BaselineView<'_> {
        BaselineView {
            sequence: self.sequence,
            snapshot: &self.snapshot,
            motion: &self.motion,
            state: self.state.as_deref(),
            merged: &[],
            hash: self.state.as_ref().map(|state| state.hash),
        }
    }

    /// Sets this to the baseline that [`Encoder::encode`](crate::Encoder::encode) would fill, without
    /// encoding a packet and without an adaptive state: for tools that replay a recording. Reuses its memory.
    ///
    /// # Panics
    /// If the baseline has another number of bodies.
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

    /// Derives everything else from the snapshot, which must be set already, and from what its packet was relative to: a
    /// baseline of `ticks` ago, or the initial state. If `sent` is given, only those bodies can differ from it.
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
        if is_partial || !from.motion.tracks.is_empty() {
            let origin = TrackedOrigin {
                snapshot: &from.snapshot,
                motion: &from.motion,
                ticks,
                carried: sent.filter(|_| is_partial),
                keeps_past: stages.uses_displacements(),
            };
            self.motion.observe_tracked(&self.snapshot, origin, spares);
            return;
        }
        let origin = ticks.map(|ticks| MotionOrigin {
            snapshot: &from.snapshot,
            motion: &from.motion,
            ticks,
            sent,
        });
        self.motion.observe(&self.snapshot, origin, spares);
    }

    /// Copies all but the adaptive state, with a motion of tracks, for a packet of these stages.
    pub(crate) fn copy_bodies(&mut self, other: &Self, stages: Stages, spares: &mut Spares) {
        (self.sequence, self.stages) = (other.sequence, other.stages);
        (self.state, self.simulated) = (None, None);
        self.merge_reach = other.merge_reach;
        spares
            .unshared(&mut self.snapshot)
            .copy_from(&other.snapshot);
        let has_past = stages.uses_displacements();
        self.motion
            .copy_from(&other.motion, &other.snapshot, has_past, spares);
    }

    /// To take bodies of other baselines, after [`copy_bodies`](Self::copy_bodies).
    pub(crate) fn taking(&mut self, spares: &mut Spares) -> Taking<'_> {
        Taking {
            snapshot: spares.unshared(&mut self.snapshot),
            motion: self.motion.taking(),
        }
    }

    /// Displacement of a body since the baseline of the packet, in 1/512 m: zero if the
    /// [motion](crate::motion) is unknown, and unless positions are in 512 steps per metre, because no other
    /// stages use it.
    pub(crate) fn displacement(&self, body: usize) -> [i32; 3] {
        self.motion.displacement(&self.snapshot, body)
    }
}

/// A baseline that takes bodies of others.
pub(crate) struct Taking<'a> {
    pub(crate) snapshot: &'a mut QuantizedSnapshot,
    motion: TakingMotion<'a>,
}

impl Taking<'_> {
    /// Takes bodies of another baseline, which is older by `ticks`.
    pub(crate) fn take<I: Iterator<Item = usize>>(
        &mut self,
        bodies: impl Fn() -> I,
        other: &Baseline,
        ticks: u16,
    ) {
        let from = || bodies().map(|body| (&*other.snapshot, body));
        self.snapshot.put_slots(from, &bodies);
        self.motion
            .take(&bodies, &other.motion, &other.snapshot, ticks);
    }
}
