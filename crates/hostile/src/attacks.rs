//! The table of attacks, with their tactics and limits. Each attacker sends at its rate until its time is over.

mod datagrams;
mod rounds;
mod sessions;
#[cfg(test)]
mod tests;

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cubewire_codec::{Sequence, Stages};
use cubewire_protocol::{Ack, Feedback};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use self::Bound::{AtLeast, AtMost};
use self::Tactic::{Datagrams, Rounds, Sessions};
use self::datagrams::{garbage, mutated, replayed};
use self::rounds::{FORGED, LEFT_OUT, second_token, stolen_challenge};
use self::sessions::{
    ANSWERS, DIED, ENDED, Hold, REFUSED, SERVED, SLOWEST, UNCOMPRESSED, UNDECODABLE, churn, dead,
    demanding, greedy_acks, half_open, hold, requests, rogue, slow_reader, talkative,
};
use crate::captured::Captured;
use crate::client::{Client, SETTINGS, Target};
use crate::socket::{Counts, RECEIVED, RECEIVED_BYTES, SENT_BYTES, Socket, Tally, random_address};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

#[derive(Debug)]
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Weight of the attack's phase; the total time is divided by weight.
    pub(crate) weight: u32,
    /// Whether the attackers do only what every viewer may do. The server then divides its time among all viewers, so
    /// the honest one may get less than before. Fair attacks run last, one at a time.
    pub(crate) is_fair: bool,
    tactic: Tactic,
    pub(crate) limits: &'static [Limit],
}

/// How an attack proceeds. Functions add their counts to the tally of the field.
#[derive(Debug)]
enum Tactic {
    /// Sends datagrams without the key. The fraction is sent from the address of the honest viewer, the rest
    /// from other addresses.
    Datagrams(f64, fn(&mut Field) -> Option<Vec<u8>>),
    /// Holds connections with the key.
    Sessions(Hold),
    /// Repeats a round that blocks. A round ends by itself, or at the given time.
    Rounds(fn(&mut Field, Instant) -> io::Result<()>),
}

/// Limit for a count of an attack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) count: &'static str,
    pub(crate) bound: Bound,
    /// Whether the limit holds only while no other attack runs. Others may prevent connections, and during a flood of
    /// tokens the server may forget that a captured token was used.
    pub(crate) only_alone: bool,
}

/// All attacks, in the order in which they run alone. `half-open` is the last unfair attack, because it may prevent
/// later attackers from connecting.
#[rustfmt::skip]
pub(crate) const ATTACKS: &[Attack] = &[
    attack("garbage", Datagrams(0.125, garbage), &[alone(RECEIVED, AtMost(0.0))]),
    attack("mutated", Datagrams(0.25, mutated), &[alone(RECEIVED, AtMost(0.0))]),
    attack("replayed", Datagrams(0.5, replayed), &[alone(RECEIVED, AtMost(0.0))]),
    attack("second-token", Rounds(second_token), &[limit(LEFT_OUT, AtMost(0.0))]),
    // Amplification limit of QUIC before an address is validated (RFC 9000, section 8).
    attack("stolen-challenge", Rounds(stolen_challenge), &[limit(FORGED, AtMost(3.0))]),
    // Takes effect after four seconds.
    Attack { weight: 12, ..attack("dead", Sessions(
        Hold { timeout_seconds: 2, ..hold(3, 60, Some(SETTINGS), dead) }
    ), &[limit(SERVED, AtMost(3.0)), alone(DIED, AtLeast(1.0))]) },
    attack("greedy-acks", Sessions(hold(1, 125, Some(UNCOMPRESSED), greedy_acks)), &[]),
    attack("rogue", Sessions(hold(1, u32::MAX, Some(SETTINGS), rogue)), &[]),
    Attack { weight: 1, ..attack("requests", Sessions(hold(8, 0, None, requests)), &[
        limit(UNDECODABLE, AtMost(0.0)), alone(REFUSED, AtMost(0.0)),
    ]) },
    attack("slow-reader", Sessions(hold(3, 20, Some(UNCOMPRESSED), slow_reader)), &[]),
    attack("churn", Sessions(hold(8, 0, Some(SETTINGS), churn)), &[]),
    attack("half-open", Sessions(Hold { cost: 1, ..hold(512, 0, Some(SETTINGS), half_open) }), &[
        // An answer must not be longer than the request.
        limit(AMPLIFICATION, AtMost(1.0)),
    ]),
    // Long enough for hundreds of messages.
    Attack { weight: 14, is_fair: true, ..attack("talkative", Sessions(hold(3, 60, Some(SETTINGS), talkative)), &[
        limit(ENDED, AtMost(0.0)), limit(ANSWERS, AtLeast(1.0)),
    ]) },
    Attack { weight: 4, is_fair: true, ..attack("demanding", Sessions(hold(24, 0, Some(SLOWEST), demanding)), &[]) },
];

const fn attack(name: &'static str, tactic: Tactic, limits: &'static [Limit]) -> Attack {
    Attack { name, weight: 2, is_fair: false, tactic, limits }
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
pub(crate) struct Field {
    pub(crate) target: Target,
    /// Maximum number of datagrams per second.
    pub(crate) rate: u32,
    pub(crate) random: ChaCha8Rng,
    /// Every combination of stages that a request can encode.
    pub(crate) stages: Arc<[Stages]>,
    pub(crate) captured: Captured,
    /// Socket of the honest viewer, to send only.
    pub(crate) as_viewer: Arc<UdpSocket>,
    /// The newest tick of the server that the honest viewer has received, 0 before its first snapshot.
    pub(crate) newest: Arc<AtomicU64>,
    pub(crate) tally: Tally,
}

impl Attack {
    /// Attacks until the time is over.
    ///
    /// # Errors
    /// If no socket can be bound.
    pub(crate) fn run(&self, field: &mut Field, until: Instant) -> io::Result<Counts> {
        match self.tactic {
            Datagrams(as_viewer, craft) => datagrams::send(field, until, as_viewer, craft)?,
            Sessions(hold) => hold.run(field, until)?,
            Rounds(round) => {
                while !is_over(until) {
                    round(field, until)?;
                }
            }
        }
        let [received, sent] = [RECEIVED_BYTES, SENT_BYTES].map(|bytes| field.tally.get(bytes));
        field.tally.add(AMPLIFICATION, received / sent.max(1.0));
        Ok(field.tally.counts())
    }
}

impl Field {
    /// Binds a socket at an address that is new to the server.
    fn peer(&mut self) -> io::Result<Socket> {
        Socket::bind(random_address(&mut self.random), &self.tally)
    }

    /// Creates an unconnected client at a new address.
    fn client(&mut self, timeout_seconds: u64) -> io::Result<Client> {
        let token = self.target.token(self.random.random(), timeout_seconds);
        Ok(Client::new(self.peer()?, self.target, token))
    }

    /// Returns an ack of the snapshot that is `ahead` of the server's newest, and of `earlier` ones.
    fn ack(&self, ahead: u16, earlier: u32) -> Vec<u8> {
        let newest = self.newest.load(Ordering::Relaxed) as u16;
        let newest = Sequence(newest.wrapping_add(ahead));
        Feedback::Ack(Ack { newest, earlier }).encode()
    }
}

fn is_over(until: Instant) -> bool {
    Instant::now() >= until
}
