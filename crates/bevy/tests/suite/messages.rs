//! Inputs and messages.

use bevy_ecs::system::RunSystemOnce;
use cubewire_bevy::{FromClient, FromServer, ToClient, ToServer, connected};

use super::*;

/// Datagrams that come twice, late or not at all.
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
    net.add_client();
    net.run_until(|net| net.count::<Connected>(0) == 1);
    let mut received = Vec::new();
    for input in 0..312 {
        if input < 300 {
            let world = net.clients[0].world_mut();
            world.write_message(ToServer(Steer(input)));
        }
        net.tick();
        received.extend(taken::<FromClient<Steer>>(&mut net.server));
    }
    let client = client_entity(&mut net);
    assert!(received.iter().all(|input| input.client == client));
    let received: Vec<_> = received.into_iter().map(|input| input.message.0).collect();
    assert_eq!(received, (0..300).collect::<Vec<_>>());
}

#[test]
fn messages_go_both_ways_in_order() {
    let mut net = doubling(0.2);
    let (a, b) = (net.add_client(), net.add_client());
    net.run_until(|net| net.count::<Connected>(a) + net.count::<Connected>(b) == 2);
    let one = all::<Connected>(&mut net.server)[0];
    let mut chats = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..400 {
        let long = "long ".repeat(number * 7 % 900);
        let chat = Chat(format!("{number} {long}"));
        if number < 50 {
            let client = net.clients[a].world_mut();
            client.write_message(ToServer(chat.clone()));
            server(&mut net).write_message(ToClient::all(chat.clone()));
            server(&mut net).write_message(ToClient::one(one, chat));
        }
        net.tick();
        let received = taken::<FromClient<Chat>>(&mut net.server);
        chats[0].extend(received.into_iter().map(|it| it.message));
        for client in [a, b] {
            let received = taken::<FromServer<Chat>>(&mut net.clients[client]);
            chats[1 + client].extend(received.into_iter().map(|it| it.0));
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
        app.add_plugins((protocol, cubewire_bevy::ClientPlugin));
    }));
    net.clients[0].world_mut().write_message(ToServer(Steer(1)));
    net.ticks(3);
    let is_connected = net.clients[0].world_mut().run_system_once(connected);
    assert!(!is_connected.unwrap());
    net.reconnect(0);
}
