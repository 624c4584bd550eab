//! Errors of schemas.

/// Error of a [`Schema`](super::Schema).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{item}: {fault}")]
pub struct SchemaError {
    /// The item, in the words of the [text](super::Schema::text), such as `ticks` or `field health`.
    pub item: String,
    /// The fault of the item.
    pub fault: Fault,
}

/// Fault of an item of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A name with other characters, or with a wrong length.
    #[error("a name must have 1 to 32 characters from a-z, 0-9, - and _")]
    Name,
    /// A whole number out of bounds.
    #[error("{what} must be a whole number from {min} to {max}, not `{value}`")]
    Whole {
        /// Meaning of the number.
        what: &'static str,
        /// Smallest legal number.
        min: i64,
        /// Largest legal number.
        max: i64,
        /// The number.
        value: i64,
    },
    /// NaN or infinity.
    #[error("{what} must be a finite number, not `{value}`")]
    NotFinite {
        /// Meaning of the number.
        what: &'static str,
        /// The number.
        value: String,
    },
    /// −0. It is equal to 0 but has other bytes.
    #[error("{what} must be 0, not -0")]
    NegativeZero {
        /// Meaning of the number.
        what: &'static str,
    },
    /// A number that is 0 or negative.
    #[error("{what} must be above 0")]
    NotPositive {
        /// Meaning of the number.
        what: &'static str,
    },
    /// A negative number.
    #[error("{what} must be at least 0")]
    Negative {
        /// Meaning of the number.
        what: &'static str,
    },
    /// A range whose minimum is not below its maximum.
    #[error("min must be below max")]
    MinNotBelowMax,
    /// A range that contains no whole step.
    #[error("the range from min to max contains no whole step")]
    NoStep,
    /// A range of more than 2²⁰ steps.
    #[error("there must be at most 1048576 steps from min to max")]
    TooManySteps,
    /// A range with steps outside `-2²⁰..2²⁰`.
    #[error("steps must be from -1048576 to 1048575")]
    StepsTooFar,
    /// A length of 2²⁰ steps or more.
    #[error("{what} must be below 1048576 steps")]
    TooLarge {
        /// Meaning of the length.
        what: &'static str,
    },
    /// A floor more than 2²⁰ steps from 0.
    #[error("it must be from -1048576 to 1048576 steps")]
    FloorTooFar,
    /// Gravity above 2²⁰ steps per tick².
    #[error("it must be at most 1048576 steps per tick²")]
    TooStrong,
    /// A maximum speed above 2²⁰ steps per tick.
    #[error("it must be at most 1048576 steps per tick")]
    TooFast,
    /// An integer field with fewer than two values.
    #[error("min must be below max: a field of one value needs no bits")]
    OneValue,
    /// A float field with fewer than 2 values, or more than 2³¹.
    #[error("there must be 1 to 2147483647 steps from min to max")]
    FloatSteps,
    /// An anchor that is not below the maximum number of bodies.
    #[error("it must be below {max}, the maximum number of bodies")]
    AnchorNotBelowMax {
        /// Maximum number of bodies at a time.
        max: u32,
    },
    /// A name that is used twice.
    #[error("it is defined twice")]
    Duplicate,
    /// More bytes than [`Schema::MAX_BYTES`](super::Schema::MAX_BYTES).
    #[error("it is longer than 5120 bytes")]
    TooLong,
    /// Bytes that are not a schema.
    #[error("malformed")]
    Malformed,
}

impl SchemaError {
    pub(super) fn new(item: impl Into<String>, fault: Fault) -> Self {
        Self { item: item.into(), fault }
    }
}

/// Name of an item in messages, such as `field health`.
pub(super) fn named(word: &str, name: &str) -> String {
    format!("{word} {}", shown(name))
}

/// Escapes control characters and shortens a word, so that any word can be displayed.
pub(super) fn shown(word: &str) -> String {
    let mut shown: String = word.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if word.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Maximum number of displayed characters. Legal names are not longer.
const SHOWN: usize = 32;
