//! Sizes and indices of the tables of a trained model and of an adaptive state.

use std::ops::Range;

use crate::stages::Delta;

/// The prediction that residuals are relative to. Each variant has a separate part of the trained table, the mixer
/// weights and the flag probabilities. Mean errors and blends exist only for `Predicted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Residuals relative to the reference.
    #[default]
    Plain = 0,
    /// Residuals relative to predictions.
    Predicted = 1,
}

impl Variant {
    pub(crate) const ALL: [Self; VARIANTS] = [Self::Plain, Self::Predicted];

    /// Variant for a delta stage; `None` if it is not arithmetic.
    pub(crate) const fn of(delta: Delta) -> Option<Self> {
        match delta {
            Delta::Arithmetic => Some(Self::Plain),
            Delta::ArithmeticPredicted | Delta::ArithmeticSimulated => Some(Self::Predicted),
            _ => None,
        }
    }

    /// The part of this variant in a table with `size` entries per variant.
    pub(crate) const fn part(self, size: usize) -> Range<usize> {
        let first = self as usize * size;
        first..first + size
    }
}

/// The predicted fields of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoseField {
    Orientation = 0,
    Position = 1,
}

/// Maximum number of inputs of the mixer for one bin.
pub(crate) const MAX_INPUTS: usize = 8;

/// A weight for each input of the mixer; zero for unused inputs. Sixteen bits each, so that all of them fit one SIMD
/// register.
pub(crate) type Weights = [i16; MAX_INPUTS];

/// A weight of 1. Weights are in 1/16384 and below 2.
pub(crate) const WEIGHT_ONE: i16 = 1 << 14;

/// Unit of the trained table, in steps of log odds (1/256), so that the model file has one byte per entry.
pub(crate) const TABLE_UNIT: i16 = 16;

/// Number of bins of the [binarization](super::residual) of a residual.
pub(crate) const RESIDUAL_BINS: usize = 32;

// Index of the first bin of each syntax element of a residual. The tree of the number of digits starts at 0.
/// Bins of the sign. Add the number of digits minus 1.
pub(crate) const NEGATIVE: usize = 7;
/// Bins of the first digit after the leading 1. Add the number of digits, at most 12, minus 2.
pub(crate) const FIRST: usize = 14;
/// Bins of whether there are more digits. Add the number of digits minus 7, at most 6.
pub(crate) const MORE: usize = 25;

/// Number of context values of each input of a residual. The largest value is 254, of two magnitudes.
const RESIDUAL_CONTEXTS: usize = 256;

/// Number of static inputs of a residual's bins.
pub(crate) const RESIDUAL_INPUTS: usize = 4;

const RESIDUAL_SLOTS: usize = RESIDUAL_CONTEXTS * RESIDUAL_BINS;

/// The slots and weights of a flag, which is a syntax element of one bin. The number is the index of the flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlagContexts(usize);

impl FlagContexts {
    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < FLAG_SIZE);
        self.slots(input).start + context
    }

    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = (self.0 * FLAG_INPUTS + input) * FLAG_SIZE;
        first..first + FLAG_SIZE
    }

    /// Its two sets of weights.
    pub(crate) const fn weights(self) -> Range<usize> {
        2 * self.0..2 * self.0 + 2
    }
}

const FLAG_INPUTS: usize = 2;
/// Number of context values of each input. The largest value is 510.
const FLAG_SIZE: usize = 1024;
const FLAGS: usize = 7;

/// Whether an active body, one that moved on the way to the reference, changes.
pub(crate) const ACTIVE_CHANGES: FlagContexts = FlagContexts(0);
/// Whether a resting body changes if a coded body is near it.
pub(crate) const RESTING_CHANGES: FlagContexts = FlagContexts(1);
/// Whether a changed body toggles *interacting*.
pub(crate) const TOGGLES: FlagContexts = FlagContexts(2);
/// Whether the orientation omits the component that the prediction ranks first.
pub(crate) const SAME_LARGEST: FlagContexts = FlagContexts(3);
/// Whether it omits the component of the next rank: first of rank 1, then of rank 2.
pub(crate) const NEXT_LARGEST: FlagContexts = FlagContexts(4);
/// Whether the orientation equals the reference's.
pub(crate) const SAME_ORIENTATION: FlagContexts = FlagContexts(5);
/// Whether the position equals the reference's.
pub(crate) const SAME_POSITION: FlagContexts = FlagContexts(6);

/// Flags with an adaptive probability instead of mixing, which saves time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AdaptiveFlag {
    /// Whether a resting body changes if no coded body is near it.
    Untouched = 0,
    /// Whether any untouched body changes.
    AnyUntouched = 1,
    /// Whether any body of a group changes, if no body of the previous group changed. Bodies of near indices often start
    /// near each other, so groups that change follow each other.
    GroupAfterClear = 2,
    /// Whether any body of a group changes, if a body of the previous group changed.
    GroupAfterSet = 3,
}

pub(crate) const ADAPTIVE_FLAGS: usize = 4;

// Layout of the adaptive probabilities of one further field of the schema.
/// Whether the value changes, by kind of the body modulo this number: some kinds change a field often, others never.
pub(crate) const VALUE_CLASSES: usize = 16;
/// Whether the value decreases.
pub(crate) const DECREASES: usize = VALUE_CLASSES;
/// Bins of the number of binary digits of the change.
pub(crate) const DIGITS: usize = DECREASES + 1;
/// Number of probabilities of a field.
pub(crate) const VALUE_STATES: usize = DIGITS + u32::BITS as usize;

/// Number of age classes of a body that a partial packet may carry. A sender prefers bodies that have waited long.
pub(crate) const AGE_CLASSES: usize = 8;

/// Probabilities that a body is carried: absent, resting and active bodies, each by age class.
pub(crate) const CARRIED_STATES: usize = 3 * AGE_CLASSES;

/// Even odds, the initial value of an adaptive probability.
pub(crate) const EVEN: u16 = 1 << 15;

/// The slots and weights of the residual of one component. The three components of an orientation share one group, and
/// so do x and y.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResidualContexts {
    group: usize,
}

impl ResidualContexts {
    pub(crate) const fn of(field: PoseField, axis: usize) -> Self {
        let group = match field {
            PoseField::Orientation => 0,
            PoseField::Position => 1 + axis / 2,
        };
        Self { group }
    }

    pub(crate) const fn slot(self, input: usize, context: usize) -> usize {
        debug_assert!(context < RESIDUAL_CONTEXTS);
        RESIDUALS
            + (self.group * RESIDUAL_INPUTS + input) * RESIDUAL_SLOTS
            + context * RESIDUAL_BINS
    }

    pub(crate) const fn slots(self, input: usize) -> Range<usize> {
        let first = self.slot(input, 0);
        first..first + RESIDUAL_SLOTS
    }

    pub(crate) const fn weights(self) -> Range<usize> {
        let first = FLAG_WEIGHT_SETS + self.group * 2 * RESIDUAL_WEIGHT_SETS;
        first..first + 2 * RESIDUAL_WEIGHT_SETS
    }
}

/// Index of a bin's set of weights for a class, below [`RESIDUAL_WEIGHT_SETS`]. All signs share one set per class. The
/// bins after the signs have one set for all classes.
#[inline(always)]
pub(crate) const fn residual_weights(bin: usize, class: usize) -> usize {
    debug_assert!(class < CLASSES_OF_WEIGHTS);
    let set = match bin {
        0..NEGATIVE => bin,
        NEGATIVE..FIRST => NEGATIVE,
        _ => return SETS_PER_CLASS * CLASSES_OF_WEIGHTS + bin - FIRST,
    };
    class % CLASSES_OF_WEIGHTS * SETS_PER_CLASS + set
}

/// Number of sets for a class: one for each bin of the tree, and one for the signs.
const SETS_PER_CLASS: usize = NEGATIVE + 1;
/// Number of weight classes of a bin that codes the size or the sign of a residual.
const CLASSES_OF_WEIGHTS: usize = 8;
/// Number of bins that have one set of weights for all classes.
const OTHER_BINS: usize = RESIDUAL_BINS - FIRST;
/// Sets of weights of the bins of a residual. Each group has twice as many: one half is selected by zone, the other
/// by the residual in the reference's packet.
pub(crate) const RESIDUAL_WEIGHT_SETS: usize = SETS_PER_CLASS * CLASSES_OF_WEIGHTS + OTHER_BINS;
const FLAG_WEIGHT_SETS: usize = 2 * FLAGS;

/// Orientation, horizontal position, height.
const GROUPS: usize = 3;
const RESIDUALS: usize = FLAGS * FLAG_INPUTS * FLAG_SIZE;

/// Entries of each table for one variant.
pub(crate) const VARIANT_SLOTS: usize = RESIDUALS + GROUPS * RESIDUAL_INPUTS * RESIDUAL_SLOTS;
pub(crate) const VARIANT_WEIGHT_SETS: usize = FLAG_WEIGHT_SETS + GROUPS * 2 * RESIDUAL_WEIGHT_SETS;

const VARIANTS: usize = 2;
pub(crate) const SLOTS: usize = VARIANTS * VARIANT_SLOTS;
pub(crate) const WEIGHT_SETS: usize = VARIANTS * VARIANT_WEIGHT_SETS;
pub(crate) const ADAPTIVE: usize = VARIANTS * ADAPTIVE_FLAGS;

/// Number of classes of the height of the lowest point.
const CLEARANCES: usize = 6;
/// Number of classes of the distance to the player.
const DISTANCES: usize = 16;

/// Number of candidate predictions, by field.
pub(crate) const CANDIDATES: [usize; 2] = [3, 4];
/// Number of classes for the mean errors of candidates, by field. A class is a clearance, the candidate that was best
/// in the reference's packet, and a distance to the player. Bodies in the air fly or stick to the player, and low ones
/// roll, mostly for many packets.
pub(crate) const CLASSES: [usize; 2] =
    [CLEARANCES * CANDIDATES[0] * DISTANCES, CLEARANCES * CANDIDATES[1] * DISTANCES];
/// Number of classes for blends, by field. A class is a clearance, the selected candidate, a distance to the player,
/// and for positions whether the body has neighbours. Distances are four times as wide as above, because training needs
/// hundreds of bodies in each class.
pub(crate) const BLENDS: [usize; 2] =
    [CLEARANCES * CANDIDATES[0] * DISTANCES / 4, CLEARANCES * CANDIDATES[1] * DISTANCES / 4 * 2];
/// Each blend has one set of weights for x and y, and one for z.
pub(crate) const BLEND_SETS: usize = 2 * (BLENDS[0] + BLENDS[1]);

const CANDIDATE_ERRORS: usize = CLASSES[0] * CANDIDATES[0] + CLASSES[1] * CANDIDATES[1];
/// Number of mean errors. Only the predicted variant has them.
pub(crate) const ERRORS: usize = CANDIDATE_ERRORS + BLEND_SETS;

/// Index of the mean error of the first candidate in a class.
pub(crate) const fn error_index(field: PoseField, class: usize) -> usize {
    match field {
        PoseField::Orientation => class * CANDIDATES[0],
        PoseField::Position => CLASSES[0] * CANDIDATES[0] + class * CANDIDATES[1],
    }
}

/// Index of a blend's weights for x and y. The weights for z are next.
pub(crate) const fn blend_index(field: PoseField, class: usize) -> usize {
    match field {
        PoseField::Orientation => 2 * class,
        PoseField::Position => 2 * (BLENDS[0] + class),
    }
}

/// Index of the mean error without a blend. The mean error with the blend is next.
pub(crate) const fn blend_error_index(field: PoseField, class: usize) -> usize {
    CANDIDATE_ERRORS + blend_index(field, class)
}

/// Mean error of a disabled candidate. It is selected last, and the error never changes.
pub(crate) const DISABLED: u16 = u16::MAX;
