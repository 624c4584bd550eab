//! Entropy coding by context mixing. Each decision of a packet, such as whether a body changed or a digit of a residual, is
//! one or more bins of a binary arithmetic coder. `COMPRESSION.md` explains the method, and section 15 of `WIRE.md`
//! specifies every bin.

mod adaptive;
mod bins;
mod blend;
mod bodies;
mod body_context;
mod check;
pub mod coder;
mod components;
mod context;
pub(crate) mod extrapolation;
mod features;
mod fields;
mod history;
mod layout;
mod lives;
mod mixing;
mod model;
mod neighbours;
mod order;
mod packet_coder;
mod pages;
mod residual;
mod rigid_body;
pub(crate) mod rotation;
pub(crate) mod simulated;
mod values;

use std::sync::Arc;

use adaptive::SpareStates;
pub(crate) use adaptive::{AdaptiveState, PackedHistory, StoredState};
pub(crate) use bins::{Bins, BitCostObserver, CodingObserver};
pub(crate) use blend::{BLEND_UNIT, BLENDED, Blend, BlendWeights};
use bodies::PacketBodies;
pub(crate) use check::{CHECK_BITS, SnapshotHash};
use coder::{BinCoder, BinDecoder, BinEncoder};
pub(crate) use context::{BaselineView, CodingContext};
pub use features::Feature;
pub(crate) use layout::{
    ADAPTIVE_FLAGS, BLEND_SETS, SLOTS, TABLE_UNIT, VARIANT_WEIGHT_SETS, Variant, blend_index,
};
use layout::{CARRIED_STATES, VALUE_STATES};
pub(crate) use mixing::MAX_LOG_ODDS;
pub use model::{ModelError, TrainedModel};
use neighbours::Neighbours;
use order::Scratch;
use packet_coder::PacketCoder;
use rigid_body::RigidBodyPredictor;

use crate::decode_error::DecodeError;
use crate::flags::flagged;
use crate::sequence::Sequence;
use crate::snapshot::QuantizedSnapshot;
use crate::stages::Coverage;

/// A trained model, and memory that is reused from packet to packet.
#[derive(Clone, Debug)]
pub(crate) struct Coder {
    pub(crate) model: Arc<TrainedModel>,
    /// Adaptive states of packets without one in the reference, by variant.
    initial: [StoredState; 2],
    /// The adaptive state of the packet that is being coded.
    next: AdaptiveState,
    scratch: Scratch,
    neighbours: Neighbours,
    pub(crate) spares: SpareStates,
}

impl Default for Coder {
    fn default() -> Self {
        Self::new(TrainedModel::shipped())
    }
}

impl Coder {
    pub(crate) fn new(model: Arc<TrainedModel>) -> Self {
        let initial = Variant::ALL.map(|variant| StoredState::initial(&model, variant));
        Self {
            next: AdaptiveState::new(&initial[0]),
            initial,
            model,
            scratch: Scratch::default(),
            neighbours: Neighbours::default(),
            spares: SpareStates::default(),
        }
    }

    /// Returns the hash of a packet's snapshot, and keeps it for [`store`](Self::store). The reference's hash is stored
    /// with its adaptive state, so only changed bodies are hashed.
    pub(crate) fn hash(
        &mut self,
        context: &CodingContext<'_>,
        current: &QuantizedSnapshot,
        changed: &[bool],
    ) -> SnapshotHash {
        let reference = context.reference.snapshot;
        let mut hash = context.reference.hash.unwrap_or_else(|| SnapshotHash::new(reference));
        for body in flagged(changed) {
            hash.replace(body, reference, current);
        }
        self.next.hash = hash;
        hash
    }

    /// Stores the adaptive state after the last coded packet in `slot`. `context` and `changed` must belong to that
    /// packet.
    pub(crate) fn store(
        &mut self,
        context: &CodingContext<'_>,
        changed: &[bool],
        slot: &mut Option<Box<StoredState>>,
    ) {
        let previous = context.state(&self.initial);
        self.spares.store(&self.next, changed, context.coverage, previous, slot);
    }

    /// Encodes `current`. `changed` flags the bodies that differ from the reference. Offered additional references
    /// are used if they are recent enough and have the same form.
    pub(crate) fn encode<O: CodingObserver>(
        &mut self,
        context: CodingContext<'_>,
        offered: [Option<BaselineView<'_>>; 2],
        current: &QuantizedSnapshot,
        changed: &mut [bool],
        bins: Bins<BinEncoder<'_>, O>,
    ) {
        let additional = context.usable(offered);
        let ages = additional.map(|held| Some(context.reference.age(&held?)));
        let bodies = PacketBodies { target: Some(current), decoded: None, changed };
        let coded = self.code(context, bins, ages, |_| Ok(additional), bodies);
        coded.expect("the encoder's own bins are canonical and in range").finish();
    }

    /// Decodes bins into `decoded`. Sets `changed` to the bodies that differ from the reference. `held` looks up
    /// additional references.
    pub(crate) fn decode<'h, O: CodingObserver>(
        &mut self,
        context: CodingContext<'_>,
        held: impl Fn(Sequence) -> Option<BaselineView<'h>>,
        bins: Bins<BinDecoder<'_>, O>,
        decoded: &mut QuantizedSnapshot,
        changed: &mut Vec<bool>,
    ) -> Result<(), DecodeError> {
        let reference = context.reference;
        changed.clear();
        changed.resize(reference.snapshot.len(), false);
        decoded.copy_from(reference.snapshot);
        let bodies = PacketBodies { target: None, decoded: Some(decoded), changed };
        let find = |age: u16| {
            let sequence = Sequence(reference.sequence.0.wrapping_sub(age));
            held(sequence)
                .filter(|found| found.sequence == sequence && reference.accepts(found))
                .ok_or(DecodeError::UnknownBaseline(sequence))
        };
        let find_both = |[first, second]: [Option<u16>; 2]| {
            Ok([first.map(find).transpose()?, second.map(find).transpose()?])
        };
        self.code(context, bins, [None, None], find_both, bodies)?.finish()
    }

    /// Codes a packet in either direction. `ages` are the ages of the additional references relative to the reference
    /// when encoding. `find` looks them up by age. Returns the bins, to be finished.
    fn code<'a, B: BinCoder, O: CodingObserver>(
        &'a mut self,
        context: CodingContext<'a>,
        bins: Bins<B, O>,
        ages: [Option<u16>; 2],
        find: impl FnOnce([Option<u16>; 2]) -> Result<[Option<BaselineView<'a>>; 2], DecodeError>,
        mut bodies: PacketBodies<'_>,
    ) -> Result<Bins<B, O>, DecodeError> {
        let state = context.state(&self.initial);
        let snapshot = context.reference.snapshot;
        let is_partial = context.coverage == Coverage::Partial;
        let carried_flags = if is_partial { CARRIED_STATES } else { 0 };
        let values = snapshot.plan().values.len() * VALUE_STATES + carried_flags;
        self.next.follow(state, snapshot.len(), values);
        self.next.merge(context.reference.merged);
        let snapshots = context.snapshots();
        let neighbours = &mut self.neighbours;
        let predictor = match context.variant {
            Variant::Plain => None,
            Variant::Predicted => Some(RigidBodyPredictor::new(neighbours, &snapshots)),
        };
        let mut coder = PacketCoder {
            bins,
            model: &self.model,
            snapshots,
            is_partial,
            next: &mut self.next,
            predictor,
        };
        if context.has_additional() {
            let ages = coder.additional_ages(ages)?;
            coder.snapshots.additional = find(ages)?.map(|held| {
                let held = held?;
                Some((&**held.snapshot, context.reference.age(&held).into()))
            });
        }
        coder.bodies(&mut self.scratch, &mut bodies)?;
        Ok(coder.bins)
    }
}
