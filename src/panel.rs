//! The panel at the right of the window: settings and graphs of the selected lane.
//!
//! It reads samples of lanes and the shadow ladder. It writes its own [`PanelState`] and the view's
//! [`Inset`], and triggers events for everything else: [`ChangeLane`], [`ShowHalf`], [`SelectHalf`],
//! [`Reconnect`], [`Export`], and [`Action`] for what keys do, too. [`draw`] needs only an [`egui::Context`], so that it can run and be timed without a
//! window; [`PanelPlugin`] calls it in [`EguiPrimaryContextPass`].

mod actions;
mod explain;
mod export;
mod graph;
mod layout;
mod scale;
mod settings;
mod small;
mod style;
mod tabs;
mod terms;
mod timeline;
mod toolbar;
mod tour;

use std::path::{Path, PathBuf};

use bevy::ecs::system::SystemParam;
use bevy::input::keyboard::KeyboardInput;
use bevy::prelude::*;
use bevy::window::exit_on_all_closed;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};
use cubewire_scene::PLAYER;

use crate::controls::Action;
use crate::history::{
    HistoryPlugin, HistorySystems, LaneHistory, Moment, Selection, Show, Wanted, WorldHistory,
};
use crate::replication::{
    Ablation, ChangeLane, CubeError, CubeErrors, DeltaCounts, Divergence, Lane, LaneMeter,
    LaneSettings, LaneSettingsQueryReadOnly, Peer, Reconnect, ReplicationSystems, SenderSettings,
    ServerConnection, Serving, ShadowLadder, WantsAblation,
};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{
    CubeColors, FixedScale, Half, Inset, Notices, SelectHalf, Selected, ShowHalf, Side, Trails,
    ViewMode, ViewSystems,
};

pub use export::Export;
pub use graph::{Axis, ShownGraph, ShownLine, ShownPoint};
pub use layout::draw;
pub use settings::{PanelSize, PanelState, SavingsView, Tab};
pub use small::SmallGraphPlugin;
pub use tabs::peers::Peers;
pub use tabs::ranges::Tradeoffs;
pub use timeline::Past;
pub use tour::{STEPS, Scene, Task, Tour, TourStep, Watch};

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
            state.explaining = !state.explained;
            app.insert_resource(settings::SettingsFile::new(path.clone(), &state))
                .add_systems(
                    Last,
                    settings::save
                        .in_set(PanelSystems::Save)
                        .after(exit_on_all_closed),
                );
        }
        if !app.is_plugin_added::<HistoryPlugin>() {
            app.add_plugins(HistoryPlugin);
        }
        app.insert_resource(state)
            .add_message::<KeyboardInput>()
            .init_resource::<Inset>()
            .init_resource::<Notices>()
            .init_resource::<Theme>()
            .init_resource::<CubeColors>()
            .init_resource::<Tradeoffs>()
            .init_resource::<FixedScale>()
            .add_observer(actions::on_action)
            .add_observer(tour::on_action)
            .add_systems(
                Update,
                (
                    actions::note_rung,
                    explain::end_with_first_input,
                    show_hint,
                    tabs::peers::show_connection,
                    timeline::step,
                    count_deltas,
                )
                    .chain()
                    .in_set(PanelSystems::Notices),
            )
            .add_systems(
                FixedUpdate,
                tabs::ranges::record.after(ReplicationSystems::Observe),
            )
            .add_systems(PreUpdate, want_history.in_set(HistorySystems::PanelWants))
            .init_resource::<WantsAblation>()
            .add_systems(PreUpdate, want_ablation)
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
    /// The half that it is shown in.
    pub side: Side,
    /// Measurements of the selected lane.
    pub meter: &'a LaneMeter,
    /// Bandwidth of every rung; without it the ladder shows no figures.
    pub shadow: Option<&'a ShadowLadder>,
    /// What each part of the present stages saves, if that is measured.
    pub ablation: Option<&'a Ablation>,
    /// The tick of the simulation, if it runs here.
    pub tick: Option<u64>,
    /// Difference between picture and simulation, if it is measured.
    pub divergence: Option<&'a Divergence>,
    /// The other ends of a real network.
    pub peers: Peers<'a>,
    /// Every lane in a half of the screen, the left one first, including the selected one.
    pub shown: Vec<Measured<'a>>,
    /// What the halves show; `None` where it cannot be changed.
    pub halves: Option<&'a mut Halves>,
    /// The state of the game, for the buttons.
    pub status: Status<'a>,
    /// The history, for the timeline.
    pub past: Past,
    /// The cube that views and panel are about.
    pub selection: &'a mut Selection,
    /// Errors of the cubes of the lane's picture, if they are measured.
    pub errors: &'a [CubeError],
    /// Distributions of what its packets carry, if they are measured.
    pub counts: Option<&'a DeltaCounts>,
    /// What the stages that were tried cost.
    pub tradeoffs: &'a Tradeoffs,
}

/// What the buttons of the panel show.
#[derive(Clone, Debug, Default)]
pub struct Status<'a> {
    /// Whether the simulation runs here.
    pub plays: bool,
    /// Whether it is paused.
    pub is_paused: bool,
    /// What the halves show.
    pub view: ViewMode,
    /// Whether trails are shown.
    pub has_trails: bool,
    /// Whether a replay is being recorded.
    pub records_replay: bool,
    /// Whether a video is being recorded.
    pub records_video: bool,
    /// Whether the game plays by itself.
    pub plays_itself: bool,
    /// Whether the screen is being explained.
    pub explains: bool,
    /// Whether the timeline is shown.
    pub has_timeline: bool,
    /// What the colours of the cubes show.
    pub colors: CubeColors,
    /// Where the state of the panel is kept.
    pub settings: Option<&'a Path>,
    /// The tour, where one can be taken.
    pub tour: Option<Tour>,
}

/// What [`draw`] covered, and what the user asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawn {
    /// The part of the window that the panel covers.
    pub inset: Inset,
    /// The action whose button was pressed.
    pub action: Option<Action>,
    /// The file whose button was pressed.
    pub export: Option<Export>,
    /// The tick of the past to show.
    pub moment: Option<u64>,
}

/// A lane in one half of the screen.
#[derive(Clone, Debug)]
pub struct Measured<'a> {
    /// Which half.
    pub side: Side,
    /// Measurements of the lane.
    pub meter: &'a LaneMeter,
    /// Its settings, if they are shown.
    pub settings: Option<LaneSettings>,
}

/// What the halves show.
#[derive(Clone, Debug, PartialEq)]
pub struct Halves {
    /// Whether the left half shows a lane instead of the simulation.
    pub left_is_lane: bool,
    /// The half whose lane the panel shows.
    pub selected: Side,
    /// What the user just entered for a half.
    pub typed: Option<(Side, Half)>,
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
    Option<&'static Ablation>,
    Option<&'static Divergence>,
    Option<&'static CubeErrors>,
    Option<&'static DeltaCounts>,
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
    world: Option<Res<'w, CubeWorld>>,
    clock: Res<'w, Time<Virtual>>,
    view: Option<Res<'w, ViewMode>>,
    trails: Option<Res<'w, Trails>>,
    notices: Res<'w, Notices>,
    file: Option<Res<'w, settings::SettingsFile>>,
    tradeoffs: Res<'w, Tradeoffs>,
    tour: Option<Res<'w, Tour>>,
    moment: Res<'w, Moment>,
    world_history: Res<'w, WorldHistory>,
    histories: Query<'w, 's, (&'static LaneHistory, &'static LaneMeter, Has<Selected>)>,
}

impl Shown<'_, '_> {
    fn status(&self, state: &PanelState) -> Status<'_> {
        Status {
            plays: self.world.is_some(),
            is_paused: self.clock.is_paused(),
            view: self.view.as_deref().copied().unwrap_or_default(),
            has_trails: self.trails.as_ref().is_some_and(|trails| trails.shown),
            records_replay: self.notices.replay.is_some(),
            records_video: self.notices.are_hidden(),
            plays_itself: self.notices.autoplay.is_some(),
            explains: state.explaining,
            has_timeline: state.timeline,
            colors: state.colors,
            settings: self.file.as_ref().map(|file| file.path()),
            tour: self.tour.as_deref().copied(),
        }
    }

    fn past(&self) -> Past {
        let mut past = Past {
            moment: self.moment.0,
            first: None,
            memory_bytes: self.world_history.0.memory_bytes(),
        };
        for (history, meter, is_selected) in &self.histories {
            past.memory_bytes += history.pictures.memory_bytes() + meter.detail_bytes();
            if is_selected {
                past.first = history.pictures.first_tick();
            }
        }
        past
    }
}

fn want_history(state: Res<PanelState>, selection: Res<Selection>, mut wanted: ResMut<Wanted>) {
    wanted.set(Show::Timeline, state.timeline);
    let is_inspected = state.shows(Tab::Packet) || selection.cube.is_some();
    wanted.set(Show::Packet, is_inspected);
}

/// Counts the differences of the selected lane while they are shown.
fn count_deltas(
    state: Res<PanelState>,
    lanes: Query<(Entity, Has<Selected>, Has<DeltaCounts>), With<Lane>>,
    mut commands: Commands,
) {
    let is_shown = state.shows(Tab::Ranges);
    for (lane, is_selected, has_counts) in &lanes {
        match (is_shown && is_selected, has_counts) {
            (true, false) => {
                commands.entity(lane).insert(DeltaCounts::default());
            }
            (false, true) => {
                commands.entity(lane).remove::<DeltaCounts>();
            }
            _ => {}
        }
    }
}

/// What the panel sets for the view.
#[derive(SystemParam)]
struct ViewSettings<'w> {
    theme: ResMut<'w, Theme>,
    colors: ResMut<'w, CubeColors>,
    fixed: ResMut<'w, FixedScale>,
    selection: ResMut<'w, Selection>,
}

fn want_ablation(state: Res<PanelState>, mut wants: ResMut<WantsAblation>) {
    wants.set_if_neq(WantsAblation(state.shows_ablation()));
}

fn draw_lane(
    mut commands: Commands,
    mut contexts: EguiContexts,
    mut state: ResMut<PanelState>,
    mut inset: ResMut<Inset>,
    mut shared: ViewSettings<'_>,
    lanes: Shown<'_, '_>,
) {
    let Ok(ctx) = contexts.ctx_mut() else {
        return;
    };
    let selected = lanes.selected.iter().next();
    let Some((entity, settings, meter, side, shadow, ablation, divergence, errors, counts)) =
        selected
    else {
        inset.set_if_neq(Inset::default());
        return;
    };
    // Drawn on copies: what differs afterwards was changed by the user.
    let mut new_state = PanelState::clone(&state);
    scale::follow(ctx, &mut new_state);
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
            settings: Some(settings.get()),
        })
        .collect();
    shown.sort_by_key(|lane| lane.side);
    let side = side.copied().unwrap_or(Side::Right);
    let halves = Halves {
        left_is_lane: shown.iter().any(|lane| lane.side == Side::Left),
        selected: side,
        typed: None,
    };
    let mut new_halves = halves.clone();
    let mut new_selection = *shared.selection;
    // The view has its say over the picture.
    if ctx.egui_wants_pointer_input() {
        new_selection.hovered = None;
    }
    let is_remote = peers.is_server();
    let lane = LaneView {
        settings: &mut new_settings,
        side,
        meter,
        shadow,
        ablation,
        tick: lanes.world.as_ref().map(|world| world.tick()),
        divergence,
        peers,
        shown,
        halves: (!is_remote).then_some(&mut new_halves),
        status: lanes.status(&state),
        past: lanes.past(),
        selection: &mut new_selection,
        errors: errors.map_or(&[], |errors| &errors.0),
        counts,
        tradeoffs: &lanes.tradeoffs,
    };
    let clock_runs = lanes.world.is_some() && !lanes.clock.is_paused();
    let drawn = draw(ctx, &mut new_state, lane);
    if let Some(tick) = drawn.moment {
        commands.queue(move |world: &mut World| {
            if clock_runs {
                world.trigger(Action::Pause);
            }
            world.resource_mut::<Moment>().0 = Some(tick);
        });
    }
    inset.set_if_neq(drawn.inset.scaled(ctx.zoom_factor()));
    shared.selection.set_if_neq(new_selection);
    shared.theme.set_if_neq(new_state.theme);
    shared.colors.set_if_neq(new_state.colors);
    shared.fixed.set_if_neq(FixedScale(new_state.fixed_scale));
    state.set_if_neq(new_state);
    if let Some(action) = drawn.action {
        commands.trigger(action);
    }
    if let Some(export) = drawn.export {
        commands.trigger(export);
    }
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

/// Shows how to bring back the hidden panel, for a while, and the cubes.
fn show_hint(
    clock: Res<Time<Real>>,
    panel: Res<PanelState>,
    world: Option<Res<CubeWorld>>,
    mut hidden_seconds: Local<f32>,
    mut notices: ResMut<Notices>,
) {
    let is_hidden = panel.size == PanelSize::Hidden;
    *hidden_seconds = if !is_hidden {
        0.0
    } else {
        *hidden_seconds + clock.delta_secs()
    };
    let is_due = is_hidden && *hidden_seconds < HINT_SECONDS;
    let is_lost = world.is_some_and(|world| {
        let player = world.current().cubes[PLAYER].position;
        player.truncate().length() > FAR_METRES
    });
    notices.hint = if is_due {
        Some("F2 shows the panel")
    } else {
        is_lost.then_some("the cubes are far away: R resets")
    };
}

/// Distance of the player from the middle at which no cube is in sight, metres: the grid ends at 14.5.
const FAR_METRES: f32 = 35.0;

/// How long the hint is shown, seconds.
const HINT_SECONDS: f32 = 5.0;

#[cfg(test)]
mod tests;
