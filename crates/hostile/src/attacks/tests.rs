//! Each attack on the handshake succeeds against renetcode's server as it is: an attack that did nothing would
//! find no fault with any server.

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rand::SeedableRng;
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};

use super::*;
use crate::caller::{PROTOCOL_ID, since_1970};
use crate::newcomers::connect;
use crate::wire::{MAX_DATAGRAM_BYTES, STEP};

const KEY: [u8; 32] = [7; 32];

/// Serves as renetcode does, and sends 60 large payloads a second to every client.
fn serve(mut wire: Wire, should_stop: &AtomicBool) {
    let mut netcode = NetcodeServer::new(ServerConfig {
        current_time: since_1970(),
        max_clients: 16,
        protocol_id: PROTOCOL_ID,
        public_addresses: vec![wire.address().unwrap()],
        authentication: ServerAuthentication::Secure { private_key: KEY },
    });
    let mut last = Instant::now();
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    while !should_stop.load(Ordering::Relaxed) {
        while let Some((datagram, from)) = wire.receive(&mut buffer) {
            match netcode.process_packet(from, datagram) {
                ServerResult::PacketToSend { addr, payload }
                | ServerResult::ClientConnected { addr, payload, .. } => {
                    let payload = payload.to_vec();
                    wire.send(&payload, addr);
                }
                _ => {}
            }
        }
        if last.elapsed() < 16 * STEP {
            thread::sleep(STEP);
            continue;
        }
        netcode.update(std::mem::replace(&mut last, Instant::now()).elapsed());
        for id in netcode.clients_id() {
            if let Ok((to, datagram)) = netcode.generate_payload_packet(id, &[9; 1200]) {
                wire.send(datagram, to);
            }
            if let ServerResult::PacketToSend { addr, payload } = netcode.update_client(id) {
                wire.send(payload, addr);
            }
        }
    }
}

/// Attacks such a server for some seconds, and returns the outcome, and whether a viewer can connect then.
fn attacked(name: &str, seconds: u64) -> (Outcome, bool) {
    let wire = Wire::bind(Ipv4Addr::LOCALHOST).unwrap();
    let target = Target {
        server: wire.address().unwrap(),
        key: KEY,
    };
    let mut field = Field {
        target,
        is_alone: true,
        rate: 5000,
        random: ChaCha8Rng::seed_from_u64(1),
        captured: Captured::default(),
        as_viewer: Wire::bind(Ipv4Addr::LOCALHOST).unwrap(),
        progress: Arc::default(),
    };
    let should_stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| serve(wire, &should_stop));
        assert!(can_connect(&mut field));
        let attack = ATTACKS.iter().find(|attack| attack.name == name).unwrap();
        let until = Instant::now() + Duration::from_secs(seconds);
        let outcome = attack.run(&mut field, until).unwrap();
        let after = can_connect(&mut field);
        should_stop.store(true, Ordering::Relaxed);
        (outcome, after)
    })
}

fn can_connect(field: &mut Field) -> bool {
    let wire = Wire::bind(Ipv4Addr::LOCALHOST).unwrap();
    let (patience, random) = (Duration::from_secs(3), &mut field.random);
    let (caller, waited) = connect(field.target, wire, Duration::ZERO, patience, random);
    caller.leave();
    waited.is_some()
}

#[test]
fn half_open_connections_keep_newcomers_out() {
    let (outcome, can_connect) = attacked("half-open", 4);
    assert!(outcome.tally.sent > 4096, "{outcome:?}");
    assert!(!can_connect);
}

#[test]
fn a_second_token_from_the_same_address_is_refused() {
    let (outcome, can_connect) = attacked("second-token", 2);
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    assert!(can_connect);
}

#[test]
fn a_stolen_challenge_connects_a_victim() {
    let (outcome, _) = attacked("stolen-challenge", 3);
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    assert!(outcome.failures[0].contains("addresses that never answered"));
}

#[test]
fn junk_keeps_a_dead_viewer_connected() {
    let (outcome, _) = attacked("dead", 7);
    assert_eq!(outcome.failures.len(), 1, "{outcome:?}");
    assert!(outcome.failures[0].contains("silent but for junk"));
}
