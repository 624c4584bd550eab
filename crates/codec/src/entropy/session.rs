//! The coding session of one packet, the same for encoding and decoding.

use super::adaptive::AdaptiveState;
use super::blend::Blend;
use super::coder::{BinCoder, ONE};
use super::history::SnapshotHistory;
use super::layout::{FlagContexts, Inputs, VARIANT_SLOTS};
use super::mixing;
use super::model::TrainedModel;
use super::rotation::Vector;
use crate::ledger::{BitKind, Form};

/// Observes every bin, to account for it or to count it.
pub(crate) trait CodingObserver {
    /// A bin. `slots` are the slots of the static inputs, if there are any; `one` is the probability that it is set.
    fn coded(&mut self, slots: &[usize], bin: bool, one: u32);

    /// The lowest `count` digits of a number, each a bin of even odds.
    fn bypassed(&mut self, digits: u32, count: u32) {
        for place in (0..count).rev() {
            self.coded(&[], digits >> place & 1 == 1, ONE / 2);
        }
    }

    /// The bins that follow are part of this element.
    fn begins(&mut self, _: Element) {}

    /// The bins that were just observed end a part of their field: its prefix if none, or this component.
    fn part_ends(&mut self, _: Option<usize>) {}

    /// A field was coded for which there is a blend: its sum should have been the vector.
    fn blended(&mut self, _: &Blend, _: impl FnOnce() -> Vector) {}

    /// The field whose bins were just observed, in three components, is coded in this form.
    fn note(&mut self, _: impl FnOnce() -> Form) {}
}

impl CodingObserver for () {
    fn coded(&mut self, _: &[usize], _: bool, _: u32) {}
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
        cube: Option<usize>,
        value: i64,
        min: i64,
        max: i64,
    },
    /// There is a shorter form, which the encoder would have used.
    Redundant,
    /// There are more bins than the bytes hold.
    PastEnd,
}

/// The state of a packet's coding.
pub(crate) struct Session<'a, B, O> {
    pub(crate) bins: B,
    pub(crate) observer: O,
    pub(crate) model: &'a TrainedModel,
    pub(crate) snapshots: SnapshotHistory<'a>,
    /// The adaptive state after this packet, so far.
    pub(crate) next: &'a mut AdaptiveState,
}

/// A bin with contexts, and the weights that its probability is mixed with.
pub(super) struct Bin<'t, const N: usize> {
    /// The static inputs.
    pub(super) inputs: [i16; N],
    pub(super) weights: [&'t mut Inputs; 2],
}

impl<const N: usize> Bin<'_, N> {
    /// Codes the bin with the mixed probability of its contexts, and updates the weights. Returns the probability,
    /// too.
    #[inline(always)]
    pub(super) fn code(self, bins: &mut impl BinCoder, value: bool) -> (bool, u32) {
        let Self { inputs, weights } = self;
        let inputs = mixing::inputs(inputs);
        let one = mixing::mix(inputs, [&*weights[0], &*weights[1]]);
        let value = bins.bin(value, one);
        mixing::update(weights, inputs, one, value);
        (value, one)
    }
}

/// A flag with the values of its contexts.
#[derive(Clone, Copy)]
pub(super) struct Flag<const N: usize> {
    pub(super) kind: BitKind,
    pub(super) cube: Option<usize>,
    pub(super) group: FlagContexts,
    pub(super) contexts: [usize; N],
}

impl<B: BinCoder, O: CodingObserver> Session<'_, B, O> {
    pub(super) fn flag<const N: usize>(&mut self, flag: Flag<N>, value: bool) -> bool {
        let Flag {
            kind,
            cube,
            group,
            contexts,
        } = flag;
        let first = self.first_slot();
        let slots = std::array::from_fn(|input| first + group.slot(input, contexts[input]));
        let [sets, ..] = self.next.weights[group.weights()].as_chunks_mut().0 else {
            unreachable!("a flag has two sets")
        };
        let bin = Bin::<N> {
            inputs: slots.map(|slot| self.model.table[slot]),
            weights: sets.each_mut(),
        };
        let (value, one) = bin.code(&mut self.bins, value);
        self.observer.begins(Element { kind, cube });
        self.observer.coded(&slots, value, one);
        value
    }

    /// The first slot of the variant's table.
    pub(super) const fn first_slot(&self) -> usize {
        self.next.variant as usize * VARIANT_SLOTS
    }

    /// Codes a bin of constant probability; with `ONE / 2`, a bypass bin.
    pub(super) fn fixed(&mut self, element: Element, one: u32, value: bool) -> bool {
        let value = self.bins.bin(value, one);
        self.observer.begins(element);
        self.observer.coded(&[], value, one);
        value
    }

    /// Codes the lowest `count` digits of a number as bypass bins, the highest digit first.
    pub(super) fn bypass(&mut self, element: Element, count: u32, digits: u32) -> u32 {
        let digits = self.bins.bypass(digits, count);
        self.observer.begins(element);
        self.observer.bypassed(digits, count);
        digits
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
            let coded = self.bypass(element, 4, age.into());
            Some(coded as u16).filter(|&age| age > 0)
        });
        if ages == USUAL || ages == NONE {
            return Err(NonCanonical::Redundant);
        }
        Ok(ages)
    }
}
