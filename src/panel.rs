//! The panel at the right of the window: settings and graphs of the selected lane.
//!
//! The panel reads lane samples and the live ladder. It writes its own [`PanelState`] and the view's [`Inset`].
//! Halves change through [`show`](crate::view::show) and [`select_half`](crate::view::select_half). All other changes are
//! events: [`ChangeLane`](crate::replication::ChangeLane), [`Reconnect`](crate::replication::Reconnect), and
//! [`Action`](crate::controls::Action), which most buttons share with a key.
//!
//! `layout::draw` needs only an [`egui::Context`](bevy_egui::egui::Context), so it runs in tests without a window.
//! [`PanelPlugin`] calls it in [`EguiPrimaryContextPass`].

mod actions;
mod explain;
mod film;
mod flags;
mod graph;
mod lane;
mod layout;
mod pages;
mod prelude;
mod settings;
mod style;
mod system;
mod terms;
mod timeline;
mod toolbar;
mod tour;

use std::path::PathBuf;
use std::time::Duration;

use bevy::input::keyboard::KeyboardInput;
use bevy::prelude::*;
use bevy::time::common_conditions::on_real_timer;
use bevy::window::{PrimaryWindow, exit_on_all_closed};
use bevy_egui::EguiPrimaryContextPass;
use cubewire_codec::Snapshot;
use cubewire_scene::{PLAYER, seat};

use crate::history::{HistoryPlugin, Wanted};
use crate::replication::transport::{End, TransportSystems};
use crate::replication::{DeltaCounts, Lane, ReplicationSystems, WantsAblation};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{CubeColors, FixedScale, Inset, Notices, Selected, ViewSystems};

pub use cubewire_inspector::graph::Axis;
#[cfg(not(target_family = "wasm"))]
pub(crate) use pages::ladder::draw_costs;
use pages::ranges::tradeoff::Tradeoffs;
pub use settings::{Column, GraphSeconds, Page, PanelSize, PanelState, Tab};
pub(crate) use toolbar::NO_FILMS;
pub use tour::{STEPS, Scene, Task, Tour, TourStep, Watch};

#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PanelSystems {
    /// Updates the notices over the scene, in [`Update`].
    Notices,
    /// Draws the panel and applies its controls, in [`EguiPrimaryContextPass`].
    Draw,
    /// Saves a changed [`PanelState`] to its file, in [`Last`].
    Save,
}

/// Shows the panel of the [`Selected`] lane. Needs a primary egui context to draw in.
#[derive(Clone, Debug, Default)]
pub struct PanelPlugin {
    /// The file that [`PanelState`] is loaded from and saved to. With `None`, the default, the state is not saved.
    pub settings: Option<PathBuf>,
}

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        let mut state = PanelState::default();
        if let Some(path) = &self.settings {
            state = settings::file::load_or_default(path);
            state.explaining = !state.explained;
            app.insert_resource(settings::file::SettingsFile::new(path.clone(), &state))
                .add_systems(
                    Last,
                    settings::file::save
                        .run_if(on_real_timer(SAVE_INTERVAL).or_else(on_message::<AppExit>))
                        .in_set(PanelSystems::Save)
                        .after(exit_on_all_closed),
                );
        }
        if !app.is_plugin_added::<HistoryPlugin>() {
            app.add_plugins(HistoryPlugin);
        }
        app.world_mut().resource_mut::<Wanted>().panel = true;
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
                    actions::record_rung,
                    explain::end_with_first_input,
                    show_hint,
                    (pages::peers::show_connection, pages::peers::announce_player).chain(),
                    timeline::step,
                    count_deltas,
                )
                    .chain()
                    .in_set(PanelSystems::Notices)
                    .after(TransportSystems::Flush(End::Server))
                    .after(TransportSystems::Flush(End::Client)),
            )
            .add_systems(
                FixedUpdate,
                pages::ranges::tradeoff::record.after(ReplicationSystems::Observe),
            )
            .init_resource::<WantsAblation>()
            .add_systems(PreUpdate, want_ablation)
            .add_systems(
                EguiPrimaryContextPass,
                system::draw_lane.in_set(PanelSystems::Draw).after(ViewSystems::Overlay),
            );
    }
}

/// Keeps [`DeltaCounts`] on the selected lane while the page *Ranges* shows them.
fn count_deltas(
    state: Res<PanelState>,
    lanes: Query<(Entity, Has<Selected>, Has<DeltaCounts>), With<Lane>>,
    mut commands: Commands,
) {
    let is_shown = state.shows(Page::Ranges);
    for (lane, is_selected, has_counts) in &lanes {
        let mut lane = commands.entity(lane);
        if !(is_shown && is_selected) {
            lane.try_remove::<DeltaCounts>();
        } else if !has_counts {
            lane.try_insert(DeltaCounts::default());
        }
    }
}

fn want_ablation(state: Res<PanelState>, mut wants: ResMut<WantsAblation>) {
    let has_column = state.shows(Page::Ladder) && state.column == Column::Without;
    wants.set_if_neq(WantsAblation(state.shows(Page::Stages) || has_column));
}

/// Shows a hint for a while: the key of the hidden panel, or the key that resets a far away scene.
fn show_hint(
    clock: Res<Time<Real>>,
    panel: Res<PanelState>,
    world: Option<Res<CubeWorld>>,
    window: Option<Single<(), With<PrimaryWindow>>>,
    mut before: Local<(Option<&'static str>, f32)>,
    mut notices: ResMut<Notices>,
) {
    let hint = if panel.shown_size() == PanelSize::Hidden && !panel.is_touring {
        // A picture has no keys.
        window.map(|_| "F2 shows the panel")
    } else {
        let is_alone = world.is_some_and(|world| is_alone(world.current()));
        is_alone.then_some("The cubes are far away: R resets")
    };
    let seconds = if hint == before.0 { before.1 + clock.delta_secs() } else { 0.0 };
    *before = (hint, seconds);
    notices.hint = hint.filter(|_| seconds < HINT_SECONDS);
}

/// Whether all other cubes are far from the player. Cubes in the player's ball count as near.
fn is_alone(world: &Snapshot) -> bool {
    let player = world.bodies[PLAYER].position;
    let mut others = world.bodies.iter().enumerate();
    others.all(|(index, body)| seat(index).is_some() || body.position.distance(player) > FAR_METRES)
}

/// Distance at which a cube is hardly visible, metres.
const FAR_METRES: f32 = 25.0;

/// Time between two attempts to save the settings. They are also saved when the app exits.
const SAVE_INTERVAL: Duration = Duration::from_secs(1);

/// Duration of a hint, seconds.
const HINT_SECONDS: f32 = 5.0;

#[cfg(test)]
mod tests;
