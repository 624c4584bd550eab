//! What is wrong with a text.

use std::fmt::Display;

use serde::de::{Expected, Unexpected};

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// There is no key or value of that name.
    #[error("{}; one of {}", unknown(what, given, legal), legal.join(", "))]
    Unknown {
        /// What it should be.
        what: String,
        /// The given text; if it is long, its start.
        given: String,
        /// Every name.
        legal: Vec<String>,
    },
    /// A value is not one of its key.
    #[error("{key} must be {wanted}, not `{given}`")]
    Value {
        /// The key.
        key: String,
        /// The given text; if it is long, its start.
        given: String,
        /// What it should be.
        wanted: String,
    },
    /// Anything else, such as what the type of the settings says of them.
    #[error("{0}")]
    Other(String),
}

impl TextError {
    /// There is none of this name.
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

    /// A value that is not what it should be. Its key is added where it is known.
    pub fn value(given: &str, wanted: impl Display) -> Self {
        Self::Value {
            key: String::new(),
            given: excerpt(given),
            wanted: wanted.to_string(),
        }
    }

    /// This error, of the value of a key.
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

/// The start of a text that may be a whole file.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Most characters that a message shows of a text.
const MAX_SHOWN: usize = 80;

fn unknown(what: &str, given: &str, legal: &[String]) -> String {
    match given {
        "" => format!("no {what} is given"),
        _ => format!("unknown {what} `{given}`{}", similar(given, legal)),
    }
}

/// The most similar of the names as a question, if one is similar enough to be meant.
fn similar(given: &str, names: &[String]) -> String {
    let names = names
        .iter()
        .map(|name| (strsim::jaro_winkler(given, name), name));
    let likely = names.filter(|(similarity, _)| *similarity > 0.8);
    let likeliest = likely.max_by(|(a, _), (b, _)| a.total_cmp(b));
    likeliest.map_or_else(String::new, |(_, name)| {
        format!(" (did you mean `{name}`?)")
    })
}
