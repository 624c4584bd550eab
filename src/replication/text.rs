//! A lane in one line: `rung:delta,link:4g,interpolation:hermite,rate:10`.
//!
//! | setting | value | default |
//! | --- | --- | --- |
//! | `rung` | a rung's name | `changed-flags` |
//! | `stages` | see [`Stages`](Stages#method.from_str); not together with `rung` | those of the rung |
//! | `link` | a preset's name, or conditions: see [`Conditions`] | 50 ms each way |
//! | `interpolation` | `none`, `linear`, `hermite`, `extrapolate` | `linear` |
//! | `rate` | snapshots a second: 60, 30, 20, 10 | 60 |
//! | `playout` | `rule`, `adaptive`, or a delay as in `150ms` | `rule` |
//! | `baseline` | `newest`, `smallest` | `newest` |
//! | `seed` | random seed of the simulated link | 0 |

mod describe;

pub use describe::{fallback, fallback_of_viewer, rung_name, rung_or_stages};

use std::str::FromStr;
use std::time::Duration;

use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{Stages, StagesTextError};
use cubewire_link::{Conditions, ConditionsTextError, PRESETS, Preset};
use cubewire_protocol::{BaselineChoice, Interpolation};
use cubewire_scene::TICKS_PER_SECOND;

use super::{LaneSettings, PlayoutDelay, SEND_INTERVALS};

/// Longest playout delay that can be set.
const MAX_DELAY: Duration = Duration::from_secs(4);

/// Why a text cannot be parsed as a lane, or a value as a setting.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LaneTextError {
    /// A part has no colon.
    #[error("`{part}` is not of the form SETTING:VALUE, as in `rung:delta`")]
    NoValue {
        /// What was given.
        part: String,
    },
    /// A setting is unknown.
    #[error("unknown setting `{name}`{}; one of {}", similar(name, SETTINGS), SETTINGS.join(", "))]
    UnknownSetting {
        /// The name that was given.
        name: String,
    },
    /// A setting is given twice.
    #[error("`{name}` is given twice")]
    Twice {
        /// Which.
        name: String,
    },
    /// The stages are given in both ways.
    #[error("a lane has either `rung:NAME` or `stages:…`, not both")]
    StagesTwice,
    /// There is no such rung.
    #[error("unknown rung `{name}`{}; one of {}", similar(name, rung_names()), rung_names().join(", "))]
    UnknownRung {
        /// The name that was given.
        name: String,
    },
    /// The stages cannot be parsed.
    #[error(transparent)]
    Stages(#[from] StagesTextError),
    /// The link cannot be parsed.
    #[error(transparent)]
    Link(#[from] ConditionsTextError),
    /// There is no such preset of the simulated network.
    #[error("unknown network `{name}`; one of {}", network_names())]
    UnknownNetwork {
        /// The name that was given.
        name: String,
    },
    /// There is no such interpolation.
    #[error("unknown interpolation `{name}`; one of {}", interpolation_names())]
    UnknownInterpolation {
        /// The name that was given.
        name: String,
    },
    /// A value is not legal for its setting.
    #[error("{setting} must be {wanted}, not `{given}`")]
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

fn rung_names() -> Vec<&'static str> {
    let mut names: Vec<_> = ladder::LADDER.iter().map(|rung| rung.name).collect();
    names.push(ladder::AFFINE.name);
    names
}

/// The most similar of the names as a question, if one is similar enough to be meant.
fn similar(given: &str, names: impl IntoIterator<Item = &'static str>) -> String {
    let similarity = |name| strsim::jaro_winkler(given, name);
    let likely = names.into_iter().filter(|name| similarity(name) > 0.8);
    likely
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
        .map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

/// The names of all presets of the simulated network.
#[must_use]
pub fn network_names() -> String {
    PRESETS.each_ref().map(|preset| preset.name).join(", ")
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

/// The preset of the simulated network of that name.
///
/// # Errors
/// If there is none.
pub fn network(name: &str) -> Result<&'static Preset, LaneTextError> {
    Preset::by_name(name).ok_or_else(|| LaneTextError::UnknownNetwork {
        name: name.to_owned(),
    })
}

/// The interpolation of that name.
///
/// # Errors
/// If there is none.
pub fn interpolation(name: &str) -> Result<Interpolation, LaneTextError> {
    Interpolation::by_name(name).ok_or_else(|| LaneTextError::UnknownInterpolation {
        name: name.to_owned(),
    })
}

/// The choice of baselines of that name.
///
/// # Errors
/// If there is none.
pub fn baseline(name: &str) -> Result<BaselineChoice, LaneTextError> {
    match name {
        "newest" => Ok(BaselineChoice::Newest),
        "smallest" => Ok(BaselineChoice::Smallest),
        _ => Err(LaneTextError::Value {
            setting: "baseline",
            given: name.to_owned(),
            wanted: "newest or smallest",
        }),
    }
}

/// The ticks between two snapshots at that rate: one of [`SEND_INTERVALS`].
///
/// # Errors
/// If none of them gives that rate.
pub fn send_interval(rate: &str) -> Result<u32, LaneTextError> {
    let ticks = rate.parse().ok().and_then(|rate: u32| {
        let mut intervals = SEND_INTERVALS.into_iter();
        intervals.find(|ticks| TICKS_PER_SECOND / ticks == rate)
    });
    ticks.ok_or_else(|| LaneTextError::Value {
        setting: "rate",
        given: rate.to_owned(),
        wanted: "60, 30, 20 or 10",
    })
}

impl LaneSettings {
    /// Changes one setting, by name; see [`FromStr`].
    ///
    /// # Errors
    /// [`LaneTextError`]; nothing is changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), LaneTextError> {
        let illegal = |setting, wanted| LaneTextError::Value {
            setting,
            given: value.to_owned(),
            wanted,
        };
        match name {
            "rung" => self.sender.stages = rung(value)?.stages,
            "stages" => self.sender.stages = value.parse::<Stages>()?,
            "link" => self.link.conditions = value.parse::<Conditions>()?,
            "interpolation" => self.playout.interpolation = interpolation(value)?,
            "rate" => self.sender.send_interval_ticks = send_interval(value)?,
            "playout" => {
                self.playout.delay = playout_delay(value).ok_or_else(|| {
                    illegal(
                        "playout",
                        "rule, adaptive, or from 0ms to 4000ms, as in 150ms",
                    )
                })?;
            }
            "baseline" => {
                self.sender.baseline = baseline(value)?;
            }
            "seed" => {
                let seed = value.parse().ok();
                self.link.seed =
                    seed.ok_or_else(|| illegal("seed", "a whole number from 0 to 2^64 - 1"))?;
            }
            _ => {
                return Err(LaneTextError::UnknownSetting {
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The text that these settings are parsed from; none while the link follows a trace, which has no
    /// name.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        let usual = Self::default();
        let mut text = match ladder::rung_of(self.sender.stages) {
            Some(rung) => format!("rung:{}", rung.name),
            None => format!("stages:{}", self.sender.stages),
        };
        let mut add = |name: &str, value: &str| {
            text.extend([",", name, ":", value]);
        };
        if self.link.conditions != usual.link.conditions {
            add("link", &self.link.conditions.to_text()?);
        }
        if self.playout.interpolation != usual.playout.interpolation {
            add("interpolation", self.playout.interpolation.name());
        }
        if self.sender.send_interval_ticks != usual.sender.send_interval_ticks {
            add("rate", &self.sender.snapshots_per_second().to_string());
        }
        match self.playout.delay {
            PlayoutDelay::Rule => {}
            PlayoutDelay::Adaptive => add("playout", "adaptive"),
            PlayoutDelay::Fixed(delay) => {
                add("playout", &format!("{}ms", delay.as_nanos() as f64 / 1e6));
            }
        }
        match self.sender.baseline {
            BaselineChoice::Newest => {}
            BaselineChoice::Smallest => add("baseline", "smallest"),
        }
        if self.link.seed != usual.link.seed {
            add("seed", &self.link.seed.to_string());
        }
        Some(text)
    }
}

fn playout_delay(value: &str) -> Option<PlayoutDelay> {
    match value {
        "rule" => return Some(PlayoutDelay::Rule),
        "adaptive" => return Some(PlayoutDelay::Adaptive),
        _ => {}
    }
    let ms: f64 = value.strip_suffix("ms")?.parse().ok()?;
    let longest = MAX_DELAY.as_secs_f64() * 1e3;
    (0.0..=longest)
        .contains(&ms)
        .then(|| PlayoutDelay::Fixed(Duration::from_nanos((ms * 1e6).round() as u64)))
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
        if given.contains(&"rung") && given.contains(&"stages") {
            return Err(LaneTextError::StagesTwice);
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
    fn without_stages_a_lane_has_the_usual_ones() {
        let lane: LaneSettings = "link:hostile".parse().unwrap();
        let text = lane.to_text().unwrap();
        assert_eq!(text, "rung:changed-flags,link:hostile");
    }

    #[test]
    fn settings_come_in_any_order_and_stages_of_a_rung_get_its_name() {
        let stages = ladder::DELTA.stages;
        let lane: LaneSettings = format!("rate:30,stages:{stages}").parse().unwrap();
        assert_eq!(lane.to_text().as_deref(), Some("rung:delta,rate:30"));
    }

    #[test]
    fn errors_name_what_is_wrong() {
        assert_eq!(
            error("delta"),
            "`delta` is not of the form SETTING:VALUE, as in `rung:delta`"
        );
        let unknown = "unknown rung `detla` (did you mean `delta`?); one of uncompr";
        assert!(error("rung:detla").starts_with(unknown));
        assert!(error("rung:xyz").starts_with("unknown rung `xyz`; one of uncompr"));
        let unknown = "unknown setting `rugn` (did you mean `rung`?); one of rung, ";
        assert!(error("rugn:delta").starts_with(unknown));
        assert_eq!(error("rate:10,rate:20"), "`rate` is given twice");
        assert_eq!(
            error("rung:delta,stages:delta=indices"),
            "a lane has either `rung:NAME` or `stages:…`, not both"
        );
        assert_eq!(
            error("rung:delta,rate:25"),
            "rate must be 60, 30, 20 or 10, not `25`"
        );
        for delay in ["-1ms", "NaNms", "1e9ms", "3"] {
            let wanted = "must be rule, adaptive, or from 0ms to 4000ms, as in 150ms";
            let message = error(&format!("rung:delta,playout:{delay}"));
            assert_eq!(message, format!("playout {wanted}, not `{delay}`"));
        }
    }
}
