//! Attacks in rounds: a second token, a stolen challenge, and viewers that die.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use renetcode::ConnectToken;

use super::datagrams::fake_request;
use super::sessions::uncompressed;
use super::{Counts, Field, add, is_over};
use crate::client::Client;
use crate::socket::{
    MAX_DATAGRAM_BYTES, NONCES, RECEIVED_BYTES, REPEATED, SENT_BYTES, STEP, Socket, Tally,
    random_address,
};
use crate::viewer::request;

pub(super) const LEFT_OUT: &str = "viewers not connected with their second token";

/// Sends a connection request, does not answer the challenge, and connects with another token from the same address.
/// This happens if a viewer restarts behind a router.
pub(super) fn second_token(field: &mut Field, counts: &mut Counts, _: Instant) -> io::Result<()> {
    let mut client = field.client(10)?;
    client.update();
    // Wait for the answers to the first request, and discard them.
    thread::sleep(Duration::from_millis(100));
    client.socket.drain();
    client.restart(field.random.random());
    let waited = client.connect_as_viewer(TWO_RETRIES, &mut field.random);
    add(counts, "viewers connected with their second token", waited.is_some());
    add(counts, LEFT_OUT, waited.is_none());
    Ok(())
}

const TWO_RETRIES: Duration = Duration::from_millis(4500);

/// Amplification by [`stolen_challenge`].
pub(super) const FORGED: &str = "bytes received at forged addresses per byte sent from them";

/// Connects in the name of an address that never answers. The attacker requests a challenge at its own address,
/// answers it with the victim's source address and then requests large snapshots for the victim. This program owns
/// both addresses, so it can count the victim's datagrams; the attack does not need this.
pub(super) fn stolen_challenge(
    field: &mut Field,
    counts: &mut Counts,
    until: Instant,
) -> io::Result<()> {
    let until = until.min(Instant::now() + STOLEN_ROUND);
    let [own_token, token] = [(); 2].map(|()| field.target.token(field.random.random(), 5));
    let own_key = own_token.server_to_client_key;
    let mut own = Client::new(field.peer()?, field.target, own_token);
    // Decrypts with the key of the attacker's token and sends with the victim's address.
    let token = ConnectToken { server_to_client_key: own_key, ..token };
    let tally = Tally::default();
    let socket = Socket::bind(random_address(&mut field.random), &tally)?;
    let mut victim = Client::new(socket, field.target, token);
    victim.update();
    own.update();
    relay_next(&mut own, &mut victim);
    // The victim's answer must arrive first: the challenge contains the attacker's id, which must not be connected
    // yet.
    victim.update();
    thread::sleep(5 * STEP);
    own.update();
    relay_next(&mut own, &mut victim);
    for turn in 0.. {
        if is_over(until) {
            break;
        }
        own.step(usize::MAX);
        victim.update();
        if turn % 16 == 0 && victim.is_connected() {
            victim.request(&uncompressed());
        }
        victim.feedback(&field.ack(0, u32::MAX));
        victim.socket.drain();
        thread::sleep(16 * STEP);
    }
    drop(victim);
    for counter in [SENT_BYTES, RECEIVED_BYTES, NONCES, REPEATED] {
        field.tally.add(counter, tally.get(counter) as usize);
    }
    let factor = tally.get(RECEIVED_BYTES) / tally.get(SENT_BYTES).max(1.0);
    raise(counts, FORGED, factor);
    Ok(())
}

const STOLEN_ROUND: Duration = Duration::from_secs(3);

/// Waits for a datagram at the attacker's address and passes it to both clients.
fn relay_next(own: &mut Client, victim: &mut Client) {
    let start = Instant::now();
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    while start.elapsed() < Duration::from_millis(300) {
        if let Some((datagram, _)) = own.socket.receive(&mut buffer) {
            own.hear(datagram);
            victim.hear(datagram);
            return;
        }
        thread::sleep(STEP);
    }
}

pub(super) const DIED: &str = "viewers that died";
pub(super) const SERVED: &str = "seconds until the server stopped sending to a dead viewer";

/// Connects, stops answering, and sends junk that looks like a connection request. Measures how long the server
/// keeps sending. Its timeout is 2 s.
pub(super) fn dead(field: &mut Field, counts: &mut Counts, until: Instant) -> io::Result<()> {
    if Instant::now() + DEAD_ROUND > until {
        // A round that cannot finish gives no result.
        thread::sleep(until.saturating_duration_since(Instant::now()));
        return Ok(());
    }
    let mut clients = Vec::new();
    for _ in 0..3 {
        let mut client = field.client(2)?;
        if client.connect(Duration::from_millis(500)) {
            live(field, &mut client);
            add(counts, DIED, true);
            clients.push(client);
        }
    }
    let start = Instant::now();
    let mut junk_due = start;
    while start.elapsed() < Duration::from_secs(4) && !is_over(until) {
        let is_due = Instant::now() >= junk_due;
        for client in &mut clients {
            if client.socket.drain() {
                raise(counts, SERVED, start.elapsed().as_secs_f64());
            }
            if is_due {
                let junk = fake_request(&mut field.random);
                client.socket.send(&junk, field.target.server);
            }
        }
        if is_due {
            junk_due += Duration::from_secs(1);
        }
        thread::sleep(STEP);
    }
    Ok(())
}

/// Duration of a round: connecting, [`live`] and four seconds.
pub(super) const DEAD_ROUND: Duration = Duration::from_secs(6);

fn raise(counts: &mut Counts, count: &'static str, to: f64) {
    let count = counts.entry(count).or_default();
    *count = count.max(to);
}

/// Requests snapshots and acks some.
fn live(field: &Field, client: &mut Client) {
    for _ in 0..12 {
        client.step(usize::MAX);
        client.request(&request());
        client.feedback(&field.ack(0, 0));
        thread::sleep(16 * STEP);
    }
}
