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
#[derive(Resource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelState {
    /// How much of the panel is shown.
    pub size: PanelSize,
    /// How much of it is shown in a narrow window, once that was chosen there.
    #[serde(skip)]
    pub size_if_narrow: Option<PanelSize>,
    /// The page that is open.
    pub page: Page,
    /// Selected column of the ladder.
    pub column: Column,
    /// How far the graph goes back.
    pub graph_seconds: GraphSeconds,
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

/// Seconds, 10 to 60.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GraphSeconds(pub u32);

impl Default for GraphSeconds {
    fn default() -> Self {
        Self(20)
    }
}

/// Figures in the columns of the ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Column {
    /// Cost of each rung.
    #[default]
    Cost,
    /// Difference between each rung and the previous one.
    Savings,
    /// Cost of the present stages without the stage of each rung.
    Without,
    /// Curves of the cost in the last seconds.
    OverTime,
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
    /// The rungs. Saved settings may have the names of pages that it has replaced.
    #[default]
    #[serde(alias = "Savings", alias = "OverTime", alias = "WithoutEach")]
    Ladder,
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
    Stages,
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
        Self::Stages,
        Self::Network,
        Self::Help,
    ];

    /// Its pages. The first is open at first.
    #[must_use]
    pub const fn pages(self) -> &'static [Page] {
        match self {
            Self::Ladder => &[Page::Ladder],
            Self::Packet => &[Page::Packet, Page::Kinds],
            Self::Stages => &[Page::Stages, Page::Ranges, Page::Budget],
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

    /// How much of the panel is shown: in a narrow window it is slim until another size is chosen there, and in one that is
    /// low, too, it leaves its room to the card of the tour.
    #[must_use]
    pub fn shown_size(&self) -> PanelSize {
        match (self.size, self.size_if_narrow) {
            (_, Some(size)) if self.is_narrow => size,
            (PanelSize::Whole, None) if self.is_narrow => match self.is_touring && self.is_low {
                true => PanelSize::Hidden,
                false => PanelSize::Slim,
            },
            (size, _) => size,
        }
    }

    /// Whether the timeline is shown: once it is asked for, and while the game is paused, if there is room. The tour leaves its
    /// room to the picture.
    pub(super) fn shows_timeline(&self, is_paused: bool) -> bool {
        let is_hidden = self.shown_size() == PanelSize::Hidden;
        !self.is_touring && (self.timeline || (is_paused && !self.is_low && !is_hidden))
    }

    /// Shows the next size: the whole panel, the slim bar, nothing. What is chosen in a narrow window holds only there.
    pub(super) fn resize(&mut self) {
        if self.is_narrow {
            let chosen = self.size_if_narrow.map(PanelSize::next);
            self.size_if_narrow = Some(chosen.unwrap_or(PanelSize::Whole));
        } else {
            self.size = self.size.next();
        }
    }

    /// Whether that page is in sight.
    pub(super) fn shows(&self, page: Page) -> bool {
        self.shown_size() == PanelSize::Whole && self.page == page
    }

    /// These settings with every number clamped to its range, as the file may contain anything.
    fn bounded(mut self) -> Self {
        self.graph_seconds.0 = self.graph_seconds.0.clamp(10, MAX_GRAPH_SECONDS);
        self.scale = self.scale.filter(|scale| SCALES.contains(scale));
        self
    }
}

/// The end of [`GraphSeconds`].
pub(super) const MAX_GRAPH_SECONDS: u32 = 60;

/// See [`PanelState::scale`].
pub(super) const SCALES: RangeInclusive<f32> = 1.0..=2.0;
