//! The panel at the right of the window: switches and graphs of one lane.
//!
//! It reads a lane's samples and its shadow, and writes [`LaneSettings`] and its own
//! [`PanelState`], nothing else. Of the protocol it computes nothing: only sums and means over
//! samples. [`draw`] needs no more than an [`egui::Context`], so that it can be run and timed
//! without a window; the app's plugin calls it in [`EguiPrimaryContextPass`].

mod acks;
mod graph;
mod keys;
mod ladder;
mod ledger;
mod network;
mod peers;
mod playout;
mod series;
mod settings;
mod stages;
mod tooltips;

use std::path::PathBuf;

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

use crate::replication::{
    LaneMeter, LaneSettings, PictureError, RemoteViewer, ShadowLadder, Shown, UdpServer, UdpViewer,
};

pub use peers::Peers;
pub(crate) use peers::sentence;
pub use settings::{OpenSections, PanelState};

/// When the panel does what.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PanelSystems {
    /// Keys change [`PanelState`] and [`LaneSettings`], in [`Update`].
    Keys,
    /// The panel is drawn and its controls take effect, in [`EguiPrimaryContextPass`].
    Draw,
    /// A changed [`PanelState`] goes to its file, in [`Last`].
    Save,
}

/// Shows the panel of the [`Shown`] lane. Needs a primary egui context to draw in.
#[derive(Clone, Debug, Default)]
pub struct PanelPlugin {
    /// The file that [`PanelState`] is loaded from and saved to; `None`, the default, does
    /// neither.
    pub settings: Option<PathBuf>,
}

impl PanelPlugin {
    /// `panel.ron` in the user's configuration directory of cubewire; `None` if there is no home.
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
                .add_systems(Last, settings::save.in_set(PanelSystems::Save));
        }
        app.insert_resource(state)
            .init_resource::<PanelWidth>()
            .add_systems(Update, keys::press.in_set(PanelSystems::Keys))
            .add_systems(EguiPrimaryContextPass, draw_lane.in_set(PanelSystems::Draw));
    }
}

/// Width of the panel in logical points as last drawn; 0 while it is hidden.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelWidth(pub f32);

impl PanelWidth {
    /// Whether the panel covers a pointer at `x` in a window of this width, all in logical points.
    ///
    /// egui itself cannot tell: in a context run by `bevy_egui` it takes the background, and with
    /// it the panel, for free space.
    #[must_use]
    pub fn covers(self, x: f32, window_width: f32) -> bool {
        x >= window_width - self.0
    }
}

/// What the panel shows of a lane, and what it may change.
#[derive(Debug)]
pub struct LaneView<'a> {
    /// Changed by switches.
    pub settings: &'a mut LaneSettings,
    /// What was measured.
    pub meter: &'a LaneMeter,
    /// What every rung would cost; without it the ladder shows no figures.
    pub shadow: Option<&'a ShadowLadder>,
    /// How far the picture is off, if that is measured.
    pub error: Option<&'a PictureError>,
    /// Who is at the other end of a real network.
    pub peers: Peers<'a>,
}

/// Draws the panel at the right of `ctx`, inside a running pass. Gives its width in logical
/// points, 0 if it is hidden.
pub fn draw(ctx: &egui::Context, state: &mut PanelState, lane: LaneView<'_>) -> f32 {
    if !state.visible {
        return 0.0;
    }
    let window = ctx.viewport_rect();
    // A minimized window may have no size.
    if window.width() < 1.0 || window.height() < 1.0 {
        return 0.0;
    }
    let widest = (window.width() * WIDEST_FRACTION).max(1.0);
    let mut root = egui::Ui::new(
        ctx.clone(),
        egui::Id::new("panel_root"),
        egui::UiBuilder::new()
            .layer_id(egui::LayerId::background())
            .max_rect(window),
    );
    let panel = egui::Panel::right(egui::Id::new("panel"))
        .default_size(state.width)
        .size_range(NARROWEST.min(widest)..=widest)
        .show(&mut root, |ui| {
            ui.style_mut().interaction.selectable_labels = false;
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| sections(ui, state, lane));
        });
    let width = panel.response.rect.width();
    // What a small window leaves is not what the user chose.
    if width < widest {
        state.width = width;
    }
    width
}

fn sections(ui: &mut egui::Ui, state: &mut PanelState, lane: LaneView<'_>) {
    let LaneView {
        settings,
        meter,
        shadow,
        error,
        peers,
    } = lane;
    let is_remote = peers.is_server();
    let mut open = state.open;
    if let Some(title) = peers.title() {
        section(ui, title, &mut open.peers, |ui| peers::draw(ui, peers));
    }
    section(ui, "Ladder", &mut open.ladder, |ui| {
        ladder::draw(ui, &mut settings.stages, shadow);
    });
    section(ui, "Bandwidth", &mut open.bandwidth, |ui| {
        graph::draw(ui, state, meter);
    });
    section(ui, "Where the bits go", &mut open.ledger, |ui| {
        ledger::draw(ui, meter);
    });
    section(ui, "Stages", &mut open.stages, |ui| {
        stages::draw(ui, &mut settings.stages);
    });
    section(ui, "Acks", &mut open.acks, |ui| {
        acks::draw(ui, meter, is_remote);
    });
    section(ui, "Network", &mut open.network, |ui| {
        if is_remote {
            ui.weak("Added to the real network:");
        }
        network::draw(ui, settings, meter);
    });
    section(ui, "Playout", &mut open.playout, |ui| {
        playout::draw(ui, settings, state.graph_seconds, meter, error);
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

/// A name at the left, its value with its unit at the right.
fn figure(ui: &mut egui::Ui, name: &str, value: String) {
    egui::Sides::new().shrink_left().truncate().show(
        ui,
        |ui| ui.label(name),
        |ui| ui.monospace(value),
    );
}

fn draw_lane(
    mut contexts: EguiContexts,
    mut state: ResMut<PanelState>,
    mut width: ResMut<PanelWidth>,
    lane: Option<Single<ShownLane<'_>, With<Shown>>>,
    server: Option<Res<UdpServer>>,
    viewers: Query<(&RemoteViewer, &LaneSettings, &LaneMeter), Without<Shown>>,
    mut viewer: Option<ResMut<UdpViewer>>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        return;
    };
    let Some((mut settings, meter, shadow, error)) = lane.map(Single::into_inner) else {
        width.set_if_neq(PanelWidth(0.0));
        return;
    };
    // Drawn on copies: what is written to counts as changed.
    let mut new_state = PanelState::clone(&state);
    let mut new_settings = settings.clone();
    let mut reconnect = false;
    let peers = match (server, &viewer) {
        (Some(server), _) => Peers::Viewers {
            address: server.address(),
            traffic: server.traffic(),
            viewers: viewers.iter().collect(),
        },
        (None, Some(viewer)) => Peers::Server {
            address: viewer.server(),
            status: viewer.status(),
            round_trip: viewer.round_trip(),
            reconnect: &mut reconnect,
        },
        (None, None) => Peers::None,
    };
    let lane = LaneView {
        settings: &mut new_settings,
        meter,
        shadow,
        error,
        peers,
    };
    let drawn = draw(ctx, &mut new_state, lane);
    width.set_if_neq(PanelWidth(drawn));
    state.set_if_neq(new_state);
    settings.set_if_neq(new_settings);
    if let Some(viewer) = &mut viewer
        && reconnect
    {
        viewer.reconnect();
    }
}

type ShownLane<'a> = (
    &'a mut LaneSettings,
    &'a LaneMeter,
    Option<&'a ShadowLadder>,
    Option<&'a PictureError>,
);

/// Logical points in which everything is still readable.
const NARROWEST: f32 = 300.0;

/// Part of the window that the panel may cover.
const WIDEST_FRACTION: f32 = 0.6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::Sample;

    fn meter() -> LaneMeter {
        LaneMeter::from_samples((0..400).map(|tick| Sample {
            tick,
            snapshots: 1,
            payload_bytes: 500,
            article_bytes: 528 + tick as usize % 40,
            wire_bytes: 540,
            packets: 1,
            changed_cubes: 70,
            baseline_age_ticks: Some(6),
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
        let output = ctx.run_ui(input, |ui| {
            let lane = LaneView {
                settings: &mut *settings,
                meter: &meter,
                shadow: None,
                error: None,
                peers: Peers::None,
            };
            let width = draw(ui.ctx(), state, lane);
            assert_eq!(width > 0.0, state.visible);
        });
        let shapes = output.shapes.len();
        output.drop_without_applying_deltas();
        shapes
    }

    #[test]
    fn the_panel_draws_without_a_window_and_changes_nothing_by_itself() {
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

    #[test]
    fn the_panel_covers_the_right_edge() {
        assert!(PanelWidth(300.0).covers(980.0, 1280.0));
        assert!(!PanelWidth(300.0).covers(979.0, 1280.0));
        assert!(!PanelWidth(0.0).covers(1279.0, 1280.0));
    }
}
