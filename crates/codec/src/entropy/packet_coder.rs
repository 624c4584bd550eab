//! The coding of one packet. The same code encodes and decodes.

use super::adaptive::AdaptiveState;
use super::bins::{CodingObserver, Element, FixedBins, check_canonical};
use super::coder::{BinCoder, ONE};
use super::history::BaselineHistory;
use super::layout::{FlagContexts, Inputs, VARIANT_SLOTS};
use super::mixing;
use super::model::TrainedModel;
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;

pub(crate) struct PacketCoder<'a, B, O> {
    pub(crate) bins: B,
    pub(crate) observer: O,
    pub(crate) model: &'a TrainedModel,
    pub(crate) snapshots: BaselineHistory<'a>,
    pub(crate) is_partial: bool,
    /// Adaptive state, updated with every bin.
    pub(crate) next: &'a mut AdaptiveState,
}

/// Codes a bin with the probability that two sets of weights mix from its inputs, and updates the weights. Returns the
/// bin and its probability.
#[inline(always)]
pub(super) fn code_mixed<const N: usize>(
    bins: &mut impl BinCoder,
    inputs: [i16; N],
    weights: [&mut Inputs; 2],
    value: bool,
) -> (bool, u32) {
    let inputs = mixing::inputs(inputs);
    let one = mixing::mix(inputs, [&*weights[0], &*weights[1]]);
    let value = bins.bin(value, one);
    mixing::update(weights, inputs, one, value);
    (value, one)
}

impl<B: BinCoder, O: CodingObserver> PacketCoder<'_, B, O> {
    /// Codes a flag. `contexts` has a value for each of its inputs.
    pub(super) fn flag<const N: usize>(
        &mut self,
        element: Element,
        group: FlagContexts,
        contexts: [usize; N],
        value: bool,
    ) -> bool {
        let first = self.first_slot();
        let slots: [_; N] = std::array::from_fn(|input| first + group.slot(input, contexts[input]));
        let [sets, ..] = self.next.weights[group.weights()].as_chunks_mut().0 else {
            unreachable!("a flag has two sets")
        };
        let inputs = slots.map(|slot| self.model.table[slot]);
        let (value, one) = code_mixed(&mut self.bins, inputs, sets.each_mut(), value);
        self.observer.begins(element);
        self.observer.coded(&slots, value, one);
        value
    }

    /// The first slot of the variant's table.
    pub(super) const fn first_slot(&self) -> usize {
        self.next.variant as usize * VARIANT_SLOTS
    }

    /// Codes a bin with an adaptive probability instead of mixing.
    #[inline]
    pub(super) fn adaptive(
        &mut self,
        element: Element,
        value: bool,
        probability: impl FnOnce(&mut AdaptiveState) -> &mut u16,
    ) -> bool {
        let adaptive = probability(self.next);
        let one = u32::from(*adaptive);
        let value = self.bins.bin(value, one);
        mixing::adapt(adaptive, value);
        self.observer.begins(element);
        self.observer.coded(&[], value, one);
        value
    }

    /// Codes a bin of constant probability.
    pub(super) fn fixed(&mut self, element: Element, one: u32, value: bool) -> bool {
        self.fixed_bins().flag(element, one, value)
    }

    pub(super) fn bypass(&mut self, element: Element, count: u32, digits: u32) -> u32 {
        self.fixed_bins().digits(element, count, digits)
    }

    const fn fixed_bins(&mut self) -> FixedBins<'_, B, O> {
        FixedBins { bins: &mut self.bins, observer: &mut self.observer }
    }

    /// Codes the ages of the additional references: ticks before the reference, below 16. The probabilities are
    /// constant, because the ages depend on the network.
    pub(crate) fn additional_ages(
        &mut self,
        ages: [Option<u16>; 2],
    ) -> Result<[Option<u16>; 2], DecodeError> {
        const USUAL: [Option<u16>; 2] = [Some(1), Some(2)];
        const NONE: [Option<u16>; 2] = [None, None];
        let element = Element::of_packet(BitKind::Selection);
        if self.fixed(element, ONE / 16 * 15, ages == USUAL) {
            return Ok(USUAL);
        }
        if self.fixed(element, ONE / 2, ages == NONE) {
            return Ok(NONE);
        }
        let ages = ages.map(|age| {
            let age = age.unwrap_or(0);
            let coded = self.bypass(element, 4, age.into());
            Some(coded as u16).filter(|&age| age > 0)
        });
        check_canonical(&self.bins, ages != USUAL && ages != NONE)?;
        Ok(ages)
    }
}
