//! Connects in the name of an address that never answers. The attacker requests a challenge at its own address,
//! answers it with the victim's source address and then requests large snapshots for the victim. This program owns
//! both addresses, so it can count the victim's datagrams; the attack does not need this.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_protocol::{Ack, Feedback};
use rand::RngExt;
use renetcode::ConnectToken;

use super::{Field, Outcome, factor, is_over, uncompressed};
use crate::caller::Caller;
use crate::wire::{MAX_DATAGRAM_BYTES, STEP, Tally};

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut at_victims = Tally::default();
    let mut rounds = 0;
    while !is_over(until) {
        let (own, victim) = round(field, until)?;
        rounds += 1;
        outcome.tally += own;
        at_victims += victim;
    }
    outcome.tally += at_victims;
    let factor = factor(&at_victims);
    outcome.note = format!(
        "{rounds} victims received {factor:.2} times the bytes sent from their forged addresses"
    );
    if factor > MAX_FACTOR {
        outcome.failures.push(format!(
            "addresses that never answered received {factor:.1} times the bytes sent from their forged addresses"
        ));
    }
    Ok(outcome)
}

/// Amplification limit of QUIC before an address is validated (RFC 9000, section 8).
const MAX_FACTOR: f64 = 3.0;

const TIMEOUT_SECONDS: u64 = 5;
const ROUND: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_millis(300);
const ACK_INTERVAL: Duration = Duration::from_millis(16);

/// Runs one round. Returns the tallies of the attacker's address and of the victim's.
fn round(field: &mut Field, until: Instant) -> io::Result<(Tally, Tally)> {
    let until = until.min(Instant::now() + ROUND);
    let own_token = field.target.token(field.random.random(), TIMEOUT_SECONDS);
    let own_key = own_token.server_to_client_key;
    let mut own = Caller::new(field.peer()?, own_token);
    // Decrypts with the key of the attacker's token and sends with the victim's address.
    let token = field.target.token(field.random.random(), TIMEOUT_SECONDS);
    let mut victim = Caller::new(
        field.peer()?,
        ConnectToken {
            server_to_client_key: own_key,
            ..token
        },
    );
    victim.update();
    own.update();
    relay_next(&mut own, &mut victim);
    // The victim's answer must arrive first: the challenge contains the attacker's id, which must not be connected
    // yet.
    victim.update();
    thread::sleep(5 * STEP);
    own.update();
    relay_next(&mut own, &mut victim);
    if victim.is_connected() {
        victim.request(&uncompressed());
    }
    let mut newest = 0;
    while !is_over(until) {
        own.step(usize::MAX);
        victim.update();
        newest += 16;
        let feedback = Feedback::Ack(Ack {
            newest: field.newest(),
            earlier: u32::MAX,
        });
        victim.feedback(&feedback);
        victim.wire.drain();
        if newest % 256 == 0 {
            victim.request(&uncompressed());
        }
        thread::sleep(ACK_INTERVAL);
    }
    let own = own.leave().tally;
    let mut victim = victim.leave();
    victim.drain();
    Ok((own, victim.tally))
}

/// Waits for a datagram at the attacker's address and passes it to both callers.
fn relay_next(own: &mut Caller, victim: &mut Caller) {
    let start = Instant::now();
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    while start.elapsed() < PATIENCE {
        if let Some((datagram, _)) = own.wire.receive(&mut buffer) {
            own.hear(datagram);
            victim.hear(datagram);
            return;
        }
        thread::sleep(STEP);
    }
}
