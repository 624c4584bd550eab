//! The fields of a schema as numbers packed into words.

use crate::ledger::BitKind;
use crate::schema::{Field, FieldForm};

/// A field of the schema, except the flag that is stored with the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValuePlan {
    pub(crate) kind: BitKind,
    word: usize,
    shift: u32,
    pub(crate) bits: u32,
    pub(crate) max: u32,
    /// Whether the values are cyclic.
    pub(crate) wraps: bool,
    /// Whether the number is an index, so that differences have no meaning.
    pub(crate) is_name: bool,
}

impl ValuePlan {
    #[inline]
    pub(crate) const fn get(&self, words: &[u32]) -> u32 {
        words[self.word] >> self.shift & self.mask()
    }

    #[inline]
    pub(crate) const fn set(&self, words: &mut [u32], value: u32) {
        let word = &mut words[self.word];
        *word = *word & !(self.mask() << self.shift) | value << self.shift;
    }

    const fn mask(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.bits)
    }
}

/// Packs the fields from `first` on into words, without crossing a word boundary. Returns their plans and the number
/// of words.
pub(super) fn pack(fields: &[Field], first: usize) -> (Vec<ValuePlan>, usize) {
    let (mut plans, mut at) = (Vec::new(), 0);
    for (index, field) in fields.iter().enumerate().skip(first) {
        let bits = field.form.bits();
        if at % u32::BITS + bits > u32::BITS {
            at = at.next_multiple_of(u32::BITS);
        }
        plans.push(ValuePlan {
            kind: BitKind::field(index),
            word: (at / u32::BITS) as usize,
            shift: at % u32::BITS,
            bits,
            max: field.form.max(),
            wraps: matches!(field.form, FieldForm::Angle { .. }),
            is_name: matches!(field.form, FieldForm::Body),
        });
        at += bits;
    }
    (plans, at.div_ceil(u32::BITS) as usize)
}

impl FieldForm {
    /// Converts a value to its number, clamped to the range. A flag is 0 or 1, an angle is in turns, and a body is
    /// its number, or −1 for no body. NaN counts as 0, or as no body.
    pub fn quantize(&self, value: f64) -> u32 {
        let value = match (value.is_nan(), self) {
            (false, _) => value,
            (true, Self::Body) => -1.0,
            (true, _) => 0.0,
        };
        let (min, step) = self.scale();
        match *self {
            Self::Angle { bits } => ((value - value.floor()) / step).round() as u32 % (1 << bits),
            _ => ((value - min) / step).round().clamp(0.0, self.max().into()) as u32,
        }
    }

    /// Converts a number to its value: see [`quantize`](Self::quantize).
    pub fn dequantize(&self, number: u32) -> f64 {
        let (min, step) = self.scale();
        min + step * f64::from(number)
    }

    /// Value of the number 0, and the difference between the values of two consecutive numbers.
    fn scale(&self) -> (f64, f64) {
        match *self {
            Self::Flag => (0.0, 1.0),
            Self::Int { min, .. } => (min.into(), 1.0),
            Self::Float { min, step, .. } => (min.into(), step.into()),
            Self::Angle { bits } => (0.0, 1.0 / f64::from(1_u32 << bits)),
            Self::Body => (-1.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_a_round_trip() {
        for form in [
            FieldForm::Flag,
            FieldForm::Int { min: -60, max: 60 },
            FieldForm::Angle { bits: 12 },
            FieldForm::Float { min: -1.0, max: 3.0, step: 0.25 },
            FieldForm::Body,
        ] {
            for number in [0, 1, form.max() / 2, form.max()] {
                assert_eq!(form.quantize(form.dequantize(number)), number, "{form:?}");
            }
        }
        assert_eq!(FieldForm::Angle { bits: 8 }.quantize(-0.25), 192);
        assert_eq!(FieldForm::Body.quantize(-1.0), 0);
    }

    #[test]
    fn a_value_that_is_not_a_number_is_sent_as_0_or_the_nearest_to_it() {
        let float = |min, max| FieldForm::Float { min, max, step: 0.25 };
        let int = |min, max| FieldForm::Int { min, max };
        for (form, value) in [
            (FieldForm::Flag, 0.0),
            (int(-60, 60), 0.0),
            (int(3, 9), 3.0),
            (int(-9, -3), -3.0),
            (int(i32::MIN, i32::MAX), 0.0),
            (float(-10.0, 10.0), 0.0),
            (float(-10.0, -5.0), -5.0),
            (FieldForm::Angle { bits: 8 }, 0.0),
            (FieldForm::Body, -1.0),
        ] {
            for nan in [f64::NAN, -f64::NAN] {
                assert_eq!(form.dequantize(form.quantize(nan)), value, "{form:?}");
            }
        }
    }
}
