//! The panel at the right of the window: settings and graphs of the selected lane.
//!
//! It reads samples of lanes and the shadow ladder. It writes its own [`PanelState`] and the view's
//! [`Inset`], and triggers events for everything else: [`ChangeLane`], [`ShowHalf`], [`SelectHalf`],
//! [`Reconnect`]. [`draw`] needs only an [`egui::Context`], so that it can run and be timed without a
//! window; [`PanelPlugin`] calls it in [`EguiPrimaryContextPass`].

mod acks;
mod graph;
mod halves;
mod keys;
mod ladder;
mod ledger;
mod network;
mod peers;
mod playout;
mod series;
mod settings;
mod small;
mod stages;
mod tooltips;

use std::path::PathBuf;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

use crate::replication::{
    ChangeLane, Divergence, Lane, LaneMeter, LaneSettings, LaneSettingsQueryReadOnly, Peer,
    Reconnect, SenderSettings, ServerConnection, Serving, ShadowLadder,
};
use crate::view::{Half, Inset, Notices, SelectHalf, Selected, ShowHalf, Side, ViewSystems};

pub use peers::Peers;
pub use settings::{OpenSections, PanelState};
pub use small::SmallGraphPlugin;

/// The phases of the panel.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PanelSystems {
    /// Its notices over the picture are updated, in [`Update`].
    Notices,
    /// The panel is drawn and its controls take effect, in [`EguiPrimaryContextPass`].
    Draw,
    /// A changed [`PanelState`] is saved to its file, in [`Last`].
    Save,
}

/// Shows the panel of the [`Selected`] lane. Needs a primary egui context to draw in.
#[derive(Clone, Debug, Default)]
pub struct PanelPlugin {
    /// The file that [`PanelState`] is loaded from and saved to; `None`, the default, does
    /// neither.
    pub settings: Option<PathBuf>,
}

impl PanelPlugin {
    /// `panel.ron` in cubewire's configuration directory; `None` if the user has no home directory.
    #[must_use]
    pub fn default_settings_path() -> Option<PathBuf> {
        let directories = directories::ProjectDirs::from("", "", "cubewire")?;
        Some(directories.config_dir().join("panel.ron"))
    }
}

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        let mut state = PanelState::default();
        if let Some(path) = &self.settings {
            state = settings::load_or_default(path);
            app.insert_resource(settings::SettingsFile::new(path.clone(), &state))
                .add_systems(
                    Last,
                    settings::save
                        .in_set(PanelSystems::Save)
                        .after(exit_on_all_closed),
                );
        }
        app.insert_resource(state)
            .init_resource::<Inset>()
            .init_resource::<Notices>()
            .add_observer(keys::on_action)
            .add_systems(
                Update,
                (keys::note_rung, show_hint, peers::show_connection)
                    .chain()
                    .in_set(PanelSystems::Notices),
            )
            .add_systems(
                EguiPrimaryContextPass,
                draw_lane
                    .in_set(PanelSystems::Draw)
                    .after(ViewSystems::Overlay),
            );
    }
}

/// The data that [`draw`] shows, and the settings that it may change.
#[derive(Debug)]
pub struct LaneView<'a> {
    /// Settings of the selected lane.
    pub settings: &'a mut LaneSettings,
    /// Measurements of the selected lane.
    pub meter: &'a LaneMeter,
    /// Bandwidth of every rung; without it the ladder shows no figures.
    pub shadow: Option<&'a ShadowLadder>,
    /// Difference between picture and simulation, if it is measured.
    pub divergence: Option<&'a Divergence>,
    /// The other ends of a real network.
    pub peers: Peers<'a>,
    /// Every lane in a half of the screen, the left one first, including the selected one.
    pub shown: Vec<Measured<'a>>,
    /// What the halves show; `None` where it cannot be changed.
    pub halves: Option<&'a mut Halves>,
}

/// A lane in one half of the screen.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// Which half.
    pub side: Side,
    /// Measurements of the lane.
    pub meter: &'a LaneMeter,
    /// Its settings as text, if they have a text form.
    pub text: Option<String>,
}

/// What the halves show.
#[derive(Clone, Debug, PartialEq)]
pub struct Halves {
    /// Whether the left half shows a lane instead of the simulation.
    pub left_is_lane: bool,
    /// The half whose lane the panel shows.
    pub selected: Side,
    /// What the user just entered as text for a half.
    pub typed: Option<(Side, Half)>,
}

/// Draws the panel at the right of `ctx`, inside a running pass. Returns its width in logical points, 0
/// if it is hidden.
pub fn draw(ctx: &egui::Context, state: &mut PanelState, lane: LaneView<'_>) -> f32 {
    if !state.visible {
        return 0.0;
    }
    let window = ctx.viewport_rect();
    // A minimized window may have no size.
    if window.width() < 1.0 || window.height() < 1.0 {
        return 0.0;
    }
    let max_width = (window.width() * MAX_WIDTH_FRACTION).max(1.0);
    let mut root = egui::Ui::new(
        ctx.clone(),
        egui::Id::new("panel_root"),
        egui::UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(window),
    );
    let panel = egui::Panel::right(egui::Id::new("panel"))
        .default_size(state.width)
        .size_range(MIN_WIDTH.min(max_width)..=max_width)
        .show(&mut root, |ui| {
            ui.style_mut().interaction.selectable_labels = false;
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| sections(ui, state, lane));
        });
    let width = panel.response.rect.width();
    // Do not save a width that was forced by a small window.
    if width < max_width {
        state.width = width;
    }
    width
}

fn sections(ui: &mut egui::Ui, state: &mut PanelState, lane: LaneView<'_>) {
    let LaneView {
        settings,
        meter,
        shadow,
        divergence,
        peers,
        shown,
        halves,
    } = lane;
    let is_remote = peers.is_server();
    let mut open = state.open;
    if let Some(title) = peers.title() {
        section(ui, title, &mut open.peers, |ui| peers::draw(ui, peers));
    }
    if let Some(halves) = halves {
        section(ui, "Halves", &mut open.halves, |ui| {
            halves::draw(ui, halves, &shown);
        });
    }
    section(ui, "Ladder", &mut open.ladder, |ui| {
        ladder::draw(ui, &mut settings.sender.stages, shadow);
    });
    section(ui, "Bandwidth", &mut open.bandwidth, |ui| {
        graph::draw(ui, state, &shown);
    });
    section(ui, "Where the bits go", &mut open.ledger, |ui| {
        ledger::draw(ui, meter);
    });
    section(ui, "Stages", &mut open.stages, |ui| {
        stages::draw(ui, &mut settings.sender.stages);
    });
    section(ui, "Acks", &mut open.acks, |ui| {
        acks::draw(ui, meter, is_remote);
    });
    section(ui, "Network", &mut open.network, |ui| {
        if is_remote {
            ui.weak("Simulated, in addition to the real network:");
        }
        network::draw(ui, settings, meter);
    });
    section(ui, "Playout", &mut open.playout, |ui| {
        playout::draw(ui, settings, state.graph_seconds, meter, divergence);
    });
    section(ui, "Keys", &mut open.keys, keys::draw);
    state.open = open;
}

fn section(ui: &mut egui::Ui, title: &str, open: &mut bool, body: impl FnOnce(&mut egui::Ui)) {
    let header = egui::CollapsingHeader::new(egui::RichText::new(title).strong())
        .id_salt(title)
        .default_open(*open)
        .open(Some(*open))
        .show_unindented(ui, body)
        .header_response;
    if header.clicked() {
        *open = !*open;
    }
}

/// Draws a name at the left and its value with unit at the right. Returns the response of the name.
fn figure(ui: &mut egui::Ui, name: &str, value: String) -> egui::Response {
    let (label, _) = egui::Sides::new().shrink_left().truncate().show(
        ui,
        |ui| ui.label(name),
        |ui| ui.monospace(value),
    );
    label
}

/// The lane that is selected.
type SelectedLane = (
    Entity,
    LaneSettingsQueryReadOnly,
    &'static LaneMeter,
    Option<&'static Side>,
    Option<&'static ShadowLadder>,
    Option<&'static Divergence>,
);

/// A lane in a half of the screen.
type ShownLane = (&'static Side, LaneSettingsQueryReadOnly, &'static LaneMeter);

/// A lane to a viewer in another process.
type ViewerLane = (&'static Peer, &'static SenderSettings, &'static LaneMeter);

/// Everything that the panel reads.
#[derive(SystemParam)]
struct Shown<'w, 's> {
    selected: Query<'w, 's, SelectedLane, (With<Lane>, With<Selected>)>,
    halves: Query<'w, 's, ShownLane, With<Lane>>,
    viewers: Query<'w, 's, ViewerLane, With<Lane>>,
    serving: Option<Res<'w, Serving>>,
    connection: Option<Res<'w, ServerConnection>>,
}

fn draw_lane(
    mut commands: Commands,
    mut contexts: EguiContexts,
    mut state: ResMut<PanelState>,
    mut inset: ResMut<Inset>,
    lanes: Shown<'_, '_>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        return;
    };
    let Some((entity, settings, meter, side, shadow, divergence)) = lanes.selected.iter().next()
    else {
        inset.set_if_neq(Inset::default());
        return;
    };
    // Drawn on copies: what differs afterwards was changed by the user.
    let mut new_state = PanelState::clone(&state);
    let settings = settings.get();
    let mut new_settings = settings.clone();
    let mut reconnect = false;
    let peers = match (&lanes.serving, &lanes.connection) {
        (Some(serving), _) => Peers::Viewers {
            serving,
            viewers: lanes.viewers.iter().collect(),
        },
        (None, Some(connection)) => Peers::Server {
            connection,
            reconnect: &mut reconnect,
        },
        (None, None) => Peers::None,
    };
    let mut shown: Vec<_> = lanes
        .halves
        .iter()
        .map(|(&side, settings, meter)| Measured {
            side,
            meter,
            text: settings.get().to_text(),
        })
        .collect();
    shown.sort_by_key(|lane| lane.side);
    let halves = Halves {
        left_is_lane: shown.iter().any(|lane| lane.side == Side::Left),
        selected: side.copied().unwrap_or(Side::Right),
        typed: None,
    };
    let mut new_halves = halves.clone();
    let is_remote = peers.is_server();
    let lane = LaneView {
        settings: &mut new_settings,
        meter,
        shadow,
        divergence,
        peers,
        shown,
        halves: (!is_remote).then_some(&mut new_halves),
    };
    let right = draw(ctx, &mut new_state, lane);
    inset.set_if_neq(Inset { right });
    state.set_if_neq(new_state);
    if new_settings != settings {
        let settings = new_settings.clone();
        commands.trigger(ChangeLane { entity, settings });
    }
    if halves.left_is_lane != new_halves.left_is_lane {
        let half = if new_halves.left_is_lane {
            Half::Lane(new_settings)
        } else {
            Half::Simulation
        };
        let side = Side::Left;
        commands.trigger(ShowHalf { side, half });
    }
    if let Some((side, half)) = new_halves.typed {
        commands.trigger(ShowHalf { side, half });
    }
    if halves.selected != new_halves.selected {
        commands.trigger(SelectHalf(new_halves.selected));
    }
    if reconnect {
        commands.trigger(Reconnect);
    }
}

/// Shows for a while how to bring back the hidden panel.
fn show_hint(
    clock: Res<Time<Real>>,
    panel: Res<PanelState>,
    mut hidden_seconds: Local<f32>,
    mut notices: ResMut<Notices>,
) {
    *hidden_seconds = if panel.visible {
        0.0
    } else {
        *hidden_seconds + clock.delta_secs()
    };
    let is_due = !panel.visible && *hidden_seconds < HINT_SECONDS;
    notices.hint = is_due.then_some("F1 shows the panel");
}

/// How long the hint is shown, seconds.
const HINT_SECONDS: f32 = 5.0;

/// Logical points below which the panel is not readable.
const MIN_WIDTH: f32 = 300.0;

/// Fraction of the window's width that the panel may cover.
const MAX_WIDTH_FRACTION: f32 = 0.6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{PacketRecord, Sample};

    fn meter() -> LaneMeter {
        LaneMeter::from_samples((0..400).map(|tick| Sample {
            tick,
            snapshots: vec![PacketRecord {
                payload_bytes: 500 + tick as usize % 40,
                changed_cubes: 70,
                ..PacketRecord::default()
            }],
            acked_age_ticks: Some(6),
            ..Sample::default()
        }))
    }

    fn shapes(ctx: &egui::Context, state: &mut PanelState, settings: &mut LaneSettings) -> usize {
        let meter = meter();
        let window = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1280.0, 2400.0));
        let input = egui::RawInput {
            screen_rect: Some(window),
            ..egui::RawInput::default()
        };
        let settings_text = settings.to_text();
        let mut halves = Halves {
            left_is_lane: false,
            selected: Side::Right,
            typed: None,
        };
        let output = ctx.run_ui(input, |ui| {
            let lane = LaneView {
                settings: &mut *settings,
                meter: &meter,
                shadow: None,
                divergence: None,
                peers: Peers::None,
                shown: vec![Measured {
                    side: Side::Right,
                    meter: &meter,
                    text: settings_text.clone(),
                }],
                halves: Some(&mut halves),
            };
            let width = draw(ui.ctx(), state, lane);
            assert_eq!(width > 0.0, state.visible);
        });
        let shapes = output.shapes.len();
        output.drop_without_applying_deltas();
        shapes
    }

    #[test]
    fn the_panel_draws_without_a_window_and_changes_no_settings() {
        let ctx = egui::Context::default();
        let mut settings = LaneSettings::default();
        let mut state = PanelState::default();
        let hidden = {
            let mut state = PanelState {
                visible: false,
                ..PanelState::default()
            };
            shapes(&ctx, &mut state, &mut settings)
        };
        for _ in 0..2 {
            assert!(shapes(&ctx, &mut state, &mut settings) > hidden + 50);
        }
        state.logarithmic = true;
        assert!(shapes(&ctx, &mut state, &mut settings) > hidden + 50);
        assert_eq!(settings, LaneSettings::default());
        assert_eq!(state.open, OpenSections::default());
    }

    #[test]
    fn a_closed_section_draws_less() {
        let mut settings = LaneSettings::default();
        let mut state = PanelState::default();
        let all = shapes(&egui::Context::default(), &mut state, &mut settings);
        state.open.bandwidth = false;
        assert!(shapes(&egui::Context::default(), &mut state, &mut settings) < all);
    }
}
