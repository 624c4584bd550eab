//! Checks that each attack on the handshake succeeds against renetcode's unmodified server. Otherwise an attack
//! without effect would pass for any server.

use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;
use std::thread;

use cubewire_bevy::udp::Key;
use rand::SeedableRng;
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};

use super::*;
use crate::client::since_1970;
use crate::judge::of_attack;
use crate::socket::{MAX_DATAGRAM_BYTES, STEP};

const KEY: [u8; 32] = [7; 32];

/// Serves with renetcode, and sends 60 large payloads a second to every client.
fn serve(mut socket: Socket, target: Target, should_stop: &AtomicBool) {
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
        while let Some((datagram, from)) = socket.receive(&mut buffer) {
            match netcode.process_packet(from, datagram) {
                ServerResult::PacketToSend { addr, payload }
                | ServerResult::ClientConnected { addr, payload, .. } => {
                    let payload = payload.to_vec();
                    socket.send(&payload, addr);
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
                socket.send(datagram, to);
            }
            if let ServerResult::PacketToSend { addr, payload } = netcode.update_client(id) {
                socket.send(payload, addr);
            }
        }
    }
}

/// Runs an attack on such a server in turns of `seconds` until it misses the limit of a count, if any, and
/// `has_succeeded`.
fn attacked(
    name: &str,
    seconds: u64,
    missed: Option<&str>,
    has_succeeded: impl Fn(&mut Field) -> bool,
) {
    let tally = Tally::default();
    let [socket, viewer] = [(); 2].map(|()| Socket::bind(Ipv4Addr::LOCALHOST, &tally).unwrap());
    let target = Target { server: socket.address().unwrap(), key: Key::new(KEY) };
    let mut field = Field {
        target,
        rate: 5000,
        random: ChaCha8Rng::seed_from_u64(1),
        stages: [].into(),
        captured: Captured::default(),
        as_viewer: viewer.handle(),
        tally: Tally::default(),
        progress: Arc::default(),
    };
    let should_stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| serve(socket, target, &should_stop));
        let _stops = Stops(&should_stop);
        assert!(can_connect(&mut field, PATIENCE));
        let attack = ATTACKS.iter().find(|attack| attack.name == name).unwrap();
        let succeeds = (0..MOST_TURNS).any(|_| {
            let until = Instant::now() + Duration::from_secs(seconds);
            let counts = attack.run(&mut field, until).unwrap();
            println!("{counts:?}");
            let is_missed = |count: &str| {
                let all = of_attack(attack, &counts, true, "test");
                all.iter().any(|one| !one.is_met && one.sentence.contains(count))
            };
            missed.is_none_or(is_missed) && has_succeeded(&mut field)
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

/// Maximum number of turns of an attack, and time limit for a connection: enough for a busy machine.
const MOST_TURNS: usize = 30;
const PATIENCE: Duration = Duration::from_secs(180);

fn can_connect(field: &mut Field, patience: Duration) -> bool {
    let mut client = field.client(10).unwrap();
    let waited = client.connect_as_viewer(patience, &mut field.random);
    waited.is_some()
}

#[test]
fn half_open_connections_keep_newcomers_out() {
    attacked("half-open", 1, None, |field| !can_connect(field, Duration::from_secs(3)));
}

#[test]
fn a_second_token_from_the_same_address_is_refused() {
    attacked("second-token", 1, Some(LEFT_OUT), |field| can_connect(field, PATIENCE));
}

#[test]
fn a_stolen_challenge_connects_a_victim() {
    attacked("stolen-challenge", 3, Some(FORGED), |_| true);
}

#[test]
fn junk_keeps_a_dead_viewer_connected() {
    attacked("dead", 7, Some(SERVED), |_| true);
}
