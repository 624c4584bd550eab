//! Consecutive bits of a packet.

use super::kind::BitKind;

/// How a position or an orientation is coded, from the least to the most bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// As a difference of zero: the prediction is exact, or without prediction the field is unchanged.
    Exact,
    /// As a small difference: each component is in the first of its ranges, or, with arithmetic coding,
    /// below 12 steps.
    Small,
    /// As a larger difference.
    Large,
    /// As it is, because the stages have no differences.
    Whole,
    /// As it is, because a component of the difference is beyond the last range.
    OutOfRange,
    /// As it is, because the orientation omits another component than its reference; with arithmetic coding,
    /// as a difference, but from the prediction with that component omitted.
    OtherLargest,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 6] = [
        Self::Exact,
        Self::Small,
        Self::Large,
        Self::Whole,
        Self::OutOfRange,
        Self::OtherLargest,
    ];

    /// The name in legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Small => "small difference",
            Self::Large => "large difference",
            Self::Whole => "whole value",
            Self::OutOfRange => "out of range",
            Self::OtherLargest => "other largest component",
        }
    }
}

/// Consecutive bits of a packet that have the same purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitItem {
    /// What they are for.
    pub kind: BitKind,
    /// The index of the body that they belong to; none for those of the whole packet.
    pub body: Option<u16>,
    /// How many: a whole number, or the information content of arithmetically coded bins.
    pub bits: f64,
    /// How a position or an orientation is coded.
    pub form: Option<Form>,
    /// How many of `bits` each component takes: x, y and z of a position or a velocity, a, b and c of an
    /// orientation as its smallest three. None if no component is sent, and none of an orientation of four
    /// floats, which take 32 bits each.
    ///
    /// Each is from 0 to `bits`, and includes what says in which range it is; the rest of `bits` is the
    /// [prefix](Self::prefix). Bit-packed, they are whole numbers, and the prefix is followed by the components
    /// in this order. Arithmetically coded, the components of a position are coded as z, x, y.
    pub components: Option<[f64; 3]>,
}

impl BitItem {
    /// Bits that are of no single component: they precede the components, and say which form the item has,
    /// and which component of an orientation is omitted. All bits of an item without components.
    #[must_use]
    pub fn prefix(&self) -> f64 {
        let components = self.components.unwrap_or_default();
        self.bits - components.into_iter().sum::<f64>()
    }
}
