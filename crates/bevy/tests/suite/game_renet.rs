//! Connections of a game that uses `bevy_renet`: here netcode on the loopback interface, in `in_memory` packets passed in memory.

mod in_memory;

use std::net::{SocketAddr, UdpSocket};

use bevy_app::{AppExit, Plugins};
use bevy_renet::netcode::{
    ClientAuthentication, NetcodeClientPlugin, NetcodeClientTransport, NetcodeServerPlugin,
    NetcodeServerTransport, ServerAuthentication, ServerConfig,
};
use bevy_renet::renet::{ConnectionConfig, DefaultChannel};
use bevy_renet::{RenetClient, RenetClientPlugin, RenetServer, RenetServerPlugin};
use bevy_time::{Time, Virtual};
use cubewire_bevy::game_renet::{BevyRenet, RenetClientId};
use cubewire_bevy::testing::app;

use super::udp::run;
use super::*;

/// renet's default configuration, with two additional channels for the transport.
fn config() -> (ConnectionConfig, BevyRenet) {
    let mut config = ConnectionConfig::default();
    let transport = BevyRenet::add_channels(&mut config).unwrap();
    (config, transport)
}

/// Hosts a game on a free port.
fn host(world: &mut World) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let netcode = ServerConfig {
        current_time: Duration::ZERO,
        max_clients: 4,
        protocol_id: 7,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    world.insert_resource(NetcodeServerTransport::new(netcode, socket).unwrap());
    world.insert_resource(RenetServer::new(config().0));
    address
}

/// Connects a game to a host.
fn connect(world: &mut World, server_addr: SocketAddr, client_id: u64) {
    let authentication =
        ClientAuthentication::Unsecure { protocol_id: 7, client_id, server_addr, user_data: None };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let netcode = NetcodeClientTransport::new(Duration::ZERO, authentication, socket).unwrap();
    world.insert_resource(netcode);
    world.insert_resource(RenetClient::new(config().0));
}

fn game<M>(plugins: impl Plugins<M>) -> App {
    let mut app = app(|app| {
        app.add_plugins((protocol, config().1)).add_plugins(plugins);
    });
    watch(&mut app);
    app
}

/// A server with this number of named bodies.
fn hosting(bodies: usize) -> (App, SocketAddr) {
    let mut server = game((RenetServerPlugin, NetcodeServerPlugin, ServerPlugin));
    let address = host(server.world_mut());
    for x in 0..bodies {
        let more = (Health(x as u8), PlayerName(format!("body {x}")));
        spawn_in(server.world_mut(), "crate", Vec3::new(x as f32 - 50.0, 1.0, 0.0), more);
    }
    (server, address)
}

fn connecting(address: SocketAddr, id: u64) -> App {
    let mut client = game((RenetClientPlugin, NetcodeClientPlugin, ClientPlugin));
    connect(client.world_mut(), address, id);
    client
}

/// Runs two apps until they are connected.
fn connected(apps: &mut [App]) {
    run(apps, |apps| apps.iter_mut().all(|app| count::<Connected>(app) == 1));
}

#[test]
fn bodies_and_messages_travel_beside_those_of_the_game() {
    let (server, address) = hosting(100);
    let mut apps = [server, connecting(address, 7)];
    run(&mut apps, |apps| count::<PlayerName>(&mut apps[1]) == 100);
    assert_eq!(states(apps[0].world_mut(), false), states(apps[1].world_mut(), true));
    let client = all::<Connected>(&mut apps[0])[0];
    let id = apps[0].world().get::<RenetClientId>(client);
    assert_eq!(id, Some(&RenetClientId(7)));

    let chat = |text: &str| Chat(text.to_owned());
    apps[0].world_mut().write_message(ToClient::one(client, chat("down")));
    apps[1].world_mut().write_message(ToServer(chat("up")));
    apps[1].world_mut().write_message(ToServer(Steer(3)));
    // Messages of the game on its own channels.
    for number in 0..100_u8 {
        let channel = DefaultChannel::ReliableOrdered;
        let mut server = apps[0].world_mut().resource_mut::<RenetServer>();
        server.broadcast_message(channel, vec![number; 2_000]);
        let mut client = apps[1].world_mut().resource_mut::<RenetClient>();
        client.send_message(DefaultChannel::ReliableOrdered, vec![number]);
    }
    let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
    let (mut ups, mut downs, mut steers) = (Vec::new(), Vec::new(), Vec::new());
    run(&mut apps, |apps| {
        let channel = || DefaultChannel::ReliableOrdered;
        let mut server = apps[0].world_mut().resource_mut::<RenetServer>();
        at_server.extend(std::iter::from_fn(|| server.receive_message(7, channel())));
        let mut client = apps[1].world_mut().resource_mut::<RenetClient>();
        at_client.extend(std::iter::from_fn(|| client.receive_message(channel())));
        ups.extend(taken::<FromClient<Chat>>(&mut apps[0]));
        steers.extend(taken::<FromClient<Steer>>(&mut apps[0]));
        downs.extend(taken::<FromServer<Chat>>(&mut apps[1]));
        let counts = [ups.len(), downs.len(), steers.len()];
        at_server.len() == 100 && at_client.len() == 100 && counts == [1; 3]
    });
    assert!((0..100).all(|number| at_server[usize::from(number)][..] == [number]));
    assert!((0..100).all(|number| at_client[usize::from(number)][..] == [number; 2_000]));
    assert_eq!(downs[0].0, chat("down"));
    assert_eq!((&ups[0].message, ups[0].client), (&chat("up"), client));
    assert_eq!((steers[0].message, steers[0].client), (Steer(3), client));
    let buffer = apps[0].world().get::<MessageBuffer>(client).unwrap();
    for traffic in [buffer.traffic.sent, buffer.traffic.received] {
        assert!(traffic.packets > 0 && traffic.control_bytes > 0);
    }
    assert!(buffer.round_trip.is_some());
}

#[test]
fn a_connection_ends_from_either_end() {
    let (server, address) = hosting(3);
    let mut apps = vec![server, connecting(address, 1)];
    let ends: [fn(&mut [App]); 5] = [
        // Despawn the client's entity, or the server's. Disconnect through renet at the client, or the server. Exit the client.
        |apps| {
            let server = all::<Server>(&mut apps[1])[0];
            apps[1].world_mut().despawn(server);
        },
        |apps| {
            let client = all::<Client>(&mut apps[0])[0];
            apps[0].world_mut().despawn(client);
        },
        |apps| apps[1].world_mut().resource_mut::<RenetClient>().disconnect(),
        |apps| apps[0].world_mut().resource_mut::<RenetServer>().disconnect(1),
        |apps| {
            apps[1].world_mut().write_message(AppExit::Success);
            apps[1].update();
        },
    ];
    let expected = [[1, 0], [0, 1], [1, 1], [1, 1], [1, 0]];
    for (index, (end, expected)) in ends.into_iter().zip(expected).enumerate() {
        connected(&mut apps);
        run(&mut apps, |apps| count::<Remote>(&mut apps[1]) == 3);
        end(&mut apps);
        run(&mut apps, |apps| count::<Client>(&mut apps[0]) + count::<Server>(&mut apps[1]) == 0);
        assert_eq!(count::<Remote>(&mut apps[1]), 0);
        assert!(!apps[0].world().resource::<RenetServer>().is_connected(1));
        // An app that despawns the connection's entity itself gets no `Disconnected`.
        let told = [0, 1].map(|app| noted::<String>(&mut apps[app]).len());
        assert_eq!(told, expected, "end {index}");
        connect(apps[1].world_mut(), address, 1);
    }
}

#[test]
fn a_game_leaves_and_hosts_again() {
    let (server, address) = hosting(3);
    let mut apps = [server, connecting(address, 1)];
    connected(&mut apps);
    // A system may take the resource temporarily. The connection must survive this.
    let before = all::<Client>(&mut apps[0]);
    let world = apps[0].world_mut();
    world.resource_scope::<RenetServer, _>(|_, server| assert!(server.has_connections()));
    apps.iter_mut().for_each(App::update);
    assert_eq!(all::<Client>(&mut apps[0]), before);

    apps[0].world_mut().remove_resource::<RenetServer>();
    apps[1].world_mut().remove_resource::<RenetClient>();
    apps.iter_mut().for_each(App::update);
    let left = count::<Client>(&mut apps[0]) + count::<Server>(&mut apps[1]);
    assert_eq!((left, count::<Remote>(&mut apps[1])), (0, 0));
    let reason = ["the game has removed or replaced the connection"];
    assert_eq!(noted::<String>(&mut apps[0]), reason);
    assert_eq!(noted::<String>(&mut apps[1]), reason);

    let address = host(apps[0].world_mut());
    connect(apps[1].world_mut(), address, 2);
    connected(&mut apps);
    // Replacing the resources while connected ends the old connections.
    let address = host(apps[0].world_mut());
    connect(apps[1].world_mut(), address, 2);
    apps.iter_mut().for_each(App::update);
    assert_eq!(count::<Connected>(&mut apps[0]), 0);
    assert_eq!(count::<Connected>(&mut apps[1]), 0);
    connected(&mut apps);
    run(&mut apps, |apps| count::<Remote>(&mut apps[1]) == 3);
    assert_eq!(noted::<String>(&mut apps[0]), reason);
    assert_eq!(noted::<String>(&mut apps[1]), reason);
}

#[test]
fn what_is_flushed_is_sent_in_the_same_frame() {
    let (server, address) = hosting(0);
    let mut apps = [server, connecting(address, 1)];
    connected(&mut apps);
    // Once in a tick, and once in a frame without ticks.
    for is_paused in [false, true] {
        let world = apps[0].world_mut();
        if is_paused {
            world.resource_mut::<Time<Virtual>>().pause();
        }
        let text = Chat(format!("paused: {is_paused}"));
        world.write_message(ToClient::all(text.clone()));
        apps[0].update();
        let mut chats = Vec::new();
        run(&mut apps[1..], |apps| {
            chats.extend(taken::<FromServer<Chat>>(&mut apps[0]));
            !chats.is_empty()
        });
        assert_eq!(chats, [FromServer(text)]);
    }
}

#[test]
fn one_app_is_server_and_client() {
    let mut both = game((
        (RenetServerPlugin, NetcodeServerPlugin, ServerPlugin),
        (RenetClientPlugin, NetcodeClientPlugin, ClientPlugin),
    ));
    let address = host(both.world_mut());
    connect(both.world_mut(), address, 1);
    spawn_in(both.world_mut(), "crate", Vec3::ZERO, Health(5));
    run(&mut [both], |apps| count::<Remote>(&mut apps[0]) == 1);
}
