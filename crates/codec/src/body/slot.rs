//! Slots of scenes with lives or further fields. If no body comes or goes in a packet, every body stays. New bodies and
//! their values are coded without stages that are relative to the reference.

use super::BodyCoder;
use crate::baseline::Baseline;
use crate::bits::{BitStream, Direction};
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;
use crate::selection::index_bits;
use crate::sequence::Sequence;
use crate::snapshot::{Life, Slot};
use crate::stages::{
    ChangedFlags, Coverage, Delta, RelativeOrientation, RelativePosition, StageOptions, Stages,
};

pub(super) struct SlotCoder<'a> {
    coder: BodyCoder<'a>,
    absolute: BodyCoder<'a>,
    lives_change: bool,
}

impl<'a> SlotCoder<'a> {
    pub(super) fn new(
        stages: Stages,
        sequence: Sequence,
        baseline: &'a Baseline,
        lives_change: bool,
    ) -> Self {
        let absolute = StageOptions {
            relative_position: RelativePosition::Off,
            relative_orientation: RelativeOrientation::Off,
            changed_flags: ChangedFlags::Off,
            ..stages.options()
        };
        let absolute = absolute.check_for_any().expect("removing stages keeps them legal");
        Self {
            coder: BodyCoder::new(stages, sequence, baseline),
            absolute: BodyCoder::new(absolute, sequence, baseline),
            lives_change,
        }
    }

    /// Codes a slot in place. When reading, `slot` must start as the reference's.
    #[inline(never)]
    pub(super) fn code<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        index: usize,
        slot: &mut Slot,
    ) -> Result<(), D::Error> {
        let snapshot = &self.coder.baseline.snapshot;
        stream.of_body(index);
        let before = snapshot.slot(index);
        let stays = match snapshot.plan().has_lives() {
            true => self.life(stream, index, before.life, &mut slot.life)?,
            false => true,
        };
        if slot.life.is_none() && snapshot.plan().has_lives() {
            *slot = Slot::default();
            return Ok(());
        }
        if stays {
            self.coder.code(stream, index, &mut slot.fields)?;
        } else {
            self.absolute.code(stream, index, &mut slot.fields)?;
        }
        let flags = self.coder.stages.changed_flags != ChangedFlags::Off && stays;
        self.values(stream, index, flags.then_some(&before), slot)
    }

    /// Codes the life in a slot. Returns whether it is the same as the reference's.
    fn life<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        index: usize,
        before: Option<Life>,
        life: &mut Option<Life>,
    ) -> Result<bool, D::Error> {
        let was_there = before.is_some();
        let has_delta = self.coder.stages.delta != Delta::Off;
        if has_delta {
            if !self.lives_change {
                D::check(was_there, || DecodeError::Absent { at_bit: stream.at_bit, body: index })?;
                *life = before;
                return Ok(true);
            }
            if was_there && stream.flag(BitKind::Life, *life == before)? {
                *life = before;
                return Ok(true);
            }
        }
        let is_partial = self.coder.stages.coverage() == Coverage::Partial;
        let is_there = match was_there || !has_delta || is_partial {
            true => stream.flag(BitKind::Life, life.is_some())?,
            false => true,
        };
        if !is_there {
            *life = None;
            return Ok(false);
        }
        let Life { kind, generation } = life.unwrap_or_default();
        let kinds = self.coder.baseline.snapshot.plan().schema().kinds.len();
        let mut field = stream.field(BitKind::Life);
        let kind = field.number(index_bits(kinds), kind.into())?;
        let kind = field.in_range(kind.into(), 0..=kinds as u32 - 1)? as u8;
        let generation = field.number(u8::BITS, generation.into())? as u8;
        *life = Some(Life { kind, generation });
        Ok(false)
    }

    /// Codes the values of the schema's fields. If `before` is given, flags say which of them differ from it.
    fn values<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        index: usize,
        before: Option<&Slot>,
        slot: &mut Slot,
    ) -> Result<(), D::Error> {
        let values = &self.coder.baseline.snapshot.plan().values;
        if let Some(before) = before
            && !values.is_empty()
            && !stream.flag(BitKind::Flags, slot.words != before.words)?
        {
            slot.words = before.words;
            return Ok(());
        }
        stream.of_body(index);
        for plan in values {
            let value = plan.get(&slot.words);
            let mut field = stream.field(plan.kind);
            if let Some(before) = before
                && !field.flag(value != plan.get(&before.words))?
            {
                continue;
            }
            let read = field.number(plan.bits, value)?;
            let read = field.in_range(read.into(), 0..=plan.max)?;
            plan.set(&mut slot.words, read as u32);
        }
        Ok(())
    }
}
