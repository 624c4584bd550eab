//! Which body is in a slot.

use super::{Fields, QuantizeError, QuantizedBody, QuantizedSnapshot};
use crate::ledger::BitKind;
use crate::plan::Plan;
use crate::schema::Slots;
use crate::state::BodyState;

/// A body's life in a slot. Where slots are reused, the next one has another generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Life {
    /// Index of the schema's kind.
    pub kind: u8,
    /// How often the slot had been in use before, modulo 256.
    pub generation: u8,
}

/// A [`Life`] or none as one number, which is 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LifeWord(u16);

impl LifeWord {
    const ALIVE: u16 = 1 << 15;

    pub(crate) fn new(life: Option<Life>) -> Self {
        Self(life.map_or(0, |Life { kind, generation }| {
            Self::ALIVE | u16::from(kind) << 8 | u16::from(generation)
        }))
    }

    pub(crate) const fn to_bits(self) -> u16 {
        self.0
    }

    pub(crate) const fn get(self) -> Option<Life> {
        match self.0 {
            0 => None,
            word => Some(Life {
                kind: (word >> 8 & 0x3F) as u8,
                generation: word as u8,
            }),
        }
    }
}

/// What is in one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) life: LifeWord,
    pub(crate) fields: Fields,
    /// As many as the plan has.
    pub(crate) words: [u32; Plan::MAX_WORDS],
}

impl QuantizedSnapshot {
    /// Makes this a snapshot of as many slots, with nothing in them; of a scene of fixed bodies, of bodies whose integers
    /// are all 0. Reuses its memory.
    pub fn clear_slots(&mut self, slots: usize) {
        self.clear(self.precision);
        let empty = Fields::default();
        for _ in 0..slots {
            self.push_fields(&empty);
        }
        if self.plan.has_lives() {
            self.lives.resize(slots, LifeWord::default());
        }
        self.words.resize(slots * self.plan.words(), 0);
    }

    /// Puts a body into a slot, quantized, with a value for each of the schema's fields: see
    /// [`FieldForm::quantize`](crate::schema::FieldForm::quantize). The life is ignored in a scene of fixed bodies.
    ///
    /// # Errors
    /// [`QuantizeError`] if a number is not finite or a value is not of its field. The slot is then as before.
    ///
    /// # Panics
    /// If there is no such slot, or another number of values than fields.
    pub fn put(
        &mut self,
        slot: usize,
        life: Life,
        body: &BodyState,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        let bounds = self.plan.position_bounds(self.precision.position);
        let fields = self.fields_of(slot, body, bounds.as_ref())?;
        self.put_fields(slot, life, fields, values)
    }

    /// Puts a body into a slot, as integers: as [`put`](Self::put), with the position in the schema's steps and z up.
    ///
    /// # Errors
    /// [`QuantizeError`] for the first integer that is out of range. The slot is then as before.
    ///
    /// # Panics
    /// As [`put`](Self::put).
    pub fn put_integers(
        &mut self,
        slot: usize,
        life: Life,
        body: QuantizedBody,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        let bits = self.plan.schema().component_bits;
        super::fill::check_integers(slot, &body, bits, &self.plan)?;
        let fields = Fields {
            position: body.position,
            interacting: body.interacting,
            smallest_three: body.orientation,
            ..Fields::default()
        };
        self.put_fields(slot, life, fields, values)
    }

    fn put_fields(
        &mut self,
        index: usize,
        life: Life,
        fields: Fields,
        values: &[u32],
    ) -> Result<(), QuantizeError> {
        assert_eq!(
            values.len(),
            self.plan.schema().fields.len(),
            "a value for each field"
        );
        let kinds = self.plan.schema().kinds.len();
        if usize::from(life.kind) >= kinds {
            return Err(out_of_range(
                index,
                BitKind::Life,
                life.kind.into(),
                kinds as u32 - 1,
            ));
        }
        let mut slot = Slot {
            life: LifeWord::new(self.plan.has_lives().then_some(life)),
            fields,
            ..Slot::default()
        };
        let mut values = values;
        if self.plan.has_flag() {
            let (&flag, rest) = values.split_first().expect("the flag is the first field");
            if flag > 1 {
                return Err(out_of_range(index, BitKind::Interacting, flag, 1));
            }
            slot.fields.interacting = flag == 1;
            values = rest;
        } else {
            slot.fields.interacting = false;
        }
        for (field, &value) in self.plan.values().iter().zip(values) {
            if value > field.max {
                return Err(out_of_range(index, field.kind, value, field.max));
            }
            field.set(&mut slot.words, value);
        }
        self.set_slot(index, &slot);
        Ok(())
    }

    /// Leaves a slot with nothing in it.
    ///
    /// # Panics
    /// If there is no such slot, or the scene is of fixed bodies.
    pub fn remove(&mut self, slot: usize) {
        assert!(self.plan.has_lives(), "fixed bodies stay");
        self.set_slot(slot, &Slot::default());
    }

    /// Copies a slot of another snapshot of the scene in the same precision.
    ///
    /// # Panics
    /// If there is no such slot in both.
    pub fn copy_slot(&mut self, slot: usize, other: &Self) {
        self.copy_to_slot(slot, other, slot);
    }

    /// As [`copy_slot`](Self::copy_slot), from another slot of that snapshot.
    pub(crate) fn copy_to_slot(&mut self, slot: usize, other: &Self, from: usize) {
        assert!(slot < self.len(), "there is no slot {slot}");
        let at = (slot, from);
        copy(at, &mut self.packed_positions, &other.packed_positions);
        copy(at, &mut self.positions, &other.positions);
        copy(at, &mut self.interacting, &other.interacting);
        copy(at, &mut self.quaternions, &other.quaternions);
        copy(at, &mut self.narrow, &other.narrow);
        copy(at, &mut self.wide, &other.wide);
        copy(at, &mut self.velocities, &other.velocities);
        copy(at, &mut self.lives, &other.lives);
        self.set_words(slot, other.words_of(from));
    }

    /// The body in a slot, if there is one.
    ///
    /// # Panics
    /// If there is no such slot.
    #[must_use]
    pub fn life(&self, slot: usize) -> Option<Life> {
        match self.plan.schema().slots {
            Slots::Living { .. } => self.lives[slot].get(),
            Slots::Fixed => Some(Life {
                kind: self.plan.fixed_kind(slot) as u8,
                generation: 0,
            }),
        }
    }

    /// The kind of the body in a slot, of an absent one the first.
    #[inline]
    pub(crate) fn kind(&self, slot: usize) -> usize {
        match self.lives.get(slot) {
            Some(life) => life.get().map_or(0, |life| life.kind.into()),
            None => self.plan.fixed_kind(slot),
        }
    }

    /// The value of one of the schema's fields.
    ///
    /// # Panics
    /// If there is no such slot or field.
    #[must_use]
    pub fn value(&self, slot: usize, field: usize) -> u32 {
        match (self.plan.has_flag(), field) {
            (true, 0) => self.is_interacting(slot).into(),
            (has_flag, _) => {
                self.plan.values()[field - usize::from(has_flag)].get(self.words_of(slot))
            }
        }
    }

    /// Whether the same body, or none, is in a slot of both.
    #[inline]
    pub(crate) fn is_same_life(&self, other: &Self, slot: usize) -> bool {
        self.is_life_of(slot, (other, slot))
    }

    /// Whether the same body, or none, is in a slot and in one of another snapshot.
    #[inline]
    pub(crate) fn is_life_of(&self, slot: usize, (other, at): (&Self, usize)) -> bool {
        self.lives.get(slot) == other.lives.get(at)
    }

    /// Whether a body is in the slot.
    #[inline]
    pub(crate) fn is_present(&self, slot: usize) -> bool {
        self.lives.get(slot) != Some(&LifeWord::default())
    }

    /// Whether what a slot has beside a body's pose and flag differs from that of `other`.
    #[inline(never)]
    pub(super) fn slot_differs(&self, other: &Self, slot: usize) -> bool {
        // There are few or none, of which a loop is faster than the call that compares slices.
        let mut words = self.words_of(slot).iter().zip(other.words_of(slot));
        !self.is_same_life(other, slot) || words.any(|(own, others)| own != others)
    }

    pub(crate) fn life_word(&self, slot: usize) -> LifeWord {
        self.lives.get(slot).copied().unwrap_or_default()
    }

    pub(crate) fn words_of(&self, slot: usize) -> &[u32] {
        let words = self.plan.words();
        &self.words[slot * words..][..words]
    }

    pub(crate) fn set_words(&mut self, slot: usize, words: &[u32]) {
        self.words[slot * words.len()..][..words.len()].copy_from_slice(words);
    }

    pub(crate) fn slot(&self, index: usize) -> Slot {
        let mut slot = Slot {
            life: self.life_word(index),
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
            *life = slot.life;
        }
        let words = self.plan.words();
        self.words[index * words..][..words].copy_from_slice(&slot.words[..words]);
    }
}

/// Copies one value of a column, which can be empty.
fn copy<T: Copy>((slot, from_slot): (usize, usize), to: &mut [T], from: &[T]) {
    if !to.is_empty() {
        to[slot] = from[from_slot];
    }
}

fn out_of_range(body: usize, field: BitKind, value: u32, max: u32) -> QuantizeError {
    QuantizeError::OutOfRange {
        body,
        field,
        value: value.into(),
        min: 0,
        max: max.into(),
    }
}
