//! Where the contexts of each kind of decision are in the tables.

use std::ops::Range;

/// Decisions that tell a residual.
pub(crate) const NODES: usize = 48;

/// Contexts of a component's residual, for each of its predictions.
const RESIDUAL_CONTEXTS: usize = 256;

/// Predictions of a residual's decisions.
pub(crate) const RESIDUAL_INPUTS: usize = 4;

/// Slots of one prediction of one component's residual.
const RESIDUAL_SLOTS: usize = RESIDUAL_CONTEXTS * NODES;

/// A kind of decision that is made once for a cube.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    first: usize,
    /// Contexts of each prediction.
    size: usize,
    /// Which weights mix its predictions; how many sets there are.
    pub(crate) weights: usize,
    /// First of its adaptive probabilities.
    adaptive: usize,
}

impl Site {
    /// The slot of a context of one of the predictions.
    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < self.size);
        self.first + input * self.size + context
    }

    /// Slots of one of the predictions.
    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = self.first + input * self.size;
        first..first + self.size
    }

    /// The slot of an adaptive probability, one of sixteen.
    pub(crate) const fn adaptive(self, context: usize) -> usize {
        debug_assert!(context < ADAPTIVE_CONTEXTS);
        self.adaptive + context
    }
}

const ADAPTIVE_CONTEXTS: usize = 16;
const SITE_INPUTS: usize = 2;
const SITE_SIZE: usize = 1024;
const SITES: usize = 8;

const fn site(place: usize) -> Site {
    Site {
        first: place * SITE_INPUTS * SITE_SIZE,
        size: SITE_SIZE,
        weights: place,
        adaptive: place * ADAPTIVE_CONTEXTS,
    }
}

/// Whether a cube that moved before changes.
pub(crate) const ACTIVE_CHANGES: Site = site(0);
/// Whether a cube that lay still changes.
pub(crate) const RESTING_CHANGES: Site = site(1);
/// Whether it starts or ceases to be interacting.
pub(crate) const TOGGLES: Site = site(2);
/// Whether the orientation leaves out the component that is expected.
pub(crate) const SAME_LARGEST: Site = site(3);
/// Whether it leaves out the next likely one instead; and then the next.
pub(crate) const NEXT_LARGEST: Site = site(4);
/// Whether any cube changes that lay still and that nothing came near.
pub(crate) const ANY_UNTOUCHED: Site = site(5);

/// Whether the orientation is the baseline's.
pub(crate) const SAME_ORIENTATION: Site = site(6);
/// Whether the position is.
pub(crate) const SAME_POSITION: Site = site(7);

/// A component whose residual is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Component {
    place: usize,
}

impl Component {
    pub(crate) const fn orientation(axis: usize) -> Self {
        Self { place: axis }
    }

    pub(crate) const fn position(axis: usize) -> Self {
        Self { place: 3 + axis }
    }

    /// The slot of the first node of a context.
    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < RESIDUAL_CONTEXTS);
        RESIDUALS + (self.place * RESIDUAL_INPUTS + input) * RESIDUAL_SLOTS + context * NODES
    }

    /// Slots of one of the predictions.
    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = self.slot(input, 0);
        first..first + RESIDUAL_SLOTS
    }

    /// The adaptive probability of the first node, in one of sixteen contexts.
    pub(crate) const fn adaptive(self, context: usize) -> usize {
        debug_assert!(context < ADAPTIVE_CONTEXTS);
        SITES * ADAPTIVE_CONTEXTS + (self.place * ADAPTIVE_CONTEXTS + context) * NODES
    }

    /// The weights of a node.
    pub(crate) const fn weights(self, node: usize) -> usize {
        SITES + self.place * NODES + node
    }
}

const COMPONENTS: usize = 6;
const RESIDUALS: usize = SITES * SITE_INPUTS * SITE_SIZE;

/// Slots of one of the two ways of coding.
pub(crate) const SLOTS_OF_A_WAY: usize = RESIDUALS + COMPONENTS * RESIDUAL_INPUTS * RESIDUAL_SLOTS;
pub(crate) const WEIGHT_SETS_OF_A_WAY: usize = SITES + COMPONENTS * NODES;
pub(crate) const ADAPTIVE_OF_A_WAY: usize =
    SITES * ADAPTIVE_CONTEXTS + COMPONENTS * ADAPTIVE_CONTEXTS * NODES;

/// Classes of cubes that guesses are compared in.
pub(crate) const CLASSES: usize = 512;
/// Guesses of one thing at most.
pub(crate) const GUESSES: usize = 4;

/// Differences from the baseline; and from what was predicted.
const WAYS: usize = 2;
pub(crate) const CONTEXT_SLOTS: usize = WAYS * SLOTS_OF_A_WAY;
pub(crate) const WEIGHT_SETS: usize = WAYS * WEIGHT_SETS_OF_A_WAY;
pub(crate) const ADAPTIVE_SLOTS: usize = WAYS * ADAPTIVE_OF_A_WAY;
/// Only what is foreseen is chosen among guesses.
pub(crate) const ERROR_SLOTS: usize = 2 * CLASSES * GUESSES;
