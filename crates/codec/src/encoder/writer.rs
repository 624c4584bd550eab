//! Writes packets.

use super::packet::{Baselines, Packet};
use crate::bits::BitStream;
use crate::body::code_bodies;
use crate::entropy::coder::BinEncoder;
use crate::entropy::simulated::has_long_check;
use crate::entropy::{Bins, BitCostObserver, CHECK_BITS, Coder, SnapshotHash, StoredState};
use crate::header::Header;
use crate::ledger::BitKind;
use crate::merge::{Merges, Relation};
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

impl Writer {
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
        let mut stream = BitStream::writer(&mut packet.bytes, Some(&mut packet.ledger));
        let Ok(_) = frame.header.code(&mut stream);
        let Ok(_) = frame.merges.code(&mut stream, relation.named);
        let Some(context) = relation.context(stages, sequence) else {
            let (reference, changed) = (relation.reference, &mut self.changed);
            let numbered = (sequence, stages);
            let indices = &mut self.indices;
            let Ok(()) =
                code_bodies(&mut stream, numbered, reference, current, None, changed, indices);
            stream.finish();
            // Bit-packed packets have no adaptive state. The old state's memory is kept.
            self.coder.spares.release(state_out.and_then(Option::take));
            return;
        };
        let hash = match simulated.inputs {
            Some(_) => SnapshotHash::new(current),
            None => self.coder.hash(&context, current, &self.changed),
        };
        let Ok(_) = stream.field(BitKind::Check).number(CHECK_BITS, hash.check(sequence));
        stream.finish();

        let mut bins = Bins {
            coder: BinEncoder::new(&mut packet.bytes),
            observer: BitCostObserver::new(&mut packet.ledger),
        };
        if stages.delta == Delta::ArithmeticSimulated {
            let scene = relation.named.map(|named| named.scene(sequence));
            let seats = simulated.inputs.map_or(1, |inputs| inputs.seats);
            bins.scene(simulated, scene, seats, &mut Vec::new())
                .expect("the encoder's own bins are canonical and in range");
            if simulated.inputs.is_some() && has_long_check(sequence) {
                bins.long_check(hash.long_check());
            }
        }
        if simulated.inputs.is_some() {
            bins.finish();
            self.coder.spares.release(state_out.and_then(Option::take));
        } else {
            let additional = references.additional.map(|baseline| Some(baseline?.view()));
            let changed = &mut self.changed;
            self.coder.encode(context, additional, current, changed, bins);
            if let Some(slot) = state_out {
                self.coder.store(&context, &self.changed, slot);
            }
        }
        packet.ledger.record_overhead(&packet.bytes);
    }
}
