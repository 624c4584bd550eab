//! Encoding of snapshots to packets.

mod packet;
mod writer;

use std::sync::Arc;

pub use self::packet::{Baselines, CurrentSnapshot, EncodeError, Packet};
use self::writer::{Frame, Writer};
use crate::baseline::Baseline;
use crate::entropy::{Coder, TrainedModel};
use crate::flags::{count, flagged};
use crate::header::Header;
use crate::initial::{InitialState, InitialStateError};
use crate::limits::Limits;
use crate::merge::{Merged, Merges, Relation};
use crate::plan::Plan;
use crate::precision::Precision;
use crate::sequence::Sequence;
use crate::simulation::{MAX_STATE_CHUNK_BYTES, Simulated};
use crate::snapshot::QuantizedSnapshot;
use crate::stages::{Coverage, Delta, Stages};
use crate::state::Snapshot;

/// Encodes quantized snapshots as packets.
///
/// Several receivers can share an encoder, each with a separate store of [`Baseline`]s. Encoding does not
/// allocate once the encoder, `packet` and `baseline_out` have been used for packets of that size and precision.
#[derive(Clone, Debug)]
pub struct Encoder {
    initial: InitialState,
    /// Scratch memory: the named baseline with the bodies of merged packets.
    merged: Merged,
    /// Scratch memory: the receiver's snapshot after a partial packet.
    target: Arc<QuantizedSnapshot>,
    writer: Writer,
}

impl Encoder {
    /// Creates an encoder for the scene `plan`. Packets without a baseline are relative to `initial`. The receiver's
    /// initial state must be equal bit for bit; only arithmetically coded packets detect a difference.
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
            target: Arc::default(),
            initial: InitialState::new(plan, initial, limits)?,
            merged: Merged::default(),
            writer: Writer::default(),
        })
    }

    /// Uses another trained model for arithmetic coding. The receiver must use the same model.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.writer.coder = Coder::new(model);
        self
    }

    /// The initial state, quantized.
    pub fn initial(&mut self, precision: Precision) -> &QuantizedSnapshot {
        &self.initial.at(precision).snapshot
    }

    /// Encodes `current`, which must be quantized in the precision of `stages`, relative to baselines that the
    /// receiver is known to hold, or to the initial state. Replaces the contents of `packet`. Returns the header of
    /// the packet, which names its baseline.
    ///
    /// `sequence` is the tick of the snapshot. The receiver looks up baselines by this number, so every packet to one
    /// receiver needs a different number, even if two packets carry the same snapshot.
    ///
    /// `baseline_out`, if given, becomes the baseline that the receiver will have after
    /// [`Decoder::decode`](crate::Decoder::decode).
    ///
    /// A packet of [partial coverage](Stages::coverage) carries the bodies flagged in [`Baselines::carried`], changed
    /// or not. The receiver keeps its other bodies as they are.
    ///
    /// A baseline is ignored if it has another precision or if the stages do not use a baseline. After a change of
    /// precision, packets are relative to the initial state, and larger, until the receiver acknowledges one of them.
    ///
    /// # Errors
    /// [`EncodeError`] if the arguments do not fit together. `packet` and `baseline_out` are unchanged after an
    /// error.
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
        let mut references = Baselines { baseline: named, ..offered };
        if stages.delta != Delta::ArithmeticSimulated {
            references.simulated = Simulated::default();
        }
        self.check(stages, &snapshot, &references)?;
        let header = Header::new(sequence, stages, named);
        let held = |sequence| {
            let mut mergeable = references.merged.iter().copied();
            mergeable.find(|other| other.sequence() == sequence)
        };
        let merges = Merges::of(named, held);
        let Self { initial, merged, target, writer } = self;
        let spares = &mut writer.spares;
        let relation = Relation::new(stages, named, merges, held, initial, merged, spares)
            .expect("`Merges::of` only lists packets that `held` finds");

        // `changed_bodies` is counted against the offered baseline even if the packet does not name it.
        let unnamed = offered.baseline.filter(|_| named.is_none());
        let unnamed = unnamed.filter(|baseline| baseline.snapshot.has_form_of(&snapshot));
        let compared = unnamed.unwrap_or(relation.reference);
        snapshot.compare(&compared.snapshot, &mut writer.changed);
        packet.changed_bodies = count(&writer.changed);
        packet.sent_bodies = packet.changed_bodies;
        let is_partial = stages.coverage() == Coverage::Partial;
        if is_partial {
            // The receiver keeps the bodies that the packet does not carry, so its snapshot is the reference with only
            // the carried bodies replaced.
            let target = writer.spares.unshared(target);
            target.copy_from(&relation.reference.snapshot);
            let carried = || flagged(references.carried);
            target.put_slots(|| carried().map(|body| (&*snapshot, body)), carried);
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
        let frame = Frame { header, stages, merges, relation };
        writer.put(&frame, &snapshot, &references, packet, state);
        if let Some(out) = baseline_out {
            match snapshot {
                _ if is_partial => std::mem::swap(&mut out.snapshot, target),
                CurrentSnapshot::Shared(shared) => out.snapshot = Arc::clone(shared),
                CurrentSnapshot::Borrowed(current) => {
                    writer.spares.unshared(&mut out.snapshot).copy_from(current);
                }
            }
            let sent = Some(&writer.changed[..]);
            let (reference, ticks) = (relation.reference, relation.ticks(sequence));
            out.finalize(sequence, stages, reference, ticks, sent, &mut writer.spares);
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
            return Err(EncodeError::Carried { carried, bodies: current.len() });
        }
        self.initial.plan.check(stages)?;
        if *current.plan() != self.initial.plan {
            return Err(EncodeError::Scene);
        }
        let scene = self.initial.plan.schema().seats;
        if let Some(inputs) = references.simulated.inputs.filter(|inputs| inputs.seats != scene) {
            return Err(EncodeError::Seats { inputs: inputs.seats, scene });
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
            Some(other) => Err(EncodeError::BodyCount { bodies: other.len(), initial }),
            None => Ok(()),
        }
    }
}
