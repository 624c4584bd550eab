//! Bins of constant probability, and the observer of bins.

use std::ops::RangeInclusive;

use super::blend::Blend;
use super::coder::{BinCoder, ONE};
use super::rotation::Vector;
use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, Form};

/// Observes every bin, to count its cost or to train the model.
pub(crate) trait CodingObserver {
    /// Observes a bin. `slots` are its slots in the static table; empty if it has no slots. `one` is the probability
    /// that it is set, in 1/65536.
    fn coded(&mut self, slots: &[usize], bin: bool, one: u32);

    /// Observes the lowest `count` digits of a number, each a bin of even odds.
    fn bypassed(&mut self, digits: u32, count: u32) {
        for digit in (0..count).rev() {
            self.coded(&[], digits >> digit & 1 == 1, ONE / 2);
        }
    }

    /// Sets the element of the following bins.
    fn begins(&mut self, _: Element) {}

    /// Ends a part of a field: the component with this index, or the bins before the components if `None`.
    fn part_ends(&mut self, _: Option<usize>) {}

    /// Observes a field that was coded with a blend. The vector is the sum that would have been exact.
    fn blended(&mut self, _: &Blend, _: impl FnOnce() -> Vector) {}

    /// Sets the form of the field that was just observed with three components.
    fn note(&mut self, _: impl FnOnce() -> Form) {}
}

impl CodingObserver for () {
    fn coded(&mut self, _: &[usize], _: bool, _: u32) {}
}

/// The kind of bits and the body that a bin belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: BitKind,
    pub(crate) body: Option<usize>,
}

impl Element {
    /// An element that belongs to no body.
    pub(crate) const fn of_packet(kind: BitKind) -> Self {
        Self { kind, body: None }
    }
}

/// Checks that decoded bins are those that the encoder writes, because there is no shorter form.
pub(crate) fn check_canonical(bins: &impl BinCoder, is_canonical: bool) -> Result<(), DecodeError> {
    match is_canonical {
        true => Ok(()),
        false => Err(DecodeError::NonCanonical { at_bit: bins.at_bit() }),
    }
}

/// Checks that no more bins were decoded than the bytes contain.
pub(crate) fn check_end(bins: &impl BinCoder) -> Result<(), DecodeError> {
    check_canonical(bins, !bins.is_past_end())
}

pub(crate) fn check_range<T: Copy + Into<i64> + PartialOrd>(
    bins: &impl BinCoder,
    element: Element,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<(), DecodeError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(DecodeError::OutOfRange {
        at_bit: bins.at_bit(),
        field: element.kind,
        body: element.body,
        value: value.into(),
        min: (*range.start()).into(),
        max: (*range.end()).into(),
    })
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

    /// Codes the lowest `count` digits of a number as bypass bins, highest digit first.
    pub(crate) fn digits(&mut self, element: Element, count: u32, digits: u32) -> u32 {
        let digits = self.bins.bypass(digits, count);
        self.observer.begins(element);
        self.observer.bypassed(digits, count);
        digits
    }
}
