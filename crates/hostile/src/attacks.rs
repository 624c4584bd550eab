//! The attackers. Each sends at its pace until its time is up.

mod churn;
mod dead;
mod demanding;
mod garbage;
mod greedy;
mod half_open;
mod mutated;
mod replayed;
mod requests;
mod rogue;
mod second_token;
mod slow;
mod stolen;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cubewire_codec::{Sequence, ladder};
use cubewire_protocol::Request;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::caller::{Caller, Target};
use crate::relay::Captured;
use crate::viewer::{Progress, request};
use crate::wire::{Pace, Tally, Wire, random_address};

/// A kind of attack.
#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Its share of the time.
    pub(crate) weight: u32,
    /// Whether it does nothing but what any viewer may. The server then divides its time among all viewers, so that
    /// the honest one may get less than before. Such attacks come last, alone.
    pub(crate) is_fair: bool,
    /// The least time in which it shows anything.
    pub(crate) least: Duration,
    run: fn(&mut Field, Instant) -> io::Result<Outcome>,
}

/// What an attacker knows and has.
pub(crate) struct Field {
    pub(crate) target: Target,
    /// Whether there is no other attacker.
    pub(crate) is_alone: bool,
    /// Datagrams per second, at most.
    pub(crate) rate: u32,
    pub(crate) random: ChaCha8Rng,
    pub(crate) captured: Captured,
    /// Sends as if it were the viewer behind the relay.
    pub(crate) as_viewer: Wire,
    /// Knows the server's tick.
    pub(crate) progress: Arc<Progress>,
}

/// What an attacker sent, and what came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// Of the attack.
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) note: String,
    /// Sentences on what the server should have prevented.
    pub(crate) failures: Vec<String>,
}

/// Every attack. Half-open connections come last: where they keep newcomers out, later attackers could not
/// connect either.
pub(crate) const ATTACKS: &[Attack] = &[
    attack("garbage", 2, garbage::run),
    attack("mutated", 2, mutated::run),
    attack("replayed", 2, replayed::run),
    attack("second-token", 2, second_token::run),
    attack("stolen-challenge", 2, stolen::run),
    Attack {
        least: dead::ROUND,
        ..attack("dead", 4, dead::run)
    },
    attack("greedy-acks", 2, greedy::run),
    attack("rogue", 2, rogue::run),
    attack("requests", 1, requests::run),
    attack("slow-reader", 2, slow::run),
    attack("churn", 2, churn::run),
    attack("half-open", 2, half_open::run),
    Attack {
        is_fair: true,
        ..attack("demanding", 4, demanding::run)
    },
];

const fn attack(
    name: &'static str,
    weight: u32,
    run: fn(&mut Field, Instant) -> io::Result<Outcome>,
) -> Attack {
    Attack {
        name,
        weight,
        is_fair: false,
        least: Duration::ZERO,
        run,
    }
}

impl Attack {
    /// Attacks until the time is up.
    ///
    /// # Errors
    /// If there is no socket.
    pub(crate) fn run(&self, field: &mut Field, until: Instant) -> io::Result<Outcome> {
        let outcome = (self.run)(field, until)?;
        Ok(Outcome {
            name: self.name,
            ..outcome
        })
    }
}

impl Field {
    fn pace(&self) -> Pace {
        Pace::new(self.rate)
    }

    /// A socket at an address that the server has not heard of.
    fn peer(&mut self) -> io::Result<Wire> {
        Wire::bind(random_address(&mut self.random))
    }

    fn peers(&mut self, count: usize) -> io::Result<Vec<Wire>> {
        (0..count).map(|_| self.peer()).collect()
    }

    /// A connection that is not made yet, from an address of its own.
    fn caller(&mut self, timeout_seconds: u64) -> io::Result<Caller> {
        let wire = self.peer()?;
        let token = self.target.token(self.random.random(), timeout_seconds);
        Ok(Caller::new(wire, token))
    }

    /// Sends what `craft` makes of captured datagrams: the fraction `as_viewer` of them as if from the viewer that sent
    /// them, the others from unauthenticated peers.
    fn send_captured(
        &mut self,
        until: Instant,
        as_viewer: f64,
        craft: impl Fn(&mut Self, Vec<u8>) -> Option<Vec<u8>>,
    ) -> io::Result<Outcome> {
        let mut peers = self.peers(PEERS)?;
        let mut outcome = Outcome::default();
        let mut pace = self.pace();
        let server = self.target.server;
        while !is_over(until) {
            for _ in 0..pace.wait() {
                let captured = self.captured.any(&mut self.random);
                let Some(datagram) = captured.and_then(|captured| craft(self, captured)) else {
                    continue;
                };
                match self.random.random_bool(as_viewer) {
                    true => self.as_viewer.send(&datagram, server),
                    false => {
                        peers[self.random.random_range(0..PEERS)].send(&datagram, server);
                    }
                }
            }
        }
        outcome.close(peers);
        outcome.record_answers(self);
        outcome.tally += std::mem::take(&mut self.as_viewer.tally);
        Ok(outcome)
    }

    /// The number of the server's newest snapshot.
    fn newest(&self) -> Sequence {
        Sequence(self.progress.tick.load(Ordering::Relaxed) as u16)
    }
}

/// Addresses that captured datagrams are sent from.
const PEERS: usize = 16;

impl Outcome {
    /// Counts what has arrived at sockets and what they sent, and closes them.
    fn close(&mut self, wires: impl IntoIterator<Item = Wire>) {
        for mut wire in wires {
            wire.drain();
            self.tally += wire.tally;
        }
    }

    /// Notes how many answers unauthenticated peers got: none, unless others who have the key flood the server with
    /// tokens, until it forgets that a captured one was used.
    fn record_answers(&mut self, field: &Field) {
        let answers = self.tally.received;
        self.note = format!("{answers} answers");
        if field.is_alone && answers > 0 {
            self.failures
                .push(format!("unauthenticated peers got {answers} answers"));
        }
    }
}

fn is_over(until: Instant) -> bool {
    Instant::now() >= until
}

fn factor(tally: &Tally) -> f64 {
    tally.received_bytes as f64 / tally.sent_bytes.max(1) as f64
}

/// What costs the server most to send.
fn uncompressed() -> Request {
    let mut request = request();
    request.settings.stages = ladder::UNCOMPRESSED.stages;
    request
}
