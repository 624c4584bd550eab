//! Harm that viewers and unauthenticated peers over UDP could do to others: occupy slots, use up the server's time,
//! or make the server send to a victim's address.

use std::net::UdpSocket;
use std::time::Duration;

use cubewire::replication::ConnectionStatus;
use cubewire_bevy::EncodeLimit;
use cubewire_protocol::{BaselineChoice, EncodeBudget, PROTOCOL_VERSION};

use crate::common::eventually;
use crate::rogue::{DELTA, connect_with};
use crate::udp::{
    TIMEOUT_SECONDS, address, agreeing, lanes, lost, sender, server, server_at_own_address, status,
    step, udp, viewer, wait_alone,
};

#[test]
fn junk_does_not_keep_a_dead_viewer_connected() {
    let mut game = server(1);
    let mut dead = connect_with(&mut game, &mut [], PROTOCOL_VERSION);
    dead.request(DELTA);
    step(&mut game, &mut [], 2);
    assert_eq!(lanes(&mut game).len(), 1);
    // Looks like a connection request that expires soon enough.
    let mut junk = vec![0; 1078];
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    junk[22..30].copy_from_slice(&(now.as_secs() + 30).to_le_bytes());
    for _ in 0..=TIMEOUT_SECONDS {
        dead.socket.send(&junk, address(&game));
        step(&mut game, &mut [], 60);
    }
    assert_eq!(udp(&game).connected(), 0);
    let mut newcomer = viewer(&game, "delta");
    step(&mut game, &mut [&mut newcomer], 60);
    assert_eq!(status(&newcomer), ConnectionStatus::Connected);
}

#[test]
fn where_encoding_takes_too_long_every_viewer_gets_less_and_is_told() {
    let mut game = server(8);
    let mut viewers = [(); 3].map(|()| viewer(&game, "predicted"));
    for viewer in &mut viewers {
        sender(viewer).baseline = BaselineChoice::Smallest;
    }
    step(&mut game, &mut viewers.each_mut(), 60);
    for viewer in &viewers {
        assert_eq!(viewer.connection().granted, None, "there is no limit yet");
    }
    // Far less than one snapshot takes.
    game.app.insert_resource(EncodeLimit(EncodeBudget::new(Duration::from_micros(50))));
    step(&mut game, &mut viewers.each_mut(), 120);
    let before = viewers.each_ref().map(|viewer| agreeing(&game, viewer));
    // The amount depends on the machine. Each viewer gets some, in similar amounts, and less than half.
    let mut ticks = 0;
    let received = loop {
        step(&mut game, &mut viewers.each_mut(), 60);
        ticks += 60;
        let now = viewers.each_ref().map(|viewer| agreeing(&game, viewer));
        let received = [0, 1, 2].map(|viewer| now[viewer] - before[viewer]);
        if received.iter().all(|&count| count >= 10) {
            break received;
        }
        assert!(ticks < 60_000, "{received:?}");
    };
    let (fewest, most) = (received.iter().min(), received.iter().max());
    let (fewest, most) = (*fewest.unwrap(), *most.unwrap());
    assert!(most < ticks / 2 && most <= 3 * fewest, "{received:?} of {ticks}");
    for viewer in &viewers {
        let granted = viewer.connection().granted.unwrap();
        assert_eq!(granted.baseline, BaselineChoice::Newest);
        assert!(granted.send_interval_ticks > 1);
    }
    // With enough time, everything is sent again.
    game.app.insert_resource(EncodeLimit(EncodeBudget::new(Duration::from_secs(1))));
    step(&mut game, &mut viewers.each_mut(), 120);
    for viewer in &viewers {
        assert_eq!(viewer.connection().granted, None);
        assert_eq!(viewer.meter().refused, 0);
    }
}

#[test]
fn a_restarted_server_is_not_taken_for_one_that_is_gone() {
    let mut game = server_at_own_address();
    let at = address(&game);
    let mut viewer = viewer(&game, "delta");
    step(&mut game, &mut [&mut viewer], 30);
    // The server ends without a disconnect.
    drop(game);
    wait_alone(&mut viewer, 1);
    let again = eventually("its address", || UdpSocket::bind(at).ok());
    wait_alone(&mut viewer, TIMEOUT_SECONDS + 1);
    drop(again);
    let why = lost(&viewer);
    assert!(why.contains("was restarted"), "{why}");
}
