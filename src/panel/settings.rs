//! The state of the panel, and the RON file that keeps it between runs.
//!
//! The file is a convenience: if it is missing or invalid, the panel starts with its defaults.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::log::warn;
use bevy::prelude::*;
use serde::{Deserialize, Serialize};

use super::graph::axis::Axis;
use super::graph::series::Points;
use super::tabs::packet::rows::Order;
use crate::files;
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

/// Why settings cannot be loaded or saved.
#[derive(Debug, thiserror::Error)]
pub(super) enum SettingsError {
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: {source}", path.display())]
    Syntax {
        path: PathBuf,
        source: Box<ron::error::SpannedError>,
    },
    #[error("the panel's settings cannot be written as RON: {0}")]
    Unwritable(#[from] ron::Error),
}

/// Where the settings are saved, and what was last saved there.
#[derive(Resource, Debug)]
pub(super) struct SettingsFile {
    path: PathBuf,
    saved: String,
    /// Whether [`PanelState`] may have changed since then.
    touched: bool,
    /// Time of the last attempt to save, by the real clock.
    tried_at: Duration,
    /// Whether a failure was already logged.
    warned: bool,
}

impl SettingsFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn new(path: PathBuf, loaded: &PanelState) -> Self {
        Self {
            path,
            saved: loaded.to_text().unwrap_or_default(),
            touched: false,
            tried_at: Duration::ZERO,
            warned: false,
        }
    }

    fn save(&mut self, state: &PanelState) -> Result<(), SettingsError> {
        let text = state.to_text()?;
        if text != self.saved {
            store(&self.path, &text)?;
            self.saved = text;
        }
        Ok(())
    }
}

/// Loads the settings from a file. If it is missing or invalid, returns the defaults; if it is invalid,
/// logs a warning.
pub(super) fn load_or_default(path: &Path) -> PanelState {
    match load(path) {
        Ok(state) => state,
        Err(SettingsError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            PanelState::default()
        }
        Err(error) => {
            warn!("the panel starts with its defaults: {error}");
            PanelState::default()
        }
    }
}

/// Saves changes, at most once per [`SAVE_INTERVAL`], and when the app exits.
pub(super) fn save(
    state: Res<PanelState>,
    mut file: ResMut<SettingsFile>,
    time: Res<Time<Real>>,
    mut exits: MessageReader<AppExit>,
) {
    let leaving = exits.read().count() > 0;
    if state.is_changed() {
        file.touched = true;
    }
    let now = time.elapsed();
    if !file.touched || !(leaving || now >= file.tried_at + SAVE_INTERVAL) {
        return;
    }
    file.touched = false;
    file.tried_at = now;
    if let Err(error) = file.save(&state)
        && !file.warned
    {
        warn!("the panel's settings are not saved: {error}");
        file.warned = true;
    }
}

fn load(path: &Path) -> Result<PanelState, SettingsError> {
    let text = files::recall(path).map_err(|source| SettingsError::File {
        path: path.to_owned(),
        source,
    })?;
    PanelState::parse(&text).map_err(|source| SettingsError::Syntax {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

fn store(path: &Path, text: &str) -> Result<(), SettingsError> {
    files::remember(path, text).map_err(|source| SettingsError::File {
        path: path.to_owned(),
        source,
    })
}

/// See [`PanelState::graph_seconds`].
pub(super) const MIN_GRAPH_SECONDS: u32 = 10;

/// See [`PanelState::graph_seconds`].
pub(super) const MAX_GRAPH_SECONDS: u32 = 60;

/// See [`PanelState::scale`].
pub(super) const SCALES: RangeInclusive<f32> = 0.5..=4.0;

/// Minimum time between two attempts to save.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn saved_settings_are_loaded_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/inside/panel.ron");
        let mut state = PanelState::default();
        let mut file = SettingsFile::new(path.clone(), &state);
        file.save(&state).unwrap();
        assert!(!path.exists(), "nothing has changed");

        state.size = PanelSize::Slim;
        state.width = 412.5;
        state.tab = Tab::Network;
        state.savings = SavingsView::Ablation;
        state.theme = Theme::Dark;
        state.scale = Some(1.5);
        state.explained = true;
        state.graph_seconds = 60;
        state.axis = Axis::Logarithmic;
        state.accounting = Accounting::OnTheWire;
        file.save(&state).unwrap();
        assert_eq!(load_or_default(&path), state);
    }

    #[test]
    fn a_missing_or_garbled_file_gives_the_defaults() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        assert_eq!(load_or_default(&path), PanelState::default());
        for garbage in ["", "(visible: perhaps)", "\u{0}\u{1}", "(((((("] {
            fs::write(&path, garbage).unwrap();
            assert_eq!(load_or_default(&path), PanelState::default());
        }
        assert_eq!(load_or_default(directory.path()), PanelState::default());
    }

    #[test]
    fn missing_and_out_of_range_values_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        fs::write(
            &path,
            "(width: NaN, graph_seconds: 4000000000, scale: Some(1e9), axis: Logarithmic)",
        )
        .unwrap();
        let state = load_or_default(&path);
        assert_eq!(state.width, PanelState::default().width);
        assert_eq!(state.graph_seconds, 60);
        assert_eq!((state.scale, state.size), (None, PanelSize::Whole));
        assert_eq!(state.axis, Axis::Logarithmic);
    }

    #[test]
    fn changes_are_saved_when_the_app_exits() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("panel.ron");
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            super::super::PanelPlugin {
                settings: Some(path.clone()),
            },
        ))
        .init_resource::<ButtonInput<KeyCode>>();
        app.update();
        app.world_mut().resource_mut::<PanelState>().graph_seconds = 33;
        app.world_mut().write_message(AppExit::Success);
        app.update();
        assert_eq!(load_or_default(&path).graph_seconds, 33);
    }
}
