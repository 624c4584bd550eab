//! [`Conditions`] as text for a command line: a [list](cubewire_text) of conditions.
//!
//! | condition | values |
//! | --- | --- |
//! | `latency` | a time, as in `50ms` or `0.2ms` |
//! | `jitter` | `uniform/20ms`, `log-normal/5ms/0.8` |
//! | `loss` | `0.05`, `bursts/0.05/3`, `gilbert-elliott/0.01/0.5/0/1` |
//! | `duplicate` | a probability, as in `0.01` |
//! | `reordering` | `0.05/20ms/200ms` |
//! | `bandwidth` | `1500000/64000` |
//! | `cut` | `yes` or no value; `no` |
//!
//! `jitter`, `loss`, `reordering` and `bandwidth` can also be `none`.
//!
//! The parameters are the fields of the types, in order; the parameters of `bursts` are the arguments of
//! [`Loss::bursts`]. A [preset](crate::PRESETS) name stands for its conditions, and other entries modify them.
//! Without a preset, entries modify [`Conditions::PERFECT`]. The text never contains a comma, a colon or a space, so
//! these can separate it from other text.
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
//! # Ok::<(), cubewire_link::TextError>(())
//! ```

use std::str::FromStr;

use cubewire_text::{Notation, TextError};
use serde::Deserialize;

use crate::{Conditions, Loss, PRESETS, Preset};

pub(crate) const NOTATION: Notation = Notation { comma: '+', colon: '=', slash: '/' };

impl Conditions {
    /// Returns the [text](crate::text) of these conditions. It parses to the same conditions (negative zero
    /// becomes zero). `None` if they have a trace.
    ///
    /// The text of a preset is its name. The text of other conditions has the entries that differ from
    /// [`PERFECT`](Self::PERFECT), in the order of the fields. If [`check`](Self::check) rejects the conditions,
    /// their text does not parse.
    pub fn to_text(&self) -> Option<String> {
        if self.trace.is_some() {
            return None;
        }
        let cut = if self.cut { "+cut" } else { "" };
        match Preset::of(self) {
            Some(preset) => Some(format!("{}{cut}", preset.name)),
            None => {
                let entries = NOTATION.differing(self, &Self::PERFECT).ok()?;
                Some(NOTATION.join(&entries))
            }
        }
    }
}

impl FromStr for Conditions {
    type Err = TextError;

    /// Parses the [text](crate::text) of conditions and checks their ranges.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let preset = |(name, value): &(&str, &str)| match *value {
            "" => Preset::by_name(name),
            _ => None,
        };
        // A valid text has at most every condition once and a preset. One more entry is enough to get an error.
        let most = NOTATION.written(&Self::PERFECT)?.len() + 2;
        let entries: Vec<_> = NOTATION.entries(text).take(most).collect();
        let presets: Vec<_> = entries.iter().filter_map(preset).collect();
        let base = match presets[..] {
            [] => &Self::PERFECT,
            [preset] => &preset.conditions,
            [one, other, ..] => {
                let (one, other) = (one.name, other.name);
                let message = format!("give at most one preset, not `{one}` and `{other}`");
                return Err(TextError::Other(message));
            }
        };
        let conditions = entries.into_iter().filter(|entry| preset(entry).is_none());
        let conditions = NOTATION.change(base, conditions).map_err(|error| match error {
            TextError::Unknown { what, given, mut legal } if what == "setting" => {
                legal.extend(PRESETS.iter().map(|preset| preset.name.to_owned()));
                TextError::unknown("condition or preset", &given, legal)
            }
            error => error,
        })?;
        conditions.check().map(|()| conditions)
    }
}

/// [`Loss`] as it is parsed. Bursts are displayed as the general model.
#[derive(Deserialize)]
pub(crate) enum LossText {
    None,
    Bursts {
        fraction: f64,
        packets: f64,
    },
    GilbertElliott {
        to_bad: f64,
        to_good: f64,
        loss_in_good: f64,
        loss_in_bad: f64,
    },
    #[serde(rename = "")]
    Independent {
        probability: f64,
    },
}

impl TryFrom<LossText> for Loss {
    type Error = String;

    fn try_from(text: LossText) -> Result<Self, String> {
        Ok(match text {
            LossText::None => Self::None,
            LossText::Independent { probability } => Self::Independent { probability },
            LossText::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                Self::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad }
            }
            LossText::Bursts { fraction, packets } => {
                let mut loss = Self::bursts(fraction, packets);
                if !loss.probabilities_mut().all(|value| (0.0..=1.0).contains(value)) {
                    return Err(format!(
                        "`bursts/{fraction}/{packets}`: bursts have at least 1 packet on average, and bursts \
                         of n packets lose at most n/(n+1) of all, because a packet arrives between two bursts"
                    ));
                }
                loss
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Texts as they appear in users' scripts and replays. Replays contain a checksum of the text.
    #[test]
    fn a_text_is_read_and_written_as_ever() {
        let everything = "latency=0.2ms+jitter=log-normal/33.333ms/1.5\
             +loss=gilbert-elliott/0.01/0.5/0/1+duplicate=0.05+reordering=0.1/20ms/59999.999999ms\
             +bandwidth=1500000/64000+cut";
        for text in ["latency=50ms", "jitter=uniform/20ms", "loss=0", everything] {
            let conditions: Conditions = text.parse().unwrap();
            assert_eq!(conditions.to_text().as_deref(), Some(text));
        }
        for (text, written) in [
            ("hostile+reordering=none+jitter=none+loss=none+duplicate=0+latency=0ms", "perfect"),
            ("4g+bandwidth=none+loss=0.05", "latency=25ms+jitter=log-normal/5ms/0.8+loss=0.05"),
            ("loss=bursts/0.2/4", "loss=gilbert-elliott/0.0625/0.25/0/1"),
            ("duplicate=-0+cut=no+latency=1e2ms", "latency=100ms"),
        ] {
            let conditions: Conditions = text.parse().unwrap();
            assert_eq!(conditions.to_text().as_deref(), Some(written));
        }
    }

    #[test]
    fn a_trace_has_no_text() {
        let trace = crate::Trace::from_csv("sent_ms,delay_ms\n0,1\n").unwrap();
        let conditions = Conditions { trace: Some(trace.into()), ..Conditions::PERFECT };
        assert_eq!(conditions.to_text(), None);
    }

    /// Texts, each with the message of its error.
    const REFUSED: &str = "\
wifi | unknown condition or preset `wifi` (did you mean `wi-fi`?); NAMES
 | the condition or preset is missing; NAMES
4g+latency | latency must be a time in milliseconds, for example 50ms, not ``
latency=-5ms | latency must be a time in milliseconds, for example 50ms, not `-5ms`
4g+latency=50 | latency must be a time in milliseconds, for example 50ms, not `50`
4g+cut+3g | give at most one preset, not `4g` and `3g`
cut=maybe | cut must be yes or no, not `maybe`
jitter=normal/20ms/5ms | unknown jitter `normal/20ms/5ms`; choose one of none, uniform, log-normal
jitter=log-normal/5ms | jitter must be log-normal/MEDIAN/SIGMA, not `log-normal/5ms`
reordering=0.5 | reordering must be PROBABILITY/MIN_DELAY/MAX_DELAY, not `0.5`
loss=some | loss must be none, bursts, gilbert-elliott, or a number, not `some`
cut+loss=none+cut | `cut` is given twice
loss=1.5 | loss is 1.5, which is out of range; the nearest in range is 1
loss=bursts/1/3 | `bursts/1/3`: bursts have at least 1 packet on average, and bursts of n packets lose at most n/(n+1) of all, because a packet arrives between two bursts";

    #[test]
    fn an_error_names_the_condition_its_value_and_what_is_legal() {
        let names = "choose one of latency, jitter, loss, duplicate, reordering, bandwidth, cut, perfect, lan, \
                     wi-fi, wi-fi-bad, cable, 4g, 3g, satellite, article, hostile";
        for row in REFUSED.replace("NAMES", names).lines() {
            let (text, message) = row.split_once(" | ").unwrap();
            let error = text.parse::<Conditions>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        for bursts in ["0.5/0.5", "0.8/3", "-0.1/3", "0.1/NaN"] {
            let error = format!("loss=bursts/{bursts}").parse::<Conditions>();
            assert!(error.unwrap_err().to_string().contains("at least 1 packet"));
        }
    }
}
