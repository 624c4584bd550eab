//! The table of attacks, with their tactics and limits. Each attacker sends at its rate until its time is over.

pub mod datagrams;
pub mod rounds;
pub mod sessions;
#[cfg(test)]
mod tests;

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cubewire_codec::{Sequence, Stages};
use cubewire_protocol::{Ack, Feedback};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use self::Bound::{AtLeast, AtMost};
use self::datagrams::{garbage, mutated, replayed, send};
use self::rounds::{FORGED, LEFT_OUT, second_token, stolen_challenge};
use self::sessions::{
    ANSWERS, DIED, ENDED, Hold, REFUSED, SERVED, SLOWEST, UNCOMPRESSED, UNDECODABLE, churn, dead,
    demanding, greedy_acks, half_open, hold, requests, rogue, slow_reader, talkative,
};
use crate::client::{Client, SETTINGS, Target};
use crate::socket::{Captured, Counts, RECEIVED, RECEIVED_BYTES, SENT_BYTES, Socket, Tally};

#[derive(Clone, Copy, Debug)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Debug)]
pub struct Attack {
    pub name: &'static str,
    /// Weight of the attack's phase; the total time is divided by weight.
    pub weight: u32,
    /// Whether the attackers do only what every viewer may do. The server then divides its time among all viewers, so
    /// the honest one may get less than before. Fair attacks run last, one at a time.
    pub is_fair: bool,
    /// Attacks once, until the given time at most. Adds its counts to the tally of the field.
    run: fn(&mut Field, Instant),
    pub limits: &'static [Limit],
}

/// Limit for a count of an attack.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub count: &'static str,
    pub bound: Bound,
    /// Whether the limit holds only while no other attack runs. Others may prevent connections, and during a flood of
    /// tokens the server may forget that a captured token was used.
    pub only_alone: bool,
}

/// All attacks, in the order in which they run alone. `half-open` is the last unfair attack, because it may prevent
/// later attackers from connecting.
#[rustfmt::skip]
pub const ATTACKS: &[Attack] = &[
    attack("garbage", |field, until| send(field, until, 0.125, garbage), &[alone(RECEIVED, AtMost(0.0))]),
    attack("mutated", |field, until| send(field, until, 0.25, mutated), &[alone(RECEIVED, AtMost(0.0))]),
    attack("replayed", |field, until| send(field, until, 0.5, replayed), &[alone(RECEIVED, AtMost(0.0))]),
    attack("second-token", second_token, &[limit(LEFT_OUT, AtMost(0.0))]),
    // Amplification limit of QUIC before an address is validated (RFC 9000, section 8).
    attack("stolen-challenge", stolen_challenge, &[limit(FORGED, AtMost(3.0))]),
    // Takes effect after four seconds.
    Attack { weight: 12, ..attack("dead", |field, until| {
        Hold { timeout_seconds: 2, ..hold(3, 60, Some(SETTINGS), dead) }.run(field, until);
    }, &[limit(SERVED, AtMost(3.0)), alone(DIED, AtLeast(1.0))]) },
    attack("greedy-acks", |field, until| hold(1, 125, Some(UNCOMPRESSED), greedy_acks).run(field, until), &[]),
    attack("rogue", |field, until| hold(1, u32::MAX, Some(SETTINGS), rogue).run(field, until), &[]),
    Attack { weight: 1, ..attack("requests", |field, until| hold(8, 0, None, requests).run(field, until), &[
        limit(UNDECODABLE, AtMost(0.0)), alone(REFUSED, AtMost(0.0)),
    ]) },
    attack("slow-reader", |field, until| hold(3, 20, Some(UNCOMPRESSED), slow_reader).run(field, until), &[]),
    attack("churn", |field, until| hold(8, 0, Some(SETTINGS), churn).run(field, until), &[]),
    attack("half-open", |field, until| {
        Hold { cost: 1, ..hold(512, 0, Some(SETTINGS), half_open) }.run(field, until);
        // An answer must not be longer than the request.
    }, &[limit(AMPLIFICATION, AtMost(1.0))]),
    // Long enough for hundreds of messages.
    Attack { weight: 14, is_fair: true, ..attack("talkative", |field, until| {
        hold(3, 60, Some(SETTINGS), talkative).run(field, until);
    }, &[limit(ENDED, AtMost(0.0)), limit(ANSWERS, AtLeast(1.0))]) },
    Attack { weight: 4, is_fair: true, ..attack("demanding", |field, until| {
        hold(24, 0, Some(SLOWEST), demanding).run(field, until);
    }, &[]) },
];

const fn attack(
    name: &'static str,
    run: fn(&mut Field, Instant),
    limits: &'static [Limit],
) -> Attack {
    Attack { name, weight: 2, is_fair: false, run, limits }
}

const fn limit(count: &'static str, bound: Bound) -> Limit {
    Limit { count, bound, only_alone: false }
}

const fn alone(count: &'static str, bound: Bound) -> Limit {
    Limit { only_alone: true, ..limit(count, bound) }
}

const AMPLIFICATION: &str = "bytes received per byte sent";

/// The context of an attacker.
#[derive(Clone)]
pub struct Field {
    pub target: Target,
    /// Maximum number of datagrams per second.
    pub rate: u32,
    pub random: ChaCha8Rng,
    /// Every combination of stages that a request can encode.
    pub stages: Arc<[Stages]>,
    pub captured: Captured,
    /// Socket of the honest viewer, to send only.
    pub as_viewer: Arc<UdpSocket>,
    /// The newest tick of the server that the honest viewer has received, 0 before its first snapshot.
    pub newest: Arc<AtomicU64>,
    pub tally: Tally,
}

impl Attack {
    /// Attacks until the time is over.
    pub fn run(&self, field: &mut Field, until: Instant) -> Counts {
        while Instant::now() < until {
            (self.run)(field, until);
        }
        let [received, sent] = [RECEIVED_BYTES, SENT_BYTES].map(|bytes| field.tally.get(bytes));
        field.tally.add(AMPLIFICATION, received / sent.max(1.0));
        field.tally.counts()
    }
}

impl Field {
    /// Creates the context of attacks on a server. `viewer` is the socket of the honest viewer.
    pub fn new(target: Target, viewer: &Socket, tally: &Tally, mut random: ChaCha8Rng) -> Self {
        Self {
            target,
            rate: 2000,
            stages: Stages::every_readable(|most| random.random_range(0..most)).collect(),
            random,
            captured: Captured::default(),
            as_viewer: viewer.handle(),
            newest: Arc::default(),
            tally: tally.clone(),
        }
    }

    /// Binds a socket at an address that is new to the server.
    fn peer(&mut self) -> Socket {
        let tally = self.tally.clone();
        self.peer_counted_by(&tally)
    }

    fn peer_counted_by(&mut self, tally: &Tally) -> Socket {
        Socket::bind([(); 3].map(|()| self.random.random_range(1..255)), tally)
    }

    /// Creates an unconnected client at a new address.
    fn client(&mut self, timeout_seconds: u64) -> Client {
        let token = self.target.token(self.random.random(), timeout_seconds);
        Client::new(self.peer(), self.target, token)
    }

    /// Returns an ack of the snapshot that is `ahead` of the server's newest, and of `earlier` ones.
    fn ack(&self, ahead: u16, earlier: u32) -> Vec<u8> {
        let newest = self.newest.load(Ordering::Relaxed) as u16;
        let newest = Sequence(newest.wrapping_add(ahead));
        Feedback::Ack(Ack { newest, earlier }).encode()
    }
}

impl Bound {
    /// Returns how far a value is within the bound. It is negative outside.
    pub fn margin(self, value: f64) -> f64 {
        match self {
            AtMost(most) => most - value,
            AtLeast(least) => value - least,
        }
    }
}
