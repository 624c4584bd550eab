//! Attacks in rounds: a second token, and a stolen challenge.

use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use renetcode::ConnectToken;

use super::Field;
use super::sessions::UNCOMPRESSED;
use crate::client::Client;
use crate::socket::{RECEIVED_BYTES, SENT_BYTES, STEP, Tally};

pub const LEFT_OUT: &str = "viewers not connected with their second token";

/// Sends a connection request, does not answer the challenge, and connects with another token from the same address.
/// This happens if a viewer restarts behind a router.
pub fn second_token(field: &mut Field, _: Instant) {
    let mut client = field.client(10);
    client.update();
    // Wait for the answers to the first request, and discard them.
    thread::sleep(Duration::from_millis(100));
    client.socket.drain();
    client.restart(field.random.random());
    let two_retries = Duration::from_millis(4500);
    field.tally.add("second tokens", 1.0);
    field.tally.add(LEFT_OUT, client.connect(two_retries, &mut field.random).is_none().into());
}

/// Amplification by [`stolen_challenge`].
pub const FORGED: &str = "bytes received at forged addresses per byte sent from them";

/// Connects in the name of an address that never answers. The attacker requests a challenge at its own address,
/// answers it with the victim's source address and then requests large snapshots for the victim. This program owns
/// both addresses, so it can count the victim's datagrams; the attack does not need this.
pub fn stolen_challenge(field: &mut Field, until: Instant) {
    let until = until.min(Instant::now() + Duration::from_secs(3));
    let [own_token, token] = [(); 2].map(|()| field.target.token(field.random.random(), 5));
    let own_key = own_token.server_to_client_key;
    let mut own = Client::new(field.peer(), field.target, own_token);
    // Decrypts with the key of the attacker's token and sends with the victim's address.
    let token = ConnectToken { server_to_client_key: own_key, ..token };
    let tally = Tally::default();
    let mut victim = Client::new(field.peer_counted_by(&tally), field.target, token);
    victim.update();
    own.update();
    relay_next(&mut own, &mut victim);
    // The victim's answer must arrive first: the challenge contains the attacker's id, which must not be connected
    // yet.
    victim.update();
    thread::sleep(5 * STEP);
    own.update();
    relay_next(&mut own, &mut victim);
    let mut turn = 0;
    while Instant::now() < until {
        own.step(usize::MAX);
        victim.update();
        turn += 1;
        if turn % 16 == 1 && victim.netcode.is_connected() {
            victim.request(UNCOMPRESSED);
        }
        victim.unreliable(field.ack(0, u32::MAX));
        victim.socket.drain();
        thread::sleep(16 * STEP);
    }
    drop(victim);
    let [received, sent] = [RECEIVED_BYTES, SENT_BYTES].map(|bytes| tally.get(bytes));
    field.tally.raise(FORGED, received / sent.max(1.0));
    tally.counts().into_iter().for_each(|(count, more)| field.tally.add(count, more));
}

/// Waits for a datagram at the attacker's address and passes it to both clients.
fn relay_next(own: &mut Client, victim: &mut Client) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(300) {
        if let Some((datagram, _)) = own.socket.receive() {
            for client in [own, victim] {
                client.netcode.process_packet(&mut datagram.clone());
            }
            return;
        }
        thread::sleep(STEP);
    }
}
