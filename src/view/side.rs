//! The two halves of the screen and their contents.

use std::str::FromStr;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use cubewire_palette::{Colors, Rgb};
use cubewire_text::TextError;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::replication::{LaneSettings, LaneSettingsQuery};

/// A half of the screen, and as a component the half that shows a lane. A half without a lane shows the simulation.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    Left,
    Right,
}

impl Side {
    pub const ALL: [Self; 2] = [Self::Left, Self::Right];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    pub const fn color_of(self, colors: &Colors) -> Rgb {
        match self {
            Self::Left => colors.left,
            Self::Right => colors.right,
        }
    }

    /// The render layer that only this side's camera sees.
    pub(super) const fn layer(self) -> usize {
        1 + self as usize
    }
}

/// The render layer that both cameras see, below the layers of the sides.
pub(super) const SHARED: usize = 0;

/// Marks the lane that the panel and the keys control. It is shown in a half.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Selected;

/// Content of a half. Its text form is `simulation` or the text form of a lane.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there are only two of them, and a few in a script")]
pub enum PaneContent {
    Simulation,
    Lane(LaneSettings),
}

impl PaneContent {
    /// The text form, or `None` for a lane without one.
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Simulation => Some(SIMULATION.to_owned()),
            Self::Lane(lane) => lane.to_text(),
        }
    }

    /// Settings of the lane, or `None` for the simulation.
    pub const fn lane(&self) -> Option<&LaneSettings> {
        match self {
            Self::Simulation => None,
            Self::Lane(lane) => Some(lane),
        }
    }
}

/// System parameter to read the content of the halves.
#[derive(SystemParam, Debug)]
pub struct Halves<'w, 's>(Query<'w, 's, (&'static Side, LaneSettingsQuery)>);

impl Halves<'_, '_> {
    pub fn content(&self, side: Side) -> PaneContent {
        let lane = self.0.iter().find(|(other, _)| **other == side);
        lane.map_or(PaneContent::Simulation, |(_, lane)| PaneContent::Lane(lane.get()))
    }
}

impl FromStr for PaneContent {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        match text {
            SIMULATION => Ok(Self::Simulation),
            lane => lane.parse().map(Self::Lane).map_err(|error| match error {
                TextError::Unknown { what, given, mut legal } if given == text => {
                    legal.insert(0, SIMULATION.to_owned());
                    TextError::Unknown { what, given, legal }
                }
                other => other,
            }),
        }
    }
}

impl Serialize for PaneContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_text();
        let text =
            text.ok_or_else(|| ser::Error::custom("recorded delays cannot be written as text"))?;
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for PaneContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

const SIMULATION: &str = "simulation";
