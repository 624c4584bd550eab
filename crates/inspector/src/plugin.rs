//! The plugin, its window, and a system parameter that shows the inspector in a game's window.

use bevy_app::{App, Last, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_egui::egui::{self, Event, Key, ScrollArea, Ui};
use bevy_egui::{EguiContext, EguiContexts, EguiPrimaryContextPass};
use bevy_time::{Real, Time};
use cubewire_bevy::shadow::LiveLadder;
use cubewire_bevy::{
    Bodies, Connected, ConnectionSettings, InSlot, Measure, PredictsBodies, Protocol,
    ReplicationReceiver, ReplicationSender, ReplicationStats, SettingsRequest,
};
use cubewire_codec::Baseline;
use cubewire_protocol::{BaselineChoice, Settings};

use crate::style::{Look, ROW, set};
use crate::view::{Choices, End, Page, View};
use crate::widgets::{note, picker};

/// Shows how a game's replication uses each bit. Adds a window, which a key opens and closes, and [`Inspector`] for the
/// game's windows. Connections are measured only while the inspector is shown.
///
/// The game must add `bevy_egui`'s `EguiPlugin`, and the plugins of a server or a client. Default: a closed window, and F9.
#[derive(Resource, Clone, Copy, Debug)]
pub struct InspectorPlugin {
    key: Option<Key>,
    is_open: bool,
}

impl Default for InspectorPlugin {
    fn default() -> Self {
        Self { key: Some(Key::F9), is_open: false }
    }
}

impl InspectorPlugin {
    /// Sets the key that opens and closes the window.
    #[must_use]
    pub const fn key(self, key: Key) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Opens the window at the start.
    #[must_use]
    pub const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Returns a plugin without a window. The game calls [`Inspector::show`] in a window instead.
    #[must_use]
    pub const fn without_window() -> Self {
        Self { key: None, is_open: false }
    }
}

impl Plugin for InspectorPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(*self)
            .init_resource::<InspectorState>()
            .add_systems(Last, (select, switch, measure_ladder, measure).chain());
        if self.key.is_some() {
            app.add_systems(EguiPrimaryContextPass, window);
        }
    }
}

#[derive(Resource, Debug, Default)]
struct InspectorState {
    /// Whether the inspector was shown in this frame.
    now: bool,
    connection: Option<Entity>,
    /// The client with a ladder that the inspector has inserted.
    ladder: Option<Entity>,
    choices: Choices,
    /// The game's limit of a click's duration, in seconds, while the inspector allows any duration.
    max_click: Option<f64>,
}

/// On the body that is selected in the inspector, while the inspector is shown. The game can draw a mark on this body.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Selected;

fn select(
    state: Res<'_, InspectorState>,
    receivers: Query<'_, '_, &ReplicationReceiver>,
    bodies: Query<'_, '_, (Entity, &InSlot)>,
    before: Query<'_, '_, Entity, With<Selected>>,
    mut commands: Commands<'_, '_>,
) {
    let slot = state.choices.highlight.selected.filter(|_| state.now);
    let replication = state.connection.and_then(|of| receivers.get(of).ok());
    let selected = slot.and_then(|slot| match replication {
        Some(replication) => replication.body(slot),
        None => bodies.iter().find(|(_, at)| at.slot() == slot).map(|(entity, _)| entity),
    });
    for entity in before.iter().filter(|&entity| Some(entity) != selected) {
        commands.entity(entity).try_remove::<Selected>();
    }
    if let Some(entity) = selected.filter(|&entity| !before.contains(entity)) {
        commands.entity(entity).try_insert(Selected);
    }
}

/// Applies the chosen stages to the connection, which a client requests from the server, and whether to predict.
fn switch(
    mut state: ResMut<'_, InspectorState>,
    mut connections: Query<'_, '_, (Option<&mut ConnectionSettings>, Option<&ReplicationReceiver>)>,
    mut commands: Commands<'_, '_>,
) {
    if let Some(predicts) = state.choices.predicts.take() {
        commands.insert_resource(PredictsBodies(predicts));
    }
    let Some(stages) = state.choices.wanted.take() else { return };
    let Some(connection) = state.connection else { return };
    match connections.get_mut(connection) {
        Ok((Some(mut settings), _)) => settings.stages = *stages,
        Ok((None, Some(replication))) => {
            let asked = replication.answer().and_then(Result::ok).unwrap_or(Settings {
                stages,
                send_interval_ticks: 1,
                baseline: BaselineChoice::Newest,
                budget_kbps: None,
            });
            commands.entity(connection).try_insert(SettingsRequest(Settings { stages, ..asked }));
        }
        _ => {}
    }
}

/// On connections with a [`Measure`] that the inspector has inserted, as opposed to the game.
#[derive(Component, Debug)]
struct Inspected;

/// Inserts [`Measure`] on all connections while the inspector is shown. Afterwards, removes it and restores egui's options.
fn measure(
    mut state: ResMut<'_, InspectorState>,
    connections: Query<'_, '_, (Entity, Has<Measure>, Has<Inspected>), With<Connected>>,
    mut contexts: Query<'_, '_, &mut EguiContext>,
    mut commands: Commands<'_, '_>,
) {
    let is_shown = std::mem::take(&mut state.now);
    if !is_shown && let Some(of_game) = state.max_click.take() {
        for mut context in &mut contexts {
            let ctx = context.get_mut();
            ctx.options_mut(|options| options.input_options.max_click_duration = of_game);
        }
    }
    for (connection, is_measured, is_ours) in &connections {
        let mut connection = commands.entity(connection);
        if is_shown && !is_measured {
            connection.try_insert((Measure::default(), Inspected));
        } else if !is_shown && is_ours {
            connection.try_remove::<(Measure, Inspected)>();
        }
    }
}

fn measure_ladder(
    mut state: ResMut<'_, InspectorState>,
    clients: Query<'_, '_, Has<LiveLadder>, (With<ReplicationSender>, With<Connected>)>,
    protocol: Option<Res<'_, Protocol>>,
    mut commands: Commands<'_, '_>,
) {
    let is_shown = state.now && state.choices.page == Page::Stages;
    let wanted = state.connection.filter(|&of| is_shown && clients.contains(of));
    if state.ladder == wanted {
        return;
    }
    if let Some(before) = state.ladder.take()
        && let Ok(mut before) = commands.get_entity(before)
    {
        before.try_remove::<LiveLadder>();
    }
    if let (Some(client), Some(protocol)) = (wanted, &protocol)
        && clients.get(client) == Ok(false)
    {
        commands.entity(client).try_insert(LiveLadder::of_game(protocol.plan()));
        state.ladder = Some(client);
    }
}

fn window(
    mut window: ResMut<'_, InspectorPlugin>,
    mut contexts: EguiContexts<'_, '_>,
    mut inspector: Inspector<'_, '_>,
) {
    // There is no context if the game has no camera yet, or has closed its window.
    let Ok(ctx) = contexts.ctx_mut() else { return };
    let wanted = window.key;
    let is_pressed = |event: &Event| match event {
        // A held key repeats.
        Event::Key { key, pressed: true, repeat: false, .. } => Some(*key) == wanted,
        _ => false,
    };
    if ctx.input(|input| input.events.iter().any(is_pressed)) {
        window.is_open = !window.is_open;
    }
    egui::Window::new("Replication")
        .open(&mut window.is_open)
        .default_size(SIZE)
        .show(ctx, |ui| inspector.show(ui));
}

/// Default size of the window, in logical points.
const SIZE: [f32; 2] = [420.0, 600.0];

/// System parameter that shows the inspector in a game's window. It needs an [`InspectorPlugin`].
#[derive(SystemParam, Debug)]
pub struct Inspector<'w, 's> {
    state: ResMut<'w, InspectorState>,
    protocol: Option<Res<'w, Protocol>>,
    now: Res<'w, Time<Real>>,
    bodies: Option<Res<'w, Bodies>>,
    predicts: Option<Res<'w, PredictsBodies>>,
    stats: Option<Res<'w, ReplicationStats>>,
    connections: Query<'w, 's, Connection<'static>, With<Connected>>,
}

type Connection<'a> = (
    Entity,
    Option<&'a Name>,
    Option<&'a Measure>,
    Option<(&'a ReplicationSender, &'a ConnectionSettings, Option<&'a LiveLadder>)>,
    Option<&'a ReplicationReceiver>,
);

impl Inspector<'_, '_> {
    /// Draws the inspector in the available space. Call it in each frame: connections are measured from the frame after the
    /// first call until a frame without a call.
    pub fn show(&mut self, ui: &mut Ui) {
        self.state.now = true;
        let look = Look::of(ui);
        self.allow_long_presses(ui);
        ui.scope(|ui| {
            set(ui.style_mut(), look);
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| self.draw(ui));
        });
    }

    /// While the pointer is over the inspector, lets a press of any duration be a click. The game's egui windows keep their limit.
    fn allow_long_presses(&mut self, ui: &Ui) {
        let is_here = ui.rect_contains_pointer(ui.max_rect());
        let max_click = &mut self.state.max_click;
        ui.ctx().options_mut(|options| {
            let allowed = &mut options.input_options.max_click_duration;
            match (is_here, *max_click) {
                (true, None) => *max_click = Some(std::mem::replace(allowed, f64::INFINITY)),
                (false, Some(of_game)) => {
                    *allowed = of_game;
                    *max_click = None;
                }
                _ => {}
            }
        });
    }

    fn draw(&mut self, ui: &mut Ui) {
        let mut all: Vec<_> = self.connections.iter().collect();
        all.sort_by_key(|connection| connection.0);
        let before = self.state.connection;
        let chosen = all.iter().find(|connection| Some(connection.0) == before);
        let Some(&chosen) = chosen.or(all.first()) else {
            note(ui, "No connections.");
            return;
        };
        let (mut connection, _, measure, peer, replication) = chosen;
        if all.len() > 1 {
            picker(ui, "connection", [ui.available_width(), ROW], &name(&chosen), |ui| {
                for one in &all {
                    ui.selectable_value(&mut connection, one.0, name(one));
                }
            });
        }
        if self.state.connection.replace(connection) != Some(connection) {
            self.state.choices.held = None;
        }
        let (Some(protocol), Some(measure)) = (&self.protocol, measure) else {
            // The connection is measured from the next frame on.
            return;
        };
        let (end, bodies) = match (peer, replication) {
            (Some((peer, settings, ladder)), _) => {
                let stats = self.stats.as_deref().copied().unwrap_or_default();
                let bodies = self.bodies.as_ref().map(|bodies| bodies.snapshot());
                (End::Server { peer, settings, ladder, stats }, bodies)
            }
            (None, Some(replication)) => {
                let now = self.now.elapsed();
                let receiver = replication.receiver();
                let newest = receiver.and_then(|receiver| receiver.get(receiver.newest()?));
                let predicts = self.predicts.as_ref().is_some_and(|it| it.0);
                let end = End::Client { replication, now, predicts };
                (end, newest.map(Baseline::snapshot))
            }
            (None, None) => return,
        };
        View { plan: protocol.plan(), measure, bodies, end }.draw(ui, &mut self.state.choices);
    }
}

/// Returns a connection's displayed name: its `Name` component if it has one.
fn name(&(entity, name, _, peer, _): &Connection<'_>) -> String {
    match (name, peer) {
        (Some(name), _) => name.to_string(),
        (None, Some(_)) => format!("client {entity}"),
        (None, None) => "server".to_owned(),
    }
}
