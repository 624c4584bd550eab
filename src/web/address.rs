//! Parses the parameters of the page's address. They correspond to the command line, for example
//! `?left=rung:delta&right=rung:predicted,link:4g&script=katamari`.

use std::str::FromStr;

use cubewire_text::{Notation, Spelling, TextError};
use serde::{Deserialize, Serialize};

use crate::game::right_lane;
use crate::panel::{PanelSize, STEPS};
use crate::recording::{LENGTH_OF_PLAY, length_of_play};
use crate::replication::{LaneChange, LaneSettings};
use crate::theme::Theme;
use crate::view::{PaneContent, Quality};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Address {
    pub left: Option<PaneContent>,
    #[serde(with = "RightLane")]
    pub right: Option<LaneSettings>,
    /// Single settings of the right lane.
    #[serde(rename = "LANE")]
    pub lane: LaneParameters,
    /// Name of a script, which the page loads.
    pub script: Option<String>,
    /// Whether the game waits for the player. See [`waits`](Address::waits).
    pub calm: bool,
    #[serde(with = "PlayLength")]
    pub seconds: Option<f64>,
    pub quality: Quality,
    /// Step of the tour to start with, counted from 0.
    #[serde(with = "Step")]
    pub tour: Option<usize>,
    /// Theme. Without it, the theme of the last visit.
    pub theme: Option<Theme>,
    /// Size of the panel. Without it, the size of the last visit.
    pub panel: Option<PanelSize>,
    /// Whether to publish figures of the run to the page.
    pub report: bool,
    /// Graphics backend. Ignored here, because the page has already read it.
    graphics: Option<String>,
}

/// Single settings of the right lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneParameters {
    rung: Option<String>,
    network: Option<String>,
    rate: Option<String>,
    interpolation: Option<String>,
    baseline: Option<String>,
}

impl LaneParameters {
    /// Converts the parameters to a change of a lane.
    pub fn change(&self) -> Result<LaneChange, TextError> {
        let settings = [
            ("rung", &self.rung),
            ("link", &self.network),
            ("rate", &self.rate),
            ("interpolation", &self.interpolation),
            ("baseline", &self.baseline),
        ];
        let given = settings.into_iter();
        LaneChange::new(given.filter_map(|(key, value)| Some((key.to_owned(), value.clone()?))))
    }
}

impl Address {
    /// Whether the game waits for the player instead of playing by itself: on request, or if the address has what to
    /// show.
    pub fn waits(&self) -> bool {
        let has_halves = self.left.is_some() || self.right.is_some();
        let has_lane = has_halves || self.lane != LaneParameters::default();
        self.calm || has_lane || self.script.is_some() || self.tour.is_some()
    }
}

impl FromStr for Address {
    type Err = TextError;

    /// Parses a query, with or without the question mark.
    fn from_str(query: &str) -> Result<Self, TextError> {
        const NOTATION: Notation = Notation { comma: '&', colon: '=', slash: '/' };
        let query = query.strip_prefix('?').unwrap_or(query);
        let parameters = form_urlencoded::parse(query.as_bytes());
        let address: Result<Self, _> = NOTATION.change(&Self::default(), parameters);
        let checked = address.and_then(|address| match address.lane.change()? {
            change if address.right.is_some() && change != LaneChange::default() => {
                let message =
                    "the right lane is set by `right` and by single settings: use one of the two";
                Err(TextError::Other(message.to_owned()))
            }
            _ => Ok(address),
        });
        checked.map_err(|error| TextError::Other(format!("the address: {error}")))
    }
}

struct RightLane;

impl Spelling<LaneSettings> for RightLane {
    fn write(lane: &LaneSettings) -> Option<String> {
        lane.to_text()
    }

    fn read(text: &str) -> Result<LaneSettings, TextError> {
        right_lane(text).map_err(TextError::Other)
    }
}

struct PlayLength;

impl Spelling<f64> for PlayLength {
    fn write(seconds: &f64) -> Option<String> {
        Some(seconds.to_string())
    }

    fn read(text: &str) -> Result<f64, TextError> {
        length_of_play(text).map_err(|_| TextError::value(text, LENGTH_OF_PLAY))
    }
}

/// Spelling of a step of the tour, counted from 1. An empty text means the first step.
struct Step;

impl Spelling<usize> for Step {
    fn write(step: &usize) -> Option<String> {
        Some((step + 1).to_string())
    }

    fn read(text: &str) -> Result<usize, TextError> {
        let steps = 1..=STEPS.len();
        let step = match text {
            "" => Some(1),
            text => text.parse().ok().filter(|step| steps.contains(step)),
        };
        let wanted = format!("a step from 1 to {}", STEPS.len());
        Ok(step.ok_or_else(|| TextError::value(text, wanted))? - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::export::query;

    fn error(query: &str) -> String {
        query.parse::<Address>().unwrap_err().to_string()
    }

    #[test]
    fn an_address_carries_what_the_command_line_carries() {
        let address: Address =
            "?left=rung:delta&right=rung:predicted,link:4g&script=katamari&calm".parse().unwrap();
        let lane: LaneSettings = "rung:predicted,link:4g".parse().unwrap();
        assert_eq!(address.right, Some(lane));
        assert_eq!(address.left, Some("rung:delta".parse().unwrap()));
        assert_eq!(address.script.as_deref(), Some("katamari"));
        assert!(address.calm && !address.report);
        let address: Address =
            "rung=delta&network=4g&rate=20&interpolation=hermite&baseline=smallest&tour=3&theme=dark"
                .parse()
                .unwrap();
        let mut lane = LaneSettings::default();
        address.lane.change().unwrap().apply(&mut lane).unwrap();
        let wanted = "rung:delta,link:4g,rate:20,interpolation:hermite,baseline:smallest";
        assert_eq!(lane, wanted.parse().unwrap());
        assert_eq!((address.tour, address.theme), (Some(2), Some(Theme::Dark)));
        assert_eq!("".parse(), Ok(Address::default()));
    }

    #[test]
    fn the_game_waits_if_the_address_has_what_to_show() {
        for (query, waits) in [
            ("", false),
            ("theme=light&panel=slim&quality=low&seconds=9&report", false),
            ("calm", true),
            ("left=rung:delta", true),
            ("right=rung:delta", true),
            ("rung=delta", true),
            ("network=4g", true),
            ("script=ball", true),
            ("tour", true),
        ] {
            let address: Address = query.parse().unwrap();
            assert_eq!(address.waits(), waits, "{query}");
        }
    }

    #[test]
    fn a_link_leads_back_to_what_it_was_made_of() {
        let left: PaneContent = "simulation".parse().unwrap();
        let right: LaneSettings = "rung:predicted,link:4g,rate:30".parse().unwrap();
        let query = query(&left, &right).unwrap();
        assert!(query.starts_with("?left=simulation&right=rung:predicted,"), "{query}");
        let address: Address = query.parse().unwrap();
        assert_eq!((address.left, address.right), (Some(left), Some(right)));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        for (query, message) in [
            (
                "lefd=a",
                "unknown setting `lefd` (did you mean `left`?); choose one of left, right, rung, network",
            ),
            ("calm&calm", "`calm` is given twice"),
            ("calm=perhaps", "calm must be yes or no, not `perhaps`"),
            (
                "seconds=-1",
                "seconds must be a number of seconds above 0 and up to 86400, for example 2.5, not `-1`",
            ),
            ("right=simulation", "the right half must show a lane"),
            (
                "rung=predictd",
                "unknown rung `predictd` (did you mean `predicted`?); choose one of uncompressed",
            ),
            ("quality=medium", "unknown quality `medium`; choose one of auto, low, high"),
            ("tour=99", &format!("tour must be a step from 1 to {}, not `99`", STEPS.len())),
            ("right=rung:delta&rate=20", "the right lane is set by `right` and by single settings"),
        ] {
            let error = error(query);
            assert!(error.starts_with(&format!("the address: {message}")), "{error}");
        }
    }
}
