//! The plugin, its window, and what shows the inspector in a game's own.

use bevy_app::{App, Last, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_egui::egui::{self, Event, Key, ScrollArea, Ui};
use bevy_egui::{EguiContext, EguiContexts, EguiPrimaryContextPass};
use bevy_time::{Real, Time};
use cubewire_bevy::shadow::LiveLadder;
use cubewire_bevy::{
    Bodies, Connected, ConnectionSettings, InSlot, Measure, Peer, Protocol, ReplicationStats,
    Session, SettingsRequest,
};
use cubewire_codec::Baseline;
use cubewire_protocol::{BaselineChoice, Settings};

use crate::style::{Look, ROW, set};
use crate::view::{Choices, End, Page, View};
use crate::widgets::{note, picker};

/// Shows where every bit of a game's replication goes: adds a window, which a key opens and closes, and [`Inspector`] for
/// windows of the game's own. Nothing is measured while neither is shown.
///
/// The game adds `bevy_egui`'s `EguiPlugin`, and the plugins of a server or a client. Default: a window that is closed, and F9.
#[derive(Resource, Clone, Copy, Debug)]
pub struct InspectorPlugin {
    key: Option<Key>,
    is_open: bool,
}

impl Default for InspectorPlugin {
    fn default() -> Self {
        Self {
            key: Some(Key::F9),
            is_open: false,
        }
    }
}

impl InspectorPlugin {
    /// The key that opens and closes the window.
    #[must_use]
    pub const fn key(self, key: Key) -> Self {
        Self {
            key: Some(key),
            ..self
        }
    }

    /// Begins with the window open.
    #[must_use]
    pub const fn open(self) -> Self {
        Self {
            is_open: true,
            ..self
        }
    }

    /// No window: the game calls [`Inspector::show`] where it likes.
    #[must_use]
    pub const fn without_window() -> Self {
        Self {
            key: None,
            is_open: false,
        }
    }
}

impl Plugin for InspectorPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(*self)
            .init_resource::<Shown>()
            .add_systems(Last, (select, switch, measure_ladder, measure).chain());
        if self.key.is_some() {
            app.add_systems(EguiPrimaryContextPass, window);
        }
    }
}

/// What is shown.
#[derive(Resource, Debug, Default)]
struct Shown {
    /// Whether it was in this frame.
    now: bool,
    connection: Option<Entity>,
    /// The client whose ladder the inspector measures.
    ladder: Option<Entity>,
    choices: Choices,
    /// How long a press may be that is a click, as the game has it, while the inspector allows any.
    max_click: Option<f64>,
}

/// The body that is selected in the inspector, while that is shown: for the game to mark in its own view, or to observe.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Selected;

/// Inserts [`Selected`] into the body in the slot that is selected.
fn select(
    shown: Res<'_, Shown>,
    sessions: Query<'_, '_, &Session>,
    bodies: Query<'_, '_, (Entity, &InSlot)>,
    before: Query<'_, '_, Entity, With<Selected>>,
    mut commands: Commands<'_, '_>,
) {
    let slot = shown.choices.lit.selected.filter(|_| shown.now);
    let session = shown.connection.and_then(|of| sessions.get(of).ok());
    let selected = slot.and_then(|slot| match session {
        Some(session) => session.body(slot),
        None => {
            let body = bodies.iter().find(|(_, at)| at.slot() == slot);
            body.map(|(entity, _)| entity)
        }
    });
    for entity in before.iter().filter(|&entity| Some(entity) != selected) {
        commands.entity(entity).try_remove::<Selected>();
    }
    if let Some(entity) = selected.filter(|&entity| !before.contains(entity)) {
        commands.entity(entity).try_insert(Selected);
    }
}

/// Gives a connection the stages that were chosen. A client asks the server for them.
fn switch(
    mut shown: ResMut<'_, Shown>,
    mut connections: Query<'_, '_, (Option<&mut ConnectionSettings>, Option<&Session>)>,
    mut commands: Commands<'_, '_>,
) {
    let Some(stages) = shown.choices.wanted.take() else {
        return;
    };
    let Some(connection) = shown.connection else {
        return;
    };
    match connections.get_mut(connection) {
        Ok((Some(mut settings), _)) => settings.stages = *stages,
        Ok((None, Some(session))) => {
            let granted = session.answer().and_then(Result::ok);
            let asked = granted.unwrap_or(Settings {
                stages,
                send_interval_ticks: 1,
                baseline: BaselineChoice::Newest,
                budget_kbps: None,
            });
            let asked = SettingsRequest(Settings { stages, ..asked });
            commands.entity(connection).try_insert(asked);
        }
        _ => {}
    }
}

/// On connections that the inspector measures; others may be measured by the game.
#[derive(Component, Debug)]
struct Inspected;

/// Measures all connections while the inspector is shown, and leaves everything as it was once it is not.
fn measure(
    mut shown: ResMut<'_, Shown>,
    connections: Query<'_, '_, (Entity, Has<Measure>, Has<Inspected>), With<Connected>>,
    mut contexts: Query<'_, '_, &mut EguiContext>,
    mut commands: Commands<'_, '_>,
) {
    let is_shown = std::mem::take(&mut shown.now);
    if !is_shown && let Some(of_game) = shown.max_click.take() {
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

/// Measures the ladder of the chosen client while its page is shown.
fn measure_ladder(
    mut shown: ResMut<'_, Shown>,
    clients: Query<'_, '_, Has<LiveLadder>, (With<Peer>, With<Connected>)>,
    protocol: Option<Res<'_, Protocol>>,
    mut commands: Commands<'_, '_>,
) {
    let is_shown = shown.now && shown.choices.page == Page::Stages;
    let wanted = shown
        .connection
        .filter(|&of| is_shown && clients.contains(of));
    if shown.ladder == wanted {
        return;
    }
    if let Some(before) = shown.ladder.take()
        && let Ok(mut before) = commands.get_entity(before)
    {
        before.try_remove::<LiveLadder>();
    }
    if let (Some(client), Some(protocol)) = (wanted, &protocol)
        && clients.get(client) == Ok(false)
    {
        let ladder = LiveLadder::new(protocol.plan());
        commands.entity(client).try_insert(ladder);
        shown.ladder = Some(client);
    }
}

fn window(
    mut window: ResMut<'_, InspectorPlugin>,
    mut contexts: EguiContexts<'_, '_>,
    mut inspector: Inspector<'_, '_>,
) {
    // The game may have no camera yet, or no longer a window.
    let Ok(ctx) = contexts.ctx_mut() else {
        return;
    };
    let wanted = window.key;
    let is_pressed = |event: &Event| match event {
        // One that is held repeats.
        Event::Key {
            key,
            pressed: true,
            repeat: false,
            ..
        } => Some(*key) == wanted,
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

/// The size of the window, logical points.
const SIZE: [f32; 2] = [420.0, 600.0];

/// A parameter of a system that shows the inspector in a window of the game's own. It needs an [`InspectorPlugin`].
#[derive(SystemParam, Debug)]
pub struct Inspector<'w, 's> {
    shown: ResMut<'w, Shown>,
    protocol: Option<Res<'w, Protocol>>,
    now: Res<'w, Time<Real>>,
    bodies: Option<Res<'w, Bodies>>,
    stats: Option<Res<'w, ReplicationStats>>,
    connections: Query<'w, 's, Connection<'static>, With<Connected>>,
}

type Connection<'a> = (
    Entity,
    Option<&'a Name>,
    Option<&'a Measure>,
    Option<(&'a Peer, &'a ConnectionSettings, Option<&'a LiveLadder>)>,
    Option<&'a Session>,
);

impl Inspector<'_, '_> {
    /// Draws the inspector in what is left of this part of a window. Connections are measured from the next frame on, and
    /// until a frame has not called this.
    pub fn show(&mut self, ui: &mut Ui) {
        self.shown.now = true;
        let look = Look::of(ui);
        self.allow_long_presses(ui);
        ui.scope(|ui| {
            set(ui.style_mut(), look);
            ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| self.draw(ui));
        });
    }

    /// A press of any length is a click while the pointer is here, and not in what the game shows elsewhere.
    fn allow_long_presses(&mut self, ui: &Ui) {
        let is_here = ui.rect_contains_pointer(ui.max_rect());
        let max_click = &mut self.shown.max_click;
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
        let before = self.shown.connection;
        let chosen = all.iter().find(|connection| Some(connection.0) == before);
        let Some(&chosen) = chosen.or(all.first()) else {
            note(ui, "Nobody is connected.");
            return;
        };
        let (mut connection, _, measure, peer, session) = chosen;
        if all.len() > 1 {
            let size = [ui.available_width(), ROW];
            picker(ui, "connection", size, &name(&chosen), |ui| {
                for one in &all {
                    ui.selectable_value(&mut connection, one.0, name(one));
                }
            });
        }
        if self.shown.connection.replace(connection) != Some(connection) {
            self.shown.choices.held = None;
        }
        let (Some(protocol), Some(measure)) = (&self.protocol, measure) else {
            // From the next frame on.
            return;
        };
        let (end, bodies) = match (peer, session) {
            (Some((peer, settings, ladder)), _) => {
                let tick = self.stats.as_ref().map_or(0, |stats| stats.tick);
                let bodies = self.bodies.as_ref().map(|bodies| bodies.snapshot());
                let end = End::Server {
                    peer,
                    settings,
                    ladder,
                    tick,
                };
                (end, bodies)
            }
            (None, Some(session)) => {
                let now = self.now.elapsed();
                let receiver = session.receiver();
                let newest = receiver.and_then(|receiver| receiver.get(receiver.newest()?));
                let bodies = newest.map(Baseline::snapshot);
                (End::Client { session, now }, bodies)
            }
            (None, None) => return,
        };
        let view = View {
            plan: protocol.plan(),
            measure,
            bodies,
            end,
        };
        view.draw(ui, &mut self.shown.choices);
    }
}

/// What a connection is called: by its `Name`, if it has one.
fn name(&(entity, name, _, peer, _): &Connection<'_>) -> String {
    match (name, peer) {
        (Some(name), _) => name.to_string(),
        (None, Some(_)) => format!("client {entity}"),
        (None, None) => "server".to_owned(),
    }
}
