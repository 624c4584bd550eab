//! The state of the panel.

pub(super) mod file;

use std::ops::RangeInclusive;

use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::graph::axis::Axis;
use super::graph::series::Points;
use super::tabs::packet::rows::Order;
use crate::named::Named;
use crate::replication::Accounting;
use crate::theme::Theme;
use crate::view::{CubeColors, Side};

/// The state of the panel. Most fields are saved to the file.
#[derive(Resource, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PanelState {
    /// How much of the panel is shown.
    pub size: PanelSize,
    /// Width of the whole panel in logical points.
    pub width: f32,
    /// The tab that is open.
    pub tab: Tab,
    /// What the tab of savings shows.
    pub savings: SavingsView,
    /// Seconds that the graph goes back, 10 to 60.
    pub graph_seconds: u32,
    /// The graph's vertical axis.
    pub axis: Axis,
    /// How the graph counts bytes.
    pub accounting: Accounting,
    /// Light or dark.
    pub theme: Theme,
    /// Factor of the size of text and panel, 0.5 to 4; none follows the size of the window.
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
    /// Index of the rung that was last selected.
    #[serde(skip)]
    pub last_rung: usize,
    /// The range of the timeline whose totals are shown.
    #[serde(skip)]
    pub(super) range: Option<TickRange>,
    /// What a paused graph shows.
    #[serde(skip)]
    pub(super) frozen: Option<Vec<(Side, Points)>>,
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

impl Named for PanelSize {
    const NAMES: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Whole, "whole", "Everything, at the right"),
        (
            Self::Slim,
            "slim",
            "A bar with the rung and the graph, at the bottom",
        ),
        (Self::Hidden, "hidden", "Nothing"),
    ];
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

/// A page of the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tab {
    /// The rungs.
    #[default]
    Ladder,
    /// What the rungs and the stages save.
    Savings,
    /// A switch for each stage.
    Stages,
    /// Parameters of the stages.
    Ranges,
    /// Where the bits go.
    Bits,
    /// Every bit of a packet.
    Packet,
    /// The link, the send rate and the baseline.
    Network,
    /// Interpolation, jitter buffer and replica error.
    Playout,
    /// What the halves show.
    Halves,
    /// The keys, and the settings of the panel itself.
    Keys,
    /// The viewers of a server, or the server of a viewer.
    Peers,
}

/// What the tab of savings shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SavingsView {
    /// What each rung saves over the one before.
    #[default]
    Steps,
    /// What each rung cost in the last seconds.
    OverTime,
    /// What each part of the present stages saves.
    Ablation,
}

/// Ticks from the first to the last, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TickRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl TickRange {
    pub(super) fn between(one: u64, other: u64) -> Self {
        Self {
            first: one.min(other),
            last: one.max(other),
        }
    }
}

impl Default for PanelState {
    fn default() -> Self {
        Self {
            size: PanelSize::default(),
            width: 408.0,
            tab: Tab::default(),
            savings: SavingsView::default(),
            graph_seconds: 20,
            axis: Axis::default(),
            accounting: Accounting::default(),
            theme: Theme::default(),
            scale: None,
            timeline: false,
            fixed_scale: false,
            colors: CubeColors::default(),
            explained: false,
            packet_order: Order::default(),
            explaining: false,
            has_touch: false,
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

    /// First and last tick of the range whose totals the timeline shows.
    #[must_use]
    pub fn range(&self) -> Option<[u64; 2]> {
        self.range.map(|range| [range.first, range.last])
    }

    /// Shows the totals of the ticks from the first to the last.
    pub fn mark_range(&mut self, [first, last]: [u64; 2]) {
        self.range = Some(TickRange::between(first, last));
    }

    /// Whether the ablation is in sight.
    pub(super) fn shows_ablation(&self) -> bool {
        self.shows(Tab::Savings) && self.savings == SavingsView::Ablation
    }

    /// Whether that page is in sight.
    pub(super) fn shows(&self, tab: Tab) -> bool {
        self.size == PanelSize::Whole && self.tab == tab
    }

    /// These settings with every number clamped to its range, as the file may contain anything.
    fn bounded(mut self) -> Self {
        let default = Self::default();
        if !(1.0..=10_000.0).contains(&self.width) {
            self.width = default.width;
        }
        self.graph_seconds = self
            .graph_seconds
            .clamp(MIN_GRAPH_SECONDS, MAX_GRAPH_SECONDS);
        self.scale = self.scale.filter(|scale| SCALES.contains(scale));
        self
    }
}

/// See [`PanelState::graph_seconds`].
pub(super) const MIN_GRAPH_SECONDS: u32 = 10;

/// See [`PanelState::graph_seconds`].
pub(super) const MAX_GRAPH_SECONDS: u32 = 60;

/// See [`PanelState::scale`].
pub(super) const SCALES: RangeInclusive<f32> = 0.5..=4.0;
