//! The last messages of a connection, the reasons for its end, and long queues.

use bevy_app::{AppExit, Update};
use cubewire_bevy::disconnect;
use cubewire_bevy::transport::MAX_BACKLOG_BYTES;
use cubewire_bevy::udp::UdpHost;

use super::*;

fn lossy_and_watched(loss: f64, seed: u64) -> (TestNet, Entity) {
    let mut net = lossy(loss, seed);
    watch(&mut net.server);
    let client = connect_with(&mut net, watched);
    (net, client)
}

/// The server's end, or the client's.
const ENDS: [bool; 2] = [false, true];

/// An app of a network.
fn end(net: &mut TestNet, is_client: bool) -> &mut App {
    if is_client { &mut net.clients[0] } else { &mut net.server }
}

/// Messages that the client and the server have received.
type Heard = [usize; 2];

fn hear(apps: [&mut App; 2], heard: &mut Heard) {
    let [client, server] = apps;
    heard[0] += taken::<FromServer<Chat>>(client).len();
    heard[1] += taken::<FromClient<Chat>>(server).len();
}

/// Ends the connection at one end. Returns the other end's reason and the number of messages that have arrived until then.
fn reason_after(
    net: &mut TestNet,
    is_client: bool,
    end_it: impl FnOnce(&mut World, Entity),
) -> (String, Heard) {
    let app = end(net, is_client);
    let connection = all::<Connected>(app)[0];
    end_it(app.world_mut(), connection);
    let mut heard = [0; 2];
    net.run_until(|net| {
        hear([&mut net.clients[0], &mut net.server], &mut heard);
        count::<Connected>(end(net, !is_client)) == 0
    });
    hear([&mut net.clients[0], &mut net.server], &mut heard);
    (noted::<String>(end(net, !is_client)).join("; "), heard)
}

/// Number of entities with message buffers.
fn buffers(net: &mut TestNet) -> [usize; 2] {
    ENDS.map(|is_client| count::<MessageBuffer>(end(net, is_client)))
}

#[test]
fn the_last_messages_arrive_and_then_the_reason() {
    for (seed, loss) in [(1, 0.0), (2, 0.1), (3, 0.2)] {
        for is_client in ENDS {
            let (mut net, client) = lossy_and_watched(loss, seed);
            // In the same frame as the end of the connection.
            server(&mut net).write_message(ToClient::one(client, Chat("banned".into())));
            server(&mut net).write_message(ToClient::all(Chat("somebody is banned".into())));
            net.clients[0].world_mut().write_message(ToServer(Chat("bye".into())));
            let (reason, heard) = reason_after(&mut net, is_client, |world, connection| {
                disconnect(world, connection, "cheating");
                assert!(world.get_entity(connection).is_err());
            });
            let expected = if is_client { "the client has left: cheating" } else { "cheating" };
            assert_eq!(reason, expected);
            assert_eq!(noted::<String>(end(&mut net, is_client)), ["cheating"]);
            let (to_client, to_server) = if is_client { (0, 1) } else { (2, 0) };
            assert!(
                heard[0] >= to_client && heard[1] >= to_server,
                "{heard:?} with a loss of {loss}"
            );
            // Both ends forget the connection at the latest after a second.
            net.ticks(70);
            assert_eq!(buffers(&mut net), [0, 0]);
        }
    }
}

#[test]
fn a_despawned_connection_ends_without_a_reason() {
    for is_client in ENDS {
        let (mut net, client) = lossy_and_watched(0.0, 1);
        server(&mut net).write_message(ToClient::one(client, Chat("bye".into())));
        let (reason, heard) =
            reason_after(&mut net, is_client, |world, connection| _ = world.despawn(connection));
        assert_eq!(reason, "the other end has left");
        assert!(noted::<String>(end(&mut net, is_client)).is_empty());
        assert_eq!(heard[0], usize::from(!is_client));
        net.ticks(2);
        assert_eq!(buffers(&mut net), [0, 0]);
    }
}

/// The other end does not answer.
#[test]
fn a_farewell_takes_at_most_a_second() {
    for is_client in ENDS {
        let (mut net, _) = lossy_and_watched(0.0, 1);
        net.set_conditions(&Conditions { loss: Loss::bursts(1.0, 1.0), ..Conditions::PERFECT });
        let app = end(&mut net, is_client);
        let connection = all::<Connected>(app)[0];
        disconnect(app.world_mut(), connection, "bye");
        net.ticks(30);
        assert_eq!(count::<MessageBuffer>(end(&mut net, is_client)), 1);
        net.ticks(35);
        assert_eq!(buffers(&mut net), [0, 0]);
    }
}

/// A server and a connected client, which is watched.
fn over_udp() -> [App; 2] {
    let (listener, address) = udp::listen(Key::LOOPBACK);
    let mut apps = [udp::serving(listener), udp::client(Key::LOOPBACK, address, 1)];
    watch(&mut apps[1]);
    udp::run(&mut apps, |apps| apps.iter_mut().all(|app| count::<Connected>(app) == 1));
    apps
}

#[test]
fn over_udp_the_last_message_and_the_end_arrive_in_one_frame() {
    for frames_between in [0, 1, 2] {
        let mut apps = over_udp();
        let connection = all::<Client>(&mut apps[0])[0];
        let world = apps[0].world_mut();
        world.write_message(ToClient::one(connection, Chat("banned".into())));
        apps[0].update();
        let mut heard = [0; 2];
        let [server, client] = &mut apps;
        for _ in 0..frames_between {
            client.update();
            hear([client, server], &mut heard);
        }
        disconnect(apps[0].world_mut(), connection, "cheating");
        // The server has sent everything before the client reads.
        apps[0].update();
        udp::run(&mut apps, |apps| {
            heard[0] += taken::<FromServer<Chat>>(&mut apps[1]).len();
            count::<Connected>(&mut apps[1]) == 0
        });
        assert_eq!(heard, [1, 0], "{frames_between}");
        assert_eq!(noted::<String>(&mut apps[1]), ["cheating"]);
        udp::run(&mut apps, |apps| apps.iter_mut().all(|app| count::<MessageBuffer>(app) == 0));
        assert_eq!(apps[0].world().resource::<UdpHost>().connected(), 0);
    }
}

#[test]
fn megabytes_of_messages_at_once_arrive() {
    for (messages, bytes) in [(20_000, 100), (200, 50_000)] {
        let mut net = TestNet::new(protocol);
        let client = connect_with(&mut net, watched);
        for _ in 0..messages {
            server(&mut net).write_message(ToClient::all(Chat("x".repeat(bytes))));
        }
        net.tick();
        let backlog = at_server::<MessageBuffer>(&net, client).backlog_bytes;
        assert!(
            (messages * bytes * 9 / 10..messages * (bytes + 20)).contains(&backlog),
            "{backlog}"
        );
        let mut heard = 0;
        net.run_until(|net| {
            heard += taken::<FromServer<Chat>>(&mut net.clients[0]).len();
            heard == messages
        });
        assert_eq!(noted::<String>(&mut net.clients[0]), [""; 0]);
    }
}

#[test]
fn both_ends_learn_that_too_many_messages_wait() {
    let text = "x".repeat(60_000);
    for is_client in ENDS {
        let (mut net, client) = lossy_and_watched(0.0, 1);
        let (reason, _) = reason_after(&mut net, is_client, |world, _| {
            for _ in 0..=MAX_BACKLOG_BYTES / text.len() {
                match is_client {
                    true => _ = world.write_message(ToServer(Chat(text.clone()))),
                    false => _ = world.write_message(ToClient::one(client, Chat(text.clone()))),
                }
            }
        });
        let expected = "more than 64 MiB of reliable messages wait for the other end";
        assert!(reason.ends_with(expected), "{reason}");
        assert_eq!(noted::<String>(end(&mut net, is_client)), [expected]);
    }
}

/// The reason of a modified client, which goes to the log.
#[test]
fn a_long_reason_is_cut_to_one_line() {
    let (mut net, _) = lossy_and_watched(0.0, 1);
    let (reason, _) = reason_after(&mut net, true, |world, connection| {
        disconnect(world, connection, format!("bored\n{}", "x".repeat(50_000)));
    });
    assert!(reason.starts_with("the client has left: bored xxx") && reason.len() < 1_100);
    let (mut net, _) = lossy_and_watched(0.0, 1);
    let (reason, _) = reason_after(&mut net, false, |world, connection| {
        disconnect(world, connection, "é".repeat(70_000));
    });
    assert_eq!(reason, "é".repeat(1_000));
}

/// The last messages are sent although a tick has flushed in this frame.
#[test]
fn a_server_that_exits_says_why() {
    let [server, client] = &mut over_udp();
    server.add_systems(Update, |world: &mut World| {
        let mut clients = world.query_filtered::<Entity, With<Connected>>();
        for client in clients.iter(world).collect::<Vec<_>>() {
            disconnect(world, client, "the server restarts");
        }
        world.write_message(AppExit::Success);
    });
    server.update();
    udp::run(std::slice::from_mut(client), |apps| count::<Connected>(&mut apps[0]) == 0);
    assert_eq!(noted::<String>(client), ["the server restarts"]);
}

#[test]
fn an_observer_can_end_the_connection_again() {
    let (mut net, _) = lossy_and_watched(0.0, 1);
    net.server.add_observer(|ended: On<Disconnected>, mut commands: Commands| {
        let (entity, reason) = (ended.entity, ended.reason.clone());
        commands.queue(move |world: &mut World| disconnect(world, entity, reason));
    });
    let (reason, _) = reason_after(&mut net, false, |world, connection| {
        disconnect(world, connection, "over");
    });
    assert_eq!((reason, noted::<String>(&mut net.server)), ("over".into(), vec!["over".into()]));
}
