//! Sizes and indices of the tables of a trained model and of an adaptive state.

use std::ops::Range;

use crate::stages::Delta;

/// Which of the two models codes a packet. Each has its own part of every table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Residuals relative to the reference.
    Plain = 0,
    /// Residuals relative to predictions.
    Predicted = 1,
}

impl Variant {
    pub(crate) const ALL: [Self; VARIANTS] = [Self::Plain, Self::Predicted];

    /// The variant of an arithmetic stage.
    pub(crate) const fn of(delta: Delta) -> Option<Self> {
        match delta {
            Delta::Arithmetic => Some(Self::Plain),
            Delta::ArithmeticPredicted => Some(Self::Predicted),
            _ => None,
        }
    }

    /// Its part of a table that has `size` entries for each variant.
    pub(crate) const fn part(self, size: usize) -> Range<usize> {
        let first = self as usize * size;
        first..first + size
    }
}

/// The predicted fields of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Orientation = 0,
    Position = 1,
}

/// Inputs of the mixer for one bin, at most.
pub(crate) const MAX_INPUTS: usize = 8;

/// A value for each input of the mixer, zero for unused ones. Sixteen bits, so that one SIMD register holds
/// all of them.
pub(crate) type Inputs = [i16; MAX_INPUTS];

/// Weights are in 1/16384, below 2.
pub(crate) const WEIGHT_ONE: i16 = 1 << 14;

/// Unit of the static table, in steps of [`stretch`](super::logistic::stretch).
pub(crate) const TABLE_UNIT: i16 = 16;

/// Bins of the binarization of a residual.
pub(crate) const RESIDUAL_BINS: usize = 48;

/// Context values of a residual, for each of its inputs.
const RESIDUAL_CONTEXTS: usize = 256;

/// Static inputs of a residual's bins.
pub(crate) const RESIDUAL_INPUTS: usize = 4;

/// Slots of one input of one component's residual.
const RESIDUAL_SLOTS: usize = RESIDUAL_CONTEXTS * RESIDUAL_BINS;

/// The contexts of a flag: a syntax element of one bin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlagContexts {
    first: usize,
    /// Context values of each input.
    size: usize,
    /// Index of its set of weights.
    pub(crate) weights: usize,
    /// Index of its first adaptive probability.
    adaptive: usize,
}

impl FlagContexts {
    /// The slot of a context value of one input.
    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < self.size);
        self.first + input * self.size + context
    }

    /// The slots of one input.
    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = self.first + input * self.size;
        first..first + self.size
    }

    /// The index of an adaptive probability; `context` is below sixteen.
    pub(crate) const fn adaptive(self, context: usize) -> usize {
        debug_assert!(context < ADAPTIVE_CONTEXTS);
        self.adaptive + context
    }
}

const ADAPTIVE_CONTEXTS: usize = 16;
const FLAG_INPUTS: usize = 2;
const FLAG_SIZE: usize = 1024;
const FLAGS: usize = 8;

const fn flag(index: usize) -> FlagContexts {
    FlagContexts {
        first: index * FLAG_INPUTS * FLAG_SIZE,
        size: FLAG_SIZE,
        weights: index,
        adaptive: index * ADAPTIVE_CONTEXTS,
    }
}

/// Whether an active cube changes: one that moved on the way to the reference.
pub(crate) const ACTIVE_CHANGES: FlagContexts = flag(0);
/// Whether a resting cube changes.
pub(crate) const RESTING_CHANGES: FlagContexts = flag(1);
/// Whether a changed cube toggles *interacting*.
pub(crate) const TOGGLES: FlagContexts = flag(2);
/// Whether the orientation omits the component that the prediction ranks first.
pub(crate) const SAME_LARGEST: FlagContexts = flag(3);
/// Whether it omits the component of the next rank: first of rank 1, then of rank 2.
pub(crate) const NEXT_LARGEST: FlagContexts = flag(4);
/// Whether any resting cube changes that nothing came near.
pub(crate) const ANY_UNTOUCHED: FlagContexts = flag(5);
/// Whether the orientation equals the reference's.
pub(crate) const SAME_ORIENTATION: FlagContexts = flag(6);
/// Whether the position equals the reference's.
pub(crate) const SAME_POSITION: FlagContexts = flag(7);

/// The contexts of the residual of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidualContexts {
    component: usize,
}

impl ResidualContexts {
    pub(crate) const fn of(field: Field, axis: usize) -> Self {
        Self {
            component: field as usize * 3 + axis,
        }
    }

    /// The slot of the first bin in a context.
    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < RESIDUAL_CONTEXTS);
        RESIDUALS
            + (self.component * RESIDUAL_INPUTS + input) * RESIDUAL_SLOTS
            + context * RESIDUAL_BINS
    }

    /// The slots of one input.
    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = self.slot(input, 0);
        first..first + RESIDUAL_SLOTS
    }

    /// The index of the first bin's adaptive probability; `context` is below sixteen.
    pub(crate) const fn adaptive(self, context: usize) -> usize {
        debug_assert!(context < ADAPTIVE_CONTEXTS);
        FLAGS * ADAPTIVE_CONTEXTS + (self.component * ADAPTIVE_CONTEXTS + context) * RESIDUAL_BINS
    }

    /// The index of the weights of a bin.
    pub(crate) const fn weights(self, bin: usize) -> usize {
        FLAGS + self.component * RESIDUAL_BINS + bin
    }
}

const COMPONENTS: usize = 6;
const RESIDUALS: usize = FLAGS * FLAG_INPUTS * FLAG_SIZE;

/// Entries of each table for one variant.
pub(crate) const VARIANT_SLOTS: usize = RESIDUALS + COMPONENTS * RESIDUAL_INPUTS * RESIDUAL_SLOTS;
pub(crate) const VARIANT_WEIGHT_SETS: usize = FLAGS + COMPONENTS * RESIDUAL_BINS;
pub(crate) const VARIANT_ADAPTIVE: usize =
    FLAGS * ADAPTIVE_CONTEXTS + COMPONENTS * ADAPTIVE_CONTEXTS * RESIDUAL_BINS;

const VARIANTS: usize = 2;
pub(crate) const SLOTS: usize = VARIANTS * VARIANT_SLOTS;
pub(crate) const WEIGHT_SETS: usize = VARIANTS * VARIANT_WEIGHT_SETS;
pub(crate) const ADAPTIVE: usize = VARIANTS * VARIANT_ADAPTIVE;

/// Classes of cubes, each with its own prediction errors.
pub(crate) const CLASSES: usize = 512;
/// Candidate predictions of one field, at most.
pub(crate) const MAX_CANDIDATES: usize = 4;
/// Only the predicted variant selects among candidates.
pub(crate) const ERRORS: usize = 2 * CLASSES * MAX_CANDIDATES;

/// The index of the mean error of a candidate in a class.
pub(crate) const fn error_index(field: Field, class: usize, candidate: usize) -> usize {
    debug_assert!(class < CLASSES && candidate < MAX_CANDIDATES);
    (field as usize * CLASSES + class) * MAX_CANDIDATES + candidate
}

/// The mean error of a candidate that is disabled: it is selected last, and its error never changes.
pub(crate) const DISABLED: u16 = u16::MAX;
