//! Connections with the key, several at a time.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{BaselineChoice, Settings};
use rand::{Rng, RngExt};

use super::datagrams::fake_request;
use super::{Field, is_over};
use crate::client::{Client, SETTINGS};
use crate::socket::{Pace, STEP};

pub(super) const UNDECODABLE: &str = "packets that could not be decoded";
pub(super) const REFUSED: &str = "connections ended after a valid request";

pub(super) const ENDED: &str = "connections ended by the server";
pub(super) const ANSWERS: &str = "answers to requests";

/// A connection of an attacker.
pub(super) struct Session {
    client: Client,
    turns: Pace,
    /// Half of the sessions are bold, which some attacks use.
    is_bold: bool,
}

/// How an attack holds connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// Number of connections at a time. Connections that are done are replaced.
    pub(super) at_once: usize,
    /// Turns per second of a connection, at most the attack's rate.
    pub(super) turns: u32,
    /// Settings that a connection requests. Without settings, each connection draws its own.
    pub(super) settings: Option<Settings>,
    /// Number of datagrams of a new connection.
    pub(super) cost: u32,
    /// Connection timeout of both ends. The server keeps half-open connections for this time.
    pub(super) timeout_seconds: u64,
    /// Sends and receives. Returns whether the connection is done.
    pub(super) step: fn(&mut Field, &mut Session) -> bool,
}

pub(super) const fn hold(
    at_once: usize,
    turns: u32,
    settings: Option<Settings>,
    step: fn(&mut Field, &mut Session) -> bool,
) -> Hold {
    Hold { at_once, turns, settings, cost: 4, timeout_seconds: 30, step }
}

impl Hold {
    /// Holds connections until the time is over.
    pub(super) fn run(self, field: &mut Field, until: Instant) -> io::Result<()> {
        let mut starts = Pace::new(field.rate.div_ceil(self.cost));
        let mut open: Vec<Session> = Vec::new();
        while !is_over(until) {
            thread::sleep(STEP);
            for _ in 0..starts.due(Instant::now()).min(self.at_once - open.len()) {
                let mut client = field.client(self.timeout_seconds)?;
                client.settings = self.settings.unwrap_or_else(|| field.any_settings(|_| true));
                open.push(Session {
                    client,
                    turns: Pace::new(self.turns.min(field.rate)),
                    is_bold: field.random.random_bool(0.5),
                });
            }
            open.retain_mut(|session| {
                let is_done = (self.step)(field, session) || session.is_late_or_over();
                if is_done {
                    session.count(field);
                }
                !is_done
            });
        }
        open.iter().for_each(|session| session.count(field));
        Ok(())
    }
}

/// Maximum time to wait for a connection, or for an answer to a request.
const PATIENCE: Duration = Duration::from_secs(2);

impl Session {
    fn age(&self) -> Duration {
        self.client.start.elapsed()
    }

    fn is_late_or_over(&self) -> bool {
        let client = &self.client;
        client.connected.is_none() && self.age() > PATIENCE || client.netcode.is_disconnected()
    }

    /// Returns the number of turns that are due. Requests the settings first, as soon as the connection is established.
    fn due(&mut self) -> usize {
        let client = &mut self.client;
        if !client.netcode.is_connected() {
            client.step(usize::MAX);
            return 0;
        }
        client.ask();
        self.turns.due(Instant::now())
    }

    fn count(&self, field: &Field) {
        let client = &self.client;
        let is_ended = client.connected.is_some() && client.netcode.is_disconnected();
        let is_refused = is_ended && is_sendable(client.settings.stages);
        field.tally.add("connections", client.connected.is_some().into());
        field.tally.add(ENDED, is_ended.into());
        field.tally.add(ANSWERS, client.answers.into());
        field.tally.add("snapshots", client.seen.len() as f64);
        field.tally.add(UNDECODABLE, client.refused.into());
        field.tally.add(REFUSED, is_refused.into());
    }
}

pub(super) const DIED: &str = "viewers that died";
pub(super) const SERVED: &str = "seconds until the server stopped sending to a dead viewer";

/// Acks snapshots, stops answering, and sends junk that looks like a connection request. Measures how long the server
/// keeps sending.
pub(super) fn dead(field: &mut Field, session: &mut Session) -> bool {
    let turns = session.due();
    let client = &mut session.client;
    let dead_for = client.connected.and_then(|connected| connected.elapsed().checked_sub(ALIVE));
    let Some(dead_for) = dead_for else {
        client.step(usize::MAX);
        for _ in 0..turns {
            client.request(client.settings);
            client.unreliable(field.ack(0, 0));
        }
        return false;
    };
    if client.socket.drain() {
        field.tally.raise(SERVED, dead_for.as_secs_f64());
    }
    for _ in 0..turns {
        client.socket.send(&fake_request(&mut field.random), field.target.server);
    }
    let is_done = dead_for > OBSERVED;
    field.tally.add(DIED, is_done.into());
    is_done
}

/// Time from the connection until a viewer dies.
const ALIVE: Duration = Duration::from_millis(200);
/// Duration of the measurement after that, longer than the limit.
const OBSERVED: Duration = Duration::from_millis(3500);

/// Sends a connection request. Its challenge is never answered. The request is not repeated in this time.
pub(super) fn half_open(_: &mut Field, session: &mut Session) -> bool {
    session.client.update();
    session.age() > ANSWER_TIME
}

/// Time for the server to answer.
const ANSWER_TIME: Duration = Duration::from_millis(100);

/// Connects and leaves as fast as possible.
pub(super) fn churn(_: &mut Field, session: &mut Session) -> bool {
    session.client.step(usize::MAX);
    session.client.netcode.is_connected()
}

/// Reads one datagram per turn and sends no acks.
pub(super) fn slow_reader(_: &mut Field, session: &mut Session) -> bool {
    let turns = session.due();
    session.client.step(turns);
    false
}

/// Acks snapshots that have not arrived. Bold sessions also ack snapshots that have not been sent.
pub(super) fn greedy_acks(field: &mut Field, session: &mut Session) -> bool {
    for _ in 0..session.due() {
        let client = &mut session.client;
        client.step(usize::MAX);
        let (ahead, earlier) = match session.is_bold {
            true => (field.random.random_range(0..8), u32::MAX),
            false => (0, 0),
        };
        client.unreliable(field.ack(ahead, earlier));
        if field.random.random_ratio(1, 64) {
            client.request(client.settings);
        }
    }
    false
}

/// Sends invalid messages. Other sessions than bold ones first send valid requests that change all the time.
pub(super) fn rogue(field: &mut Field, session: &mut Session) -> bool {
    for _ in 0..session.due().min(MAX_BURST) {
        let client = &mut session.client;
        match !session.is_bold && field.random.random_ratio(999, 1000) {
            true => client.request(field.any_settings(is_sendable)),
            false => offend(client, &mut field.random),
        }
    }
    session.client.step(usize::MAX);
    false
}

/// The server ignores messages after an invalid one, so a larger burst has no effect.
const MAX_BURST: usize = 20;

fn offend(client: &mut Client, random: &mut impl Rng) {
    let mut bytes = vec![0; random.random_range(0..1200)];
    random.fill_bytes(&mut bytes);
    let payload = match random.random_range(0..10) {
        // A hundred empty reliable messages.
        0 => [&[0, 0, 1, 0, 100][..], &[0; 200]].concat(),
        // A slice or an ack with random numbers.
        1 | 2 => [&[random.random_range(2..=4), 0][..], &bytes].concat(),
        // A slice past the end.
        3 => vec![3, 0, 0, 7, 3, 2, 1, 9],
        // The first of 256 slices; the messages are never completed.
        4 => {
            bytes.resize(1200, 0);
            let slice = [3, 0, 0, 0x40, random.random(), 0, 0x41, 0, 0x44, 0xb0];
            [&slice[..], &bytes].concat()
        }
        5 => return client.reliable(&bytes[..bytes.len().min(64)]),
        6 => return client.unreliable(bytes[..bytes.len().min(16)].to_vec()),
        7 => Vec::new(),
        8 => return client.unreliable(bytes.repeat(100)),
        _ => bytes,
    };
    client.say(&payload);
}

/// Waits until the server serves the request or ends the connection. Decodes and acks like an honest viewer.
pub(super) fn requests(_: &mut Field, session: &mut Session) -> bool {
    session.client.view();
    session.client.seen.len() >= SNAPSHOTS || session.age() > PATIENCE
}

/// Number of snapshots after which a request counts as served.
const SNAPSHOTS: usize = 3;

/// Decodes and acks like an honest viewer, until the end.
pub(super) fn demanding(_: &mut Field, session: &mut Session) -> bool {
    session.client.view();
    false
}

/// Sends a request in each tick, and decodes and acks like an honest viewer. The server answers in each tick.
pub(super) fn talkative(_: &mut Field, session: &mut Session) -> bool {
    if session.due() > 0 {
        session.client.request(session.client.settings);
    }
    session.client.view();
    false
}

/// The settings that cost the server the most bytes.
pub(super) const UNCOMPRESSED: Settings =
    Settings { stages: ladder::UNCOMPRESSED.stages, ..SETTINGS };

/// The settings that take the server longest to encode: the smallest of several packets, on the last rung, every tick.
pub(super) const SLOWEST: Settings =
    Settings { stages: ladder::PREDICTED.stages, baseline: BaselineChoice::Smallest, ..SETTINGS };

/// Whether the server can serve a request for these stages.
fn is_sendable(stages: Stages) -> bool {
    Plan::cubes().check_complete(stages).is_ok()
}

impl Field {
    /// Returns random settings that a request can encode, with stages that fulfil a condition.
    pub(super) fn any_settings(&mut self, is_wanted: fn(Stages) -> bool) -> Settings {
        let random = &mut self.random;
        let stages = loop {
            let stages = self.stages[random.random_range(0..self.stages.len())];
            if is_wanted(stages) {
                break stages;
            }
        };
        Settings {
            stages,
            send_interval_ticks: [1, 2, 3, 6][random.random_range(0..4)],
            baseline: match random.random_ratio(1, 8) {
                true => BaselineChoice::Smallest,
                false => BaselineChoice::Newest,
            },
            budget_kbps: [None, Some(16), Some(100), Some(1024)][random.random_range(0..4)],
        }
    }
}
