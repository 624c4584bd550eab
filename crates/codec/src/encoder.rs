//! Encodes snapshots as packets.

use std::ops::Deref;
use std::sync::Arc;

use crate::baseline::Baseline;
use crate::bits::{BitStream, Writing};
use crate::body::{BodyCoder, SlotCoder};
use crate::entropy::coder::BinEncoder;
use crate::entropy::simulated::has_long_check;
use crate::entropy::{
    BitCostObserver, CHECK_BITS, Coder, CodingContext, FixedBins, SnapshotHash, StoredState,
    TrainedModel, Variant,
};
use crate::flags::{count, flagged};
use crate::header::Header;
use crate::initial::{InitialState, InitialStateError};
use crate::ledger::{BitKind, BitLedger};
use crate::limits::Limits;
use crate::merge::{Merged, Merges};
use crate::plan::Plan;
use crate::precision::Precision;
use crate::relation::Relation;
use crate::selection;
use crate::sequence::Sequence;
use crate::simulation::{MAX_STATE_CHUNK_BYTES, Simulated};
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Coverage, Delta, IllegalStages, Stages};
use crate::state::Snapshot;

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
    /// Bodies that the packet carries: every body with [`Delta::Off`]; none if the receiver
    /// [simulates](crate::simulation) them; otherwise the changed ones.
    pub sent_bodies: usize,
}

/// The baselines that a packet can be relative to. The receiver must have acknowledged all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Baselines<'a> {
    /// The baseline; `None` stands for the initial state.
    pub baseline: Option<&'a Baseline>,
    /// Two more baselines, up to fifteen ticks older than the first; preferably the two just before it.
    /// [`Delta::ArithmeticPredicted`] and [`Delta::ArithmeticSimulated`] estimate velocities with them, other stages
    /// ignore them.
    pub additional: [Option<&'a Baseline>; 2],
    /// What a receiver simulates. Only [`Delta::ArithmeticSimulated`] uses it.
    pub simulated: Simulated<'a>,
    /// Packets between a partial baseline and its own, which are [merged](crate::merge) with it. Others are ignored.
    pub merged: &'a [&'a Baseline],
    /// By body: whether a partial packet carries it. One of complete [coverage](Stages::coverage) ignores this.
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

/// Turns quantized snapshots into packets.
///
/// Any number of receivers can share an encoder, each with its own store of [`Baseline`]s. Encoding does not
/// allocate once the encoder, `packet` and `baseline_out` have been used for packets of that size and precision.
#[derive(Clone, Debug)]
pub struct Encoder {
    initial: InitialState,
    merged: Merged,
    /// What the receiver has after a partial packet.
    target: Arc<QuantizedSnapshot>,
    writer: Writer,
}

/// What writes bodies.
#[derive(Clone, Debug, Default)]
struct Writer {
    /// The bodies that the packet carries.
    changed: Vec<bool>,
    /// Indices of the changed bodies, where they are sent.
    indices: Vec<u16>,
    coder: Coder,
    spares: Spares,
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

impl Encoder {
    /// `plan` is the scene, and `initial` the state that the first packets are relative to. The receiver's must be
    /// the same, bit for bit; only arithmetically coded packets detect a difference.
    /// [`encode_initial`](crate::encode_initial) writes it for a receiver.
    ///
    /// # Errors
    /// [`InitialStateError`] if it has more bodies than the limits allow, or a body that cannot be
    /// quantized.
    pub fn new(
        plan: Arc<Plan>,
        initial: Snapshot,
        limits: Limits,
    ) -> Result<Self, InitialStateError> {
        Ok(Self {
            target: Baseline::default().snapshot,
            initial: InitialState::new(plan, initial, limits)?,
            merged: Merged::default(),
            writer: Writer::default(),
        })
    }

    /// Uses another trained model for arithmetic coding. The receiver must use the same.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.writer.coder = Coder::new(model);
        self
    }

    /// The initial state in a precision.
    pub fn initial(&mut self, precision: Precision) -> &QuantizedSnapshot {
        &self.initial.at(precision).snapshot
    }

    /// Encodes `current`, quantized in the stages' precision, relative to baselines that the receiver is
    /// known to hold, or to the initial state. Replaces the contents of `packet`, and returns its header,
    /// which names the baseline.
    ///
    /// `sequence` is the tick. Each packet to one receiver has its own number, also if it carries the same
    /// snapshot.
    ///
    /// `baseline_out`, if given, becomes the baseline that the receiver will have after decoding; it is equal to
    /// that of [`Decoder::decode`](crate::Decoder::decode).
    ///
    /// A packet of [partial coverage](Stages::coverage) carries the bodies that `references` name, changed or not; the
    /// receiver keeps the others as they were.
    ///
    /// A baseline of another precision, or one that the stages do not use, is ignored. After a change of
    /// precision, packets are relative to the initial state, and larger, until one of them is acknowledged.
    ///
    /// # Errors
    /// [`EncodeError`] if the arguments do not fit together. `packet` and `baseline_out` are then unchanged.
    pub fn encode<'b, 'c>(
        &mut self,
        sequence: Sequence,
        stages: Stages,
        current: impl Into<CurrentSnapshot<'c>>,
        references: impl Into<Baselines<'b>>,
        packet: &mut Packet,
        mut baseline_out: Option<&mut Baseline>,
    ) -> Result<Header, EncodeError> {
        let mut snapshot = current.into();
        let offered = references.into();
        let named = Baseline::named(offered.baseline, stages);
        let mut references = Baselines {
            baseline: named,
            ..offered
        };
        if stages.delta != Delta::ArithmeticSimulated {
            references.simulated = Simulated::default();
        }
        self.check(stages, &snapshot, &references)?;
        let header = Header::new(sequence, stages, named);
        let held = |sequence| {
            let mut offered = references.merged.iter().copied();
            offered.find(|other| other.sequence() == sequence)
        };
        let merges = Merges::of(named, held);
        let Self {
            initial,
            merged,
            target,
            writer,
        } = self;
        let spares = &mut writer.spares;
        let relation = Relation::new(stages, named, merges, held, initial, merged, spares)
            .expect("those to merge are held");

        // Of stages without a baseline, too, it is counted which bodies have changed.
        let unnamed = offered.baseline.filter(|_| named.is_none());
        let unnamed = unnamed.filter(|baseline| baseline.snapshot.has_form_of(&snapshot));
        let compared = unnamed.unwrap_or(relation.from);
        snapshot.compare(&compared.snapshot, &mut writer.changed);
        packet.changed_bodies = count(&writer.changed);
        packet.sent_bodies = packet.changed_bodies;
        if stages.coverage() == Coverage::Partial {
            let target = writer.spares.unshared(target);
            target.copy_from(&relation.from.snapshot);
            for body in flagged(references.carried) {
                target.copy_slot(body, &snapshot);
            }
            writer.changed.copy_from_slice(references.carried);
            packet.sent_bodies = count(references.carried);
            snapshot = CurrentSnapshot::Borrowed(target);
        }
        if stages.delta == Delta::Off {
            packet.sent_bodies = snapshot.len();
        } else if references.simulated.inputs.is_some() {
            packet.sent_bodies = 0;
        }
        packet.bytes.clear();
        packet.ledger.reset();
        let state = baseline_out.as_deref_mut().map(|out| &mut out.state);
        let frame = Frame {
            header,
            stages,
            merges,
            relation,
        };
        writer.put(&frame, &snapshot, &references, packet, state);
        if let Some(out) = baseline_out {
            match stages.coverage() {
                Coverage::Complete => writer.store(snapshot, &mut out.snapshot),
                Coverage::Partial => std::mem::swap(&mut out.snapshot, target),
            }
            let sent = Some(&writer.changed[..]);
            let (from, ticks) = (relation.from, relation.ticks(sequence));
            out.finalize(sequence, stages, from, ticks, sent, &mut writer.spares);
            let inputs = references.simulated.inputs;
            out.simulated = inputs.map(|inputs| (inputs.origin(), inputs.last()));
        }
        Ok(header)
    }

    fn check(
        &self,
        stages: Stages,
        current: &QuantizedSnapshot,
        references: &Baselines<'_>,
    ) -> Result<(), EncodeError> {
        let state_chunk = references.simulated.state_chunk.len();
        if state_chunk > MAX_STATE_CHUNK_BYTES {
            return Err(EncodeError::StateChunk(state_chunk));
        }
        let carried = references.carried.len();
        if stages.coverage() == Coverage::Partial && carried != current.len() {
            return Err(EncodeError::Carried {
                carried,
                bodies: current.len(),
            });
        }
        self.initial.plan().check(stages)?;
        if current.plan() != self.initial.plan() {
            return Err(EncodeError::Scene);
        }
        if current.precision() != stages.precision() {
            return Err(EncodeError::Precision {
                snapshot: current.precision(),
                stages: stages.precision(),
            });
        }
        let initial = self.initial.bodies();
        let counts = [Some(current), references.baseline.map(Baseline::snapshot)];
        match counts.into_iter().flatten().find(|s| s.len() != initial) {
            Some(other) => Err(EncodeError::BodyCount {
                bodies: other.len(),
                initial,
            }),
            None => Ok(()),
        }
    }
}

/// A packet before its bodies.
struct Frame<'a> {
    header: Header,
    stages: Stages,
    merges: Merges,
    relation: Relation<'a>,
}

impl Frame<'_> {
    fn put(&self, stream: &mut BitStream<'_, Writing<'_>>) {
        let Ok(_) = self.header.code(stream);
        let Ok(_) = self.merges.code(stream, self.relation.named);
    }
}

impl Writer {
    /// Stores a snapshot for a baseline. Reuses the memory of the one before.
    fn store(&mut self, snapshot: CurrentSnapshot<'_>, slot: &mut Arc<QuantizedSnapshot>) {
        match snapshot {
            CurrentSnapshot::Shared(shared) => *slot = Arc::clone(shared),
            CurrentSnapshot::Borrowed(current) => self.spares.unshared(slot).copy_from(current),
        }
    }

    /// Apart from [`put`](Self::put), so that its loops have all registers.
    #[inline(never)]
    fn put_bodies(&mut self, frame: &Frame<'_>, current: &QuantizedSnapshot, packet: &mut Packet) {
        let Frame { stages, header, .. } = *frame;
        let reference = frame.relation.from;
        let mut stream = BitStream::writer(&mut packet.bytes, Some(&mut packet.ledger));
        frame.put(&mut stream);
        let mut lives_change = false;
        if stages.delta == Delta::Off {
            self.changed.fill(true);
        } else {
            if current.plan().has_lives() {
                let before = &reference.snapshot;
                let mut slots = flagged(&self.changed);
                let changes = slots
                    .any(|slot| !before.is_present(slot) || !current.is_same_life(before, slot));
                let Ok(changes) = stream.flag(BitKind::Life, changes);
                lives_change = changes;
            }
            let moved = &reference.motion.moved;
            let (changed, indices) = (&mut self.changed, &mut self.indices);
            let Ok(()) = selection::code(&mut stream, stages.delta, changed, moved, indices);
        }
        if current.plan().has_slots() {
            let coder = SlotCoder::new(stages, header.sequence, reference, lives_change);
            for slot in flagged(&self.changed) {
                let Ok(()) = coder.code(&mut stream, slot, &mut current.slot(slot));
            }
        } else {
            let coder = BodyCoder::new(stages, header.sequence, reference);
            flagged(&self.changed).for_each(|body| {
                let Ok(()) = coder.code(&mut stream, body, &mut current.fields(body));
            });
        }
        stream.finish();
    }

    /// Writes the packet.
    fn put(
        &mut self,
        frame: &Frame<'_>,
        current: &QuantizedSnapshot,
        references: &Baselines<'_>,
        packet: &mut Packet,
        state_out: Option<&mut Option<Box<StoredState>>>,
    ) {
        let Frame {
            stages,
            ref relation,
            header: Header { sequence, .. },
            ..
        } = *frame;
        let simulated = references.simulated;
        let Some(variant) = Variant::of(stages.delta) else {
            self.put_bodies(frame, current, packet);
            self.coder.recycle(state_out.and_then(Option::take));
            return;
        };
        let context = CodingContext {
            variant,
            reference: relation.view(),
            ticks: relation.ticks(sequence),
            coverage: stages.coverage(),
        };
        let hash = match simulated.inputs {
            Some(_) => SnapshotHash::new(current),
            None => self.coder.hash(&context, current, &self.changed),
        };
        let mut stream = BitStream::writer(&mut packet.bytes, Some(&mut packet.ledger));
        frame.put(&mut stream);
        let Ok(_) = stream
            .field(BitKind::Check)
            .number(CHECK_BITS, hash.check(sequence));
        stream.finish();

        let mut bins = BinEncoder::new(&mut packet.bytes);
        let mut observer = BitCostObserver::new(&mut packet.ledger);
        if stages.delta == Delta::ArithmeticSimulated {
            let mut fixed = FixedBins {
                bins: &mut bins,
                observer: &mut observer,
            };
            let scene = relation.named.map(|named| named.scene(sequence));
            fixed
                .scene(simulated, scene, &mut Vec::new())
                .expect("the encoder's own bins are canonical and in range");
            if simulated.inputs.is_some() && has_long_check(sequence) {
                fixed.long_check(hash.long_check());
            }
        }
        if simulated.inputs.is_some() {
            bins.finish();
            drop(observer);
            self.coder.recycle(state_out.and_then(Option::take));
        } else {
            let additional = references.additional.map(|baseline| Some(baseline?.held()));
            let changed = &mut self.changed;
            self.coder
                .encode(context, additional, current, changed, bins, observer);
            if let Some(slot) = state_out {
                self.coder.store(&context, &self.changed, slot);
            }
        }
        packet.ledger.record_overhead(&packet.bytes);
    }
}
