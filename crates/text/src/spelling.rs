//! Text forms that replace the form of a type.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serializer, ser};

use crate::TextError;

/// Text form of values of type `T`. Use it with `#[serde(with = "…")]`, with this trait in scope.
pub trait Spelling<T> {
    /// Returns the text form, or `None` for a value without one.
    fn write(value: &T) -> Option<String>;

    /// # Errors
    /// If `text` is not the text form of a value.
    fn read(text: &str) -> Result<T, TextError>;

    /// # Errors
    /// If the value has no text form.
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let none = || ser::Error::custom("it has no text");
        serializer.serialize_str(&Self::write(value).ok_or_else(none)?)
    }

    /// # Errors
    /// If the text is not the text form of a value.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let text = <String as Deserialize>::deserialize(deserializer)?;
        Self::read(&text).map_err(|error| match error {
            TextError::Value { given, wanted, .. } => {
                D::Error::invalid_value(Unexpected::Str(&given), &wanted.as_str())
            }
            error => D::Error::custom(error),
        })
    }
}

impl<T, S: Spelling<T>> Spelling<Option<T>> for S {
    fn write(value: &Option<T>) -> Option<String> {
        match value {
            Some(value) => S::write(value),
            None => Some("none".to_owned()),
        }
    }

    fn read(text: &str) -> Result<Option<T>, TextError> {
        match text {
            "none" => Ok(None),
            text => S::read(text).map(Some),
        }
    }
}

/// A time in milliseconds, for example `50ms`: exact to the nanosecond, up to a day.
#[derive(Clone, Copy, Debug)]
pub struct Ms(pub Duration);

impl Display for Ms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The shortest decimal form of this f64 is exactly the time.
        write!(formatter, "{}ms", self.0.as_nanos() as f64 / 1e6)
    }
}

impl Spelling<Duration> for Ms {
    fn write(time: &Duration) -> Option<String> {
        Some(Self(*time).to_string())
    }

    fn read(text: &str) -> Result<Duration, TextError> {
        let ms = text.strip_suffix("ms").and_then(|ms| ms.parse().ok());
        let ms = ms.filter(|ms| (0.0..=86_400e3).contains(ms));
        let wanted = "a time in milliseconds, for example 50ms";
        let ms: f64 = ms.ok_or_else(|| TextError::value(text, wanted))?;
        Ok(Duration::from_nanos((ms * 1e6).round() as u64))
    }
}
