//! Records the cost of arithmetically coded bins, in bits, in a ledger.

use super::bins::{CodingObserver, Element};
use super::coder::ONE;
use crate::ledger::{BitKind, BitLedger, Form, INDICES};

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
