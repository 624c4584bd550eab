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
    CubewirePlugin, Field, Measure, Protocol, Remote, Replicated, ReplicationSender, Server,
};
use cubewire_bevy::{Pose, Shape as Body};
use cubewire_codec::ladder::{DELTA, LADDER, POSITION, PREDICTED, Rung};
use cubewire_inspector::packet::HELD;
use cubewire_inspector::words::{grouped, rounded};
use cubewire_inspector::{InspectorPlugin, Selected};
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

/// Turns all bodies, changes the health of every second one, and runs a tick.
fn turn(net: &mut TestNet) {
    let world = net.server.world_mut();
    let mut bodies = world.query::<(&mut Transform, &mut Health)>();
    for (index, (mut transform, mut health)) in bodies.iter_mut(world).enumerate() {
        transform.rotation *= Quat::from_rotation_y(0.05 + 0.01 * index as f32);
        health.0 = (health.0 + (index % 2) as f64) % 100.0;
    }
    net.tick();
}

/// Runs a frame of the window with input events. Returns all texts with their rectangles.
fn frame(app: &mut App, events: Vec<Event>) -> Vec<(String, Rect)> {
    let world = app.world_mut();
    let mut contexts = world.query::<&mut EguiContext>();
    let ctx = contexts.single_mut(world).unwrap().get_mut().clone();
    ctx.begin_pass(egui::RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 900.0))),
        events,
        ..egui::RawInput::default()
    });
    world.run_schedule(EguiPrimaryContextPass);
    let mut output = ctx.end_pass();
    let shapes = std::mem::take(&mut output.shapes);
    output.drop_without_applying_deltas();
    let mut texts = Vec::new();
    for clipped in shapes {
        collect(&clipped.shape, &mut texts);
    }
    texts
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

fn says(texts: &[(String, Rect)], wanted: &str) -> bool {
    texts.iter().any(|(text, _)| text == wanted)
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

/// Center of the first matching text.
fn at(texts: &[(String, Rect)], wanted: impl Fn(&str) -> bool) -> Pos2 {
    let found = texts.iter().find(|(text, _)| wanted(text));
    found.unwrap_or_else(|| panic!("none in {texts:?}")).1.center()
}

/// Clicks a text of the last frame. Returns the texts of the next frame.
fn click(app: &mut App, texts: &[(String, Rect)], name: &str) -> Vec<(String, Rect)> {
    click_at(app, at(texts, |text| text == name))
}

fn click_at(app: &mut App, pos: Pos2) -> Vec<(String, Rect)> {
    press_at(app, pos, 0)
}

/// Holds the button at a point for this many frames. Returns the texts of the next frame.
fn press_at(app: &mut App, pos: Pos2, frames: usize) -> Vec<(String, Rect)> {
    let button = |pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    frame(app, vec![Event::PointerMoved(pos)]);
    frame(app, vec![button(true)]);
    for _ in 0..frames {
        frame(app, Vec::new());
    }
    frame(app, vec![button(false)]);
    frame(app, Vec::new())
}

/// The entity of an app's connection.
fn connection<C: Component>(app: &mut App) -> Entity {
    let world = app.world_mut();
    let mut all = world.query_filtered::<Entity, With<C>>();
    all.single(world).unwrap()
}

/// Whether the server and the client have a [`Measure`].
fn measures(net: &mut TestNet) -> [bool; 2] {
    let client = connection::<Client>(&mut net.server);
    let server = connection::<Server>(&mut net.clients[0]);
    [
        net.server.world().get::<Measure>(client).is_some(),
        net.clients[0].world().get::<Measure>(server).is_some(),
    ]
}

#[test]
fn the_servers_figures_are_those_of_its_packets() {
    let mut net = net();
    let client = connection::<Client>(&mut net.server);
    frame(&mut net.server, press(Key::F9));
    turn(&mut net);
    let mut bytes = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..90 {
        turn(&mut net);
        texts = frame(&mut net.server, Vec::new());
        let sender = net.server.world().get::<ReplicationSender>(client).unwrap().sender();
        bytes.push(sender.unwrap().packet().bytes.len());
    }
    let second: usize = bytes[30..].iter().sum();
    let bits = format!("{} bits a packet", grouped(second as f64 * 8.0 / 60.0));
    assert!(says(&texts, &bits), "{bits}: {texts:?}");
    for kind in ["orientation", "health", "header"] {
        assert!(says(&texts, kind), "{kind}: {texts:?}");
    }

    let texts = click(&mut net.server, &texts, "Packet");
    let peer = net.server.world().get::<ReplicationSender>(client).unwrap();
    let (packet, acked) =
        (peer.sender().unwrap().packet().clone(), peer.sender().unwrap().newest_acked());
    let measure = net.server.world().get::<Measure>(client).unwrap();
    let tick = measure.record.packets().next_back().unwrap().tick;
    let title = format!(
        "Tick {}: {} bytes for {} bodies",
        grouped(tick as f64),
        packet.bytes.len(),
        packet.sent_bodies
    );
    assert!(says(&texts, &title), "{title}: {texts:?}");
    let first = packet.bytes.first().map(|byte| format!("{byte:02x}"));
    assert!(says(&texts, &first.unwrap()), "{texts:?}");
    let hero = |text: &str| text.starts_with("hero ");
    assert!(texts.iter().any(|(text, _)| hero(text)), "{texts:?}");

    let texts = click(&mut net.server, &texts, "Network");
    let kbps = rounded(second as f64 * 8.0 / 1000.0);
    let ms = |ticks: u64| rounded(1000.0 * ticks as f64 / 60.0);
    let age = format!("{} ms ago", ms(tick - acked.unwrap()));
    for said in [&kbps, &age, &"60".to_owned(), &"0.0".to_owned()] {
        assert!(says(&texts, said), "{said}: {texts:?}");
    }
}

#[test]
fn who_waits_is_shown_within_a_budget() {
    let mut net = net();
    let client = connection::<Client>(&mut net.server);
    frame(&mut net.server, press(Key::F9));
    turn(&mut net);
    let texts = frame(&mut net.server, Vec::new());
    let texts = click(&mut net.server, &texts, "Waiting");
    let without = "Without a budget, all changes are sent at once.";
    assert!(says(&texts, without), "{texts:?}");
    net.server.world_mut().entity_mut(client).insert(ByteBudget::kbps(16));
    let is_waiting = (0..120).any(|_| {
        turn(&mut net);
        let texts = frame(&mut net.server, Vec::new());
        assert!(says(&texts, "budget 16") && !says(&texts, without));
        texts.iter().any(|(text, _)| text.starts_with("Waited in the last second: "))
    });
    assert!(is_waiting);
}

#[test]
fn a_client_shows_what_arrives_and_its_playout() {
    let mut net = net();
    frame(&mut net.clients[0], press(Key::F9));
    for _ in 0..90 {
        turn(&mut net);
        frame(&mut net.clients[0], Vec::new());
    }
    let server = connection::<Server>(&mut net.clients[0]);
    let measure = net.clients[0].world().get::<Measure>(server).unwrap();
    let second = Totals::of(measure.record.newest(60)).payload_bytes;
    let kbps = rounded(second as f64 * 8.0 / 1000.0);
    let texts = frame(&mut net.clients[0], Vec::new());
    let texts = click(&mut net.clients[0], &texts, "Network");
    for said in [&*kbps, "Playout delay", "Snapshots that wait to be shown"] {
        assert!(says(&texts, said), "{said}: {texts:?}");
    }
}

/// Lets half a second pass, and returns the texts.
fn later(net: &mut TestNet, end: usize) -> Vec<(String, Rect)> {
    for _ in 0..30 {
        turn(net);
        frame(at_end(net, end), Vec::new());
    }
    frame(at_end(net, end), Vec::new())
}

/// Opens the page with the stages, and returns its texts.
fn stages_page(net: &mut TestNet, end: usize) -> Vec<(String, Rect)> {
    frame(at_end(net, end), press(Key::F9));
    let texts = later(net, end);
    click(at_end(net, end), &texts, "Stages")
}

/// Clicks a rung, and returns the texts a while later.
fn choose(net: &mut TestNet, end: usize, rung: &Rung) -> Vec<(String, Rect)> {
    let texts = frame(at_end(net, end), Vec::new());
    click(at_end(net, end), &texts, rung.name);
    later(net, end)
}

/// The rung that the server uses.
fn used(net: &mut TestNet) -> Option<Rung> {
    let client = connection::<Client>(&mut net.server);
    let world = net.server.world();
    let stages = world.get::<ReplicationSender>(client).unwrap().settings().unwrap().stages;
    let plan = world.resource::<Protocol>().plan();
    let is_used = |rung: &Rung| plan.legal(*rung.stages) == Ok(stages);
    LADDER.into_iter().find(is_used)
}

#[test]
fn the_server_chooses_among_all_rungs_that_the_protocol_has() {
    let mut net = net();
    let client = connection::<Client>(&mut net.server);
    let texts = stages_page(&mut net, 0);
    let plan = net.server.world().resource::<Protocol>().plan().clone();
    let mut chosen = Vec::new();
    for rung in LADDER {
        let before = used(&mut net);
        choose(&mut net, 0, &rung);
        match plan.legal(*rung.stages) {
            Ok(_) => chosen.push(rung),
            Err(why) => {
                assert!(says(&texts, &why.to_string()), "{why}: {texts:?}");
                assert_eq!(used(&mut net), before);
                continue;
            }
        }
        assert_eq!(used(&mut net), Some(rung));
    }
    assert_eq!(chosen, LADDER[5..15]);
    let budget = ByteBudget::kbps(64);
    net.server.world_mut().entity_mut(client).insert(budget);
    later(&mut net, 0);
    let texts = choose(&mut net, 0, &POSITION);
    assert_eq!(used(&mut net), Some(PREDICTED));
    let refused = |(text, _): &(String, Rect)| text.starts_with("within a budget, ");
    assert!(texts.iter().any(refused), "{texts:?}");
    // Settings of the game that are illegal are named, too.
    let mut entity = net.server.world_mut().entity_mut(client);
    let mut settings = entity.get_mut::<ConnectionSettings>().unwrap();
    settings.send_interval_ticks = 0;
    let texts = later(&mut net, 0);
    assert!(says(&texts, "Refused: the send interval is 0 ticks."), "{texts:?}");
}

#[test]
fn the_ladder_is_measured_while_its_page_is_shown() {
    let mut net = net();
    let client = connection::<Client>(&mut net.server);
    stages_page(&mut net, 0);
    later(&mut net, 0);
    let mut client_entity = net.server.world_mut().entity_mut(client);
    let mut ladder = client_entity.get_mut::<LiveLadder>().unwrap();
    ladder.costs.finish().unwrap();
    let costs: Vec<_> = ladder.rungs().map(|(_, kbps)| kbps.unwrap()).collect();
    assert_eq!(costs.len(), 10);
    let texts = frame(at_end(&mut net, 0), Vec::new());
    for kbps in costs {
        assert!(says(&texts, &rounded(kbps)), "{kbps}: {texts:?}");
    }
    click(at_end(&mut net, 0), &texts, "Network");
    later(&mut net, 0);
    assert!(!net.server.world().entity(client).contains::<LiveLadder>());
}

#[test]
fn a_client_asks_for_the_rung_that_is_chosen() {
    let mut net = net();
    stages_page(&mut net, 1);
    let texts = choose(&mut net, 1, &DELTA);
    let declined = "Declined: the server does not accept requests.";
    assert!(says(&texts, declined), "{texts:?}");
    assert_eq!(used(&mut net), Some(PREDICTED));
    net.server.world_mut().insert_resource(ClientRequests::Grant);
    let texts = choose(&mut net, 1, &DELTA);
    assert!(!says(&texts, declined));
    assert_eq!(used(&mut net), Some(DELTA));
}

#[test]
fn a_closed_window_measures_nothing() {
    let mut net = net();
    let shown = |net: &mut TestNet, events: fn() -> Vec<Event>| {
        frame(&mut net.server, events());
        frame(&mut net.clients[0], events());
        turn(net);
        measures(net)
    };
    assert_eq!(shown(&mut net, Vec::new), [false; 2]);
    assert_eq!(shown(&mut net, || press(Key::F9)), [true; 2]);
    assert_eq!(shown(&mut net, || press(Key::F9)), [false; 2]);
}

#[test]
fn a_packet_is_held_while_others_arrive_and_those_before_it_are_gone_through() {
    let mut net = net();
    frame(&mut net.server, press(Key::F9));
    let mut run = |events: Vec<Event>| {
        turn(&mut net);
        frame(&mut net.server, events)
    };
    let title = |texts: &[(String, Rect)]| -> u64 {
        let title = texts.iter().find_map(|(text, _)| text.strip_prefix("Tick "));
        let title = title.unwrap_or_else(|| panic!("no title in {texts:?}"));
        title.split(':').next().unwrap().replace(char::is_whitespace, "").parse().unwrap()
    };
    run(Vec::new());
    let texts = run(Vec::new());
    let to = Event::PointerMoved(at(&texts, |text| text == "Packet"));
    click(&mut net.server, &texts, "Packet");
    let mut run = |events: Vec<Event>| {
        turn(&mut net);
        frame(&mut net.server, events)
    };
    (0..40).for_each(|_| _ = run(vec![to.clone()]));
    let newest = title(&run(Vec::new()));
    run(press(Key::ArrowLeft));
    let held = title(&run(Vec::new()));
    assert!(held > newest && held == title(&run(Vec::new())));
    run(press(Key::ArrowLeft));
    assert_eq!(title(&run(Vec::new())), held - 1);
    // Not beyond the oldest packet that is kept.
    (0..40).for_each(|_| _ = run(press(Key::ArrowLeft)));
    assert_eq!(title(&run(Vec::new())), held + 1 - HELD as u64);
    run(press(Key::ArrowRight));
    assert_eq!(title(&run(Vec::new())), held + 2 - HELD as u64);
    // Outside of the window, the game gets the keys.
    run(vec![Event::PointerMoved(Pos2::new(1270.0, 890.0))]);
    run(press(Key::ArrowRight));
    assert_eq!(title(&run(Vec::new())), held + 2 - HELD as u64);
    let texts = run(Vec::new());
    click(&mut net.server, &texts, "Hold");
    turn(&mut net);
    assert!(title(&frame(&mut net.server, Vec::new())) > held);
}

/// The server for 0, the client for 1.
fn at_end(net: &mut TestNet, end: usize) -> &mut App {
    match end {
        0 => &mut net.server,
        _ => &mut net.clients[0],
    }
}

#[test]
fn what_is_selected_is_marked_in_the_game_at_either_end() {
    let mut net = net();
    let mut texts = Vec::new();
    for end in [0, 1] {
        for step in 0..90 {
            turn(&mut net);
            let events = match step {
                0 => press(Key::F9),
                _ => Vec::new(),
            };
            texts = frame(at_end(&mut net, end), events);
        }
        let app = at_end(&mut net, end);
        let texts = click(app, &texts, "Packet");
        let body = at(&texts, |text| text.starts_with("hero "));
        click_at(app, body);
        turn(&mut net);
        let app = at_end(&mut net, end);
        let selected = connection::<Selected>(app);
        let kind = app.world().get::<BodyKind>(selected).unwrap().name();
        let is_remote = app.world().entity(selected).contains::<Remote>();
        assert_eq!((kind, is_remote), ("hero", end == 1));
        // While the window is closed, the body is not marked.
        frame(app, press(Key::F9));
        turn(&mut net);
        turn(&mut net);
        let world = at_end(&mut net, end).world_mut();
        let mut selected = world.query_filtered::<(), With<Selected>>();
        assert_eq!(selected.iter(world).count(), 0);
    }
}

#[test]
fn a_press_of_any_length_is_a_click_and_the_game_keeps_its_own_rule() {
    let mut net = net();
    let max_click = |net: &mut TestNet| {
        let world = net.server.world_mut();
        let mut contexts = world.query::<&mut EguiContext>();
        let ctx = contexts.single_mut(world).unwrap().get_mut().clone();
        ctx.options(|options| options.input_options.max_click_duration)
    };
    let of_game = max_click(&mut net);
    frame(&mut net.server, press(Key::F9));
    turn(&mut net);
    let texts = frame(&mut net.server, Vec::new());
    let network = at(&texts, |text| text == "Network");
    // Longer than egui's limit for a click, at 60 frames per second.
    let texts = press_at(&mut net.server, network, 60 * 2);
    assert!(says(&texts, "Payload of snapshots"), "{texts:?}");
    assert!(max_click(&mut net) > of_game);
    frame(&mut net.server, press(Key::F9));
    turn(&mut net);
    turn(&mut net);
    assert_eq!(max_click(&mut net), of_game);
}

#[test]
fn a_game_with_no_context_of_egui_or_two_goes_on() {
    let mut net = net();
    frame(&mut net.server, press(Key::F9));
    turn(&mut net);
    let context = connection::<PrimaryEguiContext>(&mut net.server);
    let world = net.server.world_mut();
    let other = world.spawn((EguiContext::default(), PrimaryEguiContext)).id();
    world.run_schedule(EguiPrimaryContextPass);
    world.despawn(other);
    world.despawn(context);
    world.run_schedule(EguiPrimaryContextPass);
    turn(&mut net);
}
