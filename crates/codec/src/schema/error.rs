//! Why a schema is refused.

/// Why a [`Schema`](super::Schema) is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{item}: {fault}")]
pub struct SchemaError {
    /// What is wrong, in the words of its line in the [text](super::Schema::text): `ticks`, or `field health`.
    pub item: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with an item of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A name of other characters, or too many.
    #[error("a name has 1 to 32 characters, each of a-z, 0-9, - and _")]
    Name,
    /// A whole number out of bounds.
    #[error("{what} must be a whole number from {min} to {max}, not `{value}`")]
    Whole {
        /// The number's meaning.
        what: &'static str,
        /// Smallest legal number.
        min: i64,
        /// Largest legal number.
        max: i64,
        /// What is there instead.
        value: i64,
    },
    /// No number, or an infinite one.
    #[error("{what} must be a finite number, not `{value}`")]
    NotFinite {
        /// The number's meaning.
        what: &'static str,
        /// What is there instead.
        value: String,
    },
    /// −0, which is equal to 0 and has other bytes.
    #[error("{what} is -0, which must be 0")]
    NegativeZero {
        /// The number's meaning.
        what: &'static str,
    },
    /// A number of 0 or below.
    #[error("{what} must be above 0")]
    NotPositive {
        /// The number's meaning.
        what: &'static str,
    },
    /// A number below 0.
    #[error("{what} must be at least 0")]
    Negative {
        /// The number's meaning.
        what: &'static str,
    },
    /// A range that ends before it starts.
    #[error("min must be below max")]
    MinNotBelowMax,
    /// A range without whole steps.
    #[error("there is no whole step from min to max")]
    NoStep,
    /// A range with too many steps.
    #[error("there must be at most 1048576 steps from min to max")]
    TooManySteps,
    /// A range with steps far from 0.
    #[error("steps must be from -1048576 to 1048575")]
    StepsTooFar,
    /// A shape that is too large.
    #[error("{what} must be below 1048576 steps")]
    TooLarge {
        /// The length's meaning.
        what: &'static str,
    },
    /// A floor far from 0.
    #[error("it must be from -1048576 to 1048576 steps")]
    FloorTooFar,
    /// Gravity that is too strong.
    #[error("it must be at most 1048576 steps per tick²")]
    TooStrong,
    /// Bodies that are too fast.
    #[error("it must be at most 1048576 steps per tick")]
    TooFast,
    /// An integer field of one value, or none.
    #[error("min must be below max: a field of one value needs no bits")]
    OneValue,
    /// A float field with too few or too many values.
    #[error("there must be 1 to 2147483647 steps from min to max")]
    FloatSteps,
    /// An anchor that no body can be.
    #[error("it must be below the {max} bodies that can be there")]
    AnchorNotBelowMax {
        /// Most bodies at a time.
        max: u32,
    },
    /// A name that is there already.
    #[error("it is there twice")]
    Duplicate,
    /// More than [`Schema::MAX_BYTES`](super::Schema::MAX_BYTES).
    #[error("it has more than 5120 bytes")]
    TooLong,
    /// Bytes that are not those of a schema.
    #[error("malformed")]
    Malformed,
}

impl SchemaError {
    pub(super) fn new(item: impl Into<String>, fault: Fault) -> Self {
        Self {
            item: item.into(),
            fault,
        }
    }
}

/// An item that a name or an axis tells from others.
pub(super) fn named(word: &str, name: &str) -> String {
    format!("{word} {}", shown(name))
}

/// A word as it can be shown whatever it is: without control characters, and not long.
pub(super) fn shown(word: &str) -> String {
    let mut shown: String = word
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if word.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Characters that are shown of a word; no name has more.
const SHOWN: usize = 32;
