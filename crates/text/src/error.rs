//! Errors about settings as text.

use std::fmt::Display;

use serde::de::{Expected, Unexpected};

/// A text is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A key or value has an unknown name.
    #[error("{}; choose one of {}", unknown(what, given, legal), legal.join(", "))]
    Unknown {
        /// Description of the expected name.
        what: String,
        /// The given text, shortened if it is long.
        given: String,
        /// All valid names.
        legal: Vec<String>,
    },
    /// The value of a key is not valid.
    #[error("{key} must be {wanted}, not `{given}`")]
    Value {
        /// The key.
        key: String,
        /// The given text, shortened if it is long.
        given: String,
        /// Description of a valid value.
        wanted: String,
    },
    /// Any other error, for example of the settings type.
    #[error("{0}")]
    Other(String),
}

impl TextError {
    /// Creates an error for an unknown name.
    pub fn unknown<N: Into<String>>(
        what: &str,
        given: &str,
        legal: impl IntoIterator<Item = N>,
    ) -> Self {
        Self::Unknown {
            what: what.to_owned(),
            given: excerpt(given),
            legal: legal.into_iter().map(Into::into).collect(),
        }
    }

    /// Creates an error for an invalid value. The key is added by the caller that knows it.
    pub fn value(given: &str, wanted: impl Display) -> Self {
        Self::Value { key: String::new(), given: excerpt(given), wanted: wanted.to_string() }
    }

    /// Sets the key to `of`, if the error has no key.
    pub(crate) fn of(mut self, of: &str) -> Self {
        if let Self::Unknown { what: key, .. } | Self::Value { key, .. } = &mut self
            && key.is_empty()
        {
            of.clone_into(key);
        }
        self
    }
}

impl serde::de::Error for TextError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_value(given: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        match given {
            Unexpected::Str(given) => Self::value(given, wanted),
            given => Self::value(&given.to_string(), wanted),
        }
    }
}

impl serde::ser::Error for TextError {
    fn custom<T: Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }
}

/// Shortens a text, which can be a whole file.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Maximum number of characters of a text in a message.
const MAX_SHOWN: usize = 80;

fn unknown(what: &str, given: &str, legal: &[String]) -> String {
    match given {
        "" => format!("the {what} is missing"),
        _ => format!("unknown {what} `{given}`{}", similar(given, legal)),
    }
}

/// The most similar name as a question, if it is similar enough.
fn similar(given: &str, names: &[String]) -> String {
    let names = names.iter().map(|name| (strsim::jaro_winkler(given, name), name));
    let likely = names.filter(|(similarity, _)| *similarity > 0.8);
    let likeliest = likely.max_by(|(a, _), (b, _)| a.total_cmp(b));
    likeliest.map_or_else(String::new, |(_, name)| format!(" (did you mean `{name}`?)"))
}
