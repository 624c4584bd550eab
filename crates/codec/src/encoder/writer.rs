//! Writes packets.

use std::sync::Arc;

use super::packet::{Baselines, CurrentSnapshot, Packet};
use crate::bits::{BitStream, Writing};
use crate::body::{BodyCoder, SlotCoder};
use crate::entropy::coder::BinEncoder;
use crate::entropy::simulated::has_long_check;
use crate::entropy::{BitCostObserver, CHECK_BITS, Coder, FixedBins, SnapshotHash, StoredState};
use crate::flags::flagged;
use crate::header::Header;
use crate::ledger::BitKind;
use crate::merge::{Merges, Relation};
use crate::selection;
use crate::snapshot::{QuantizedSnapshot, Spares};
use crate::stages::{Delta, Stages};

/// Writes packets. Keeps memory between packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Writer {
    /// Whether the packet contains each body: bodies that differ from the reference, the carried bodies of a partial
    /// packet, or all bodies without delta.
    pub(super) changed: Vec<bool>,
    /// Scratch memory for the indices of the changed bodies.
    indices: Vec<u16>,
    pub(super) coder: Coder,
    pub(super) spares: Spares,
}

/// The parts of a packet before its bodies, and the reference of the bodies.
pub(super) struct Frame<'a> {
    pub(super) header: Header,
    pub(super) stages: Stages,
    pub(super) merges: Merges,
    pub(super) relation: Relation<'a>,
}

impl Frame<'_> {
    fn put(&self, stream: &mut BitStream<'_, Writing<'_>>) {
        let Ok(_) = self.header.code(stream);
        let Ok(_) = self.merges.code(stream, self.relation.named);
    }
}

impl Writer {
    /// Stores a snapshot in a baseline. Reuses the memory of the previous one.
    pub(super) fn store(
        &mut self,
        snapshot: CurrentSnapshot<'_>,
        slot: &mut Arc<QuantizedSnapshot>,
    ) {
        match snapshot {
            CurrentSnapshot::Shared(shared) => *slot = Arc::clone(shared),
            CurrentSnapshot::Borrowed(current) => self.spares.unshared(slot).copy_from(current),
        }
    }

    /// A function apart from [`put`](Self::put), so that its loops can use all registers.
    #[inline(never)]
    fn put_bodies(&mut self, frame: &Frame<'_>, current: &QuantizedSnapshot, packet: &mut Packet) {
        let Frame { stages, header, .. } = *frame;
        let reference = frame.relation.reference;
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

    /// Writes the packet, and the adaptive state after it to `state_out`.
    pub(super) fn put(
        &mut self,
        frame: &Frame<'_>,
        current: &QuantizedSnapshot,
        references: &Baselines<'_>,
        packet: &mut Packet,
        state_out: Option<&mut Option<Box<StoredState>>>,
    ) {
        let Frame { stages, ref relation, header: Header { sequence, .. }, .. } = *frame;
        let simulated = references.simulated;
        let Some(context) = relation.context(stages, sequence) else {
            self.put_bodies(frame, current, packet);
            // Bit-packed packets have no adaptive state. The old state's memory is kept.
            self.coder.spares.release(state_out.and_then(Option::take));
            return;
        };
        let hash = match simulated.inputs {
            Some(_) => SnapshotHash::new(current),
            None => self.coder.hash(&context, current, &self.changed),
        };
        let mut stream = BitStream::writer(&mut packet.bytes, Some(&mut packet.ledger));
        frame.put(&mut stream);
        let Ok(_) = stream.field(BitKind::Check).number(CHECK_BITS, hash.check(sequence));
        stream.finish();

        let mut bins = BinEncoder::new(&mut packet.bytes);
        let mut observer = BitCostObserver::new(&mut packet.ledger);
        if stages.delta == Delta::ArithmeticSimulated {
            let mut fixed = FixedBins { bins: &mut bins, observer: &mut observer };
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
            self.coder.spares.release(state_out.and_then(Option::take));
        } else {
            let additional = references.additional.map(|baseline| Some(baseline?.view()));
            let changed = &mut self.changed;
            self.coder.encode(context, additional, current, changed, bins, observer);
            if let Some(slot) = state_out {
                self.coder.store(&context, &self.changed, slot);
            }
        }
        packet.ledger.record_overhead(&packet.bytes);
    }
}
