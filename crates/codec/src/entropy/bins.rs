//! Bins of constant probability, and who observes bins.

use super::blend::Blend;
use super::coder::{BinCoder, ONE};
use super::rotation::Vector;
use crate::ledger::{BitKind, Form};

/// Observes every bin, to account for it or to count it.
pub(crate) trait CodingObserver {
    /// A bin. `slots` are the slots of the static inputs, if there are any; `one` is the probability that it is set.
    fn coded(&mut self, slots: &[usize], bin: bool, one: u32);

    /// The lowest `count` digits of a number, each a bin of even odds.
    fn bypassed(&mut self, digits: u32, count: u32) {
        for digit in (0..count).rev() {
            self.coded(&[], digits >> digit & 1 == 1, ONE / 2);
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
    pub(crate) body: Option<usize>,
}

impl Element {
    /// Part of no body.
    pub(crate) const fn of_packet(kind: BitKind) -> Self {
        Self { kind, body: None }
    }
}

/// Why decoded bins are not what the encoder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonCanonical {
    /// A number is out of range.
    OutOfRange {
        field: BitKind,
        body: Option<usize>,
        value: i64,
        min: i64,
        max: i64,
    },
    /// There is a shorter form, which the encoder would have used.
    Redundant,
    /// There are more bins than the bytes hold.
    PastEnd,
}

/// Codes bins of constant probability.
pub(crate) struct FixedBins<'b, B, O> {
    pub(crate) bins: &'b mut B,
    pub(crate) observer: &'b mut O,
}

impl<B: BinCoder, O: CodingObserver> FixedBins<'_, B, O> {
    /// Codes a bin that is set with probability `one` / [`ONE`]; with `ONE / 2`, a bypass bin.
    pub(crate) fn flag(&mut self, element: Element, one: u32, value: bool) -> bool {
        let value = self.bins.bin(value, one);
        self.observer.begins(element);
        self.observer.coded(&[], value, one);
        value
    }

    /// Codes the lowest `count` digits of a number as bypass bins, the highest digit first.
    pub(crate) fn digits(&mut self, element: Element, count: u32, digits: u32) -> u32 {
        let digits = self.bins.bypass(digits, count);
        self.observer.begins(element);
        self.observer.bypassed(digits, count);
        digits
    }
}
