//! Records the cost of arithmetically coded bins in a ledger.

use super::coder::ONE;
use super::session::{CodingObserver, Element};
use crate::ledger::{BitKind, BitLedger, Form};

/// Records what every bin costs in a ledger.
pub(crate) struct Accounts<'a> {
    ledger: &'a mut BitLedger,
    is_itemized: bool,
    /// The current element, and the probability of all its bins so far.
    element: Element,
    probability: f64,
    /// Bits recorded since the last part of a field ended, and those of the components of the last field.
    part: f64,
    components: [f64; 3],
}

impl<'a> Accounts<'a> {
    pub(crate) fn new(ledger: &'a mut BitLedger) -> Self {
        Self {
            is_itemized: ledger.items().is_some(),
            ledger,
            element: Element {
                kind: BitKind::Selection,
                cube: None,
            },
            probability: 1.0,
            part: 0.0,
            components: [0.0; 3],
        }
    }

    fn record(&mut self) {
        let bits = -self.probability.log2();
        let Element { kind, cube } = self.element;
        self.ledger.record(kind, cube, bits);
        self.part += bits;
        self.probability = 1.0;
    }

    #[inline(never)]
    fn begin(&mut self, element: Element) {
        self.record();
        let cube = element.cube.filter(|_| self.is_itemized);
        self.element = Element { cube, ..element };
    }

    /// Seldom called, and never without items.
    #[cold]
    fn record_part(&mut self, component: Option<usize>) {
        self.record();
        let bits = std::mem::take(&mut self.part);
        if let Some(component) = component {
            self.components[component] = bits;
        }
    }
}

impl Drop for Accounts<'_> {
    fn drop(&mut self) {
        self.record();
    }
}

impl CodingObserver for Accounts<'_> {
    #[inline]
    fn begins(&mut self, element: Element) {
        // One logarithm for many bins, because it takes longer than a bin.
        let is_same = element.kind == self.element.kind
            && (!self.is_itemized || element.cube == self.element.cube);
        if !is_same || self.probability < MIN_PROBABILITY {
            self.begin(element);
        }
    }

    #[inline]
    fn coded(&mut self, _: &[usize], bin: bool, one: u32) {
        let probability = if bin { one } else { ONE - one };
        self.probability *= f64::from(probability) / f64::from(ONE);
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

/// So far above where f64 loses precision that all bins of another element can follow: three residuals have less than
/// 750 bits.
const MIN_PROBABILITY: f64 = 1e-50;
