//! Bins with their observer, and the observer that records their cost in a ledger.

use std::ops::RangeInclusive;

use super::blend::Blend;
use super::coder::{BinCoder, BinDecoder, BinEncoder, ONE};
use super::layout::Weights;
use super::mixing;
use super::rotation::Vector;
use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, BitLedger, Form, INDICES};
use crate::selection::index_bits;

/// Observes every bin, to count its cost or to train the model.
pub(crate) trait CodingObserver {
    /// Observes a bin. `slots` are the indices of its inputs in the trained table; empty for a bin without mixing.
    /// `one` is the probability that it is set, in 1/65536.
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

    /// Observes a field that was coded with a blend. The vector is the sum of differences that would have predicted the
    /// field exactly.
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

/// A coder of bins, and the observer of its bins.
pub(crate) struct Bins<B, O> {
    pub(crate) coder: B,
    pub(crate) observer: O,
}

impl<B: BinCoder, O: CodingObserver> Bins<B, O> {
    /// Codes a bin of an element that is set with probability `one` / [`ONE`].
    pub(super) fn flag(&mut self, element: Element, one: u32, value: bool) -> bool {
        self.observer.begins(element);
        self.bin(one, value)
    }

    /// Codes the lowest `count` digits of a number as bypass bins of an element, highest digit first.
    pub(super) fn digits(&mut self, element: Element, count: u32, digits: u32) -> u32 {
        self.observer.begins(element);
        self.bypass(count, digits)
    }

    /// Codes a number below `count` as bypass bins of an element.
    pub(super) fn number(
        &mut self,
        element: Element,
        count: usize,
        value: usize,
    ) -> Result<usize, DecodeError> {
        let coded = self.digits(element, index_bits(count), value as u32) as usize;
        self.check_range(element, coded as i64, &(0..=count as i64 - 1))?;
        Ok(coded)
    }

    /// Codes a further bin of the current element.
    #[inline(always)]
    pub(super) fn bin(&mut self, one: u32, value: bool) -> bool {
        let value = self.coder.bin(value, one);
        self.observer.coded(&[], value, one);
        value
    }

    /// Codes further bypass bins of the current element.
    #[inline(always)]
    pub(super) fn bypass(&mut self, count: u32, digits: u32) -> u32 {
        let digits = self.coder.bypass(digits, count);
        self.observer.bypassed(digits, count);
        digits
    }

    /// Codes a bin with the probability that two sets of weights mix from its inputs, and updates the weights. `slots`
    /// are the indices of the inputs in the trained table.
    #[inline(always)]
    pub(super) fn mixed<const N: usize>(
        &mut self,
        slots: [usize; N],
        inputs: [i16; N],
        weights: [&mut Weights; 2],
        value: bool,
    ) -> bool {
        let inputs = mixing::inputs(inputs);
        let one = mixing::mix(inputs, [&*weights[0], &*weights[1]]);
        let value = self.coder.bin(value, one);
        mixing::update(weights, inputs, one, value);
        self.observer.coded(&slots, value, one);
        value
    }

    /// Returns an error if `is_canonical` is false. A value has only one valid encoding: a decoder refuses bins that
    /// the encoder would not write for it.
    pub(super) fn check_canonical(&self, is_canonical: bool) -> Result<(), DecodeError> {
        match is_canonical {
            true => Ok(()),
            false => Err(DecodeError::NonCanonical { at_bit: self.coder.at_bit() }),
        }
    }

    /// Checks that no more bins were decoded than the bytes contain.
    pub(super) fn check_end(&self) -> Result<(), DecodeError> {
        self.check_canonical(!self.coder.is_past_end())
    }

    pub(super) fn check_range<T: Copy + Into<i64> + PartialOrd>(
        &self,
        element: Element,
        value: T,
        range: &RangeInclusive<T>,
    ) -> Result<(), DecodeError> {
        if range.contains(&value) {
            return Ok(());
        }
        Err(DecodeError::OutOfRange {
            at_bit: self.coder.at_bit(),
            field: element.kind,
            body: element.body,
            value: value.into(),
            min: (*range.start()).into(),
            max: (*range.end()).into(),
        })
    }
}

impl<O> Bins<BinEncoder<'_>, O> {
    /// Writes the last bytes.
    pub(crate) fn finish(self) {
        self.coder.finish();
    }
}

impl<O: CodingObserver> Bins<BinDecoder<'_>, O> {
    /// Checks that an encoder writes exactly these bytes.
    pub(crate) fn finish(self) -> Result<(), DecodeError> {
        self.check_canonical(self.coder.is_canonical())
    }
}

/// Records the cost of bins in a ledger, in bits: the negative binary logarithm of their probabilities.
pub(crate) struct BitCostObserver<'a> {
    ledger: &'a mut BitLedger,
    is_itemized: bool,
    element: Element,
    /// Product of the probabilities of the bins that are not recorded yet, by kind. In an itemized ledger, only bins
    /// of the current element are pending. A logarithm takes longer than a bin, so one is computed for many bins.
    probabilities: [f64; INDICES],
    /// Bits recorded since the last part of a field ended, and bits of the components of the last field.
    part: f64,
    components: [f64; 3],
}

impl<'a> BitCostObserver<'a> {
    pub(crate) fn new(ledger: &'a mut BitLedger) -> Self {
        Self {
            is_itemized: ledger.items().is_some(),
            ledger,
            element: Element { kind: BitKind::Selection, body: None },
            probabilities: [1.0; INDICES],
            part: 0.0,
            components: [0.0; 3],
        }
    }

    #[inline(never)]
    fn record(&mut self) {
        let Element { kind, body } = self.element;
        let probability = std::mem::replace(&mut self.probabilities[kind.index() % INDICES], 1.0);
        if probability == 1.0 {
            return;
        }
        let bits = -probability.log2();
        self.ledger.record(kind, body, bits);
        self.part += bits;
    }

    #[cold]
    fn record_part(&mut self, component: Option<usize>) {
        self.record();
        let bits = std::mem::take(&mut self.part);
        if let Some(component) = component {
            self.components[component] = bits;
        }
    }
}

impl Drop for BitCostObserver<'_> {
    fn drop(&mut self) {
        self.record();
        for kind in BitKind::ALL {
            if self.probabilities[kind.index() % INDICES] < 1.0 {
                self.element.kind = kind;
                self.record();
            }
        }
    }
}

impl CodingObserver for BitCostObserver<'_> {
    #[inline]
    fn begins(&mut self, element: Element) {
        if self.is_itemized && element != self.element {
            self.record();
        }
        self.element = element;
        if self.probabilities[element.kind.index() % INDICES] < MIN_PROBABILITY {
            self.record();
        }
    }

    #[inline]
    fn coded(&mut self, _: &[usize], bin: bool, one: u32) {
        let probability = if bin { one } else { ONE - one };
        self.probabilities[self.element.kind.index() % INDICES] *=
            f64::from(probability) / f64::from(ONE);
    }

    #[inline]
    fn bypassed(&mut self, _: u32, count: u32) {
        self.probabilities[self.element.kind.index() % INDICES] /= (1_u64 << count) as f64;
    }

    fn part_ends(&mut self, component: Option<usize>) {
        if self.is_itemized {
            self.record_part(component);
        }
    }

    fn note(&mut self, form: impl FnOnce() -> Form) {
        if self.is_itemized {
            self.record();
            self.ledger.note(form);
            let components = self.components;
            self.ledger.note_components(|| components);
        }
    }
}

/// Below this, the pending bins are recorded. It leaves room for all bins of another element before f64 loses
/// precision: three residuals have less than 750 bits.
const MIN_PROBABILITY: f64 = 1e-50;
