//! Adapts the bins of [`cubewire_codec::entropy::coder`] to the entropy models of `constriction`.

use std::borrow::Borrow;
use std::num::NonZeroU16;

use constriction::stream::model::{DecoderModel, EncoderModel, EntropyModel};

/// Probability of a set bin, in 1/65536. A set bin is the first of two symbols.
#[derive(Clone, Copy, Debug)]
pub struct Model(u16);

impl Model {
    /// Creates a model. `one` is the probability of a set bin, in `1..=65535`.
    #[must_use]
    pub const fn new(one: u32) -> Self {
        Self(one as u16)
    }

    fn part(self, bit: bool) -> (u16, NonZeroU16) {
        let (start, size) = if bit {
            (0, self.0)
        } else {
            (self.0, self.0.wrapping_neg())
        };
        (
            start,
            NonZeroU16::new(size).expect("both symbols have a probability above 0"),
        )
    }
}

impl EntropyModel<16> for Model {
    type Symbol = bool;
    type Probability = u16;
}

impl EncoderModel<16> for Model {
    fn left_cumulative_and_probability(&self, bit: impl Borrow<bool>) -> Option<(u16, NonZeroU16)> {
        Some(self.part(*bit.borrow()))
    }
}

impl DecoderModel<16> for Model {
    fn quantile_function(&self, quantile: u16) -> (bool, u16, NonZeroU16) {
        let bit = quantile < self.0;
        let (start, size) = self.part(bit);
        (bit, start, size)
    }
}
