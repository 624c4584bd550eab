//! Over real sockets on this machine.

use cubewire_bevy::renet::{
    ClientId, ConnectToken, Key, RenetClient, RenetConnection, RenetServer,
};
use cubewire_bevy::testing::app;
use cubewire_bevy::{Client, ClientPlugin, Refused, Server, ServerPlugin};

use super::*;

/// How often apps are updated until something has to be so. Time is turned by hand, so that this is no wait.
const MAX_FRAMES: usize = 20_000;

#[track_caller]
fn run(apps: &mut [App], mut is_so: impl FnMut(&mut [App]) -> bool) {
    for _ in 0..MAX_FRAMES {
        if is_so(apps) {
            return;
        }
        apps.iter_mut().for_each(App::update);
        std::thread::yield_now();
    }
    panic!("it is not so after {MAX_FRAMES} frames");
}

fn count<C: Component>(app: &mut App) -> usize {
    all::<C>(app).len()
}

fn serving(server: RenetServer) -> App {
    app(|app| {
        app.add_plugins((protocol, ServerPlugin, server));
    })
}

fn connecting(token: ConnectToken) -> App {
    app(|app| {
        app.add_plugins((protocol, ClientPlugin, RenetClient::connect(token)));
    })
}

#[test]
fn bodies_arrive_over_udp_and_a_connection_ends_from_either_end() {
    let key = Key::random();
    let server = RenetServer::listen("127.0.0.1:0", key).unwrap();
    let address = server.address();
    let client = |number| connecting(key.token(address, number).unwrap());
    let mut apps = [serving(server), client(1), client(2)];
    for x in 0..100 {
        let name = PlayerName(format!(
            "body {x} with a name that makes the first packets long"
        ));
        apps[0].world_mut().spawn((
            Replicated,
            BodyKind::named("crate"),
            Transform::from_xyz(x as f32 - 50.0, 1.0, 0.0),
            Health(x),
            name,
        ));
    }
    run(&mut apps, |apps| {
        apps[1..]
            .iter_mut()
            .all(|app| count::<PlayerName>(app) == 100)
    });
    let server = states(apps[0].world_mut(), false);
    assert_eq!(server, states(apps[1].world_mut(), true));

    // The first client leaves, and the second is thrown out; then the first comes back.
    let world = apps[0].world_mut();
    let mut numbers: Vec<_> = world.query::<&ClientId>().iter(world).collect();
    numbers.sort_by_key(|number| number.0);
    assert_eq!(numbers, [&ClientId(1), &ClientId(2)]);
    let connection = all::<Server>(&mut apps[1])[0];
    apps[1].world_mut().despawn(connection);
    run(&mut apps, |apps| count::<Client>(&mut apps[0]) == 1);
    let second = all::<Client>(&mut apps[0])[0];
    apps[0].world_mut().despawn(second);
    run(&mut apps, |apps| {
        count::<RenetConnection>(&mut apps[2]) == 0
    });
    assert_eq!(
        count::<Remote>(&mut apps[1]) + count::<Remote>(&mut apps[2]),
        0
    );
    let again = RenetConnection::new(key.token(address, 1).unwrap()).unwrap();
    apps[1].world_mut().spawn(again);
    run(&mut apps, |apps| count::<PlayerName>(&mut apps[1]) == 100);
    // It exits, which the server does not wait ten seconds to learn.
    apps[1]
        .world_mut()
        .write_message(bevy_app::AppExit::Success);
    apps[1].update();
    for _ in 0..100 {
        apps[0].update();
        std::thread::yield_now();
    }
    assert_eq!(count::<Client>(&mut apps[0]), 0);
}

#[test]
fn a_client_with_another_key_is_told_that_nobody_answers() {
    #[derive(Resource, Default)]
    struct Reason(String);

    let server = RenetServer::listen("127.0.0.1:0", Key::random()).unwrap();
    let token = Key::random().token(server.address(), 1).unwrap();
    let client = app(|app| {
        app.init_resource::<Reason>()
            .add_plugins((protocol, ClientPlugin, RenetClient::connect(token)))
            .add_observer(|refused: On<Refused>, mut reason: ResMut<Reason>| {
                reason.0.clone_from(&refused.reason);
            });
    });
    let mut apps = [serving(server), client];
    run(&mut apps, |apps| {
        !apps[1].world().resource::<Reason>().0.is_empty()
    });
    let reason = &apps[1].world().resource::<Reason>().0;
    assert!(reason.starts_with("no answer"), "{reason}");
    assert_eq!(count::<RenetConnection>(&mut apps[1]), 0);
}

#[test]
fn datagrams_of_strangers_do_no_harm() {
    let key = Key::random();
    let server = RenetServer::listen("127.0.0.1:0", key).unwrap();
    let address = server.address();
    let token = key.token(address, 1).unwrap();
    let stranger = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut server = serving(server);
    let mut chance = Chance(1);
    for length in (0..1_300).step_by(3) {
        let bytes = chance.bytes(length);
        stranger.send_to(&bytes, address).unwrap();
        server.update();
    }
    run(&mut [server, connecting(token)], |apps| {
        count::<Connected>(&mut apps[1]) == 1
    });
}
