//! A lane in one line: `rung:delta,link:4g,interpolation:hermite,rate:10`. It is a [list](cubewire_text) of
//! [`LaneSettings`] that differ from the default:
//!
//! | setting | value | default |
//! | --- | --- | --- |
//! | `rung` | a rung's name | `changed-flags` |
//! | `stages` | see [`Stages`](cubewire_codec::Stages#method.from_str); not together with `rung` | those of the rung |
//! | `link` | a preset's name, or conditions: see [`Conditions`](cubewire_link::Conditions) | 50 ms each way |
//! | `interpolation` | `none`, `linear`, `hermite`, `extrapolate` | `linear` |
//! | `rate` | snapshots a second: 60, 30, 20, 10 | 60 |
//! | `playout` | `rule`, `adaptive`, or a delay as in `150ms` | `rule` |
//! | `baseline` | `newest`, `smallest` | `newest` |
//! | `budget` | most kilobits a second on the wire, as in `64kbps`, or `none` | `none` |
//! | `seed` | random seed of the simulated link | 0 |

mod describe;

pub use describe::{fallback, fallback_of_viewer, rung_name};

use std::str::FromStr;

use cubewire_codec::ladder;
use cubewire_link::{PRESETS, Preset};
use cubewire_text::{Notation, TextError};

use super::settings::LaneSettings;

const NOTATION: Notation = Notation {
    comma: ',',
    colon: ':',
    slash: '/',
};

/// The keys in the order in which they have always been written: the checksum of a replay is of its lanes, too.
const ORDER: [&str; 8] = [
    "rung",
    "link",
    "interpolation",
    "rate",
    "playout",
    "baseline",
    "seed",
    "budget",
];

/// Settings that change in a lane, whichever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneChange(Vec<(String, String)>);

impl LaneChange {
    /// Checks the settings: keys and values as in the text of a lane.
    ///
    /// # Errors
    /// If a key is unknown or there twice, or its value cannot be used.
    pub fn new(settings: impl IntoIterator<Item = (String, String)>) -> Result<Self, TextError> {
        let change = Self(settings.into_iter().collect());
        change.apply(&mut LaneSettings::default())?;
        Ok(change)
    }

    /// Changes the settings of a lane.
    ///
    /// # Errors
    /// If the settings that the lane has cannot be written.
    pub fn apply(&self, lane: &mut LaneSettings) -> Result<(), TextError> {
        let has = |key: &str| self.0.iter().any(|(set, _)| set == key);
        if has("rung") && has("stages") {
            let message = "a lane has either `rung:NAME` or `stages:…`, not both";
            return Err(TextError::Other(message.to_owned()));
        }
        let entries = self.0.iter().map(|(key, value)| match key.as_str() {
            "stages" => ("rung", value),
            key => (key, value),
        });
        // Recorded delays have no text.
        let mut base = lane.clone();
        let trace = base.link.conditions.trace.take();
        *lane = NOTATION.change(&base, entries)?;
        if !has("link") {
            lane.link.conditions.trace = trace;
        }
        Ok(())
    }
}

/// A value that lacks its setting, as in `delta`, and that setting.
fn without_setting<'a>((key, value): (&'a str, &str)) -> Option<(&'a str, &'static str)> {
    let is_one = |setting: &str| {
        let change = LaneChange::new([(setting.to_owned(), key.to_owned())]);
        value.is_empty() && change.is_ok()
    };
    let settings = ["rung", "link", "interpolation", "rate", "budget"].into_iter();
    let mut settings = settings.filter(|setting| is_one(setting));
    settings.next().map(|setting| (key, setting))
}

/// Reads values of one setting.
pub fn setting(
    key: &'static str,
) -> impl Fn(&str) -> Result<LaneChange, TextError> + Clone + Send + Sync {
    move |value| LaneChange::new([(key.to_owned(), value.to_owned())])
}

impl FromStr for LaneChange {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        // One more than there can be without an error: every setting once, and `stages`.
        let most = NOTATION.written(&LaneSettings::default())?.len() + 1;
        let entries = || NOTATION.entries(text).take(most);
        if let Some((name, setting)) = entries().find_map(without_setting) {
            let message = format!("`{name}` is a {setting}: did you mean `{setting}:{name}`?");
            return Err(TextError::Other(message));
        }
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Self::new(entries().map(owned))
    }
}

impl FromStr for LaneSettings {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut lane = Self::default();
        text.parse::<LaneChange>()?.apply(&mut lane)?;
        Ok(lane)
    }
}

impl LaneSettings {
    /// The text that these settings are parsed from; none while the link follows a trace, which has no
    /// name.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let mut entries = NOTATION.written(self).ok()?;
        let usual = NOTATION.written(&Self::default()).ok()?;
        entries.retain(|entry| entry.0 == "rung" || !usual.contains(entry));
        let rank = |key: &str| ORDER.iter().position(|known| *known == key);
        entries.sort_by_key(|(key, _)| rank(key).unwrap_or(ORDER.len()));
        if ladder::rung_of(self.sender.stages).is_none() {
            "stages".clone_into(&mut entries[0].0);
        }
        Some(NOTATION.join(&entries))
    }
}

/// The names of all presets of the simulated network.
#[must_use]
pub fn network_names() -> String {
    PRESETS.each_ref().map(|preset| preset.name).join(", ")
}

/// The preset of the simulated network of that name.
///
/// # Errors
/// If there is none.
pub fn network(name: &str) -> Result<&'static Preset, TextError> {
    let names = PRESETS.iter().map(|preset| preset.name);
    Preset::by_name(name).ok_or_else(|| TextError::unknown("network", name, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LaneSettings>().unwrap_err().to_string()
    }

    /// Texts that are in people's scripts and replays, whose checksum is of what is written.
    #[test]
    fn a_lane_is_read_and_written_as_ever() {
        for text in [
            "rung:delta",
            "rung:uncompressed,link:4g,interpolation:hermite,rate:10",
            "rung:predicted,playout:adaptive,baseline:smallest,seed:7",
            "rung:predicted,rate:30,budget:64kbps",
            "rung:at-rest,link:loss=0.05+cut,interpolation:none,rate:20,playout:62.5ms,seed:1",
            "stages:orientation=smallest-three-5,link:perfect",
        ] {
            let lane: LaneSettings = text.parse().unwrap();
            assert_eq!(lane.to_text().as_deref(), Some(text));
            assert_eq!(lane.to_text().unwrap().parse(), Ok(lane));
        }
        let stages = ladder::DELTA.stages;
        for (text, written) in [
            ("link:hostile", "rung:changed-flags,link:hostile"),
            // Stages of a rung get its name, in any order.
            (&format!("rate:30,stages:{stages}"), "rung:delta,rate:30"),
            (
                "rung:delta,rate:60,playout:rule,interpolation:linear,link:latency=50ms",
                "rung:delta",
            ),
        ] {
            let lane: LaneSettings = text.parse().unwrap();
            assert_eq!(lane.to_text().as_deref(), Some(written));
        }
    }

    #[test]
    fn recorded_delays_have_no_text_and_stay_until_the_link_changes() {
        let trace = cubewire_link::Trace::from_csv("sent_ms,delay_ms\n0,1\n".as_bytes());
        let mut lane = LaneSettings::default();
        lane.link.conditions.trace = Some(trace.unwrap().into());
        assert_eq!(lane.to_text(), None);
        let change = |text: &str| text.parse::<LaneChange>().unwrap();
        change("rung:delta").apply(&mut lane).unwrap();
        assert!(lane.link.conditions.trace.is_some() && lane.rung_name() == "delta");
        change("link:4g").apply(&mut lane).unwrap();
        assert_eq!(lane.to_text().unwrap(), "rung:delta,link:4g");
    }

    #[test]
    fn errors_name_what_is_wrong() {
        for (text, message) in [
            ("delta", "`delta` is a rung: did you mean `rung:delta`?"),
            ("rung:delta,4g", "`4g` is a link: did you mean `link:4g`?"),
            ("simulaton", "unknown setting `simulaton`; one of rung, "),
            (
                "rugn:delta",
                "unknown setting `rugn` (did you mean `rung`?); one of rung, ",
            ),
            (
                "rung:detla",
                "unknown rung `detla` (did you mean `delta`?); one of uncompr",
            ),
            ("rung:xyz", "unknown rung `xyz`; one of uncompr"),
            ("rung", "no rung is given; one of uncompr"),
            ("stages:delta=on", "unknown delta `on`; one of off, "),
            (
                "interpolation:cubic",
                "unknown interpolation `cubic`; one of none, linear, hermite, extrapolate",
            ),
            ("rate:10,rate:20", "`rate` is given twice"),
            (
                "rung:delta,stages:delta=indices",
                "a lane has either `rung:NAME` or `stages:…`, not both",
            ),
            ("rate:25", "rate must be 60, 30, 20 or 10, not `25`"),
            (
                "budget:8kbps",
                "budget must be from 16kbps to 1024kbps, as in 64kbps, not `8kbps`",
            ),
            (
                "seed:-1",
                "seed must be a whole number from 0 to 18446744073709551615, not `-1`",
            ),
            ("link:loss=2", "loss is 2, which is out of range; "),
        ] {
            let error = error(text);
            assert!(error.starts_with(message), "{error}");
        }
        for delay in ["-1ms", "NaNms", "1e9ms", "3"] {
            let wanted = "playout must be rule, adaptive, or from 0ms to 4000ms, as in 150ms";
            assert_eq!(
                error(&format!("playout:{delay}")),
                format!("{wanted}, not `{delay}`")
            );
        }
    }
}
