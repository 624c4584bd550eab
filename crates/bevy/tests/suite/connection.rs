//! Admission of clients, and the end of connections.

use log::Level;

use super::log_records::{assert_record, collect};
use super::*;

fn clients(net: &mut TestNet) -> usize {
    count::<Client>(&mut net.server)
}

#[test]
fn another_protocol_is_refused_with_the_line_that_differs() {
    collect();
    let mut net = TestNet::new(protocol);
    watch(&mut net.server);
    let client = net.add_client_with(|app| {
        poses(app, Shape::capsule(0.6, 0.5));
        watch(app);
    });
    spawn(&mut net, "crate", Vec3::ZERO, ());
    net.run_until(|net| net.count::<Server>(client) == 0);
    let line = |radius| format!("has `kind hero: Capsule {{ half: 0.6, radius: {radius} }}`");
    let [ours, theirs] = [0.4, 0.5].map(line);
    let expected = [format!("the protocols differ: the server {ours}, but the client {theirs}")];
    for app in [&mut net.clients[client], &mut net.server] {
        assert_eq!(noted::<String>(app), expected);
    }
    assert_eq!(net.count::<Remote>(client), 0);
    for start in [
        "cubewire_protocol::connection::server: client refused: ",
        "cubewire_bevy::body: connection ",
    ] {
        assert_record(Level::Debug, start, &theirs);
    }
    // The server drops the entity of the refused client and serves others.
    net.ticks(400);
    assert_eq!(clients(&mut net), 0);
    assert!(noted::<String>(&mut net.server).is_empty());
    let other = net.add_client();
    net.run_until(|net| net.count::<Remote>(other) == 1);
}

#[test]
fn a_client_that_joins_late_sees_all_and_one_that_leaves_loses_all() {
    let mut net = TestNet::new(protocol);
    for x in 0..30 {
        let name = PlayerName(x.to_string());
        spawn(&mut net, "crate", Vec3::X * x as f32, name);
    }
    net.ticks(1_000);
    let client = net.add_client_with(watched);
    net.run_until(|net| net.count::<PlayerName>(client) == 30);
    net.disconnect(client);
    net.ticks(2);
    assert_eq!(net.count::<Remote>(client), 0);
    assert_eq!(noted::<VanishReason>(&mut net.clients[client]), [VanishReason::Disconnected; 30]);
    assert_eq!(clients(&mut net), 0);
    for _ in 0..3 {
        net.reconnect(client);
        net.run_until(|net| net.count::<PlayerName>(client) == 30);
        net.ticks(7);
    }
}

#[test]
fn a_server_can_pause_for_any_time() {
    let (mut net, body) = with_body(protocol, ());
    // Eleven minutes. Half the range of the 16-bit tick numbers on the wire is nine minutes.
    for _ in 0..40_000 {
        net.clients[0].update();
    }
    let mut paused = server(&mut net).resource_mut::<bevy_time::Time<bevy_time::Real>>();
    paused.advance_by(Duration::from_secs(660));
    put(&mut net, body, Vec3::X);
    net.ticks(60);
    assert_eq!(positions(&mut net, 0), [Vec3::X]);
}

#[test]
fn after_a_long_silence_all_is_equal_again() {
    let bad = Conditions {
        latency: Duration::from_millis(50),
        jitter: Jitter::Uniform { spread: Duration::from_millis(30) },
        loss: Loss::bursts(0.05, 2.0),
        duplicate_probability: 0.1,
        ..Conditions::PERFECT
    };
    let mut net = TestNet::with_conditions(protocol, bad.clone(), 6);
    net.add_client();
    let mut bodies = Vec::new();
    for tick in 0..900 {
        if tick == 100 || tick == 600 {
            net.set_conditions(&Conditions { cut: tick == 100, ..bad.clone() });
        }
        play(&mut net, &mut bodies, tick);
        net.tick();
    }
    net.ticks(300);
    assert!(are_equal(&mut net));
}

/// Types with the same names as above and another layout.
mod other {
    use super::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Chat(pub(super) u64);

    #[derive(Component, Clone, Serialize, Deserialize)]
    pub(super) struct PlayerName(u64);
}

fn lying_protocol(app: &mut App) {
    poses(app, Shape::UNKNOWN)
        .replicate::<other::PlayerName>()
        .add_message_to_server::<other::Chat>();
}

fn true_protocol(app: &mut App) {
    poses(app, Shape::UNKNOWN).replicate::<PlayerName>().add_message_to_server::<Chat>();
}

#[test]
fn the_bodies_of_those_who_are_refused_go_with_them() {
    #[derive(Component)]
    struct Hero(Entity);

    let mut net = TestNet::new(true_protocol);
    watch(&mut net.server);
    net.server
        .add_observer(|new: On<Add, Connected>, mut to: Commands| {
            let hero = to.spawn((Replicated, BodyKind::named("hero"))).id();
            to.entity(new.entity).insert(Hero(hero));
        })
        .add_observer(|gone: On<Remove, Connected>, heroes: Query<&Hero>, mut to: Commands| {
            to.entity(heroes.get(gone.entity).unwrap().0).despawn();
        });
    net.add_client();
    net.run_until(|net| net.count::<Remote>(0) == 1);
    for _ in 0..3 {
        let liar = net.add_client_with(|app| {
            lying_protocol(app);
            watch(app);
        });
        net.run_until(|net| net.count::<Remote>(0) == 2);
        let message = ToServer(other::Chat(9_999_999_999));
        net.clients[liar].world_mut().write_message(message);
        net.run_until(|net| net.count::<Remote>(0) == 1 && net.count::<Server>(liar) == 0);
        for app in [&mut net.server, &mut net.clients[liar]] {
            let reasons = noted::<String>(app);
            let is_why = |reason: &String| {
                reason.contains("malformed message from the") && reason.ends_with("(`Chat`)")
            };
            assert!(reasons.iter().any(is_why), "{reasons:?}");
        }
    }
}

#[test]
fn the_other_end_learns_at_once_that_an_app_exits_or_is_dropped() {
    let mut net = TestNet::new(protocol);
    connect_all(&mut net, 3);
    assert_eq!(clients(&mut net), 3);
    drop(net.clients.remove(2));
    net.ticks(2);
    assert_eq!(clients(&mut net), 2);
    let exit = |app: &mut App| _ = app.world_mut().write_message(bevy_app::AppExit::Success);
    exit(&mut net.clients[1]);
    net.ticks(2);
    assert_eq!(clients(&mut net), 1);
    exit(&mut net.server);
    net.ticks(2);
    assert_eq!((net.count::<Server>(0), net.count::<Remote>(0)), (0, 0));
}

#[test]
#[should_panic(expected = "need a `CubewirePlugin` and a call of `App::finish`")]
fn a_client_without_a_protocol_is_told_so() {
    let mut app = App::new();
    app.add_plugins((bevy_app::TaskPoolPlugin::default(), bevy_time::TimePlugin, ClientPlugin));
    app.update();
}

/// Random bytes, or recorded bytes with some of them changed.
fn hostile(real: &[Vec<u8>], chance: &mut Chance) -> Vec<u8> {
    if real.is_empty() || chance.below(2) == 0 {
        let length = chance.below(50);
        return chance.bytes(length);
    }
    let mut bytes = real[chance.below(real.len())].clone();
    for _ in 0..chance.below(4) {
        let index = chance.below(bytes.len().max(1));
        if let Some(byte) = bytes.get_mut(index) {
            *byte = chance.below(256) as u8;
        }
    }
    bytes.truncate(chance.below(400) + 1);
    bytes
}

#[test]
fn no_bytes_harm_a_server_or_a_client() {
    let mut chance = Chance(3);
    let mut net = TestNet::new(protocol);
    net.server.insert_resource(ClientRequests::Grant);
    net.add_client();
    let mut bodies = Vec::new();
    let mut real: [Vec<Vec<u8>>; 4] = Default::default();
    for tick in 0..3_000 {
        if tick < 300 {
            play(&mut net, &mut bodies, tick);
        }
        net.tick();
        let apps = [&mut net.server, &mut net.clients[0]];
        for (app, real) in apps.into_iter().zip(real.chunks_mut(2)) {
            let world = app.world_mut();
            for mut buffer in world.query::<&mut MessageBuffer>().iter_mut(world) {
                let incoming = &mut buffer.incoming;
                if tick > 100 {
                    incoming.datagrams.push(hostile(&real[0], &mut chance));
                    if tick % 5 == 0 {
                        incoming.messages.push(hostile(&real[1], &mut chance));
                    }
                }
            }
        }
        if tick < 100 {
            let chat = ToClient::all(Chat("x".into()));
            server(&mut net).write_message(chat);
            record(&mut net, &mut real);
        }
        if net.count::<Server>(0) == 0 {
            net.reconnect(0);
        }
    }
    // A well-behaved client is served.
    net.add_client();
    let count = bodies.len();
    net.run_until(|net| net.count::<Remote>(1) == count);
}

/// Adds valid messages of every kind to the recorded ones.
fn record(net: &mut TestNet, real: &mut [Vec<Vec<u8>>; 4]) {
    let protocol = net.clients[0].world().resource::<Protocol>().text();
    real[1].push([&[0, 0, 19], protocol.as_bytes()].concat());
    real[0].push(vec![1, 7, 0, 0, 5, 0, 0, 0, 0, 1, 0, 3, 2, 1, 9, 1, 8]);
    // A request, interpolation, and a refusal of a request.
    real[1].push(vec![0, 1, 7, 5, 0, 0, 0xCB, 0x70, 0, 2, 0, 1, 200, 1]);
    real[3].push(vec![4, 0]);
    real[3].push(vec![0, 4, 7, 2, b'n', b'o']);
    real[2].push(vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    real[3].push(vec![1, 3, 4, 1, 1, 0, 1, 2, 9, 9]);
    real[3].push(vec![2, 3, 4, 9, 1]);
}
