//! Checks that each attack on the handshake succeeds against renetcode's unmodified server. Otherwise an attack
//! without effect would pass for any server.

use std::sync::Weak;
use std::thread;
use std::time::Duration;

use cubewire_bevy::udp::Key;
use rand::SeedableRng;
use renetcode::{NetcodeServer, ServerAuthentication, ServerConfig, ServerResult};

use super::*;
use crate::client::since_1970;
use crate::socket::{LOCALHOST, STEP, get};

const KEY: [u8; 32] = [7; 32];

/// Serves with renetcode while the test is running, and sends 60 large payloads a second to every client.
fn serve(mut socket: Socket, target: Target, test: &Weak<()>) {
    let mut netcode = NetcodeServer::new(ServerConfig {
        current_time: since_1970(),
        max_clients: 16,
        protocol_id: target.token(0, 1).protocol_id,
        public_addresses: vec![target.server],
        authentication: ServerAuthentication::Secure { private_key: KEY },
    });
    let mut last = Instant::now();
    while test.strong_count() > 0 {
        while let Some((mut datagram, from)) = socket.receive() {
            match netcode.process_packet(from, &mut datagram) {
                ServerResult::PacketToSend { addr, payload }
                | ServerResult::ClientConnected { addr, payload, .. } => {
                    socket.send(payload, addr);
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

/// Runs attacks on such a server in turns until each misses the limit of a count, if any, and `has_succeeded`.
#[test]
fn each_attack_on_the_handshake_succeeds_against_another_server() {
    type HasSucceeded = fn(&mut Field) -> bool;
    let attacks: [(&str, u64, Option<&str>, HasSucceeded); 4] = [
        ("half-open", 1, None, |field| !can_connect(field, Duration::from_secs(3))),
        ("second-token", 1, Some(LEFT_OUT), |field| can_connect(field, PATIENCE)),
        ("stolen-challenge", 3, Some(FORGED), |_| true),
        ("dead", 7, Some(SERVED), |_| true),
    ];
    thread::scope(|scope| {
        for (name, seconds, missed, has_succeeded) in attacks {
            scope.spawn(move || attacked(name, seconds, missed, has_succeeded));
        }
    });
}

fn attacked(name: &str, seconds: u64, missed: Option<&str>, has_succeeded: fn(&mut Field) -> bool) {
    let tally = Tally::default();
    let [socket, viewer] = [(); 2].map(|()| Socket::bind(LOCALHOST, &tally));
    let target = Target { server: socket.handle().local_addr().unwrap(), key: Key::new(KEY) };
    let random = ChaCha8Rng::seed_from_u64(1);
    let mut field = Field { rate: 5000, ..Field::new(target, &viewer, &tally, random) };
    thread::scope(|scope| {
        // Dropped if the test fails, too.
        let test = Arc::new(());
        let running = Arc::downgrade(&test);
        scope.spawn(move || serve(socket, target, &running));
        assert!(can_connect(&mut field, PATIENCE), "{name}");
        let attack = ATTACKS.iter().find(|attack| attack.name == name).unwrap();
        let succeeds = (0..MOST_TURNS).any(|_| {
            let until = Instant::now() + Duration::from_secs(seconds);
            let mut attacker = Field { tally: Tally::default(), ..field.clone() };
            let counts = attack.run(&mut attacker, until);
            println!("{counts:?}");
            let is_missed = |count: &str| {
                let mut limits = attack.limits.iter().filter(|limit| limit.count == count);
                limits.any(|limit| limit.bound.margin(get(&counts, count)) < 0.0)
            };
            missed.is_none_or(is_missed) && has_succeeded(&mut field)
        });
        assert!(succeeds, "{name}");
    });
}

/// Maximum number of turns of an attack, and time limit for a connection: enough for a busy machine.
const MOST_TURNS: usize = 30;
const PATIENCE: Duration = Duration::from_secs(180);

fn can_connect(field: &mut Field, patience: Duration) -> bool {
    let mut client = field.client(10);
    client.connect(patience, &mut field.random).is_some()
}
