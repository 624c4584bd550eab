//! Items of a ledger.

use super::kind::BitKind;

/// Form of a coded position or orientation, from the least to the most bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// A difference of zero: the prediction is exact, or the field is unchanged if there is no prediction.
    Exact,
    /// A small difference. Each component is in the first of its ranges or, with arithmetic coding, below 12 steps.
    Small,
    /// A larger difference.
    Large,
    /// The whole value, because the stages do not use differences.
    Whole,
    /// The whole value, because a component of the difference does not fit the last range.
    OutOfRange,
    /// The whole value, because the orientation omits another component than its reference. With arithmetic coding, a
    /// difference from the prediction with that component omitted.
    OtherLargest,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 6] =
        [Self::Exact, Self::Small, Self::Large, Self::Whole, Self::OutOfRange, Self::OtherLargest];

    /// Name for legends.
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

/// Consecutive bits of a packet with the same kind and body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BitItem {
    /// Kind of the bits.
    pub kind: BitKind,
    /// Index of the body that the bits belong to. `None` if they belong to the whole packet.
    pub body: Option<u16>,
    /// Number of bits. A whole number, or the information content of arithmetically coded bins.
    pub bits: f64,
    /// Form of a position or an orientation. `None` for other kinds.
    pub form: Option<Form>,
    /// Bits of each component: x, y and z of a position or a velocity, or a, b and c of a smallest-three orientation.
    /// `None` if no component is sent, and for an orientation of four floats, which take 32 bits each.
    ///
    /// Each number is in 0..=`bits` and includes the bits that select its range. The rest of `bits` is the
    /// [prefix](Self::prefix). In bit-packed packets the numbers are whole, and the components are written in this
    /// order after the prefix. Arithmetic coding writes the components of a position in the order z, x, y.
    pub components: Option<[f64; 3]>,
}

impl BitItem {
    /// Bits that belong to no single component. They precede the components and select the form of the item and the
    /// omitted component of an orientation. All bits of an item without components.
    pub fn prefix(&self) -> f64 {
        let components = self.components.unwrap_or_default();
        self.bits - components.into_iter().sum::<f64>()
    }
}
