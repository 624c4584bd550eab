//! The coding of one packet. The same code encodes and decodes.

use super::adaptive::AdaptiveState;
use super::bins::{Bins, CodingObserver, Element};
use super::coder::{BinCoder, ONE};
use super::history::BaselineHistory;
use super::layout::{FlagContexts, VARIANT_SLOTS};
use super::mixing;
use super::model::TrainedModel;
use super::rigid_body::RigidBodyPredictor;
use crate::decode_error::DecodeError;
use crate::ledger::BitKind;

pub(crate) struct PacketCoder<'a, B, O> {
    pub(crate) bins: Bins<B, O>,
    pub(crate) model: &'a TrainedModel,
    pub(crate) snapshots: BaselineHistory<'a>,
    pub(crate) is_partial: bool,
    /// Adaptive state, updated with every bin.
    pub(crate) next: &'a mut AdaptiveState,
    /// Predictor of [`Variant::Predicted`](super::layout::Variant::Predicted). Without it, bodies are predicted to stay
    /// at their pose in the reference, and constant velocity is a context.
    pub(crate) predictor: Option<RigidBodyPredictor<'a>>,
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
        self.bins.observer.begins(element);
        self.bins.mixed(slots, inputs, sets.each_mut(), value)
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
        let value = self.bins.flag(element, (*adaptive).into(), value);
        mixing::adapt(adaptive, value);
        value
    }

    /// Codes the ages of the additional references: ticks before the reference, below 16. The probabilities are
    /// constant, because the ages depend on the network.
    pub(crate) fn additional_ages(
        &mut self,
        ages: [Option<u16>; 2],
    ) -> Result<[Option<u16>; 2], DecodeError> {
        // Without loss, at one snapshot per tick.
        const USUAL: [Option<u16>; 2] = [Some(1), Some(2)];
        const NONE: [Option<u16>; 2] = [None, None];
        let element = Element::of_packet(BitKind::Selection);
        if self.bins.flag(element, ONE / 16 * 15, ages == USUAL) {
            return Ok(USUAL);
        }
        if self.bins.flag(element, ONE / 2, ages == NONE) {
            return Ok(NONE);
        }
        let ages = ages.map(|age| {
            let age = age.unwrap_or(0);
            let coded = self.bins.digits(element, 4, age.into());
            Some(coded as u16).filter(|&age| age > 0)
        });
        self.bins.check_canonical(ages != USUAL && ages != NONE)?;
        Ok(ages)
    }
}
