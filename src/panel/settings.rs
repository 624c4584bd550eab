//! The state of the panel.

pub(super) mod file;

use std::ops::RangeInclusive;
use std::sync::Arc;

use bevy::prelude::*;
use cubewire_inspector::graph::{Axis, Point};
use cubewire_inspector::packet::Order;
use serde::{Deserialize, Serialize};

use crate::theme::Theme;
use crate::view::{CubeColors, Side};

/// The state of the panel. Most fields are saved to the file.
#[derive(Resource, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelState {
    /// How much of the panel is shown.
    pub size: PanelSize,
    /// The page that is open.
    pub page: Page,
    /// Seconds that the graph goes back, 10 to 60.
    pub graph_seconds: u32,
    /// The graph's vertical axis.
    pub axis: Axis,
    /// Light or dark.
    pub theme: Theme,
    /// Factor of the size of text and panel, on top of that by the size of the window, 1 to 2; none is 1.
    pub scale: Option<f32>,
    /// Whether the timeline is shown.
    pub timeline: bool,
    /// Whether the scale of the cubes' colours is fixed.
    pub fixed_scale: bool,
    /// What the colours of the cubes show.
    #[serde(skip)]
    pub colors: CubeColors,
    /// Whether the screen has been explained once, and needs no explanation at the start.
    pub explained: bool,
    /// In which order the chart of a packet has its bits.
    #[serde(skip)]
    pub(super) packet_order: Order,
    /// Whether the screen is being explained.
    #[serde(skip)]
    pub explaining: bool,
    /// Whether the player touches the screen rather than uses keys.
    #[serde(skip)]
    pub has_touch: bool,
    /// Whether the window is so narrow that the panel is a slim bar until it is asked for.
    #[serde(skip)]
    pub(super) is_narrow: bool,
    /// Whether the window is so low that parts of the panel are lower or left out.
    #[serde(skip)]
    pub(super) is_low: bool,
    /// Whether the whole panel has been asked for in a narrow window.
    #[serde(skip)]
    pub(super) is_asked_for: bool,
    /// Whether the tour is taken.
    #[serde(skip)]
    pub(super) is_touring: bool,
    /// Index of the rung that was last selected.
    #[serde(skip)]
    pub last_rung: usize,
    /// First and last tick of the range whose totals the timeline shows.
    #[serde(skip)]
    pub range: Option<[u64; 2]>,
    /// What a paused graph shows.
    #[serde(skip)]
    pub(super) frozen: Option<Vec<(Side, Arc<[Point]>)>>,
}

/// How much of the panel is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PanelSize {
    /// Everything, at the right.
    #[default]
    Whole,
    /// A bar with the rung and the graph, at the bottom.
    Slim,
    /// Nothing.
    Hidden,
}

impl PanelSize {
    /// The next one, in a cycle.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Whole => Self::Slim,
            Self::Slim => Self::Hidden,
            Self::Hidden => Self::Whole,
        }
    }
}

/// A page of the panel. Each belongs to a [`Tab`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Page {
    /// The rungs.
    #[default]
    Ladder,
    /// What each rung saves over the one before.
    Savings,
    /// What each rung cost in the last seconds.
    OverTime,
    /// What each part of the present stages saves.
    WithoutEach,
    /// Every bit of a packet, and of a cube.
    Packet,
    /// What the bits of a second are for.
    Kinds,
    /// A switch for each stage.
    Stages,
    /// Parameters of the stages.
    Ranges,
    /// The budget, and what waits for it.
    Budget,
    /// The link, the other ends, playout and the error of the replica.
    Link,
    /// What the halves show.
    Halves,
    /// Theme, size, and the keys.
    Help,
}

/// A group of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tab {
    /// What the rungs cost.
    Ladder,
    /// Where the bits go.
    Packet,
    /// What can be set about the codec.
    Tuning,
    /// What lies between the ends.
    Network,
    /// How to use all of it.
    Help,
}

impl Tab {
    /// All of them, from left to right.
    pub const ALL: [Self; 5] = [
        Self::Ladder,
        Self::Packet,
        Self::Tuning,
        Self::Network,
        Self::Help,
    ];

    /// Its pages. The first is open at first.
    #[must_use]
    pub const fn pages(self) -> &'static [Page] {
        match self {
            Self::Ladder => &[
                Page::Ladder,
                Page::Savings,
                Page::OverTime,
                Page::WithoutEach,
            ],
            Self::Packet => &[Page::Packet, Page::Kinds],
            Self::Tuning => &[Page::Stages, Page::Ranges, Page::Budget],
            Self::Network => &[Page::Link, Page::Halves],
            Self::Help => &[Page::Help],
        }
    }
}

impl Page {
    /// The tab that it belongs to.
    #[must_use]
    pub fn tab(self) -> Tab {
        let mut tabs = Tab::ALL.into_iter();
        let tab = tabs.find(|tab| tab.pages().contains(&self));
        tab.unwrap_or(Tab::Help)
    }
}

impl Default for PanelState {
    fn default() -> Self {
        Self {
            size: PanelSize::default(),
            page: Page::default(),
            graph_seconds: 20,
            axis: Axis::default(),
            theme: Theme::default(),
            scale: None,
            timeline: false,
            fixed_scale: false,
            colors: CubeColors::default(),
            explained: false,
            packet_order: Order::default(),
            explaining: false,
            has_touch: false,
            is_narrow: false,
            is_low: false,
            is_asked_for: false,
            is_touring: false,
            last_rung: 0,
            range: None,
            frozen: None,
        }
    }
}

impl PanelState {
    /// Parses the contents of a settings file. What is missing or out of range is replaced.
    ///
    /// # Errors
    /// If it is not RON, or a field has another type.
    pub fn parse(text: &str) -> Result<Self, ron::error::SpannedError> {
        ron::from_str(text).map(Self::bounded)
    }

    /// The contents of a settings file.
    ///
    /// # Errors
    /// If they cannot be written as RON.
    pub fn to_text(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// How much of the panel is shown: in a narrow window it is slim until the whole is asked for, and in one that is low,
    /// too, it leaves its room to the card of the tour.
    #[must_use]
    pub fn shown_size(&self) -> PanelSize {
        match self.size {
            PanelSize::Whole if self.is_narrow && !self.is_asked_for => {
                match self.is_touring && self.is_low {
                    true => PanelSize::Hidden,
                    false => PanelSize::Slim,
                }
            }
            size => size,
        }
    }

    /// Whether the timeline is shown: once it is asked for, and while the game is paused, if there is room.
    pub(super) fn shows_timeline(&self, is_paused: bool) -> bool {
        self.timeline || (is_paused && !self.is_low && self.size != PanelSize::Hidden)
    }

    /// Shows the next size: the whole panel, the slim bar, nothing.
    pub(super) fn resize(&mut self) {
        if self.size != self.shown_size() {
            self.is_asked_for = true;
        } else {
            self.size = self.size.next();
            self.is_asked_for = false;
        }
    }

    /// Whether that page is in sight.
    pub(super) fn shows(&self, page: Page) -> bool {
        self.shown_size() == PanelSize::Whole && self.page == page
    }

    /// These settings with every number clamped to its range, as the file may contain anything.
    fn bounded(mut self) -> Self {
        self.graph_seconds = self.graph_seconds.clamp(10, MAX_GRAPH_SECONDS);
        self.scale = self.scale.filter(|scale| SCALES.contains(scale));
        self
    }
}

/// See [`PanelState::graph_seconds`].
pub(super) const MAX_GRAPH_SECONDS: u32 = 60;

/// See [`PanelState::scale`].
pub(super) const SCALES: RangeInclusive<f32> = 1.0..=2.0;
