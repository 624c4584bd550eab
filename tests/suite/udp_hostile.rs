//! Hostile peers over UDP, clients and servers, with a key and without.

use std::time::Duration;

use bevy::prelude::*;
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::HeadlessGame;
use cubewire::replication::ConnectionStatus;
use cubewire_bevy::MessageBuffer;
use cubewire_bevy::udp::UdpConnection;
use cubewire_codec::{BodyState, Fingerprint, Plan, Snapshot, ladder};
use cubewire_hostile::client::Client;
use cubewire_protocol::{
    ClientMessage, Contract, PROTOCOL_VERSION, RateControl, Request, ServerConnection,
    ServerMessage, Settings,
};
use rand::{Rng, RngExt};

use crate::common::{eventually, random};
use crate::rogue::{DELTA, ack, attacked, connect, connect_with, with};
use crate::udp::{
    Relay, address, admitted, lanes, lost, server, status, step, udp, viewer, viewer_at,
};

fn bytes(random: &mut impl Rng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; random.random_range(0..=most)];
    random.fill_bytes(&mut bytes);
    bytes
}

#[test]
fn who_sends_garbage_is_sent_away_and_nothing_else_changes() {
    attacked(|game, bystander| {
        let wild = Settings { send_interval_ticks: 7, ..DELTA };
        let small = Settings { budget_kbps: Some(15), ..DELTA };
        let [wild, small] = [wild, small]
            .map(|settings| ClientMessage::Request(Request { number: 1, settings }).encode());
        let many = [&[0, 0, 1, 0, 100][..], &[0; 200]].concat();
        type Say = fn(&mut Client, &[u8]);
        let garbage: [(&str, Say, &[u8]); 5] = [
            ("a hundred empty messages", Client::say, &many),
            ("a packet of no kind", Client::say, &[16, 1, 0, 0]),
            ("an empty packet", Client::say, &[]),
            ("a slice past the end", Client::say, &[3, 0, 0, 7, 3, 2, 1, 9]),
            ("an invalid request", Client::reliable, &[0, 1, 2]),
        ];
        for (what, say, bytes) in garbage {
            let mut rogue = connect(game, bystander);
            say(&mut rogue, bytes);
            step(game, &mut [bystander], 3);
            assert_eq!(udp(game).connected(), 1, "{what}");
        }
        // Requests that cannot be granted are declined, and a few malformed acks are ignored.
        let mut rogue = connect(game, bystander);
        for request in [&wild, &small] {
            rogue.reliable(request);
            step(game, &mut [bystander], 3);
            assert_eq!((udp(game).connected(), lanes(game).len()), (2, 1));
        }
        rogue.unreliable(vec![0; 20_000]);
        rogue.request(DELTA);
        step(game, &mut [bystander], 2);
        rogue.unreliable(vec![77, 1, 2]);
        rogue.unreliable(vec![0; 7]);
        step(game, &mut [bystander], 3);
        assert_eq!(lanes(game).len(), 2);
        // Too many acks of snapshots that were never sent end the connection.
        let tick = game.cubes().tick();
        (100..115).for_each(|ahead| ack(&mut rogue, tick + ahead));
        step(game, &mut [bystander], 3);
        assert_eq!(udp(game).connected(), 1);
    });
}

#[test]
fn another_version_is_told_so_and_gets_no_snapshots() {
    let mut game = server(8);
    let mut rogue = connect_with(&mut game, &mut [], PROTOCOL_VERSION + 1);
    rogue.request(DELTA);
    step(&mut game, &mut [], 3);
    assert_eq!((lanes(&mut game).len(), udp(&game).connected(), admitted(&game)), (0, 0, 0));
}

#[test]
fn two_requests_in_one_frame_end_with_the_second() {
    let mut game = server(8);
    let mut rogue = connect_with(&mut game, &mut [], PROTOCOL_VERSION);
    for _ in 0..3 {
        rogue.request(DELTA);
        rogue.request(with(ladder::POSITION.stages));
        step(&mut game, &mut [], 1);
    }
    assert_eq!(lanes(&mut game)[0].1.stages, ladder::POSITION.stages);
}

/// Returns a server, and a viewer that is connected to it and was not welcomed yet.
fn unwelcomed() -> (HeadlessGame, HeadlessViewer) {
    let mut game = server(1);
    let mut viewer = viewer(&game, "delta");
    eventually("a connection", || {
        step(&mut game, &mut [&mut viewer], 1);
        let world = viewer.app.world_mut();
        let mut buffers = world.query_filtered::<(), (With<MessageBuffer>, With<UdpConnection>)>();
        buffers.single(world).ok()
    });
    assert_eq!(status(&viewer), ConnectionStatus::Connecting);
    (game, viewer)
}

/// The viewer receives a message from its server.
fn hear(viewer: &mut HeadlessViewer, message: Vec<u8>) {
    let world = viewer.app.world_mut();
    let mut buffers = world.query_filtered::<&mut MessageBuffer, With<UdpConnection>>();
    buffers.single_mut(world).unwrap().incoming.messages.push(message);
    viewer.app.update();
}

/// The welcome of a server with this number of cubes and seats.
fn welcome(cubes: usize, seats: u8) -> Vec<u8> {
    let contract = Contract::new(Plan::cubes().with_seats(seats).unwrap(), String::new());
    let hello = ClientMessage::Hello(contract.hello()).encode();
    let initial = Snapshot { bodies: vec![BodyState::default(); cubes] };
    let mut server = ServerConnection::new(contract.into(), RateControl::Off, Duration::ZERO);
    server.on_message(&hello).unwrap();
    server.welcome(Duration::ZERO, 5, &initial).unwrap();
    server.poll_message().unwrap()
}

#[test]
fn a_viewer_says_what_is_wrong_with_its_server() {
    let damaged = ServerMessage::Welcome {
        tick: 5,
        fingerprint: Fingerprint::shipped(),
        seats: 1,
        initial: vec![0; 20].into(),
    };
    for (message, why) in [
        (ServerMessage::Refused("it is full").encode(), "ended: it is full"),
        (damaged.encode(), "invalid initial state in the welcome"),
        (welcome(900, 1), "has 900 cubes, but this program has 901"),
        (welcome(901, 2), "has 901 cubes, but this program has 902"),
        (welcome(904, 3), "has 904 cubes, but this program has 903"),
        (welcome(901, 1)[..20_000].to_vec(), "malformed message from the server"),
        (ServerMessage::Tick(9).encode(), "unexpected message from the server"),
    ] {
        // The server is not stepped any more, and disconnects the viewer when it is dropped.
        let (_server, mut viewer) = unwelcomed();
        hear(&mut viewer, message);
        assert!(lost(&viewer).contains(why), "{}", lost(&viewer));
    }
}

#[test]
fn a_viewer_ignores_invalid_datagrams() {
    let mut game = server(1);
    let mut relay = Relay::new(address(&game));
    let mut viewer = viewer_at(relay.address(), "delta");
    for _ in 0..60 {
        relay.step(&mut game, &mut viewer);
    }
    let mut random = random();
    for _ in 0..2_000 {
        relay.front.send_to(&bytes(&mut random, 40), relay.viewer.unwrap()).unwrap();
        if random.random_bool(0.1) {
            relay.step(&mut game, &mut viewer);
        }
    }
    assert_eq!(status(&viewer), ConnectionStatus::Connected);
}
