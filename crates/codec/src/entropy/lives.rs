//! Bodies that come and go. They are coded before all other bodies of a packet. All bins have constant probabilities,
//! because the codec does not know where bodies come from.

use super::adaptive::ResidualHistory;
use super::bins::{CodingObserver, Element};
use super::bodies::PacketBodies;
use super::coder::{BinCoder, ONE};
use super::packet_coder::PacketCoder;
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;
use crate::snapshot::{Life, Slot};

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes all changes of life in the order of slots, and lists these slots in `changed_lives`.
    pub(super) fn lives(
        &mut self,
        bodies: &mut PacketBodies<'_>,
        changed_lives: &mut Vec<usize>,
    ) -> Result<(), DecodeError> {
        changed_lives.clear();
        let reference = self.snapshots.reference;
        if !reference.plan().has_lives() {
            return Ok(());
        }
        if let Some(target) = bodies.target {
            let changed = (0..target.len()).filter(|&slot| !target.is_same_life(reference, slot));
            changed_lives.extend(changed);
        }
        let mut next = 0;
        // Slots are coded in ascending order, relative to the smallest possible one.
        let mut min = 0;
        loop {
            let element = Element::of_packet(BitKind::Life);
            let has_more = next < changed_lives.len();
            if !self.bins.flag(element, ONE / 4 * 3, has_more) {
                return Ok(());
            }
            let slot = changed_lives.get(next).copied().unwrap_or(0);
            let slot =
                self.bins.number(element, reference.len() - min, slot.saturating_sub(min))? + min;
            // An encoder listed all slots before. A decoder lists each slot as it comes.
            if next == changed_lives.len() {
                changed_lives.push(slot);
            }
            self.life(slot, bodies)?;
            bodies.changed[slot] = true;
            (next, min) = (next + 1, slot + 1);
            if min == reference.len() {
                return Ok(());
            }
            self.bins.check_end()?;
        }
    }

    /// Codes the new life of a slot, and the whole body unless the slot becomes empty.
    fn life(&mut self, index: usize, bodies: &mut PacketBodies<'_>) -> Result<(), DecodeError> {
        let reference = self.snapshots.reference;
        let plan = self.snapshots.plan;
        let element = Element { kind: BitKind::Life, body: Some(index) };
        let target = bodies.target.map(|target| target.slot(index));
        let life = target.and_then(|slot| slot.life);
        let before = reference.life_word(index).get();
        let mut slot = Slot::default();
        let is_gone = before.is_some() && self.bins.flag(element, ONE / 4 * 3, life.is_none());
        if !is_gone {
            let Life { kind, generation } = life.unwrap_or_default();
            let kind = self.bins.number(element, plan.schema().kinds.len(), kind.into())?;
            let generation = self.bins.digits(element, u8::BITS, generation.into());
            slot.life = Some(Life { kind: kind as u8, generation: generation as u8 });
            self.bins.check_canonical(slot.life != before)?;
            self.whole(index, target.as_ref(), &mut slot)?;
        }
        // Resets the history of the body that was in the slot before.
        let history = ResidualHistory { is_known: true, ..ResidualHistory::default() };
        self.next.residual_histories[index] = history.pack();
        if let Some(decoded) = &mut bodies.decoded {
            decoded.set_slot(index, &slot);
        }
        Ok(())
    }

    /// Codes pose, flag and values of a body without prediction.
    fn whole(
        &mut self,
        index: usize,
        target: Option<&Slot>,
        slot: &mut Slot,
    ) -> Result<(), DecodeError> {
        let plan = self.snapshots.plan;
        let of = |kind| Element { kind, body: Some(index) };
        let fields = target.map(|target| target.fields).unwrap_or_default();
        if plan.has_flag() {
            let flag = self.bins.digits(of(BitKind::Interacting), 1, fields.interacting.into());
            slot.fields.interacting = flag == 1;
        }
        for axis in 0..3 {
            let bounds = &plan.bounds()[axis];
            let count = bounds.max.abs_diff(bounds.min) as usize + 1;
            let steps = (fields.position[axis].wrapping_sub(bounds.min)).max(0) as usize;
            let steps = self.bins.number(of(BitKind::Position), count, steps)?;
            slot.fields.position[axis] = bounds.min + steps as i32;
        }
        let element = of(BitKind::Orientation);
        let packed = fields.smallest_three;
        slot.fields.smallest_three.largest =
            self.bins.digits(element, 2, packed.largest.into()) as u8;
        let count = plan.components.max as usize + 1;
        for component in 0..3 {
            let coded = self.bins.number(element, count, packed.components[component].into())?;
            slot.fields.smallest_three.components[component] = coded as u16;
        }
        for value in &plan.values {
            let coded = target.map_or(0, |target| value.get(&target.words));
            let coded = self.bins.number(of(value.kind), value.max as usize + 1, coded as usize)?;
            value.set(&mut slot.words, coded as u32);
        }
        Ok(())
    }
}
