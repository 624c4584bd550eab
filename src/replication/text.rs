//! A lane in one line: `rung:delta,link:4g,interpolation:hermite,rate:10`.
//!
//! | setting | value | without it |
//! | --- | --- | --- |
//! | `rung` | a rung's name | `stages` must be there |
//! | `stages` | see [`Stages`](Stages#method.from_str) | `rung` must be there |
//! | `link` | a preset's name, or conditions: see [`Conditions`] | 50 ms each way |
//! | `interpolation` | `none`, `linear`, `hermite`, `extrapolate` | `linear` |
//! | `rate` | snapshots a second: 60, 30, 20, 10 | 60 |
//! | `playout` | `rule`, `adaptive`, or a delay as in `150ms` | `rule` |
//! | `baseline` | `newest`, `smallest` | `newest` |
//! | `seed` | of the link's accidents | 0 |

use std::str::FromStr;
use std::time::Duration;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Stages, StagesTextError};
use cubewire_link::{Conditions, ConditionsTextError, Loss, Preset};
use cubewire_protocol::{BaselineChoice, Interpolation};
use cubewire_scene::TICKS_PER_SECOND;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{LaneSettings, PlayoutChoice, SEND_INTERVALS};

/// Longest playout delay that can be asked for.
const LONGEST_DELAY: Duration = Duration::from_secs(4);

/// Why a text is no lane, or a value none of that setting.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaneTextError {
    /// A part has no colon.
    #[error("`{part}` is not of the form SETTING:VALUE, as in `rung:delta`")]
    NoValue {
        /// What was given.
        part: String,
    },
    /// There is no such setting.
    #[error("no setting is called `{name}`; there are {}", SETTINGS.join(", "))]
    UnknownSetting {
        /// The name that was given.
        name: String,
    },
    /// A setting is there twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// Which.
        name: String,
    },
    /// Nothing says what the codec does.
    #[error("a lane says what it sends with: `rung:NAME` or `stages:…`, one of the two")]
    NoStages,
    /// There is no such rung.
    #[error("no rung is called `{name}`; there are {}", rung_names())]
    UnknownRung {
        /// The name that was given.
        name: String,
    },
    /// Stages are none.
    #[error(transparent)]
    Stages(#[from] StagesTextError),
    /// A link is none.
    #[error(transparent)]
    Link(#[from] ConditionsTextError),
    /// There is no such interpolation.
    #[error(
        "no interpolation is called `{name}`; there are {}",
        interpolation_names()
    )]
    UnknownInterpolation {
        /// The name that was given.
        name: String,
    },
    /// A value is none of those that there are.
    #[error("`{given}` is no {setting}; it must be {wanted}")]
    Value {
        /// Of which setting.
        setting: &'static str,
        /// What was given.
        given: String,
        /// What it should be.
        wanted: &'static str,
    },
}

const SETTINGS: [&str; 8] = [
    "rung",
    "stages",
    "link",
    "interpolation",
    "rate",
    "playout",
    "baseline",
    "seed",
];

fn rung_names() -> String {
    let names: Vec<_> = ladder::LADDER.iter().map(|rung| rung.name).collect();
    format!("{} and {}", names.join(", "), ladder::AFFINE.name)
}

fn interpolation_names() -> String {
    Interpolation::ALL.map(Interpolation::name).join(", ")
}

/// The rung of that name.
///
/// # Errors
/// If there is none.
pub fn rung(name: &str) -> Result<Rung, LaneTextError> {
    ladder::rung(name).ok_or_else(|| LaneTextError::UnknownRung {
        name: name.to_owned(),
    })
}

/// What a half of the screen shows; as a text, `simulation` or a lane.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "there are two of them, and few more in a script"
)]
pub enum Half {
    /// The simulation itself.
    Simulation,
    /// A replica.
    Lane(LaneSettings),
}

impl Half {
    /// Its text; none for a lane that has none.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Simulation => Some(SIMULATION.to_owned()),
            Self::Lane(lane) => lane.to_text(),
        }
    }
}

impl FromStr for Half {
    type Err = LaneTextError;

    fn from_str(text: &str) -> Result<Self, LaneTextError> {
        match text {
            SIMULATION => Ok(Self::Simulation),
            lane => lane.parse().map(Self::Lane),
        }
    }
}

impl Serialize for Half {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_text();
        let text = text.ok_or_else(|| ser::Error::custom("recorded delays have no text"))?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Half {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

const SIMULATION: &str = "simulation";

impl LaneSettings {
    /// Changes one setting, by name; see [`FromStr`].
    ///
    /// # Errors
    /// [`LaneTextError`]; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), LaneTextError> {
        let none = |setting, wanted| LaneTextError::Value {
            setting,
            given: value.to_owned(),
            wanted,
        };
        match name {
            "rung" => self.stages = rung(value)?.stages,
            "stages" => self.stages = value.parse::<Stages>()?,
            "link" => self.link = value.parse::<Conditions>()?,
            "interpolation" => {
                self.interpolation = Interpolation::by_name(value).ok_or_else(|| {
                    LaneTextError::UnknownInterpolation {
                        name: value.to_owned(),
                    }
                })?;
            }
            "rate" => {
                let rate = value.parse::<u32>().ok();
                let interval = rate.and_then(send_interval);
                self.send_interval_ticks =
                    interval.ok_or_else(|| none("rate", "60, 30, 20 or 10"))?;
            }
            "playout" => {
                self.playout = playout(value)
                    .ok_or_else(|| none("playout", "rule, adaptive, or from 0ms to 4000ms"))?;
            }
            "baseline" => {
                self.baseline = match value {
                    "newest" => BaselineChoice::Newest,
                    "smallest" => BaselineChoice::Smallest,
                    _ => return Err(none("baseline", "newest or smallest")),
                };
            }
            "seed" => {
                let seed = value.parse().ok();
                self.link_seed = seed.ok_or_else(|| none("seed", "a whole number"))?;
            }
            _ => {
                return Err(LaneTextError::UnknownSetting {
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The text that these settings are read from; none while the link follows a trace, which has no
    /// name.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let usual = Self::default();
        let mut text = match ladder::rung_of(self.stages) {
            Some(rung) => format!("rung:{}", rung.name),
            None => format!("stages:{}", self.stages),
        };
        let mut add = |name: &str, value: &str| {
            text.extend([",", name, ":", value]);
        };
        if self.link != usual.link {
            add("link", &self.link.to_text()?);
        }
        if self.interpolation != usual.interpolation {
            add("interpolation", self.interpolation.name());
        }
        if self.send_interval_ticks != usual.send_interval_ticks {
            add("rate", &self.snapshots_per_second().to_string());
        }
        match self.playout {
            PlayoutChoice::Rule => {}
            PlayoutChoice::Adaptive => add("playout", "adaptive"),
            PlayoutChoice::Fixed(delay) => {
                add("playout", &format!("{}ms", delay.as_nanos() as f64 / 1e6));
            }
        }
        match self.baseline {
            BaselineChoice::Newest => {}
            BaselineChoice::Smallest => add("baseline", "smallest"),
        }
        if self.link_seed != usual.link_seed {
            add("seed", &self.link_seed.to_string());
        }
        Some(text)
    }

    /// The rung's name, as far as the stages are a rung's.
    #[must_use]
    pub fn rung_name(&self) -> &'static str {
        ladder::rung_of(self.stages).map_or("stages of your own", |rung| rung.name)
    }

    /// What is different in `new`, for people to read; none if nothing is.
    #[must_use]
    pub fn change_in_words(&self, new: &Self) -> Option<String> {
        let rung = (self.stages != new.stages).then(|| new.rung_name().to_owned());
        let words = new.in_words();
        let others = (self.in_words() != words).then_some(words);
        let words: Vec<_> = [rung, others].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The network, the send rate and the interpolation, for people to read.
    #[must_use]
    pub fn in_words(&self) -> String {
        let rate = self.snapshots_per_second();
        let rate = (rate != TICKS_PER_SECOND).then(|| format!("{rate} a second"));
        let interpolation = (self.interpolation != Interpolation::default()).then(|| {
            match self.interpolation {
                Interpolation::None => "no interpolation",
                kind => kind.name(),
            }
            .to_owned()
        });
        let words = [Some(link_in_words(&self.link)), rate, interpolation];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

fn link_in_words(link: &Conditions) -> String {
    let mut words = match (Preset::of(link), &link.trace) {
        (Some(preset), _) => preset.title.to_owned(),
        (None, Some(_)) => "recorded delays".to_owned(),
        (None, None) => {
            let there_and_back = link.latency * 2;
            let mut words = format!("{} ms there and back", there_and_back.as_millis());
            if link.loss != Loss::None {
                let percent = link.loss.mean_fraction() * 100.0;
                words += &format!(", {percent:.1} % lost");
            }
            words
        }
    };
    if link.cut {
        words += ", cut";
    }
    words
}

fn send_interval(rate: u32) -> Option<u32> {
    let mut intervals = SEND_INTERVALS.into_iter();
    intervals.find(|ticks| TICKS_PER_SECOND / ticks == rate)
}

fn playout(value: &str) -> Option<PlayoutChoice> {
    match value {
        "rule" => return Some(PlayoutChoice::Rule),
        "adaptive" => return Some(PlayoutChoice::Adaptive),
        _ => {}
    }
    let ms: f64 = value.strip_suffix("ms")?.parse().ok()?;
    let longest = LONGEST_DELAY.as_secs_f64() * 1e3;
    (0.0..=longest)
        .contains(&ms)
        .then(|| PlayoutChoice::Fixed(Duration::from_nanos((ms * 1e6).round() as u64)))
}

impl FromStr for LaneSettings {
    type Err = LaneTextError;

    fn from_str(text: &str) -> Result<Self, LaneTextError> {
        let mut lane = Self::default();
        let mut given: Vec<&str> = Vec::new();
        for part in text.split(',') {
            let (name, value) = part.split_once(':').ok_or_else(|| LaneTextError::NoValue {
                part: part.to_owned(),
            })?;
            if given.contains(&name) {
                return Err(LaneTextError::Twice {
                    name: name.to_owned(),
                });
            }
            lane.set(name, value)?;
            given.push(name);
        }
        if given.contains(&"rung") == given.contains(&"stages") {
            return Err(LaneTextError::NoStages);
        }
        Ok(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<LaneSettings>().unwrap_err().to_string()
    }

    #[test]
    fn a_lane_comes_back_from_its_text() {
        for text in [
            "rung:delta",
            "rung:uncompressed,link:4g,interpolation:hermite,rate:10",
            "rung:predicted,playout:adaptive,baseline:smallest,seed:7",
            "rung:at-rest,rate:20,playout:62.5ms",
            "stages:orientation=smallest-three-5,link:perfect",
        ] {
            let lane: LaneSettings = text.parse().unwrap();
            assert_eq!(lane.to_text().as_deref(), Some(text));
            assert_eq!(lane.to_text().unwrap().parse(), Ok(lane));
        }
    }

    #[test]
    fn parts_come_in_any_order_and_stages_of_a_rung_are_called_by_its_name() {
        let stages = ladder::DELTA.stages;
        let lane: LaneSettings = format!("rate:30,stages:{stages}").parse().unwrap();
        assert_eq!(lane.to_text().as_deref(), Some("rung:delta,rate:30"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            error("delta"),
            "`delta` is not of the form SETTING:VALUE, as in `rung:delta`"
        );
        assert!(error("rung:detla").starts_with("no rung is called `detla`; there are uncompr"));
        assert!(error("rugn:delta").starts_with("no setting is called `rugn`; there are rung, "));
        assert_eq!(error("rate:10,rate:20"), "`rate` is given twice");
        let neither = "a lane says what it sends with: `rung:NAME` or `stages:…`, one of the two";
        assert_eq!(error("rate:10"), neither);
        assert_eq!(error("rung:delta,stages:delta=indices"), neither);
        assert_eq!(
            error("rung:delta,rate:25"),
            "`25` is no rate; it must be 60, 30, 20 or 10"
        );
        for delay in ["-1ms", "NaNms", "1e9ms", "3"] {
            let wanted = "it must be rule, adaptive, or from 0ms to 4000ms";
            let said = error(&format!("rung:delta,playout:{delay}"));
            assert_eq!(said, format!("`{delay}` is no playout; {wanted}"));
        }
    }

    #[test]
    fn links_are_put_into_words() {
        let words = |text: &str| text.parse::<LaneSettings>().unwrap().in_words();
        assert_eq!(words("rung:delta"), "100 ms there and back");
        assert_eq!(
            words("rung:delta,link:4g,rate:10,interpolation:none"),
            "4G, 10 a second, no interpolation"
        );
    }
}
