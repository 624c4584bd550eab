//! The inspector's window in a game. Its figures match the packets, and a game without it is not measured.

use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_egui::egui::{self, Event, Key, Modifiers, PointerButton, Pos2, Rect, Shape, vec2};
use bevy_egui::{EguiContext, EguiPrimaryContextPass, EguiUserTextures, PrimaryEguiContext};
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_bevy::cubewire_link::Conditions;
use cubewire_bevy::shadow::LiveLadder;
use cubewire_bevy::testing::TestNet;
use cubewire_bevy::{
    BodyKind, ByteBudget, Client, ClientRequests, Connected, ConnectionSettings, CubewireAppExt,
    CubewirePlugin, EncodeLimit, Field, Measure, PredictsBodies, Protocol, Remote, Replicated,
    ReplicationSender, ReplicationStats, Server,
};
use cubewire_bevy::{Pose, Shape as Body};
use cubewire_codec::ladder::{DELTA, LADDER, POSITION, PREDICTED, Rung};
use cubewire_inspector::packet::HELD;
use cubewire_inspector::words::{grouped, rounded};
use cubewire_inspector::{InspectorPlugin, Selected};
use cubewire_protocol::Throttle;
use cubewire_protocol::record::Totals;

#[derive(Component)]
struct Health(f64);

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("arena").floor(0.0).max_bodies(200))
        .replicate_pose(Pose::within(-100.0..100.0, -10.0..50.0, -100.0..100.0))
        .body_kind("crate", Body::cuboid(Vec3::splat(0.5)))
        .body_kind("hero", Body::capsule(0.6, 0.4))
        .replicate_field("health", Field::int(0..=100), |h: &Health| h.0, Health);
    // Resources that a windowed game has.
    app.init_resource::<EguiUserTextures>().add_plugins(InspectorPlugin::default());
    app.world_mut().spawn((EguiContext::default(), PrimaryEguiContext));
}

/// A server with 150 bodies, and a client with 30 ms of latency.
fn net() -> TestNet {
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::PERFECT };
    let mut net = TestNet::with_conditions(protocol, conditions, 7);
    for body in 0..150_u8 {
        let kind = ["crate", "hero"][usize::from(body % 2)];
        let at = Transform::from_xyz(f32::from(body) / 2.0, 1.0, 0.0);
        net.server.world_mut().spawn((Replicated, BodyKind::named(kind), at, Health(50.0)));
    }
    net.add_client();
    net.run_until(|net| net.count::<Connected>(0) == 1);
    net
}

/// A game with the inspector at both ends, and the texts of the last frame at the watched end.
struct Game {
    net: TestNet,
    /// The server for 0, the client for 1.
    end: usize,
    texts: Vec<(String, Rect)>,
}

impl Game {
    /// Opens the window at one end.
    fn open(end: usize) -> Self {
        let mut game = Self { net: net(), end, texts: Vec::new() };
        game.frame(press(Key::F9));
        game.turn();
        game
    }

    fn app(&mut self) -> &mut App {
        match self.end {
            0 => &mut self.net.server,
            _ => &mut self.net.clients[0],
        }
    }

    /// Returns a component of the connection at the watched end.
    fn get<C: Component>(&mut self) -> &C {
        let connection = match self.end {
            0 => single::<Client>(self.app()),
            _ => single::<Server>(self.app()),
        };
        self.app().world().get(connection).unwrap()
    }

    /// Returns the client's connection at the server.
    fn client(&mut self) -> EntityWorldMut<'_> {
        let client = single::<Client>(&mut self.net.server);
        self.net.server.world_mut().entity_mut(client)
    }

    /// Turns all bodies, changes the health of every second one, and runs a tick.
    fn turn(&mut self) {
        let world = self.net.server.world_mut();
        let mut bodies = world.query::<(&mut Transform, &mut Health)>();
        for (index, (mut transform, mut health)) in bodies.iter_mut(world).enumerate() {
            transform.rotation *= Quat::from_rotation_y(0.05 + 0.01 * index as f32);
            health.0 = (health.0 + (index % 2) as f64) % 100.0;
        }
        self.net.tick();
    }

    /// Runs a frame of the window with input events.
    fn frame(&mut self, events: Vec<Event>) {
        let app = self.app();
        let ctx = context(app);
        ctx.begin_pass(egui::RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 900.0))),
            events,
            ..egui::RawInput::default()
        });
        app.world_mut().run_schedule(EguiPrimaryContextPass);
        let mut output = ctx.end_pass();
        let shapes = std::mem::take(&mut output.shapes);
        output.drop_without_applying_deltas();
        self.texts.clear();
        for clipped in shapes {
            collect(&clipped.shape, &mut self.texts);
        }
    }

    /// Runs a tick and a frame.
    fn step(&mut self, events: Vec<Event>) {
        self.turn();
        self.frame(events);
    }

    fn steps(&mut self, count: usize) {
        (0..count).for_each(|_| self.step(Vec::new()));
    }

    fn says(&self, wanted: &str) -> bool {
        self.texts.iter().any(|(text, _)| text == wanted)
    }

    fn assert_says(&self, wanted: &str) {
        assert!(self.says(wanted), "{wanted}: {:?}", self.texts);
    }

    /// Returns the center of the first text that starts with these words.
    fn at(&self, start: &str) -> Pos2 {
        let found = self.texts.iter().find(|(text, _)| text.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in {:?}", self.texts)).1.center()
    }

    fn click(&mut self, start: &str) {
        self.press_at(self.at(start), 0);
    }

    /// Holds the button at a point for this many frames.
    fn press_at(&mut self, pos: Pos2, frames: usize) {
        let button = |pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        self.frame(vec![Event::PointerMoved(pos)]);
        self.frame(vec![button(true)]);
        (0..frames).for_each(|_| self.frame(Vec::new()));
        self.frame(vec![button(false)]);
        self.frame(Vec::new());
    }

    /// Opens the page with the stages at one end.
    fn stages(end: usize) -> Self {
        let mut game = Self::open(end);
        game.steps(30);
        game.click("Stages");
        game
    }

    /// Clicks a rung, and lets half a second pass.
    fn choose(&mut self, rung: &Rung) {
        self.frame(Vec::new());
        let row = self.texts.iter().find(|(text, _)| text == rung.name).unwrap().1.center();
        self.press_at(row, 0);
        self.steps(30);
    }

    /// Returns the rung that the server uses.
    fn used(&mut self) -> Option<Rung> {
        let plan = self.net.server.world().resource::<Protocol>().plan().clone();
        let stages = self.client().get::<ReplicationSender>().unwrap().settings().unwrap().stages;
        LADDER.into_iter().find(|rung| plan.legal(*rung.stages) == Ok(stages))
    }

    /// Returns the egui limit of a click's duration at the server, in seconds.
    fn max_click(&mut self) -> f64 {
        let ctx = context(&mut self.net.server);
        ctx.options(|options| options.input_options.max_click_duration)
    }
}

fn collect(shape: &Shape, texts: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Text(text) => {
            let rect = Rect::from_min_size(text.pos, text.galley.size());
            texts.push((text.galley.text().to_owned(), rect));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
        _ => {}
    }
}

/// Events of a key that is held until it repeats.
fn press(key: Key) -> Vec<Event> {
    let event = |pressed, repeat| Event::Key {
        key,
        physical_key: None,
        pressed,
        repeat,
        modifiers: Modifiers::NONE,
    };
    vec![event(true, false), event(true, true), event(false, false)]
}

fn context(app: &mut App) -> egui::Context {
    let world = app.world_mut();
    let mut contexts = world.query::<&mut EguiContext>();
    contexts.single_mut(world).unwrap().get_mut().clone()
}

fn single<C: Component>(app: &mut App) -> Entity {
    let world = app.world_mut();
    let mut all = world.query_filtered::<Entity, With<C>>();
    all.single(world).unwrap()
}

#[test]
fn the_servers_figures_are_those_of_its_packets() {
    let mut game = Game::open(0);
    let sent = |game: &mut Game| {
        let sender = game.get::<ReplicationSender>().sender().unwrap();
        (sender.packet().clone(), sender.newest_acked())
    };
    let mut bytes = Vec::new();
    for _ in 0..90 {
        game.steps(1);
        bytes.push(sent(&mut game).0.bytes.len());
    }
    let second: usize = bytes[30..].iter().sum();
    game.assert_says(&format!("{} bits a packet", grouped(second as f64 * 8.0 / 60.0)));
    for kind in ["orientation", "health", "header"] {
        game.assert_says(kind);
    }

    game.click("Packet");
    let (packet, acked) = sent(&mut game);
    let tick = game.get::<Measure>().record.packets().next_back().unwrap().tick;
    let (bytes, bodies) = (packet.bytes.len(), packet.sent_bodies);
    let tick_said = grouped(tick as f64);
    game.assert_says(&format!("Tick {tick_said}: {bytes} bytes for {bodies} bodies"));
    game.assert_says(&format!("{:02x}", packet.bytes[0]));
    game.at("hero ");

    game.click("Network");
    let ms = |ticks: u64| rounded(1000.0 * ticks as f64 / 60.0);
    game.assert_says(&rounded(second as f64 * 8.0 / 1000.0));
    game.assert_says(&format!("{} ms ago", ms(tick - acked.unwrap())));
    game.assert_says("60");
    game.assert_says("0.0");
}

#[test]
fn a_client_shows_its_prediction_and_switches_it() {
    let mut server = Game::open(0);
    server.frame(Vec::new());
    server.click("Playing");
    server.steps(1);
    server.assert_says("Only the client knows when its inputs have an effect.");
    let mut client = Game::open(1);
    client.frame(Vec::new());
    client.click("Playing");
    client.steps(1);
    client.assert_says("From an input to its effect here");
    client.assert_says("Corrections of the own body");
    for (choice, predicts) in [("off", false), ("on", true)] {
        client.click(choice);
        client.steps(2);
        assert_eq!(client.app().world().resource::<PredictsBodies>().0, predicts);
    }
}

#[test]
fn an_overloaded_server_says_what_clients_get_less_of() {
    let mut game = Game::open(0);
    game.frame(Vec::new());
    game.click("Network");
    // Otherwise, its system sets the throttle in each tick.
    game.net.server.world_mut().remove_resource::<EncodeLimit>();
    for (newest_only, one_in, said) in [
        (false, 1, None),
        (true, 1, Some("The server is overloaded: only the newest baseline.")),
        (
            true,
            3,
            Some("The server is overloaded: only the newest baseline, and 1 of 3 snapshots."),
        ),
    ] {
        let mut stats = game.net.server.world_mut().resource_mut::<ReplicationStats>();
        stats.throttle = Throttle { newest_only, one_in };
        game.steps(1);
        let mut texts = game.texts.iter().map(|(text, _)| &**text);
        assert_eq!(texts.find(|text| text.starts_with("The server is overloaded")), said);
    }
}

#[test]
fn who_waits_is_shown_within_a_budget() {
    let mut game = Game::open(0);
    game.frame(Vec::new());
    game.click("Waiting");
    let without = "Without a budget, all changes are sent at once.";
    game.assert_says(without);
    game.client().insert(ByteBudget::kbps(16));
    let is_waiting = (0..120).any(|_| {
        game.steps(1);
        assert!(game.says("budget 16") && !game.says(without));
        game.texts.iter().any(|(text, _)| text.starts_with("Waited in the last second: "))
    });
    assert!(is_waiting);
}

#[test]
fn a_client_shows_what_arrives_and_its_playout() {
    let mut game = Game::open(1);
    game.steps(90);
    let record = &game.get::<Measure>().record;
    let second = Totals::of(record.newest(60)).payload_bytes;
    game.click("Network");
    game.assert_says(&rounded(second as f64 * 8.0 / 1000.0));
    game.assert_says("Playout delay");
    game.assert_says("Snapshots that wait to be shown");
}

#[test]
fn server_chooses_among_all_rungs_of_the_protocol() {
    let mut game = Game::stages(0);
    let plan = game.net.server.world().resource::<Protocol>().plan().clone();
    let mut chosen = Vec::new();
    for rung in LADDER {
        let before = game.used();
        game.choose(&rung);
        match plan.legal(*rung.stages) {
            Ok(_) => {
                chosen.push(rung);
                assert_eq!(game.used(), Some(rung));
            }
            Err(why) => {
                game.assert_says(&why.to_string());
                assert_eq!(game.used(), before);
            }
        }
    }
    assert_eq!(chosen, LADDER[4..15]);
    game.client().insert(ByteBudget::kbps(64));
    game.steps(30);
    game.choose(&POSITION);
    assert_eq!(game.used(), Some(PREDICTED));
    game.at("within a budget, ");
    // Settings of the game that are illegal are named, too.
    game.client().get_mut::<ConnectionSettings>().unwrap().send_interval_ticks = 0;
    game.steps(30);
    game.assert_says("Refused: the send interval is 0 ticks.");
}

#[test]
fn ladder_is_measured_while_its_page_is_shown() {
    let mut game = Game::stages(0);
    game.steps(30);
    let mut client = game.client();
    let mut ladder = client.get_mut::<LiveLadder>().unwrap();
    ladder.finish().unwrap();
    let costs: Vec<_> = ladder.rows().iter().map(|row| row.kbps(0).unwrap()).collect();
    assert_eq!(costs.len(), 11);
    game.frame(Vec::new());
    for kbps in costs {
        game.assert_says(&rounded(kbps));
    }
    game.click("Network");
    game.steps(30);
    assert!(!game.client().contains::<LiveLadder>());
}

#[test]
fn client_requests_the_chosen_rung() {
    let mut game = Game::stages(1);
    game.choose(&DELTA);
    let declined = "Declined: the server does not accept requests.";
    game.assert_says(declined);
    assert_eq!(game.used(), Some(PREDICTED));
    game.net.server.world_mut().insert_resource(ClientRequests::Grant);
    game.choose(&DELTA);
    assert!(!game.says(declined));
    assert_eq!(game.used(), Some(DELTA));
}

#[test]
fn a_closed_window_measures_nothing() {
    let mut game = Game { net: net(), end: 0, texts: Vec::new() };
    for (is_pressed, is_measured) in [(false, false), (true, true), (true, false)] {
        for end in [0, 1] {
            game.end = end;
            game.frame(if is_pressed { press(Key::F9) } else { Vec::new() });
        }
        game.turn();
        assert_eq!(game.client().contains::<Measure>(), is_measured);
        let server = single::<Server>(game.app());
        assert_eq!(game.app().world().entity(server).contains::<Measure>(), is_measured);
    }
}

#[test]
fn arrow_keys_step_through_held_packets() {
    let mut game = Game::open(0);
    let title = |game: &mut Game| -> u64 {
        game.steps(1);
        let title = game.texts.iter().find_map(|(text, _)| text.strip_prefix("Tick "));
        let title = title.unwrap_or_else(|| panic!("no title in {:?}", game.texts));
        title.split(':').next().unwrap().replace(char::is_whitespace, "").parse().unwrap()
    };
    game.steps(2);
    game.click("Packet");
    game.steps(40);
    let newest = title(&mut game);
    game.step(press(Key::ArrowLeft));
    let held = title(&mut game);
    assert!(held > newest && held == title(&mut game));
    game.step(press(Key::ArrowLeft));
    assert_eq!(title(&mut game), held - 1);
    // Not beyond the oldest packet that is kept.
    (0..40).for_each(|_| game.step(press(Key::ArrowLeft)));
    assert_eq!(title(&mut game), held + 1 - HELD as u64);
    game.step(press(Key::ArrowRight));
    assert_eq!(title(&mut game), held + 2 - HELD as u64);
    // Outside of the window, the game gets the keys.
    game.step(vec![Event::PointerMoved(Pos2::new(1270.0, 890.0))]);
    game.step(press(Key::ArrowRight));
    assert_eq!(title(&mut game), held + 2 - HELD as u64);
    game.click("Hold");
    assert!(title(&mut game) > held);
}

#[test]
fn selected_body_is_marked_at_either_end() {
    for end in [0, 1] {
        let mut game = Game::open(end);
        game.steps(90);
        game.click("Packet");
        game.click("hero ");
        game.turn();
        let selected = single::<Selected>(game.app());
        let selected = game.app().world().entity(selected);
        assert_eq!(selected.get::<BodyKind>().unwrap().name(), "hero");
        assert_eq!(selected.contains::<Remote>(), end == 1);
        // While the window is closed, the body is not marked.
        game.frame(press(Key::F9));
        game.turn();
        game.turn();
        let world = game.app().world_mut();
        let mut selected = world.query_filtered::<(), With<Selected>>();
        assert_eq!(selected.iter(world).count(), 0);
    }
}

#[test]
fn long_press_clicks_only_in_the_inspector() {
    let of_game = Game { net: net(), end: 0, texts: Vec::new() }.max_click();
    let mut game = Game::open(0);
    game.frame(Vec::new());
    // Longer than egui's limit for a click, at 60 frames per second.
    game.press_at(game.at("Network"), 60 * 2);
    game.assert_says("Payload of snapshots");
    assert!(game.max_click() > of_game);
    game.frame(press(Key::F9));
    game.turn();
    game.turn();
    assert_eq!(game.max_click(), of_game);
}

#[test]
fn missing_or_second_egui_context_is_harmless() {
    let mut game = Game::open(0);
    let context = single::<PrimaryEguiContext>(game.app());
    let world = game.app().world_mut();
    let other = world.spawn((EguiContext::default(), PrimaryEguiContext)).id();
    world.run_schedule(EguiPrimaryContextPass);
    world.despawn(other);
    world.despawn(context);
    world.run_schedule(EguiPrimaryContextPass);
    game.turn();
}
