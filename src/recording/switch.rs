//! Changes of lane settings at a time in a video: `4s:rung:delta,link:4g`, `4s:left.rung:delta` for a half, or
//! `4s:2.rung:delta` for a column. Settings have the text form of lanes.

use std::str::FromStr;

use cubewire_scene::TICKS_PER_SECOND;
use cubewire_text::TextError;

use crate::replication::{LaneChange, LaneSettings};
use crate::view::Side;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Text form.
    pub text: String,
    /// Tick of the change. The caller defines tick 0: the first visible frame, or the first tick of the script.
    pub at: u64,
    pub place: Place,
    change: LaneChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The right half, or every column.
    Unnamed,
    Half(Side),
    /// A column, counted from 1.
    Column(usize),
}

pub const MAX_SECONDS: f64 = 86_400.0;

pub(crate) const LENGTH_OF_PLAY: &str =
    "a number of seconds above 0 and up to 86400, for example 2.5";

pub fn length_of_play(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|&seconds| seconds > 0.0 && seconds <= MAX_SECONDS);
    seconds.ok_or_else(|| format!("{text} is not {LENGTH_OF_PLAY}"))
}

impl Switch {
    /// Half of the lane. A column shows its lane in the right half.
    pub const fn side(&self) -> Side {
        match self.place {
            Place::Half(side) => side,
            Place::Unnamed | Place::Column(_) => Side::Right,
        }
    }

    pub fn delayed(mut self, ticks: u64) -> Self {
        self.at += ticks;
        self
    }

    pub fn apply(&self, settings: &mut LaneSettings) -> Result<(), TextError> {
        self.change.apply(settings)
    }
}

impl FromStr for Switch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let (time, rest) = text.split_once(':').unwrap_or((text, ""));
        let seconds = time.strip_suffix('s').and_then(|s| s.parse::<f64>().ok());
        let seconds = seconds.filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
        let seconds = seconds.ok_or_else(|| {
            let wanted = "a time from 0s to 86400s, for example `4s` or `2.5s`";
            TextError::Other(format!("`{time}` is not {wanted}"))
        })?;
        if rest.is_empty() {
            let why = "the setting is missing, for example `4s:rung:delta`";
            return Err(TextError::Other(why.to_owned()));
        }
        let (place, rest) = match rest.split_once('.') {
            Some(("left", rest)) => (Place::Half(Side::Left), rest),
            Some(("right", rest)) => (Place::Half(Side::Right), rest),
            Some((column, after)) => match column.parse() {
                Ok(column) => (Place::Column(column), after),
                Err(_) => (Place::Unnamed, rest),
            },
            None => (Place::Unnamed, rest),
        };
        Ok(Self {
            text: text.to_owned(),
            at: (seconds * f64::from(TICKS_PER_SECOND)).round() as u64,
            place,
            change: rest.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_changes_one_lane_at_one_tick() {
        let switch: Switch = "2.5s:left.rung:delta,link:4g+loss=0.2".parse().unwrap();
        assert_eq!((switch.at, switch.place), (150, Place::Half(Side::Left)));
        let mut lane = LaneSettings::default();
        switch.apply(&mut lane).unwrap();
        let text = lane.to_text().unwrap();
        assert!(text.starts_with("rung:delta,link:"), "{text}");
        for (text, place) in [
            ("0s:rate:10", Place::Unnamed),
            ("0s:right.rate:10", Place::Half(Side::Right)),
            ("0s:3.rate:10", Place::Column(3)),
        ] {
            let switch: Switch = text.parse().unwrap();
            assert_eq!((switch.place, switch.side() as usize), (place, 1));
        }
    }

    #[test]
    fn errors_quote_the_part_that_is_wrong() {
        let error = |text: &str| text.parse::<Switch>().unwrap_err().to_string();
        assert!(error("4s:rung=delta").starts_with("unknown setting `rung=delta`"));
        for time in ["4", "-1s", "NaNs", "1e9s", "s"] {
            let wanted = "is not a time from 0s to 86400s, for example `4s` or `2.5s`";
            assert_eq!(error(&format!("{time}:rung:delta")), format!("`{time}` {wanted}"));
        }
        let nothing = "the setting is missing, for example `4s:rung:delta`";
        assert_eq!(error("4s"), nothing);
        assert!(error("4s:rung:detla").starts_with("unknown rung `detla`"));
        assert!(error("4s:middle.rung:delta").starts_with("unknown setting `middle.rung`"));
    }
}
