//! The coding session of one packet, the same for encoding and decoding.

use super::adaptive::AdaptiveState;
use super::coder::{BinCoder, ONE};
use super::history::SnapshotHistory;
use super::layout::{FlagContexts, VARIANT_SLOTS};
use super::mixing::{mix, update};
use super::model::TrainedModel;
use crate::ledger::{BitKind, Form};

/// Observes every bin, to account for it or to count it.
pub(crate) trait CodingObserver {
    /// `slots` are the slots of the static inputs, none for a bypass bin; `one` is the probability that the
    /// bin is set.
    fn coded(&mut self, element: Element, slots: &[usize], bin: bool, one: u32);

    /// The bins that were just observed end a part of their field: its prefix if none, or this component.
    fn part_ends(&mut self, _: Option<usize>) {}

    /// The field whose bins were just observed, in three components, is coded in this form.
    fn note(&mut self, _: impl FnOnce() -> Form) {}
}

impl CodingObserver for () {
    fn coded(&mut self, _: Element, _: &[usize], _: bool, _: u32) {}
}

/// What a bin is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: BitKind,
    pub(crate) cube: Option<usize>,
}

/// Why decoded bins are not what the encoder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonCanonical {
    /// A number is out of range.
    OutOfRange {
        field: BitKind,
        cube: usize,
        value: i64,
        min: i64,
        max: i64,
    },
    /// There is a shorter form, which the encoder would have used.
    Redundant,
}

/// The state of a packet's coding.
pub(crate) struct Session<'a, B, O> {
    pub(crate) bins: B,
    pub(crate) observer: O,
    pub(crate) model: &'a TrainedModel,
    pub(crate) snapshots: SnapshotHistory<'a>,
    /// The reference's adaptive state.
    pub(crate) state: &'a AdaptiveState,
    /// The adaptive state after this packet, so far.
    pub(crate) next: &'a mut AdaptiveState,
}

/// A bin with contexts.
#[derive(Clone, Copy)]
pub(super) struct Bin<const N: usize> {
    pub(super) element: Element,
    /// Slots of the static inputs in the table of one variant.
    pub(super) slots: [usize; N],
    /// Indices of the weights and of the adaptive probability.
    pub(super) weights: usize,
    pub(super) adaptive: usize,
}

/// A flag with the values of its contexts.
#[derive(Clone, Copy)]
pub(super) struct Flag<const N: usize> {
    pub(super) kind: BitKind,
    pub(super) cube: Option<usize>,
    pub(super) group: FlagContexts,
    pub(super) contexts: [usize; N],
    /// The context of the adaptive probability.
    pub(super) adaptive: usize,
}

impl<B: BinCoder, O: CodingObserver> Session<'_, B, O> {
    /// Codes a bin with the mixed probability of its contexts, and updates the adaptive state.
    pub(super) fn bin<const N: usize>(&mut self, bin: Bin<N>, value: bool) -> bool {
        let first = self.next.variant as usize * VARIANT_SLOTS;
        let slots = bin.slots.map(|slot| first + slot);
        let weights = &mut self.next.weights[bin.weights];
        let adaptive = &mut self.next.adaptive[bin.adaptive];
        let (one, inputs) = mix(&self.model.table, weights, *adaptive, slots);
        let value = self.bins.bin(value, one);
        update(weights, adaptive, &inputs, one, value);
        self.observer.coded(bin.element, &slots, value, one);
        value
    }

    pub(super) fn flag<const N: usize>(&mut self, flag: Flag<N>, value: bool) -> bool {
        let Flag {
            kind,
            cube,
            group,
            contexts,
            adaptive,
        } = flag;
        let bin = Bin::<N> {
            element: Element { kind, cube },
            slots: std::array::from_fn(|input| group.slot(input, contexts[input])),
            weights: group.weights,
            adaptive: group.adaptive(adaptive),
        };
        self.bin(bin, value)
    }

    /// Codes a bin of constant probability; with `ONE / 2`, a bypass bin.
    pub(super) fn fixed(&mut self, element: Element, one: u32, value: bool) -> bool {
        let value = self.bins.bin(value, one);
        self.observer.coded(element, &[], value, one);
        value
    }

    /// Codes the ages of the additional references: ticks before the reference, below sixteen. Nothing
    /// adapts, because the ages depend on the network.
    pub(crate) fn additional_ages(
        &mut self,
        ages: [Option<u16>; 2],
    ) -> Result<[Option<u16>; 2], NonCanonical> {
        const USUAL: [Option<u16>; 2] = [Some(1), Some(2)];
        const NONE: [Option<u16>; 2] = [None, None];
        let element = Element {
            kind: BitKind::Selection,
            cube: None,
        };
        if self.fixed(element, ONE / 16 * 15, ages == USUAL) {
            return Ok(USUAL);
        }
        if self.fixed(element, ONE / 2, ages == NONE) {
            return Ok(NONE);
        }
        let ages = ages.map(|age| {
            let age = age.unwrap_or(0);
            let coded = (0..4).rev().fold(0, |coded, digit| {
                coded << 1 | u16::from(self.fixed(element, ONE / 2, age >> digit & 1 == 1))
            });
            Some(coded).filter(|&age| age > 0)
        });
        if ages == USUAL || ages == NONE {
            return Err(NonCanonical::Redundant);
        }
        Ok(ages)
    }
}
