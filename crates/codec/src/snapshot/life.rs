//! Slots and the lives in them.

use std::iter::once;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::{Fields, QuantizeError, QuantizedBody, QuantizedSnapshot};
use crate::ledger::BitKind;
use crate::plan::Plan;
use crate::precision::Precision;
use crate::schema::Slots;
use crate::state::BodyState;

/// Identity of the body in a slot. If a slot is reused, the next body has another generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Life {
    /// Index of the schema's kind.
    pub kind: u8,
    /// Number of bodies that were in the slot before, modulo 256.
    pub generation: u8,
}

/// An optional [`Life`] as one number. 0 means that the slot is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LifeWord(pub(crate) u16);

impl LifeWord {
    const ALIVE: u16 = 1 << 15;

    fn new(life: Option<Life>) -> Self {
        Self(life.map_or(0, |Life { kind, generation }| {
            Self::ALIVE | u16::from(kind) << 8 | u16::from(generation)
        }))
    }

    pub(crate) const fn get(self) -> Option<Life> {
        match self.0 {
            0 => None,
            word => Some(Life { kind: (word >> 8 & 0x3F) as u8, generation: word as u8 }),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) life: Option<Life>,
    pub(crate) fields: Fields,
    /// Packed values. Words beyond [`Plan::words`] are unused.
    pub(crate) words: [u32; Plan::MAX_WORDS],
}

impl QuantizedSnapshot {
    /// Sets the number of slots and empties them. In a scene of fixed bodies, all integers of all bodies become 0.
    /// Reuses memory.
    pub fn clear_slots(&mut self, slots: usize) {
        self.clear(self.precision);
        let empty = Fields::default();
        for _ in 0..slots {
            self.push_fields(&empty);
        }
        if self.plan.has_lives() {
            self.lives.resize(slots, LifeWord::default());
        }
        self.words.resize(slots * self.plan.words, 0);
    }

    /// Quantizes a body into a slot. `values` has a number for each of the schema's fields: see
    /// [`FieldForm::quantize`](crate::schema::FieldForm::quantize). In a scene of fixed bodies, the life is ignored.
    ///
    /// # Errors
    /// [`QuantizeError`] if a number is not finite or a value is out of its field's range. The slot is unchanged
    /// after an error.
    ///
    /// # Panics
    /// If the number of values differs from the number of fields.
    pub fn put(
        &mut self,
        slot: usize,
        life: Life,
        body: &BodyState,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        let bounds = self.plan.position_bounds(self.precision.position);
        self.put_fields(slot, life, self.fields_of(slot, body, bounds.as_ref())?, values)
    }

    /// Like [`put`](Self::put), for a body as integers: its position is in the schema's steps, with z up.
    ///
    /// # Errors
    /// [`QuantizeError`] for the first integer out of range. The slot is unchanged after an error.
    pub fn put_integers(
        &mut self,
        slot: usize,
        life: Life,
        body: QuantizedBody,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        self.check_integers(slot, &body)?;
        let fields = Fields {
            position: body.position,
            smallest_three: body.orientation,
            ..Fields::default()
        };
        self.put_fields(slot, life, fields, values)
    }

    fn check_integers(&self, slot: usize, body: &QuantizedBody) -> Result<(), QuantizeError> {
        let schema = self.plan.schema();
        let max = schema.levels.max_component(schema.component_bits);
        let orientation = body.orientation;
        check(slot, BitKind::Orientation, orientation.largest.into(), 0..=3)?;
        for component in orientation.components {
            check(slot, BitKind::Orientation, component.into(), 0..=max.into())?;
        }
        for (value, bounds) in body.position.into_iter().zip(self.plan.bounds()) {
            let range = i64::from(bounds.min)..=i64::from(bounds.max);
            check(slot, BitKind::Position, value.into(), range)?;
        }
        Ok(())
    }

    fn put_fields(
        &mut self,
        index: usize,
        life: Life,
        fields: Fields,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        assert_eq!(values.len(), self.plan.schema().fields.len(), "a value for each field");
        let kinds = self.plan.schema().kinds.len() as i64;
        check(index, BitKind::Life, life.kind.into(), 0..=kinds - 1)?;
        let mut slot =
            Slot { life: self.plan.has_lives().then_some(life), fields, ..Slot::default() };
        let (flag, values) = values.split_at(usize::from(self.plan.has_flag()));
        for &flag in flag {
            check(index, BitKind::Interacting, flag.into(), 0..=1)?;
        }
        slot.fields.interacting = flag == [1];
        for (field, &value) in self.plan.values.iter().zip(values) {
            check(index, field.kind, value.into(), 0..=field.max.into())?;
            field.set(&mut slot.words, value);
        }
        self.set_slot(index, &slot);
        Ok(())
    }

    /// Returns the same bodies in another precision. `body` returns the state of the body in a slot.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn in_precision(
        &self,
        precision: Precision,
        body: impl Fn(usize) -> BodyState,
    ) -> Result<Self, QuantizeError> {
        let mut other = Self::new(Arc::clone(&self.plan), precision);
        other.clear_slots(self.len());
        let bounds = self.plan.position_bounds(precision.position);
        for index in (0..self.len()).filter(|&slot| self.is_present(slot)) {
            let fields = other.fields_of(index, &body(index), bounds.as_ref())?;
            let interacting = self.is_interacting(index);
            let fields = Fields { interacting, ..fields };
            other.set_slot(index, &Slot { fields, ..self.slot(index) });
        }
        Ok(other)
    }

    /// Empties a slot.
    ///
    /// # Panics
    /// In a scene of fixed bodies.
    pub fn remove(&mut self, slot: usize) {
        assert!(self.plan.has_lives(), "fixed bodies stay");
        self.set_slot(slot, &Slot::default());
    }

    /// Copies a slot from another snapshot of the same scene and precision.
    pub fn copy_slot(&mut self, slot: usize, other: &Self) {
        assert!(slot < self.len(), "there is no slot {slot}");
        self.put_slots(|| once((other, slot)), || once(slot));
    }

    /// Life of the body in a slot. `None` if the slot is empty.
    pub fn life(&self, slot: usize) -> Option<Life> {
        match self.plan.schema().slots {
            Slots::Living { .. } => self.lives[slot].get(),
            Slots::Fixed => Some(Life { kind: self.plan.fixed_kind(slot) as u8, generation: 0 }),
        }
    }

    /// Kind of the body in a slot; 0 if the slot is empty.
    #[inline]
    pub(crate) fn kind(&self, slot: usize) -> usize {
        match self.lives.get(slot) {
            Some(life) => life.get().map_or(0, |life| life.kind.into()),
            None => self.plan.fixed_kind(slot),
        }
    }

    /// Number of a field of the body in a slot.
    pub fn value(&self, slot: usize, field: usize) -> u32 {
        match (self.plan.has_flag(), field) {
            (true, 0) => self.is_interacting(slot).into(),
            (has_flag, _) => {
                self.plan.values[field - usize::from(has_flag)].get(self.words_of(slot))
            }
        }
    }

    /// Whether a slot has the same body in both snapshots, or is empty in both.
    #[inline]
    pub(crate) fn is_same_life(&self, other: &Self, slot: usize) -> bool {
        self.is_life_of(slot, (other, slot))
    }

    /// Whether a slot has the same body as slot `at` of another snapshot, or both are empty.
    #[inline]
    pub(crate) fn is_life_of(&self, slot: usize, (other, at): (&Self, usize)) -> bool {
        self.lives.get(slot) == other.lives.get(at)
    }

    /// Whether a slot has a body. True for fixed bodies.
    #[inline]
    pub(crate) fn is_present(&self, slot: usize) -> bool {
        self.lives.get(slot) != Some(&LifeWord::default())
    }

    /// Whether the life or the values of a slot differ from `other`.
    #[inline(never)]
    pub(super) fn slot_differs(&self, other: &Self, slot: usize) -> bool {
        // Bodies have few words, so a loop is faster than a comparison of slices.
        let mut words = self.words_of(slot).iter().zip(other.words_of(slot));
        !self.is_same_life(other, slot) || words.any(|(own, others)| own != others)
    }

    pub(crate) fn life_word(&self, slot: usize) -> LifeWord {
        self.lives.get(slot).copied().unwrap_or_default()
    }

    pub(crate) fn words_of(&self, slot: usize) -> &[u32] {
        let words = self.plan.words;
        &self.words[slot * words..][..words]
    }

    pub(crate) fn set_words(&mut self, slot: usize, words: &[u32]) {
        self.words[slot * words.len()..][..words.len()].copy_from_slice(words);
    }

    pub(crate) fn slot(&self, index: usize) -> Slot {
        let mut slot = Slot {
            life: self.life_word(index).get(),
            fields: self.fields(index),
            ..Slot::default()
        };
        let words = self.words_of(index);
        slot.words[..words.len()].copy_from_slice(words);
        slot
    }

    pub(crate) fn set_slot(&mut self, index: usize, slot: &Slot) {
        self.set_fields(index, &slot.fields);
        if let Some(life) = self.lives.get_mut(index) {
            *life = LifeWord::new(slot.life);
        }
        let words = self.plan.words;
        self.words[index * words..][..words].copy_from_slice(&slot.words[..words]);
    }
}

fn check(
    body: usize,
    field: BitKind,
    value: i64,
    range: RangeInclusive<i64>,
) -> Result<(), QuantizeError> {
    if range.contains(&value) {
        return Ok(());
    }
    let (min, max) = range.into_inner();
    Err(QuantizeError::OutOfRange { body, field, value, min, max })
}
