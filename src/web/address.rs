//! The parameters in the address of the page. They are those of the command line, as in
//! `?left=rung:delta&right=rung:predicted,link:4g&script=katamari`.

use std::str::FromStr;

use crate::game::right_lane;
use crate::named::Named;
use crate::panel::{PanelSize, STEPS};
use crate::recording::length_of_play;
use crate::replication::{self, LaneChanges, LaneSettings};
use crate::theme::Theme;
use crate::view::{Half, Quality};

/// What the address asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Address {
    /// What the left half shows.
    pub left: Option<Half>,
    /// The lane in the right half.
    pub right: Option<LaneSettings>,
    /// Changes of the right lane.
    pub lane: LaneChanges,
    /// The name of a script, which the page loads.
    pub script: Option<String>,
    /// Whether the game never plays by itself.
    pub calm: bool,
    /// When the game ends, seconds after it began.
    pub seconds: Option<f64>,
    /// How much work goes into a frame.
    pub quality: Quality,
    /// The step of the tour to begin with, from 0.
    pub tour: Option<usize>,
    /// The theme, instead of the one of the last visit.
    pub theme: Option<Theme>,
    /// How much of the panel is shown, instead of as much as at the last visit.
    pub panel: Option<PanelSize>,
    /// Whether figures of the run are for the page to read.
    pub report: bool,
}

/// A parameter that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// There is none of this name.
    #[error("the address has an unknown parameter, `{0}`; known are {names}", names = NAMES.join(", "))]
    Unknown(String),
    /// It is there twice.
    #[error("the address has the parameter `{0}` twice")]
    Twice(String),
    /// Its value is none of those that it can have.
    #[error("the address says {name}={value}: {reason}")]
    Value {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
        /// What is wrong.
        reason: String,
    },
    /// Two parameters that say the same thing.
    #[error("the address has both `right` and `{0}`: say it in `right`")]
    Both(&'static str),
}

/// Every parameter.
const NAMES: [&str; 16] = [
    "left",
    "right",
    "rung",
    "network",
    "rate",
    "interpolation",
    "baseline",
    "script",
    "calm",
    "seconds",
    "quality",
    "tour",
    "theme",
    "panel",
    "report",
    "graphics",
];

impl FromStr for Address {
    type Err = AddressError;

    /// Parses what follows the question mark, which may lead.
    fn from_str(query: &str) -> Result<Self, AddressError> {
        let query = query.strip_prefix('?').unwrap_or(query);
        let mut address = Self::default();
        let mut seen = Vec::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let Some(known) = NAMES.into_iter().find(|known| *known == name) else {
                return Err(AddressError::Unknown(name.into_owned()));
            };
            if seen.contains(&known) {
                return Err(AddressError::Twice(name.into_owned()));
            }
            seen.push(known);
            if let Err(reason) = address.set(known, &value) {
                return Err(AddressError::Value {
                    name: name.into_owned(),
                    value: value.into_owned(),
                    reason,
                });
            }
        }
        let of_lane = ["rung", "network", "rate", "interpolation", "baseline"];
        let both = of_lane.into_iter().find(|name| seen.contains(name));
        match both {
            Some(name) if seen.contains(&"right") => Err(AddressError::Both(name)),
            _ => Ok(address),
        }
    }
}

impl Address {
    /// # Errors
    /// If the parameter cannot have this value: a sentence.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "left" => self.left = Some(value.parse().map_err(sentence)?),
            "right" => self.right = Some(right_lane(value)?),
            "rung" => self.lane.rung = Some(replication::rung(value).map_err(sentence)?),
            "network" => {
                self.lane.network = Some(replication::network(value).map_err(sentence)?);
            }
            "rate" => {
                self.lane.send_interval_ticks =
                    Some(replication::send_interval(value).map_err(sentence)?);
            }
            "interpolation" => {
                self.lane.interpolation =
                    Some(replication::interpolation(value).map_err(sentence)?);
            }
            "baseline" => {
                self.lane.baseline = Some(replication::baseline(value).map_err(sentence)?);
            }
            "script" => self.script = Some(value.to_owned()),
            "calm" => self.calm = switch(value)?,
            "seconds" => self.seconds = Some(length_of_play(value)?),
            "quality" => self.quality = Quality::by_name(value)?,
            "tour" => {
                let steps = 1..=STEPS.len();
                let step = match value {
                    "" => Some(1),
                    _ => value.parse().ok().filter(|step| steps.contains(step)),
                };
                let last = STEPS.len();
                let step = step.ok_or_else(|| format!("it is no step from 1 to {last}"))?;
                self.tour = Some(step - 1);
            }
            "theme" => self.theme = Some(Theme::by_name(value)?),
            "panel" => self.panel = Some(PanelSize::by_name(value)?),
            "report" => self.report = switch(value)?,
            // The page has read it.
            _ => {}
        }
        Ok(())
    }
}

/// `calm` means the same as `calm=yes`.
fn switch(value: &str) -> Result<bool, String> {
    match value {
        "" | "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("it is neither yes nor no".to_owned()),
    }
}

fn sentence(error: impl ToString) -> String {
    error.to_string()
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
        let address: Address = "?left=rung:delta&right=rung:predicted,link:4g&script=katamari&calm"
            .parse()
            .unwrap();
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
        address.lane.apply(&mut lane);
        let wanted = "rung:delta,link:4g,rate:20,interpolation:hermite,baseline:smallest";
        assert_eq!(lane, wanted.parse().unwrap());
        assert_eq!((address.tour, address.theme), (Some(2), Some(Theme::Dark)));
        assert_eq!("".parse(), Ok(Address::default()));
    }

    #[test]
    fn a_link_leads_back_to_what_it_was_made_of() {
        let left: Half = "simulation".parse().unwrap();
        let right: LaneSettings = "rung:predicted,link:4g,rate:30".parse().unwrap();
        let query = query(&left, &right).unwrap();
        assert!(
            query.starts_with("?left=simulation&right=rung:predicted,"),
            "{query}"
        );
        let address: Address = query.parse().unwrap();
        assert_eq!((address.left, address.right), (Some(left), Some(right)));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        assert!(
            error("lefd=a")
                .starts_with("the address has an unknown parameter, `lefd`; known are left, ")
        );
        assert_eq!(
            error("calm&calm"),
            "the address has the parameter `calm` twice"
        );
        assert_eq!(
            error("seconds=-1"),
            "the address says seconds=-1: -1 is not a number of seconds, more than 0 and at most a day, as in 2.5"
        );
        assert!(error("right=simulation").contains("the right half shows a lane"));
        assert!(error("rung=predictd").contains("predictd"));
        assert_eq!(
            error("tour=99"),
            format!(
                "the address says tour=99: it is no step from 1 to {}",
                STEPS.len()
            )
        );
        assert_eq!(
            error("right=rung:delta&rate=20"),
            "the address has both `right` and `rate`: say it in `right`"
        );
    }
}
