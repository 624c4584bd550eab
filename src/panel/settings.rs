//! State and settings of the panel.

pub(super) mod file;

use std::ops::RangeInclusive;
use std::sync::Arc;

use bevy::prelude::*;
use cubewire_inspector::graph::{Axis, Point};
use cubewire_inspector::packet::Order;
use serde::{Deserialize, Serialize};

use crate::controls::PastFilm;
use crate::theme::Theme;
use crate::view::{CubeColors, Side};

/// Lengths of a film of the past, seconds, and its ticks per frame. The first ones are the defaults.
pub(super) const FILM_LENGTHS: [u32; 3] = [10, 30, 60];
pub(super) const TICKS_PER_FRAME: [u32; 2] = [2, 1];

/// The state of the panel. Most fields are saved to the file.
#[derive(Resource, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelState {
    pub size: PanelSize,
    /// How much of the panel is shown in a narrow window; `None` until the user chooses.
    #[serde(skip)]
    pub size_if_narrow: Option<PanelSize>,
    pub page: Page,
    pub column: Column,
    pub graph_seconds: GraphSeconds,
    pub axis: Axis,
    pub theme: Theme,
    /// The user's factor for the size of text and panel, 1 to 2. It multiplies the factor for the window. `None` is 1.
    pub scale: Option<f32>,
    pub timeline: bool,
    pub fixed_scale: bool,
    /// Quantity that the colours of the cubes show.
    #[serde(skip)]
    pub colors: CubeColors,
    /// Whether the screen was explained once. If so, the next start shows no cards.
    pub explained: bool,
    #[serde(skip)]
    pub(super) packet_order: Order,
    /// Whether the screen is being explained.
    #[serde(skip)]
    pub explaining: bool,
    #[serde(skip)]
    pub(super) film_card: bool,
    #[serde(skip)]
    pub(super) film_length: usize,
    #[serde(skip)]
    pub(super) film_rate: usize,
    #[serde(skip)]
    pub has_touch: bool,
    /// Whether the window is too narrow to start with the whole panel.
    #[serde(skip)]
    pub(super) is_narrow: bool,
    /// Whether the window is so low that the plot is lower or omitted.
    #[serde(skip)]
    pub(super) is_low: bool,
    #[serde(skip)]
    pub(super) is_touring: bool,
    #[serde(skip)]
    pub last_rung: usize,
    /// First and last tick of the range that is marked in the timeline.
    #[serde(skip)]
    pub range: Option<[u64; 2]>,
    #[serde(skip)]
    pub(super) frozen: Option<Vec<(Side, Arc<[Point]>)>>,
}

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
    // The name of a former column.
    #[default]
    #[serde(alias = "OverTime")]
    Cost,
    /// Difference between each rung and the previous one.
    Savings,
    /// Cost of the present stages without the stage of each rung.
    Without,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PanelSize {
    /// The whole panel, at the right.
    #[default]
    Whole,
    /// A bar with the rung and the graph, at the bottom.
    Slim,
    Hidden,
}

impl PanelSize {
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
    // The aliases are the names of former pages in older settings files.
    #[default]
    #[serde(alias = "Savings", alias = "OverTime", alias = "WithoutEach")]
    Ladder,
    Packet,
    Kinds,
    Stages,
    Ranges,
    Budget,
    #[serde(alias = "Halves")]
    Link,
    Playing,
    Help,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tab {
    Ladder,
    Packet,
    Stages,
    Network,
    Help,
}

impl Tab {
    pub const ALL: [Self; 5] =
        [Self::Ladder, Self::Packet, Self::Stages, Self::Network, Self::Help];

    /// Returns the pages of the tab. The first one is the default.
    pub const fn pages(self) -> &'static [Page] {
        match self {
            Self::Ladder => &[Page::Ladder],
            Self::Packet => &[Page::Packet, Page::Kinds],
            Self::Stages => &[Page::Stages, Page::Ranges, Page::Budget],
            Self::Network => &[Page::Link, Page::Playing],
            Self::Help => &[Page::Help],
        }
    }
}

impl Page {
    pub fn tab(self) -> Tab {
        let mut tabs = Tab::ALL.into_iter();
        tabs.find(|tab| tab.pages().contains(&self)).unwrap_or(Tab::Help)
    }
}

impl PanelState {
    /// Parses a settings file. Missing and out-of-range values become defaults or the nearest limit.
    ///
    /// # Errors
    /// If the text is not RON, or if a field has another type.
    pub fn parse(text: &str) -> Result<Self, ron::error::SpannedError> {
        ron::from_str(text).map(Self::bounded)
    }

    /// Returns the contents of a settings file.
    ///
    /// # Errors
    /// If the state cannot be written as RON.
    pub fn to_text(&self) -> Result<String, ron::Error> {
        ron::ser::to_string_pretty(self, ron::ser::PrettyConfig::default())
    }

    /// Returns how much of the panel is shown. In a narrow window, the whole panel becomes the slim bar until the user
    /// chooses a size there. During the tour in a window that is also low, it is hidden to leave room for the card.
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

    pub(super) const fn past_film(&self) -> PastFilm {
        PastFilm {
            seconds: FILM_LENGTHS[self.film_length % FILM_LENGTHS.len()],
            ticks_per_frame: TICKS_PER_FRAME[self.film_rate % TICKS_PER_FRAME.len()],
        }
    }

    /// Whether the timeline is shown: on request, and while the game is paused if there is room. The tour hides it.
    pub(super) fn shows_timeline(&self, is_paused: bool) -> bool {
        let is_hidden = self.shown_size() == PanelSize::Hidden;
        !self.is_touring && (self.timeline || (is_paused && !self.is_low && !is_hidden))
    }

    /// Switches to the next size. A choice in a narrow window is separate from the choice in wide windows.
    pub(super) fn resize(&mut self) {
        if self.is_narrow {
            let chosen = self.size_if_narrow.map(PanelSize::next);
            self.size_if_narrow = Some(chosen.unwrap_or(PanelSize::Whole));
        } else {
            self.size = self.size.next();
        }
    }

    pub(super) fn shows(&self, page: Page) -> bool {
        self.shown_size() == PanelSize::Whole && self.page == page
    }

    /// Clamps every number to its range, because a file may contain any value.
    fn bounded(mut self) -> Self {
        self.graph_seconds.0 = self.graph_seconds.0.clamp(10, MAX_GRAPH_SECONDS);
        self.scale = self.scale.filter(|scale| SCALES.contains(scale));
        self
    }
}

pub(super) const MAX_GRAPH_SECONDS: u32 = 60;

pub(super) const SCALES: RangeInclusive<f32> = 1.0..=2.0;
