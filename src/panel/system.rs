//! The system that draws the panel and applies the user's changes.

use bevy::ecs::query::QueryData;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy_egui::EguiContexts;

use super::lane::{Halves, LaneView, Measured, Past, Status};
use super::layout::draw;
use super::pages::peers::{Peers, Viewer};
use super::pages::ranges::tradeoff::Tradeoffs;
use super::settings::{Page, PanelState};
use super::tour::Tour;
use super::{settings, style};
use crate::controls::Action;
use crate::history::{LaneHistory, Moment, Selection, WorldHistory};
use crate::replication::{
    Ablation, ChangeLane, CubeError, CubeErrors, DeltaCounts, Lane, LaneMeter, LaneSettings,
    LaneSettingsQuery, LaneSync, LiveLadder, SendStates, SenderSettings, ServerLink, Serving,
};
use crate::simulation::CubeWorld;
use crate::theme::Theme;
use crate::view::{
    self, CubeColors, Exaggeration, FixedScale, Inset, Notices, PaneContent, Selected, Side,
    Trails, ViewMode,
};

#[derive(QueryData)]
struct SelectedLane {
    entity: Entity,
    settings: LaneSettingsQuery,
    meter: &'static LaneMeter,
    sync: &'static LaneSync,
    side: Option<&'static Side>,
    shadow: Option<&'static LiveLadder>,
    ablation: Option<&'static Ablation>,
    errors: Option<&'static CubeErrors>,
    send_states: Option<&'static SendStates>,
    counts: Option<&'static DeltaCounts>,
}

#[derive(SystemParam)]
pub(super) struct PanelInputs<'w, 's> {
    selected: Query<'w, 's, SelectedLane, (With<Lane>, With<Selected>)>,
    halves: Query<'w, 's, (&'static Side, LaneSettingsQuery, &'static LaneMeter), With<Lane>>,
    viewers: Query<'w, 's, Viewer<'static>, With<Lane>>,
    serving: Option<Res<'w, Serving>>,
    connection: Option<Res<'w, ServerLink>>,
    world: Option<Res<'w, CubeWorld>>,
    clock: Res<'w, Time<Virtual>>,
    view: Option<Res<'w, ViewMode>>,
    trails: Option<Res<'w, Trails>>,
    exaggeration: Option<Res<'w, Exaggeration>>,
    notices: Res<'w, Notices>,
    file: Option<Res<'w, settings::file::SettingsFile>>,
    tradeoffs: Res<'w, Tradeoffs>,
    tour: Option<Res<'w, Tour>>,
    moment: Res<'w, Moment>,
    world_history: Res<'w, WorldHistory>,
    histories: Query<'w, 's, (&'static LaneHistory, &'static LaneMeter, Has<Selected>)>,
}

impl PanelInputs<'_, '_> {
    fn status(&self) -> Status<'_> {
        Status {
            plays: self.world.is_some(),
            is_paused: self.clock.is_paused(),
            view: self.view.as_deref().copied().unwrap_or_default(),
            exaggeration: self.exaggeration.as_deref().copied().unwrap_or_default(),
            has_trails: self.trails.as_ref().is_some_and(|trails| trails.shown),
            records_replay: self.notices.replay.is_some(),
            film: self.notices.film,
            settings: self.file.as_ref().map(|file| &*file.path),
            tour: self.tour.as_deref().copied(),
        }
    }

    /// Returns the cube errors at the displayed tick of the past. Returns `None` in the present, or if no page shows them.
    fn past_errors(&self, state: &PanelState) -> Option<Vec<CubeError>> {
        let tick = self.moment.0.filter(|_| state.shows(Page::Packet))?;
        let mut histories = self.histories.iter();
        let (history, ..) = histories.find(|(_, _, is_selected)| *is_selected)?;
        Some(history.errors_at(tick, &self.world_history))
    }

    fn past(&self) -> Past {
        let memory_bytes = self.world_history.0.memory_bytes();
        let mut past = Past { moment: self.moment.0, first: None, memory_bytes };
        for (history, meter, is_selected) in &self.histories {
            past.memory_bytes += history.displayed.memory_bytes() + meter.detail_bytes();
            if is_selected {
                past.first = history.ticks(meter).map(|ticks| *ticks.start());
            }
        }
        past
    }

    /// Returns the lanes in the halves, the left one first.
    fn shown(&self) -> Vec<Measured<'_>> {
        let halves = self.halves.iter();
        let shown =
            halves.map(|(&side, lane, meter)| Measured { side, meter, settings: lane.get() });
        let mut shown: Vec<_> = shown.collect();
        shown.sort_by_key(|lane| lane.side);
        shown
    }

    /// `asked` has the settings that a viewer requests from its server.
    fn peers<'a>(&'a self, asked: &'a SenderSettings) -> Peers<'a> {
        match (&self.serving, &self.connection) {
            (Some(serving), _) => {
                Peers::Viewers { serving, viewers: self.viewers.iter().collect() }
            }
            (None, Some(connection)) => Peers::Server { connection, asked },
            (None, None) => Peers::None,
        }
    }
}

#[derive(SystemParam)]
pub(super) struct ViewSettings<'w> {
    theme: ResMut<'w, Theme>,
    colors: ResMut<'w, CubeColors>,
    fixed: ResMut<'w, FixedScale>,
    selection: ResMut<'w, Selection>,
}

pub(super) fn draw_lane(
    mut commands: Commands,
    mut contexts: EguiContexts,
    mut state: ResMut<PanelState>,
    mut inset: ResMut<Inset>,
    mut shared: ViewSettings<'_>,
    lanes: PanelInputs<'_, '_>,
) {
    let Ok(ctx) = contexts.ctx_mut() else { return };
    let Some(selected) = lanes.selected.iter().next() else {
        inset.set_if_neq(Inset::default());
        return;
    };
    // `draw` changes copies. Any difference afterwards is a change by the user.
    let mut new_state = PanelState::clone(&state);
    style::follow_scale(ctx, &mut new_state);
    let settings = selected.settings.get();
    let mut new_settings = settings.clone();
    let peers = lanes.peers(&settings.sender);
    let shown = lanes.shown();
    let side = selected.side.copied().unwrap_or(Side::Right);
    let halves =
        Halves { left_is_lane: shown.iter().any(|lane| lane.side == Side::Left), selected: side };
    let mut new_halves = halves;
    let mut new_selection = *shared.selection;
    // While the pointer is outside the panel, the view sets the hovered cube.
    if ctx.egui_wants_pointer_input() {
        new_selection.hovered = None;
    }
    let is_remote = peers.is_server();
    let past_errors = lanes.past_errors(&state);
    let errors = past_errors.as_deref().or(selected.errors.map(|errors| &*errors.0));
    let lane = LaneView {
        settings: &mut new_settings,
        side,
        meter: selected.meter,
        sync: Some(selected.sync),
        shadow: selected.shadow,
        ablation: selected.ablation,
        peers,
        shown,
        halves: (!is_remote).then_some(&mut new_halves),
        status: lanes.status(),
        past: lanes.past(),
        selection: &mut new_selection,
        errors: errors.unwrap_or_default(),
        send_states: selected.send_states.filter(|_| lanes.moment.0.is_none()),
        counts: selected.counts,
        tradeoffs: &lanes.tradeoffs,
    };
    let clock_runs = lanes.world.is_some() && !lanes.clock.is_paused();
    let drawn = draw(ctx, &mut new_state, lane);
    if let Some(tick) = drawn.moment {
        // A tick of the past is only shown while the game is paused.
        if clock_runs {
            commands.trigger(Action::Pause);
        }
        commands.insert_resource(Moment(Some(tick)));
    }
    inset.set_if_neq(drawn.inset.scaled(ctx.zoom_factor()));
    shared.selection.set_if_neq(new_selection);
    shared.theme.set_if_neq(new_state.theme);
    shared.colors.set_if_neq(new_state.colors);
    shared.fixed.set_if_neq(FixedScale(new_state.fixed_scale));
    state.set_if_neq(new_state);
    if let Some(action) = drawn.asked {
        commands.trigger(action);
    }
    change_halves(&mut commands, &halves, new_halves, &new_settings);
    if new_settings != settings {
        commands.trigger(ChangeLane { entity: selected.entity, settings: new_settings });
    }
}

/// Applies changes of the halves. A new lane in the left half gets the settings of the selected lane, and a view of one
/// half becomes one of both.
fn change_halves(
    commands: &mut Commands<'_, '_>,
    before: &Halves,
    after: Halves,
    settings: &LaneSettings,
) {
    let left = (before.left_is_lane != after.left_is_lane).then(|| match after.left_is_lane {
        true => PaneContent::Lane(settings.clone()),
        false => PaneContent::Simulation,
    });
    if after.left_is_lane && !before.left_is_lane {
        commands.queue(|world: &mut World| {
            let mode = world.get_resource_mut::<ViewMode>();
            if let Some(mut mode) = mode.filter(|mode| mode.is_single()) {
                *mode = ViewMode::Split;
            }
        });
    }
    if let Some(content) = left {
        commands.queue(move |world: &mut World| view::show(world, Side::Left, content));
    }
    if before.selected != after.selected {
        commands.queue(move |world: &mut World| view::select_half(world, after.selected));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_shows_both_halves() {
        for (mode, shown) in [
            (ViewMode::Left, ViewMode::Split),
            (ViewMode::Right, ViewMode::Split),
            (ViewMode::Difference, ViewMode::Difference),
        ] {
            let mut world = World::new();
            world.init_resource::<CubeWorld>();
            world.init_resource::<Time<Fixed>>();
            world.insert_resource(mode);
            let world = &mut world;
            let halves = |left_is_lane| Halves { left_is_lane, selected: Side::Right };
            let change = |world: &mut World, before: Halves, after| {
                change_halves(&mut world.commands(), &before, after, &LaneSettings::default());
                world.flush();
                *world.resource::<ViewMode>()
            };
            assert_eq!(change(world, halves(false), halves(true)), shown);
            world.insert_resource(mode);
            assert_eq!(change(world, halves(true), halves(false)), mode);
        }
    }
}
