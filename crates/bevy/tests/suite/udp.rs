//! Connections over real sockets on the loopback interface.

mod addresses;

use std::net::{SocketAddr, UdpSocket};

use bevy_time::{Real, Time, Virtual};
use cubewire_bevy::testing::app;
use cubewire_bevy::udp::{ConnectToken, TokenData, UdpConnection, UdpHost};
use cubewire_bevy::{LinkConditions, header_bytes};

use super::*;

/// Maximum number of frames until a condition holds. Clocks are manual, so frames take no real time.
const MAX_FRAMES: usize = 20_000;

#[track_caller]
pub(super) fn run(apps: &mut [App], mut is_so: impl FnMut(&mut [App]) -> bool) {
    for _ in 0..MAX_FRAMES {
        if is_so(apps) {
            return;
        }
        apps.iter_mut().for_each(App::update);
        std::thread::yield_now();
    }
    panic!("it is not so after {MAX_FRAMES} frames");
}

/// A server on a free port, and its address.
pub(super) fn listen(key: Key) -> (UdpServer, SocketAddr) {
    let server = UdpServer::listen("127.0.0.1:0", key).unwrap();
    let address = server.address();
    (server, address)
}

pub(super) fn serving(server: UdpServer) -> App {
    app(|app| {
        app.add_plugins((protocol, ServerPlugin, server));
    })
}

pub(super) fn client(key: Key, server: SocketAddr, number: u64) -> App {
    connecting(key.token(server, number).unwrap())
}

fn connecting(token: ConnectToken) -> App {
    app(|app| {
        app.add_plugins((protocol, ClientPlugin, UdpClient::connect(token)));
    })
}

#[test]
fn bodies_arrive_over_udp_and_a_connection_ends_from_either_end() {
    let key = Key::random();
    let (server, address) = listen(key);
    let mut apps = [serving(server), client(key, address, 1), client(key, address, 2)];
    for x in 0..100 {
        let name = PlayerName(format!("body {x} with a name that makes the first packets long"));
        let at = Vec3::new(f32::from(x) - 50.0, 1.0, 0.0);
        spawn_in(apps[0].world_mut(), "crate", at, (Health(x), name));
    }
    run(&mut apps, |apps| apps[1..].iter_mut().all(|app| count::<PlayerName>(app) == 100));
    assert_eq!(states(apps[0].world_mut(), false), states(apps[1].world_mut(), true));

    // The first client leaves, the server disconnects the second, and then the first returns.
    let world = apps[0].world_mut();
    let mut numbers: Vec<_> = world.query::<&ClientId>().iter(world).collect();
    numbers.sort_by_key(|number| number.0);
    assert_eq!(numbers, [&ClientId(1), &ClientId(2)]);
    let connection = all::<Server>(&mut apps[1])[0];
    apps[1].world_mut().despawn(connection);
    run(&mut apps, |apps| count::<Client>(&mut apps[0]) == 1);
    let second = all::<Client>(&mut apps[0])[0];
    apps[0].world_mut().despawn(second);
    run(&mut apps, |apps| count::<UdpConnection>(&mut apps[2]) == 0);
    assert_eq!(count::<Remote>(&mut apps[1]) + count::<Remote>(&mut apps[2]), 0);
    let again = UdpConnection::new(key.token(address, 1).unwrap()).unwrap();
    apps[1].world_mut().spawn(again);
    run(&mut apps, |apps| count::<PlayerName>(&mut apps[1]) == 100);
    // When the client exits, the server learns it at once instead of after the timeout of 10 s.
    apps[1].world_mut().write_message(bevy_app::AppExit::Success);
    apps[1].update();
    for _ in 0..100 {
        apps[0].update();
        std::thread::yield_now();
    }
    assert_eq!(count::<Client>(&mut apps[0]), 0);
}

/// Runs until an app's connection has ended, and returns the reason.
#[track_caller]
fn ended(apps: &mut [App], index: usize) -> String {
    watch(&mut apps[index]);
    run(apps, |apps| count::<UdpConnection>(&mut apps[index]) == 0);
    noted::<String>(&mut apps[index]).join("; ")
}

#[test]
fn a_client_that_is_not_admitted_is_told_why() {
    let key = Key::random();
    let (server, address) = listen(key);
    let server = serving(server.max_clients(1));
    let mut apps = [server, client(key, address, 1), client(Key::random(), address, 2)];
    run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
    let reason = ended(&mut apps, 2);
    let expected = format!("no answer from {address} for 10 s: it is not running,");
    assert!(reason.starts_with(&expected), "{reason}");
    apps[2] = client(key, address, 3);
    assert_eq!(ended(&mut apps, 2), format!("the server at {address} is full"));
    let host = apps[0].world().resource::<UdpHost>();
    assert_eq!(host.connected(), 1);
    assert!(host.traffic().ignored > 10);
}

#[test]
fn a_number_is_taken_until_its_client_is_silent() {
    let (server, address) = listen(Key::LOOPBACK);
    let client = || client(Key::LOOPBACK, address, 1);
    let mut apps = vec![serving(server), client(), client()];
    run(&mut apps[..2], |apps| count::<Connected>(&mut apps[1]) == 1);
    let reason = ended(&mut apps, 2);
    let expected = format!(
        "the server at {address} has ended the connection at once: a client with this number is connected,"
    );
    assert!(reason.starts_with(&expected), "{reason}");
    // The first client is silent from here on, as after a crash.
    watch(&mut apps[0]);
    (0..90).for_each(|_| apps[0].update());
    assert_eq!(count::<Client>(&mut apps[0]), 1);
    let mut apps = [apps.swap_remove(0), client()];
    run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
    assert_eq!(count::<Client>(&mut apps[0]), 1);
    assert_eq!(noted::<String>(&mut apps[0]), ["it has connected again from elsewhere"]);
}

#[test]
fn a_server_is_told_why_a_connection_has_ended_and_who_it_was() {
    let key = Key::random();
    let (server, address) = listen(key);
    let second = Duration::from_secs(1);
    let token = key.token_with(address, 1, second, [7; 256]).unwrap();
    let mut apps = [serving(server), connecting(token)];
    watch(&mut apps[0]);
    run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
    let client = all::<Client>(&mut apps[0])[0];
    let data = apps[0].world().get::<TokenData>(client).unwrap();
    assert_eq!(data.0[..], [7; 256]);
    // The client's app hangs.
    run(&mut apps[..1], |apps| count::<Client>(&mut apps[0]) == 0);
    assert_eq!(noted::<String>(&mut apps[0]), ["no packets were received from it"]);
    let lost = format!("lost the connection to the server at {address}: no packets for 1 s");
    // The server's disconnect packet may have arrived in the meantime.
    let reason = ended(&mut apps, 1);
    let left = format!("the server at {address} has ended the connection");
    assert!(reason == lost || reason == left, "{reason}");
}

#[test]
fn a_server_that_is_paused_keeps_its_clients_and_admits_others() {
    let (server, address) = listen(Key::LOOPBACK);
    let client = |number| client(Key::LOOPBACK, address, number);
    let mut apps = [serving(server), client(1), client(2)];
    run(&mut apps[..2], |apps| count::<Connected>(&mut apps[1]) == 1);
    apps[0].world_mut().resource_mut::<Time<Virtual>>().pause();
    run(&mut apps, |apps| count::<Connected>(&mut apps[2]) == 1);
    for _ in 0..60 * 15 {
        apps.iter_mut().for_each(App::update);
    }
    assert_eq!(count::<Client>(&mut apps[0]), 2);
}

#[test]
fn a_simulated_network_adds_to_the_real_one() {
    let (server, address) = listen(Key::LOOPBACK);
    let client = app(|app| {
        app.add_plugins((protocol, ClientPlugin, UdpClient::default()));
        let token = move || Key::LOOPBACK.token(address, 1);
        let connection = UdpConnection::with_tokens(token).unwrap();
        let conditions = LinkConditions(Conditions {
            latency: Duration::from_millis(200),
            loss: Loss::bursts(0.2, 1.0),
            ..Conditions::PERFECT
        });
        app.world_mut().spawn((connection, conditions));
    });
    let mut apps = [serving(server), client];
    spawn_in(apps[0].world_mut(), "crate", Vec3::ZERO, PlayerName("a".into()));
    let lost = |app: &mut App| {
        let world = app.world_mut();
        let mut connections = world.query::<&UdpConnection>();
        connections.single(world).unwrap().link_stats().lost
    };
    run(&mut apps, |apps| count::<PlayerName>(&mut apps[1]) == 1 && lost(&mut apps[1]) > 0);
    // At least one round trip, for the hello and its answer.
    let took = apps[1].world().resource::<Time<Real>>().elapsed();
    assert!(took >= Duration::from_millis(400), "{took:?}");
    let world = apps[1].world_mut();
    let traffic = world.query::<&MessageBuffer>().single(world).unwrap().traffic;
    assert!(traffic.received.packets > 0 && traffic.sent.control_bytes > 0);
}

#[test]
fn without_a_key_a_server_listens_on_this_machine_alone() {
    let error = UdpServer::listen("0.0.0.0:0", Key::LOOPBACK).unwrap_err();
    assert!(error.to_string().ends_with("which needs a key"), "{error}");
}

#[test]
fn datagrams_of_strangers_do_no_harm() {
    let key = Key::random();
    let (server, address) = listen(key);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut server = serving(server);
    let mut chance = Chance(1);
    for length in (0..1_300).step_by(3) {
        let bytes = chance.bytes(length);
        stranger.send_to(&bytes, address).unwrap();
        server.update();
    }
    run(&mut [server, client(key, address, 1)], |apps| count::<Connected>(&mut apps[1]) == 1);
}

/// The test `the_meters_count_the_bytes_that_the_socket_sends` of the demo compares the server's counts with a relay's.
#[test]
fn a_budget_holds_over_ipv6() {
    let key = Key::random();
    let Ok(server) = UdpServer::listen("[::1]:0", key) else {
        eprintln!("this machine has no IPv6");
        return;
    };
    let address = server.address();
    assert_eq!(header_bytes(address.ip()), 48);
    let mut apps = [serving(server), client(key, address, 1)];
    let world = apps[0].world_mut();
    let at = |x: i32| Vec3::new(x as f32, 1.0, 0.0);
    let bodies: Vec<_> = (0..50).map(|x| spawn_in(world, "crate", at(x), Health(1))).collect();
    run(&mut apps, |apps| count::<Connected>(&mut apps[1]) == 1);
    let client = all::<Connected>(&mut apps[0])[0];
    apps[0].world_mut().entity_mut(client).insert(ByteBudget::kbps(16));
    let sent = (0..400).map(|tick| {
        shake(apps[0].world_mut(), &bodies, tick);
        apps.iter_mut().for_each(App::update);
        std::thread::yield_now();
        apps[0].world().resource::<UdpHost>().traffic().sent_bytes
    });
    let sent: Vec<_> = sent.collect();
    // Skip the first second, which has packets from before the budget.
    let most = most_within(&sent[60..], 60);
    assert!((1_500..=2_000).contains(&most), "{most} of 2000 bytes");
}
