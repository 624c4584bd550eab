//! The switches of the page.

use super::repair::Stage;
use crate::replication::Part;

/// A switch of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Switch {
    Orientation,
    Velocity,
    Position,
    Selection,
    Coding,
    RelativePosition,
    RelativeOrientation,
    ChangedFlags,
}

impl Switch {
    pub(in super::super) const ALL: [Self; 8] = [
        Self::Orientation,
        Self::Velocity,
        Self::Position,
        Self::Selection,
        Self::Coding,
        Self::RelativePosition,
        Self::RelativeOrientation,
        Self::ChangedFlags,
    ];

    pub(in super::super) const fn name(self) -> &'static str {
        match self {
            Self::Selection => "Selection",
            Self::Coding => "Coding",
            Self::Orientation => "Orientation",
            Self::Velocity => "Velocity",
            Self::Position => "Position",
            Self::RelativePosition => "Relative position",
            Self::RelativeOrientation => "Relative orientation",
            Self::ChangedFlags => "Changed flags",
        }
    }

    /// The stage that it sets. Two switches set the delta.
    pub(super) const fn stage(self) -> Stage {
        match self {
            Self::Orientation => Stage::Orientation,
            Self::Velocity => Stage::Velocity,
            Self::Position => Stage::Position,
            Self::Selection | Self::Coding => Stage::Delta,
            Self::RelativePosition => Stage::RelativePosition,
            Self::RelativeOrientation => Stage::RelativeOrientation,
            Self::ChangedFlags => Stage::ChangedFlags,
        }
    }

    /// What is taken away to measure what it saves.
    pub(in super::super) const fn part(self) -> Part {
        match self {
            Self::Orientation => Part::Orientation,
            Self::Velocity => Part::Velocity,
            Self::Position => Part::Position,
            Self::Selection => Part::Delta,
            Self::Coding => Part::Coding,
            Self::RelativePosition => Part::RelativePosition,
            Self::RelativeOrientation => Part::RelativeOrientation,
            Self::ChangedFlags => Part::ChangedFlags,
        }
    }
}

/// The name of the first switch of which that is true, within a sentence.
pub(in super::super) fn name(is_it: impl Fn(Switch) -> bool) -> String {
    let found = Switch::ALL.into_iter().find(|switch| is_it(*switch));
    found.map_or("", Switch::name).to_lowercase()
}
