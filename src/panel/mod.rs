//! The panel at the right of the window: switches and graphs of the selected lane.
//!
//! It reads samples of lanes and a shadow, and writes [`LaneSettings`], what the halves show and its
//! own [`PanelState`], nothing else. Of the protocol it computes nothing: only sums and means over
//! samples. [`draw`] needs no more than an [`egui::Context`], so that it can be run and timed
//! without a window; the app's plugin calls it in [`EguiPrimaryContextPass`].

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

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};

use crate::replication::{
    Half, LaneMeter, LaneSettings, PictureError, RemoteViewer, Selected, ShadowLadder, Side,
    UdpServer, UdpViewer,
};
use crate::view;

pub use peers::Peers;
pub(crate) use peers::sentence;
pub use settings::{OpenSections, PanelState};
pub use small::SmallGraphPlugin;

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

/// Shows the panel of the [`Selected`] lane. Needs a primary egui context to draw in.
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
    /// Every lane that is shown, this one too, the left one first.
    pub shown: Vec<Measured<'a>>,
    /// What the halves show; none where there is no choice.
    pub halves: Option<&'a mut Halves>,
}

/// A lane in one half of the screen.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// Which half.
    pub side: Side,
    /// What was measured.
    pub meter: &'a LaneMeter,
    /// Its settings as a text, if they have one.
    pub text: Option<String>,
}

/// What the halves show.
#[derive(Clone, Debug, PartialEq)]
pub struct Halves {
    /// Whether the left half shows a lane instead of the simulation.
    pub left_is_lane: bool,
    /// The half whose lane the panel is about.
    pub selected: Side,
    /// What was typed for a half just now.
    pub typed: Option<(Side, Half)>,
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
        ladder::draw(ui, &mut settings.stages, shadow);
    });
    section(ui, "Bandwidth", &mut open.bandwidth, |ui| {
        graph::draw(ui, state, &shown);
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

type Lanes<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static mut LaneSettings,
        &'static LaneMeter,
        Option<&'static Side>,
        Has<Selected>,
        Option<&'static ShadowLadder>,
        Option<&'static PictureError>,
        Option<&'static RemoteViewer>,
    ),
>;

fn draw_lane(
    mut commands: Commands,
    mut contexts: EguiContexts,
    mut state: ResMut<PanelState>,
    mut width: ResMut<PanelWidth>,
    mut lanes: Lanes<'_, '_>,
    server: Option<Res<UdpServer>>,
    mut viewer: Option<ResMut<UdpViewer>>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        return;
    };
    let selected = lanes.iter().find(|&(_, _, _, _, selected, ..)| selected);
    let Some((entity, settings, meter, side, _, shadow, error, _)) = selected else {
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
            viewers: lanes
                .iter()
                .filter_map(|(_, settings, meter, .., viewer)| Some((viewer?, settings, meter)))
                .collect(),
        },
        (None, Some(viewer)) => Peers::Server {
            address: viewer.server(),
            status: viewer.status(),
            round_trip: viewer.round_trip(),
            reconnect: &mut reconnect,
        },
        (None, None) => Peers::None,
    };
    let mut shown: Vec<_> = lanes
        .iter()
        .filter_map(|(_, settings, meter, side, ..)| {
            Some(Measured {
                side: *side?,
                meter,
                text: settings.to_text(),
            })
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
        error,
        peers,
        shown,
        halves: (!is_remote).then_some(&mut new_halves),
    };
    let drawn = draw(ctx, &mut new_state, lane);
    if halves.left_is_lane != new_halves.left_is_lane {
        let left = if new_halves.left_is_lane {
            Half::Lane(new_settings.clone())
        } else {
            Half::Simulation
        };
        commands.queue(move |world: &mut World| view::show(world, Side::Left, left));
    }
    if let Some((side, half)) = new_halves.typed {
        commands.queue(move |world: &mut World| view::show(world, side, half));
    }
    if halves.selected != new_halves.selected {
        commands.queue(move |world: &mut World| view::select(world, new_halves.selected));
    }
    width.set_if_neq(PanelWidth(drawn));
    state.set_if_neq(new_state);
    // A lane that was typed comes after this.
    if let Ok((_, mut settings, ..)) = lanes.get_mut(entity) {
        settings.set_if_neq(new_settings);
    }
    if let Some(viewer) = &mut viewer
        && reconnect
    {
        viewer.reconnect();
    }
}

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
                error: None,
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
