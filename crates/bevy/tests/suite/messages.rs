//! Inputs and messages.

use bevy_ecs::system::RunSystemOnce;
use cubewire_bevy::{MAX_TO_CLIENT_BYTES, MAX_TO_SERVER_BYTES};

use super::*;

/// A network that duplicates, delays and loses datagrams.
fn doubling(loss: f64) -> TestNet {
    let conditions = Conditions {
        loss: Loss::bursts(loss, 1.0),
        latency: Duration::from_millis(40),
        duplicate_probability: 0.2,
        ..Conditions::PERFECT
    };
    TestNet::with_conditions(protocol, conditions, 9)
}

#[test]
fn inputs_arrive_once_and_in_order_whatever_is_lost_and_doubled() {
    let mut net = doubling(0.25);
    let client = connect(&mut net);
    let mut received = Vec::new();
    for input in 0..312 {
        if input < 300 {
            let world = net.clients[0].world_mut();
            world.write_message(ToServer(Steer(input)));
        }
        net.tick();
        received.extend(taken::<FromClient<Steer>>(&mut net.server));
    }
    assert!(received.iter().all(|input| input.client == client));
    assert!(received.into_iter().map(|input| input.message.0).eq(0..300));
}

#[test]
fn messages_go_both_ways_in_order() {
    let mut net = doubling(0.2);
    let one = connect_all(&mut net, 2)[0];
    let mut chats = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..400 {
        let long = "long ".repeat(number * 7 % 900);
        let chat = Chat(format!("{number} {long}"));
        if number < 50 {
            let client = net.clients[0].world_mut();
            client.write_message(ToServer(chat.clone()));
            server(&mut net).write_message(ToClient::all(chat.clone()));
            server(&mut net).write_message(ToClient::one(one, chat));
        }
        net.tick();
        let received = taken::<FromClient<Chat>>(&mut net.server);
        chats[0].extend(received.into_iter().map(|it| it.message));
        for (client, chats) in net.clients.iter_mut().zip(&mut chats[1..]) {
            chats.extend(taken::<FromServer<Chat>>(client).into_iter().map(|it| it.0));
        }
    }
    let mut counts = chats.each_ref().map(Vec::len);
    counts[1..].sort_unstable();
    assert_eq!(counts, [50, 50, 100]);
    for chats in chats {
        let number = |chat: &Chat| chat.0.split(' ').next().unwrap().parse::<u32>().unwrap();
        assert!(chats.is_sorted_by_key(number));
    }
}

#[test]
fn what_is_written_without_a_connection_is_dropped() {
    let mut net = TestNet::new(protocol);
    net.clients.push(cubewire_bevy::testing::app(|app| {
        app.add_plugins((protocol, ClientPlugin));
    }));
    net.clients[0].world_mut().write_message(ToServer(Steer(1)));
    net.ticks(3);
    let is_connected = net.clients[0].world_mut().run_system_once(connected);
    assert!(!is_connected.unwrap());
    net.reconnect(0);
}

/// A server with two connected clients.
fn two_clients(protocol: fn(&mut App)) -> TestNet {
    let mut net = TestNet::new(protocol);
    connect_all(&mut net, 2);
    net
}

fn connected_clients(net: &mut TestNet) -> usize {
    net.count::<Connected>(0) + net.count::<Connected>(1)
}

#[test]
fn a_message_that_is_too_long_is_dropped_and_disconnects_nobody() {
    let mut net = two_clients(protocol);
    // Length of a text that makes the longest message a client can send.
    let most = MAX_TO_SERVER_BYTES - 3;
    let mut relayed = 0;
    for length in [65_525, most + 1, most, 5] {
        let chat = Chat("x".repeat(length));
        net.clients[0].world_mut().write_message(ToServer(chat));
        for _ in 0..60 {
            for FromClient { message: Chat(text), .. } in taken(&mut net.server) {
                let line = Chat(format!("player {}: {text}", "1".repeat(100)));
                server(&mut net).write_message(ToClient::all(line));
            }
            net.tick();
            relayed += taken::<FromServer<Chat>>(&mut net.clients[1]).len();
        }
    }
    assert_eq!((relayed, connected_clients(&mut net)), (2, 2));
    for length in [MAX_TO_CLIENT_BYTES - 2, MAX_TO_CLIENT_BYTES - 3] {
        server(&mut net).write_message(ToClient::all(Chat("x".repeat(length))));
    }
    let received = (0..60).map(|_| {
        net.tick();
        taken::<FromServer<Chat>>(&mut net.clients[1]).len()
    });
    assert_eq!(received.sum::<usize>(), 1);
    assert_eq!(connected_clients(&mut net), 2);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Expression {
    Leaf,
    Not(Box<Self>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Units(Vec<()>);

fn recursive(app: &mut App) {
    protocol(app);
    app.add_message_to_server::<Expression>().add_message_to_server::<Units>();
}

fn nested(levels: usize) -> Expression {
    (1..levels).fold(Expression::Leaf, |value, _| Expression::Not(Box::new(value)))
}

/// A modified client may send messages that the library would not send.
#[test]
fn messages_beyond_the_limits_are_dropped_or_end_only_their_connection() {
    // Channels are sorted by type name. Chat is channel 0.
    let varint = |length: usize| postcard::to_allocvec(&length).unwrap();
    let too_long = postcard::to_allocvec(&Chat("x".repeat(MAX_TO_SERVER_BYTES))).unwrap();
    let ten_billion = varint(10_000_000_000);
    let too_deep = [1; 60_000];
    for (channel, bytes, connected) in
        [(0, &too_long[..], 1), (1, &too_deep[..], 0), (2, &ten_billion[..], 0)]
    {
        let mut net = two_clients(recursive);
        let connection = all::<Connected>(&mut net.clients[0])[0];
        let world = net.clients[0].world_mut();
        let mut buffer = world.get_mut::<MessageBuffer>(connection).unwrap();
        let message = [&[0, channel][..], &varint(bytes.len()), bytes].concat();
        buffer.outgoing.messages.push(message);
        net.run_until(|net| net.count::<Connected>(0) == connected);
        net.ticks(60);
        assert_eq!(taken::<FromClient<Chat>>(&mut net.server).len(), 0);
        assert_eq!([0, 1].map(|client| net.count::<Connected>(client)), [connected, 1]);
    }
}

#[test]
fn values_that_would_not_be_read_are_not_sent() {
    let mut net = two_clients(recursive);
    let (mut expressions, mut units) = (Vec::new(), 0);
    for levels in [64, 65, 3] {
        let client = net.clients[0].world_mut();
        client.write_message(ToServer(nested(levels)));
        client.write_message(ToServer(Units(vec![(); levels])));
        client.write_message(ToServer(Units(vec![()])));
        for _ in 0..10 {
            net.tick();
            let received = taken::<FromClient<Expression>>(&mut net.server);
            expressions.extend(received.into_iter().map(|it| it.message));
            units += taken::<FromClient<Units>>(&mut net.server).len();
        }
    }
    assert_eq!(expressions, [nested(64), nested(3)]);
    assert_eq!(units, 3);
    assert_eq!(connected_clients(&mut net), 2);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sketch(u32, Vec<u8>);

#[test]
fn long_inputs_arrive_and_delay_no_acks() {
    for bytes in [20_000, 45_000] {
        let mut net = TestNet::new(|app| {
            protocol(app);
            app.add_input::<Sketch>();
        });
        let client = connect(&mut net);
        let mut received = Vec::new();
        let (mut oldest, mut steers) = (0, 0);
        for number in 0..310 {
            if number < 300 {
                let world = net.clients[0].world_mut();
                world.write_message(ToServer(Sketch(number, vec![7; bytes])));
                world.write_message(ToServer(Steer(number as i32)));
            }
            net.tick();
            let sketches = taken::<FromClient<Sketch>>(&mut net.server);
            received.extend(sketches.into_iter().map(|it| it.message.0));
            steers += taken::<FromClient<Steer>>(&mut net.server).len();
            if number > 30 {
                let acked = snapshot_sender(&net, client).newest_acked().unwrap();
                oldest = oldest.max(stats(&net).tick - acked);
            }
        }
        assert_eq!(received, (0..300).collect::<Vec<_>>());
        assert_eq!(steers, 300);
        assert!(oldest < 5, "{oldest} ticks without an ack");
    }
}

/// A modified client sends as many inputs as datagrams hold.
#[test]
fn a_frame_has_a_bounded_number_of_inputs() {
    let mut net = two_clients(protocol);
    let connection = all::<Connected>(&mut net.clients[0])[0];
    let steer = postcard::to_allocvec(&Steer(1)).unwrap();
    for datagram in 0..20_u64 {
        let run = |run: u64| (3_u8, 0_u8, 8 * (100 * datagram + run + 1), vec![&*steer; 8]);
        let runs = (0..100).flat_map(|number| postcard::to_allocvec(&run(number)).unwrap());
        let upstream = runs.collect();
        let world = net.clients[0].world_mut();
        let mut buffer = world.get_mut::<MessageBuffer>(connection).unwrap();
        buffer.outgoing.datagrams.push(upstream);
    }
    net.tick();
    net.server.update();
    assert_eq!(taken::<FromClient<Steer>>(&mut net.server).len(), 4_096);
    assert_eq!(connected_clients(&mut net), 2);
}

/// A file name that is not UTF-8, which serde refuses to serialize.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LoadMap(std::path::PathBuf);

#[cfg(unix)]
fn odd_path() -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(vec![b'a', 0xff]).into()
}

/// postcard can serialize it but not deserialize it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Order {
    Move { to: i32 },
}

#[cfg(unix)]
#[test]
fn messages_that_cannot_be_sent_disconnect_nobody() {
    let mut net = two_clients(|app| {
        protocol(app);
        app.add_message_to_client::<LoadMap>()
            .add_message_to_server::<LoadMap>()
            .add_message_to_client::<Order>()
            .add_message_to_server::<Order>();
    });
    let (mut to_server, mut to_client, mut orders) = (0, Vec::new(), 0);
    for path in [odd_path(), "a".into()] {
        server(&mut net).write_message(ToClient::all(LoadMap(path.clone())));
        net.clients[0].world_mut().write_message(ToServer(LoadMap(path)));
        server(&mut net).write_message(ToClient::all(Order::Move { to: 3 }));
        net.clients[0].world_mut().write_message(ToServer(Order::Move { to: 3 }));
        for _ in 0..10 {
            net.tick();
            to_server += taken::<FromClient<LoadMap>>(&mut net.server).len();
            to_client.extend(taken::<FromServer<LoadMap>>(&mut net.clients[1]));
            orders += taken::<FromServer<Order>>(&mut net.clients[1]).len();
        }
    }
    assert_eq!((to_server, orders), (1, 0));
    assert_eq!(to_client, [FromServer(LoadMap("a".into()))]);
    assert_eq!(connected_clients(&mut net), 2);
}
