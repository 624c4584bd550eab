//! The text form of a lane, as in `rung:delta,link:4g,interpolation:hermite,rate:10`: a [list](cubewire_text) of the
//! [`LaneSettings`] that differ from the defaults.
//!
//! `src/replication/README.md` lists the settings. Existing scripts and replays have lanes in this form.

mod describe;

pub use describe::{fallback, fallback_of_viewer, rung_name};

use std::str::FromStr;

use cubewire_codec::ladder;
use cubewire_link::PRESETS;
use cubewire_text::{Notation, TextError};

use super::settings::LaneSettings;

const NOTATION: Notation = Notation { comma: ',', colon: ':', slash: '/' };

/// Order of the keys when written. It must not change, because the checksum of a replay covers its lanes' texts.
const ORDER: [&str; 8] =
    ["rung", "link", "interpolation", "rate", "playout", "baseline", "seed", "budget"];

/// A change of some settings, applicable to any lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneChange(Vec<(String, String)>);

impl LaneChange {
    /// Creates a change from keys and values, as in the text of a lane. Fails if a key is unknown or repeated, a value is
    /// invalid, or both `rung` and `stages` are set.
    pub fn new(settings: impl IntoIterator<Item = (String, String)>) -> Result<Self, TextError> {
        let change = Self(settings.into_iter().collect());
        change.apply(&mut LaneSettings::default())?;
        Ok(change)
    }

    /// The values of the changed settings.
    pub fn values(&self) -> String {
        self.0.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",")
    }

    /// Changes these settings of a lane and keeps the others. Fails if the lane's current settings have no text form.
    pub fn apply(&self, lane: &mut LaneSettings) -> Result<(), TextError> {
        let has = |key: &str| self.0.iter().any(|(set, _)| set == key);
        if has("rung") && has("stages") {
            let message = "a lane has either `rung:NAME` or `stages:…`, not both";
            return Err(TextError::Other(message.to_owned()));
        }
        // Both keys set `SenderSettings::stages`, which is read and written as `rung`.
        let entries = self.0.iter().map(|(key, value)| match key.as_str() {
            "stages" => ("rung", value),
            key => (key, value),
        });
        // A trace has no text form, so it is set aside.
        let mut base = lane.clone();
        let trace = base.link.conditions.trace.take();
        *lane = NOTATION.change(&base, entries).map_err(with_stages)?;
        if !has("link") {
            lane.link.conditions.trace = trace;
        }
        Ok(())
    }
}

/// Adds `stages` to the settings that an error about an unknown one lists. It is read as `rung`, so the list lacks it.
fn with_stages(mut error: TextError) -> TextError {
    if let TextError::Unknown { legal, .. } = &mut error
        && legal.first().is_some_and(|first| first == "rung")
    {
        legal.insert(1, "stages".to_owned());
    }
    error
}

/// A value without its key, such as `delta`, and the key that it belongs to.
fn without_setting<'a>((key, value): (&'a str, &str)) -> Option<(&'a str, &'static str)> {
    let is_one = |setting: &str| {
        value.is_empty() && LaneChange::new([(setting.to_owned(), key.to_owned())]).is_ok()
    };
    let settings = ["rung", "link", "interpolation", "rate", "budget"].into_iter();
    let mut settings = settings.filter(|setting| is_one(setting));
    settings.next().map(|setting| (key, setting))
}

pub fn setting(
    key: &'static str,
) -> impl Fn(&str) -> Result<LaneChange, TextError> + Clone + Send + Sync {
    move |value| LaneChange::new([(key.to_owned(), value.to_owned())])
}

impl FromStr for LaneChange {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        // One more entry than a valid text can have: every setting once, and `stages`. More than that is an error anyway.
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
    /// The text that parses to these settings. `None` if the link follows a trace, which has no text form.
    pub fn to_text(&self) -> Option<String> {
        let mut entries = NOTATION.written(self).ok()?;
        let usual = NOTATION.written(&Self::default()).ok()?;
        entries.retain(|entry| entry.0 == "rung" || !usual.contains(entry));
        let rank = |key: &str| ORDER.iter().position(|known| *known == key);
        entries.sort_by_key(|(key, _)| rank(key).unwrap_or(ORDER.len()));
        // `rung` is always written, and comes first.
        if ladder::rung_of(self.sender.stages).is_none() {
            "stages".clone_into(&mut entries[0].0);
        }
        Some(NOTATION.join(&entries))
    }
}

pub fn network_names() -> String {
    PRESETS.each_ref().map(|preset| preset.name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LaneSettings>().unwrap_err().to_string()
    }

    /// These texts occur in existing scripts and replays. The checksum of a replay covers the text.
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
            // Stages that are a rung are written as the rung.
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
    fn trace_has_no_text_and_survives_other_changes() {
        let trace = cubewire_link::Trace::from_csv("sent_ms,delay_ms\n0,1\n");
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
        for row in "\
            delta | `delta` is a rung: did you mean `rung:delta`?
            rung:delta,4g | `4g` is a link: did you mean `link:4g`?
            simulaton | unknown setting `simulaton`; choose one of rung, stages,
            rugn:delta | unknown setting `rugn` (did you mean `rung`?); choose one of rung,
            stage:delta=off | unknown setting `stage` (did you mean `stages`?); choose one of rung, stages,
            rung:detla | unknown rung `detla` (did you mean `delta`?); choose one of uncompr
            rung:xyz | unknown rung `xyz`; choose one of uncompr
            rung | the rung is missing; choose one of uncompr
            stages:delta=on | unknown delta `on`; choose one of off,
            interpolation:cubic | unknown interpolation `cubic`; choose one of none, linear, hermite, extrapolate
            rate:10,rate:20 | `rate` is given twice
            rung:delta,stages:delta=indices | a lane has either `rung:NAME` or `stages:…`, not both
            rate:25 | rate must be 60, 30, 20 or 10, not `25`
            budget:8kbps | budget must be from 16kbps to 1024kbps, for example 64kbps, not `8kbps`
            seed:-1 | seed must be a whole number from 0 to 18446744073709551615, not `-1`
            link:loss=2 | loss is 2, which is out of range;"
            .lines()
        {
            let (text, message) = row.trim_start().split_once(" | ").unwrap();
            let error = error(text);
            assert!(error.starts_with(message), "{error}");
        }
        for delay in ["-1ms", "NaNms", "1e9ms", "3"] {
            let wanted = "playout must be rule, adaptive, or from 0ms to 4000ms, for example 150ms";
            assert_eq!(error(&format!("playout:{delay}")), format!("{wanted}, not `{delay}`"));
        }
    }
}
