//! Settings as one line of text, for example `rung:delta,link:4g`, on top of serde.
//!
//! Any struct that derives `Serialize` and `Deserialize` can be written as a list of keys and values. A [`Notation`]
//! has the separators of a list. A list with other separators can be a value in a list:
//!
//! ```text
//! list  = entry *( comma entry )
//! entry = key [ colon value ]
//! value = [ "yes" ] | "no" | "none" | number | word | [ variant ] *( slash value )
//! ```
//!
//! Rules:
//!
//! - A list names only the settings that differ from a base: [`change`](Notation::change) applies it to the base, and
//!   [`differing`](Notation::differing) writes it.
//! - Fields of a nested struct are entries of the same list. The name of the nested struct must not be a key of the list.
//! - Fields of an enum variant, or of a struct in an `Option`, are parameters of one value. A variant renamed to the
//!   empty string is written as its parameters only.
//! - A [`Spelling`] replaces the text form of a type for one field.
//! - Names are serde's names in kebab case: `HalfOpen` is `half-open`.
//!
//! [`mod@file`] reads texts from files.
//!
//! ```
//! use cubewire_text::{Ms, Notation, Spelling};
//! use serde::{Deserialize, Serialize};
//! use std::time::Duration;
//!
//! #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
//! struct Kettle {
//!     #[serde(with = "Ms")]
//!     whistle: Duration,
//!     lid: Lid,
//!     hot: bool,
//! }
//!
//! #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
//! enum Lid {
//!     #[default]
//!     Closed,
//!     HalfOpen { degrees: u8 },
//! }
//!
//! const NOTATION: Notation = Notation { comma: ',', colon: ':', slash: '/' };
//! let read = |text| NOTATION.change(&Kettle::default(), NOTATION.entries(text));
//! let kettle = read("hot,lid:half-open/30,whistle:1.5ms")?;
//! assert_eq!(kettle.lid, Lid::HalfOpen { degrees: 30 });
//! let differing = NOTATION.differing(&kettle, &Kettle::default())?;
//! assert_eq!(NOTATION.join(&differing), "whistle:1.5ms,lid:half-open/30,hot");
//! assert_eq!(
//!     read("lidd:closed").unwrap_err().to_string(),
//!     "unknown setting `lidd` (did you mean `lid`?); choose one of whistle, lid, hot"
//! );
//! # Ok::<(), cubewire_text::TextError>(())
//! ```

mod error;
pub mod file;
mod read;
mod spelling;
mod write;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::TextError;
pub use spelling::{Ms, Spelling};

use read::Reader;
use write::{Writer, Written};

/// Pairs of key and value.
pub type Entries = Vec<(String, String)>;

/// Separators of a list.
#[derive(Clone, Copy, Debug)]
pub struct Notation {
    /// Separator between entries.
    pub comma: char,
    /// Separator between a key and its value.
    pub colon: char,
    /// Separator before each parameter of a value.
    pub slash: char,
}

impl Notation {
    /// Splits a list into keys and values. A value is empty if there is no colon.
    pub fn entries(self, list: &str) -> impl Iterator<Item = (&str, &str)> {
        list.split(self.comma).map(move |entry| entry.split_once(self.colon).unwrap_or((entry, "")))
    }

    /// Joins entries to a list.
    pub fn join(self, entries: &Entries) -> String {
        let entries = entries.iter().map(|(key, value)| match value.as_str() {
            "" => key.clone(),
            value => format!("{key}{}{value}", self.colon),
        });
        entries.collect::<Vec<_>>().join(&self.comma.to_string())
    }

    /// Returns `base` with other values for the given keys.
    ///
    /// # Errors
    /// If a key is unknown or repeated, if a value is not valid, or if `base` has no text form.
    pub fn change<K, V, T>(
        self,
        base: &T,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<T, TextError>
    where
        K: AsRef<str>,
        V: Into<String>,
        T: Serialize + DeserializeOwned,
    {
        // Writing `base` first gives the valid keys, and the values of keys that are not given.
        let mut changed = self.written(base)?;
        let mut seen = vec![false; changed.len()];
        for (key, value) in entries {
            let key = key.as_ref();
            let Some(index) = changed.iter().position(|(known, _)| known == key) else {
                let known = changed.iter().map(|(known, _)| known);
                return Err(TextError::unknown("setting", key, known));
            };
            if std::mem::replace(&mut seen[index], true) {
                return Err(TextError::Other(format!("`{key}` is given twice")));
            }
            changed[index].1 = value.into();
        }
        T::deserialize(Reader { list: &changed, value: None, slash: self.slash })
    }

    /// Returns all keys and values in the order of the fields.
    ///
    /// # Errors
    /// If a value has no text form.
    pub fn written<T: Serialize>(self, settings: &T) -> Result<Entries, TextError> {
        match settings.serialize(Writer { slash: self.slash })? {
            Written::List(entries) => Ok(entries),
            Written::Value(value) => Err(TextError::Other(format!("`{value}` is not a list"))),
        }
    }

    /// Returns the entries of `settings` that differ from `usual`.
    ///
    /// # Errors
    /// If a value has no text form.
    pub fn differing<T: Serialize>(self, settings: &T, usual: &T) -> Result<Entries, TextError> {
        let (mut entries, usual) = (self.written(settings)?, self.written(usual)?);
        entries.retain(|entry| !usual.contains(entry));
        Ok(entries)
    }
}

fn kebab_case(name: &str) -> String {
    let mut typed = String::new();
    for (index, mark) in name.char_indices() {
        match mark {
            '_' => typed.push('-'),
            'A'..='Z' => {
                typed.extend((index > 0).then_some('-'));
                typed.push(mark.to_ascii_lowercase());
            }
            mark => typed.push(mark),
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    const NOTATION: Notation = Notation { comma: '+', colon: '=', slash: '-' };

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct All {
        whole: u64,
        small_number: u8,
        fraction: f64,
        is_so: bool,
        text: Option<String>,
        choice: Choice,
        #[serde(rename = "GROUP")]
        group: Group,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    enum Choice {
        #[default]
        Plain,
        PlainButLonger,
        WithNumbers {
            one: u8,
            other: u16,
        },
        #[serde(rename = "")]
        Time(#[serde(with = "Ms")] Duration),
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Group {
        #[serde(with = "Ms")]
        optional: Option<Duration>,
        pair: Option<Pair>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    struct Pair {
        left: u32,
        right: u32,
    }

    fn read(list: &str) -> Result<All, TextError> {
        NOTATION.change(&All::default(), NOTATION.entries(list))
    }

    /// Invalid lists and the start of their error messages.
    const REFUSED: &str = "\
small-nunber=1 | unknown setting `small-nunber` (did you mean `small-number`?); choose one of whole,
whole | whole must be a whole number from 0 to 18446744073709551615, not ``
small-number=256 | small-number must be a whole number from 0 to 255, not `256`
fraction=half | fraction must be a number, not `half`
is-so=maybe | is-so must be yes or no, not `maybe`
is-so+whole=1+is-so | `is-so` is given twice
choice=with-numbers-1 | choice must be with-numbers-ONE-OTHER, not `with-numbers-1`
choice=plain-but-shorter | unknown choice `plain-but-shorter` (did you mean `plain-but-longer`?); choose one of plain,
choice=soon | choice must be plain, plain-but-longer, with-numbers, or a time in milliseconds, for example 50ms, not `soon`
optional=9 | optional must be a time in milliseconds, for example 50ms, not `9`
pair=1 | pair must be LEFT-RIGHT, not `1`";

    #[test]
    fn an_error_names_the_key_its_value_and_what_is_legal() {
        for row in REFUSED.lines() {
            let (list, message) = row.split_once(" | ").unwrap();
            let error = read(list).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn a_message_about_a_long_text_is_short() {
        for mark in ["+", "=", "-", "é", "0"] {
            for start in ["", "whole=", "choice=", "choice=with-numbers", "pair=", "text="] {
                let list = format!("{start}{}", mark.repeat(1 << 20));
                if let Err(error) = read(&list) {
                    let error = error.to_string();
                    assert!(error.len() < 1000, "{} bytes: {start}{mark}", error.len());
                }
            }
        }
    }

    fn any_settings() -> impl Strategy<Value = All> {
        let time = || (0_u64..86_400_000_000_000).prop_map(Duration::from_nanos);
        let choice = prop_oneof![
            Just(Choice::Plain),
            Just(Choice::PlainButLonger),
            any::<(u8, u16)>().prop_map(|(one, other)| Choice::WithNumbers { one, other }),
            time().prop_map(Choice::Time),
        ];
        let pair = any::<(u32, u32)>().prop_map(|(left, right)| Pair { left, right });
        let group = (prop::option::of(time()), prop::option::of(pair));
        let group = group.prop_map(|(optional, pair)| Group { optional, pair });
        let text = prop::option::of("[a-z ,:/]{1,9}")
            .prop_filter("", |text| text.as_deref() != Some("none"));
        let numbers = (any::<u64>(), any::<u8>(), prop::num::f64::NORMAL, any::<bool>());
        (numbers, text, choice, group).prop_map(
            |((whole, small_number, fraction, is_so), text, choice, group)| All {
                whole,
                small_number,
                fraction,
                is_so,
                text,
                choice,
                group,
            },
        )
    }

    proptest! {
        #[test]
        fn any_settings_come_back_from_their_text(settings in any_settings(), usual in any_settings()) {
            let text = NOTATION.join(&NOTATION.differing(&settings, &usual).unwrap());
            let read: All = NOTATION.change(&usual, NOTATION.entries(&text)).unwrap();
            prop_assert_eq!(read, settings, "{}", text);
        }
    }
}
