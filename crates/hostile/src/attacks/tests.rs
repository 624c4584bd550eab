//! Checks that each attack on the handshake succeeds against renetcode's unmodified server. Otherwise an attack
//! without effect would pass for any server.

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use cubewire_bevy::udp::Key;
use rand::SeedableRng;
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};

use super::*;
use crate::caller::since_1970;
use crate::newcomers::connect;
use crate::wire::{MAX_DATAGRAM_BYTES, STEP};

const KEY: [u8; 32] = [7; 32];

/// Serves with renetcode, and sends 60 large payloads a second to every client.
fn serve(mut wire: Wire, target: Target, should_stop: &AtomicBool) {
    let mut netcode = NetcodeServer::new(ServerConfig {
        current_time: since_1970(),
        max_clients: 16,
        protocol_id: target.token(0, 1).protocol_id,
        public_addresses: vec![target.server],
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

/// Runs an attack on such a server in turns of `seconds` until `has_succeeded`.
fn attacked(name: &str, seconds: u64, has_succeeded: impl Fn(&mut Field, &Outcome) -> bool) {
    let wire = Wire::bind(Ipv4Addr::LOCALHOST).unwrap();
    let target = Target {
        server: wire.address().unwrap(),
        key: Key::new(KEY),
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
        scope.spawn(|| serve(wire, target, &should_stop));
        let _stops = Stops(&should_stop);
        assert!(can_connect(&mut field, PATIENCE));
        let attack = ATTACKS.iter().find(|attack| attack.name == name).unwrap();
        let succeeds = (0..MOST_TURNS).any(|_| {
            let until = Instant::now() + Duration::from_secs(seconds);
            let outcome = attack.run(&mut field, until).unwrap();
            println!("{outcome:?}");
            has_succeeded(&mut field, &outcome)
        });
        assert!(succeeds);
    });
}

/// Ends the server on drop, so that it also ends if the test fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Maximum number of turns of an attack, enough for a busy machine.
const MOST_TURNS: usize = 30;

/// Time limit for a connection, enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

fn can_connect(field: &mut Field, patience: Duration) -> bool {
    let wire = Wire::bind(Ipv4Addr::LOCALHOST).unwrap();
    let random = &mut field.random;
    let (caller, waited) = connect(field.target, wire, Duration::ZERO, patience, random);
    caller.leave();
    waited.is_some()
}

/// Whether a failure contains the text.
fn says(outcome: &Outcome, what: &str) -> bool {
    outcome.failures.iter().any(|why| why.contains(what))
}

#[test]
fn half_open_connections_keep_newcomers_out() {
    attacked("half-open", 1, |field, _| {
        !can_connect(field, Duration::from_secs(3))
    });
}

#[test]
fn a_second_token_from_the_same_address_is_refused() {
    attacked("second-token", 1, |field, outcome| {
        says(outcome, "with a second token") && can_connect(field, PATIENCE)
    });
}

#[test]
fn a_stolen_challenge_connects_a_victim() {
    attacked("stolen-challenge", 3, |_, outcome| {
        says(outcome, "addresses that never answered")
    });
}

#[test]
fn junk_keeps_a_dead_viewer_connected() {
    attacked("dead", 7, |_, outcome| {
        says(outcome, "only invalid datagrams")
    });
}
