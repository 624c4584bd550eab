//! Message buffers without replication. Packets are passed by hand, because sockets would lose some fragments of a large datagram.

use bevy_renet::renet::{self, ChannelConfig, SendType};
use cubewire_bevy::game_renet::NoChannelLeft;
use cubewire_protocol::renet_guard::{MAX_RELIABLE_BYTES, MAX_UNRELIABLE_BYTES};

use super::*;

/// The apps of a server and of its client, which has id 1.
struct Pair([App; 2]);

impl Pair {
    fn new(plugins: [fn(&mut App); 2]) -> Self {
        let (config, transport) = config();
        let mut server = renet::RenetServer::new(config);
        let client = server.new_local_client(1);
        let mut apps = plugins.map(|plugins| {
            app(|app| {
                app.add_plugins((RenetServerPlugin, RenetClientPlugin, transport));
                plugins(app);
            })
        });
        apps.iter_mut().for_each(watch);
        apps[0].insert_resource(RenetServer(server));
        apps[1].insert_resource(RenetClient(client));
        let mut pair = Self(apps);
        pair.update();
        pair
    }

    /// A pair without replication.
    fn of_buffers() -> Self {
        Self::new([|_| {}, |_| {}])
    }

    /// Runs a frame of the server, then one of the client. Packets arrive at once. Returns the bytes of the server's packets
    /// including headers, without packets of type 4, which only carry acks.
    fn update(&mut self) -> usize {
        let [server, client] = &mut self.0;
        let mut bytes = 0;
        server.update();
        let mut to_client = client.world_mut().resource_mut::<RenetClient>();
        let mut from_server = server.world_mut().resource_mut::<RenetServer>();
        for packet in from_server.get_packets_to_send(1).unwrap_or_default() {
            if packet[0] != 4 {
                bytes += packet.len() + 28 + 25;
            }
            to_client.process_packet(&packet);
        }
        client.update();
        let mut from_client = client.world_mut().resource_mut::<RenetClient>();
        for packet in from_client.get_packets_to_send() {
            let mut to_server = server.world_mut().resource_mut::<RenetServer>();
            let _ = to_server.process_packet_from(&packet, 1);
        }
        bytes
    }

    fn buffer(&mut self, end: usize) -> Mut<'_, MessageBuffer> {
        let entity = all::<MessageBuffer>(&mut self.0[end])[0];
        self.0[end].world_mut().get_mut(entity).unwrap()
    }

    fn is_connected(&self) -> bool {
        self.0[0].world().resource::<RenetServer>().is_connected(1)
    }
}

fn pattern(length: usize) -> Vec<u8> {
    Chance(length as u64 + 1).bytes(length)
}

#[test]
fn long_messages_arrive_and_too_long_ones_are_dropped() {
    for from in [0, 1] {
        let mut pair = Pair::of_buffers();
        let outgoing = &mut pair.buffer(from).outgoing;
        let datagram = pattern(MAX_UNRELIABLE_BYTES);
        outgoing.datagrams =
            vec![datagram.clone(), pattern(MAX_UNRELIABLE_BYTES + 1), datagram.clone()];
        let messages = [MAX_RELIABLE_BYTES, MAX_RELIABLE_BYTES + 1, 0, 1];
        outgoing.messages = messages.map(pattern).to_vec();
        // The first frame only has room for the datagrams.
        (0..3).for_each(|_| _ = pair.update());
        let sent = pair.buffer(from).traffic.sent;
        let other = pair.buffer(1 - from);
        assert!(other.incoming.datagrams == [datagram.clone(), datagram]);
        let messages = [MAX_RELIABLE_BYTES, 0, 1].map(pattern);
        assert!(other.incoming.messages == messages);
        assert_eq!(other.traffic.received, sent);
        assert_eq!(sent.packets, 2 * 256);
        assert!(pair.is_connected());
    }
}

#[test]
fn messages_wait_in_the_buffer_until_they_may_be_sent() {
    let mut pair = Pair::of_buffers();
    let messages: Vec<_> = (0..20).map(|index| pattern(60_000 + index)).collect();
    pair.buffer(0).outgoing.messages = messages.clone();
    // At least one message is sent, even if it exceeds the allowance. All sent messages must fit into renet's buffer.
    for (allowance, left) in [(Some(0), 20), (Some(1), 19), (Some(100_000), 17), (None, 16)] {
        pair.buffer(0).reliable_allowance = allowance;
        pair.0[0].update();
        let buffer = pair.buffer(0);
        assert_eq!(buffer.outgoing.messages.len(), left, "{allowance:?}");
        assert_eq!(buffer.backlog_bytes, messages.iter().map(Vec::len).sum());
    }
    for _ in 0..20 {
        pair.update();
    }
    assert_eq!(pair.buffer(0).backlog_bytes, 0);
    assert!(pair.buffer(1).incoming.messages == messages);
}

#[test]
fn who_acks_nothing_is_given_up() {
    let mut pair = Pair::of_buffers();
    let messages = vec![pattern(60_000); 600];
    pair.buffer(0).outgoing.messages = messages.clone();
    pair.0[0].update();
    assert!(pair.is_connected());
    pair.buffer(0).outgoing.messages.extend(messages);
    pair.0[0].update();
    assert_eq!(count::<Client>(&mut pair.0[0]), 0);
    // The reason is sent for a second.
    (0..70).for_each(|_| pair.0[0].update());
    assert!(!pair.is_connected());
    let expected = "more than 64 MiB of reliable messages wait for the other end";
    assert_eq!(noted::<String>(&mut pair.0[0]), [expected]);
}

#[test]
fn a_server_that_is_replaced_with_the_same_client_begins_a_new_connection() {
    let mut pair = Pair::of_buffers();
    let before = all::<Client>(&mut pair.0[0]);
    let mut server = renet::RenetServer::new(config().0);
    let _client = server.new_local_client(1);
    pair.0[0].insert_resource(RenetServer(server));
    pair.0[0].update();
    let after = all::<Client>(&mut pair.0[0]);
    assert_eq!((before.len(), after.len()), (1, 1));
    assert_ne!(before, after);
    assert_eq!(noted::<String>(&mut pair.0[0]).len(), 1);
    assert!(pair.is_connected());
}

#[test]
fn garbage_ends_no_more_than_its_connection() {
    let mut chance = Chance(5);
    for round in 0..300_usize {
        // The client speaks renet but does not replicate.
        let mut pair = Pair::new([|app| _ = app.add_plugins((protocol, ServerPlugin)), |_| {}]);
        let length = chance.below(5_000);
        let bytes = chance.bytes(length);
        let is_session = bytes.first().is_none_or(|&first| first == cubewire_protocol::SESSION);
        let outgoing = &mut pair.buffer(1).outgoing;
        match round % 3 {
            0 => outgoing.messages.push(bytes),
            1 => outgoing.datagrams.push(bytes),
            _ => {
                // A message on a channel that does not exist.
                let mut server = pair.0[0].world_mut().resource_mut::<RenetServer>();
                server.process_packet_from(&[1, 1, 99, 0, 0], 1).unwrap();
            }
        }
        (0..2).for_each(|_| _ = pair.update());
        let expected: &[&str] = match round % 3 {
            0 if is_session => &["malformed message from the client"],
            0 => &["unexpected message from the client"],
            1 => &[],
            _ => &["received message with invalid channel 99"],
        };
        assert_eq!(noted::<String>(&mut pair.0[0]), expected);
        assert_eq!(count::<Client>(&mut pair.0[0]), usize::from(round % 3 == 1));
    }
}

#[test]
fn a_budget_holds_where_nothing_is_lost() {
    let mut pair = Pair::new([
        |app| _ = app.add_plugins((protocol, ServerPlugin)),
        |app| _ = app.add_plugins((protocol, ClientPlugin)),
    ]);
    let client = all::<Client>(&mut pair.0[0])[0];
    let world = pair.0[0].world_mut();
    let at = |x: i32| Vec3::new(x as f32, 1.0, 0.0);
    let bodies: Vec<_> = (0..60).map(|x| spawn_in(world, "crate", at(x), Health(1))).collect();
    world.entity_mut(client).insert(ByteBudget::kbps(64));
    let (mut sent, mut chats) = (Vec::new(), 0);
    for tick in 0..600 {
        let world = pair.0[0].world_mut();
        shake(world, &bodies, tick);
        world.write_message(ToClient::all(Chat("x".repeat(50))));
        sent.push(pair.update());
        chats += taken::<FromServer<Chat>>(&mut pair.0[1]).len();
    }
    // Skip the first second, which has packets from before the budget.
    let windows = sent[60..].windows(60);
    let most = windows.map(|second| second.iter().sum::<usize>()).max();
    assert!((5_000..=8_000).contains(&most.unwrap()), "{most:?}");
    assert!(chats > 100, "{chats} messages");
}

#[test]
fn channels_come_after_those_of_the_game() {
    let (config, _) = config();
    for channels in [&config.server_channels_config, &config.client_channels_config] {
        let ids: Vec<_> = channels.iter().map(|channel| channel.channel_id).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4]);
        assert!(matches!(channels[3].send_type, SendType::Unreliable));
        let is_ordered = matches!(channels[4].send_type, SendType::ReliableOrdered { .. });
        assert!(is_ordered);
    }
    assert_eq!(config.available_bytes_per_tick, 614_400);
    // The game has one channel, in one of the two lists only.
    for highest in [None, Some(0), Some(40), Some(253), Some(254), Some(255)] {
        let channel = highest.map(|channel_id| ChannelConfig {
            channel_id,
            max_memory_usage_bytes: 1,
            send_type: SendType::Unreliable,
        });
        let mut config = ConnectionConfig {
            available_bytes_per_tick: 1_000_000,
            server_channels_config: Vec::new(),
            client_channels_config: channel.into_iter().collect(),
        };
        let added = BevyRenet::add_channels(&mut config);
        if let Some(highest @ 254..) = highest {
            assert_eq!(added.unwrap_err(), NoChannelLeft { highest });
            continue;
        }
        added.unwrap();
        let ids = config.server_channels_config.iter();
        let ids: Vec<_> = ids.map(|channel| channel.channel_id).collect();
        let first = highest.map_or(0, |highest| highest + 1);
        assert_eq!(ids, [first, first + 1]);
        assert_eq!(config.available_bytes_per_tick, 1_000_000);
        // renet accepts the configuration.
        let _ = renet::RenetServer::new(config.clone()).new_local_client(1);
        let _ = RenetClient::new(config);
    }
}
