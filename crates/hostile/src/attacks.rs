//! The attackers. Each sends at its rate until its time is over.

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

#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Weight of the attack's phase; the total time is divided by weight.
    pub(crate) weight: u32,
    /// Whether the attackers do only what every viewer may do. The server then divides its time among all viewers, so
    /// the honest one may get less than before. Fair attacks run last, one at a time.
    pub(crate) is_fair: bool,
    /// Minimum duration for the attack to take effect.
    pub(crate) least: Duration,
    run: fn(&mut Field, Instant) -> io::Result<Outcome>,
}

/// The context of an attacker.
pub(crate) struct Field {
    pub(crate) target: Target,
    /// Whether no other attack runs at the same time.
    pub(crate) is_alone: bool,
    /// Maximum number of datagrams per second.
    pub(crate) rate: u32,
    pub(crate) random: ChaCha8Rng,
    pub(crate) captured: Captured,
    /// Sends from the address of the viewer behind the relay.
    pub(crate) as_viewer: Wire,
    /// Gives the server's current tick.
    pub(crate) progress: Arc<Progress>,
}

/// Result of an attack.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// Name of the attack.
    pub(crate) name: &'static str,
    pub(crate) tally: Tally,
    pub(crate) note: String,
    /// Sentences about effects that the server should have prevented.
    pub(crate) failures: Vec<String>,
}

/// All attacks. Half-open connections come last because they may prevent later attackers from connecting.
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
    /// Attacks until the time is over.
    ///
    /// # Errors
    /// If no socket can be bound.
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

    /// Binds a socket at an address that is new to the server.
    fn peer(&mut self) -> io::Result<Wire> {
        Wire::bind(random_address(&mut self.random))
    }

    fn peers(&mut self, count: usize) -> io::Result<Vec<Wire>> {
        (0..count).map(|_| self.peer()).collect()
    }

    /// Creates an unconnected caller at a new address.
    fn caller(&mut self, timeout_seconds: u64) -> io::Result<Caller> {
        let wire = self.peer()?;
        let token = self.target.token(self.random.random(), timeout_seconds);
        Ok(Caller::new(wire, token))
    }

    /// Sends datagrams that `craft` makes from captured ones. The fraction `as_viewer` is sent from the viewer's
    /// address, the rest from unauthenticated peers.
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

    /// Returns the sequence number of the server's newest snapshot.
    fn newest(&self) -> Sequence {
        Sequence(self.progress.tick.load(Ordering::Relaxed) as u16)
    }
}

/// Number of source addresses for captured datagrams.
const PEERS: usize = 16;

impl Outcome {
    /// Adds the tallies of sockets and closes them.
    fn close(&mut self, wires: impl IntoIterator<Item = Wire>) {
        for mut wire in wires {
            wire.drain();
            self.tally += wire.tally;
        }
    }

    /// Records the number of answers to unauthenticated peers, which must be 0. During a flood of tokens the server
    /// may forget that a captured token was used, so answers are only a failure if the attack runs alone.
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

/// Returns the request that costs the server the most bytes.
fn uncompressed() -> Request {
    let mut request = request();
    request.settings.stages = ladder::UNCOMPRESSED.stages;
    request
}
