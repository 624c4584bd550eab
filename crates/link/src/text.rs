//! [`Conditions`] as text, for a command line.
//!
//! Parts are joined by `+`. The first may be the name of a [preset](crate::PRESETS), which the others
//! modify; without it they modify [`Conditions::PERFECT`]:
//!
//! ```text
//! text   = ( preset | part ) *( "+" part )
//! part   = "latency="    time
//!        | "jitter="     ( "none" | "uniform/" spread | "log-normal/" median "/" sigma )
//!        | "loss="       ( "none" | probability | "bursts/" mean-fraction "/" mean-packets
//!                        | "gilbert-elliott/" to-bad "/" to-good "/" loss-in-good "/" loss-in-bad )
//!        | "duplicate="  probability
//!        | "reordering=" ( "none" | probability "/" min-delay "/" max-delay )
//!        | "bandwidth="  ( "none" | bits-per-second "/" queue-bytes )
//!        | "cut"
//! time   = number "ms"                  ; at most six decimals, so that it is exact
//! number = 1*digit [ "." 1*digit ]
//! ```
//!
//! Spread, median and the two delays are times; bits per second and bytes are whole numbers; all others
//! are numbers. `bursts` is [`Loss::bursts`](crate::Loss::bursts). Parts may be in any order, each at
//! most once. The text never contains a comma, a colon or a space, so these can separate it from other
//! text.
//!
//! ```
//! use cubewire_link::{Conditions, Loss};
//!
//! let conditions: Conditions = "4g+loss=0.05".parse()?;
//! assert_eq!(conditions.loss, Loss::Independent { probability: 0.05 });
//! assert_eq!(
//!     conditions.to_text().as_deref(),
//!     Some("latency=25ms+jitter=log-normal/5ms/0.8+loss=0.05+bandwidth=10000000/512000")
//! );
//! # Ok::<(), cubewire_link::ConditionsTextError>(())
//! ```

mod parts;

use std::str::FromStr;

use crate::{Conditions, ConditionsError, PRESETS, Preset};
use parts::PARTS;

pub(crate) use parts::time;

/// Why a text cannot be parsed as [`Conditions`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConditionsTextError {
    /// A part has no value, and is neither a preset nor `cut`.
    #[error(
        "`{part}` is neither `name=value` nor `{CUT}` nor a preset; the presets are {}",
        preset_names()
    )]
    NoValue {
        /// The part as given.
        part: String,
    },
    /// A preset is not the first part.
    #[error("preset `{part}` must be the first part")]
    LatePreset {
        /// The part as given.
        part: String,
    },
    /// The name is unknown.
    #[error("unknown condition in `{part}`; the conditions are {}", part_names())]
    UnknownName {
        /// The part as given.
        part: String,
    },
    /// The value has the wrong form.
    #[error("invalid value in `{part}`; examples are {examples}")]
    Value {
        /// The part as given.
        part: String,
        /// An example of each form.
        examples: &'static str,
    },
    /// A condition is set twice.
    #[error("`{part}` sets a condition that an earlier part has set")]
    Twice {
        /// The second part, as given.
        part: String,
    },
    /// There is no loss with these bursts.
    #[error(
        "`{part}`: bursts have at least 1 packet on average, and bursts of n packets lose at most \
         n/(n+1) of all, because a packet arrives between two bursts"
    )]
    Bursts {
        /// The part as given.
        part: String,
    },
    /// A value is out of range.
    #[error(transparent)]
    OutOfRange(#[from] ConditionsError),
}

impl Conditions {
    /// The [text](crate::text) of these conditions, which parses to the same conditions (negative zero
    /// becomes zero); `None` if they have a trace.
    ///
    /// For a preset it is the preset's name, otherwise the parts that differ from
    /// [`PERFECT`](Self::PERFECT), in the order of the fields. The text of conditions that
    /// [`check`](Self::check) rejects does not parse.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        if self.trace.is_some() {
            return None;
        }
        let mut written = match Preset::of(self) {
            Some(preset) => vec![preset.name.to_owned()],
            None => PARTS
                .iter()
                .map(|part| (part.name, (part.write)(self), (part.write)(&Self::PERFECT)))
                .filter(|(_, value, perfect)| value != perfect)
                .map(|(name, value, _)| format!("{name}={value}"))
                .collect(),
        };
        if self.cut {
            written.push(CUT.to_owned());
        }
        Some(written.join("+"))
    }
}

impl FromStr for Conditions {
    type Err = ConditionsTextError;

    /// Parses the [text](crate::text) of conditions and checks their ranges.
    fn from_str(text: &str) -> Result<Self, ConditionsTextError> {
        let mut conditions = Self::PERFECT;
        let mut set = Vec::new();
        for (index, given) in text.split('+').enumerate() {
            let part = || given.to_owned();
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (given, None),
            };
            if set.contains(&name) {
                return Err(ConditionsTextError::Twice { part: part() });
            }
            set.push(name);
            match (value, Preset::by_name(given)) {
                (Some(value), _) => {
                    let Some(known) = PARTS.iter().find(|known| known.name == name) else {
                        return Err(ConditionsTextError::UnknownName { part: part() });
                    };
                    let Some(()) = (known.read)(&mut conditions, value) else {
                        let examples = known.examples;
                        return Err(ConditionsTextError::Value {
                            part: part(),
                            examples,
                        });
                    };
                }
                (None, Some(preset)) if index == 0 => conditions = preset.conditions.clone(),
                (None, Some(_)) => return Err(ConditionsTextError::LatePreset { part: part() }),
                (None, None) if given == CUT => conditions.cut = true,
                (None, None) => return Err(ConditionsTextError::NoValue { part: part() }),
            }
        }
        conditions.check().map_err(|error| {
            // Bursts are a case of the general model, whose values the text does not contain.
            let mut parts = text.split('+');
            let bursts = parts.find(|part| part.starts_with("loss=bursts/"));
            match (bursts, error) {
                (Some(part), ConditionsError::Probability { field, .. })
                    if field.starts_with("loss") =>
                {
                    let part = part.to_owned();
                    ConditionsTextError::Bursts { part }
                }
                (_, error) => error.into(),
            }
        })?;
        Ok(conditions)
    }
}

/// The part without a value.
const CUT: &str = "cut";

fn preset_names() -> String {
    PRESETS.each_ref().map(|preset| preset.name).join(", ")
}

fn part_names() -> String {
    format!("{}, {CUT}", PARTS.map(|part| part.name).join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;

    #[test]
    fn the_text_of_a_preset_is_its_name_cut_or_not() {
        for preset in &PRESETS {
            let mut conditions = preset.conditions.clone();
            assert_eq!(conditions.to_text().as_deref(), Some(preset.name));
            assert_eq!(preset.name.parse(), Ok(conditions.clone()));
            conditions.cut = true;
            let text = conditions.to_text().unwrap();
            assert_eq!(text, format!("{}+cut", preset.name));
            assert_eq!(text.parse(), Ok(conditions));
        }
    }

    #[test]
    fn the_text_of_other_conditions_is_the_parts_that_differ_from_perfect() {
        let everything = "latency=0.2ms+jitter=log-normal/33.333ms/1.5\
             +loss=gilbert-elliott/0.01/0.5/0/1+duplicate=0.05+reordering=0.1/20ms/59999.999999ms\
             +bandwidth=1500000/64000+cut";
        for text in ["latency=50ms", "jitter=uniform/20ms", "loss=0", everything] {
            let conditions: Conditions = text.parse().unwrap();
            assert_eq!(conditions.to_text().as_deref(), Some(text));
        }
    }

    #[test]
    fn parts_modify_the_preset_before_them() {
        let text = "hostile+reordering=none+jitter=none+loss=none+duplicate=0+latency=0ms";
        assert_eq!(text.parse(), Ok(Conditions::PERFECT));
        assert_eq!(
            "4g+bandwidth=none".parse::<Conditions>().unwrap().bandwidth,
            None
        );
        let bursts: Conditions = "loss=bursts/0.05/3".parse().unwrap();
        assert_eq!(bursts.loss, Loss::bursts(0.05, 3.0));
    }

    #[test]
    fn a_trace_has_no_text() {
        let trace = crate::Trace::from_csv("sent_ms,delay_ms\n0,1\n".as_bytes()).unwrap();
        let conditions = Conditions {
            trace: Some(trace.into()),
            ..Conditions::PERFECT
        };
        assert_eq!(conditions.to_text(), None);
    }

    #[test]
    fn negative_zero_is_written_as_zero() {
        let conditions = Conditions {
            loss: Loss::Independent { probability: -0.0 },
            ..Conditions::PERFECT
        };
        assert_eq!(conditions.to_text().as_deref(), Some("loss=0"));
    }

    #[test]
    fn errors_name_the_part_and_the_legal_ones() {
        let no_value = "is neither `name=value` nor `cut` nor a preset; the presets are perfect, lan, \
             wi-fi, wi-fi-bad, cable, 4g, 3g, satellite, article, hostile";
        for (text, message) in [
            ("", format!("`` {no_value}")),
            ("5g", format!("`5g` {no_value}")),
            ("4g+latency", format!("`latency` {no_value}")),
            ("cut+4g", "preset `4g` must be the first part".into()),
            (
                "cut=yes",
                "unknown condition in `cut=yes`; the conditions are latency, jitter, loss, duplicate, \
                 reordering, bandwidth, cut"
                    .into(),
            ),
            (
                "latency=50",
                "invalid value in `latency=50`; examples are `latency=50ms`".into(),
            ),
            (
                "jitter=normal/20ms/5ms",
                "invalid value in `jitter=normal/20ms/5ms`; examples are `jitter=none`, \
                 `jitter=uniform/20ms`, `jitter=log-normal/5ms/0.8`"
                    .into(),
            ),
            (
                "cut+loss=none+cut",
                "`cut` sets a condition that an earlier part has set".into(),
            ),
            ("loss=1.5", "loss is 1.5; it must be between 0 and 1".into()),
            (
                "loss=gilbert-elliott/0.1/2/0/1",
                "loss: to-good is 2; it must be between 0 and 1".into(),
            ),
            (
                "4g+latency=1e5ms",
                "invalid value in `latency=1e5ms`; examples are `latency=50ms`".into(),
            ),
            (
                "latency=60000.5ms",
                "latency is 60000.5ms; it must be at most 60000ms".into(),
            ),
            (
                "loss=bursts/1/3",
                "`loss=bursts/1/3`: bursts have at least 1 packet on average, and bursts of n packets \
                 lose at most n/(n+1) of all, because a packet arrives between two bursts"
                    .into(),
            ),
        ] {
            let error = text.parse::<Conditions>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
