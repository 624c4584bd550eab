//! Connections with the key, several at a time.

use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::{Plan, Stages, ladder};
use cubewire_protocol::{BaselineChoice, Settings};
use rand::{Rng, RngExt};

use super::Field;
use super::datagrams::fake_request;
use crate::client::{Client, SETTINGS};
use crate::socket::{Pace, STEP};

pub const UNDECODABLE: &str = "packets that could not be decoded";
pub const REFUSED: &str = "connections ended after a valid request";
pub const ENDED: &str = "connections ended by the server";
pub const ANSWERS: &str = "answers to requests";
pub const DIED: &str = "viewers that died";
pub const SERVED: &str = "seconds until the server stopped sending to a dead viewer";

/// A connection of an attacker.
pub struct Session {
    client: Client,
    turns: Pace,
    /// Half of the sessions are bold, which some attacks use.
    is_bold: bool,
}

/// How an attack holds connections.
#[derive(Clone, Copy, Debug)]
pub struct Hold {
    /// Number of connections at a time. Connections that are done are replaced.
    pub at_once: usize,
    /// Turns per second of a connection, at most the attack's rate.
    pub turns: u32,
    /// Settings that a connection requests. Without settings, each connection draws its own.
    pub settings: Option<Settings>,
    /// Number of datagrams of a new connection.
    pub cost: u32,
    /// Connection timeout of both ends. The server keeps half-open connections for this time.
    pub timeout_seconds: u64,
    /// Sends and receives. Returns whether the connection is done.
    pub step: fn(&mut Field, &mut Session) -> bool,
}

pub const fn hold(
    at_once: usize,
    turns: u32,
    settings: Option<Settings>,
    step: fn(&mut Field, &mut Session) -> bool,
) -> Hold {
    Hold { at_once, turns, settings, cost: 4, timeout_seconds: 30, step }
}

impl Hold {
    /// Holds connections until the time is over.
    pub fn run(self, field: &mut Field, until: Instant) {
        let mut starts = Pace::new(field.rate.div_ceil(self.cost));
        let mut open: Vec<Session> = Vec::new();
        while Instant::now() < until {
            thread::sleep(STEP);
            for _ in 0..starts.due(Instant::now()).min(self.at_once - open.len()) {
                let mut client = field.client(self.timeout_seconds);
                client.settings = self.settings.unwrap_or_else(|| any_settings(field, |_| true));
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
        for (count, more) in [
            ("connections", client.connected.is_some().into()),
            (ENDED, is_ended.into()),
            (ANSWERS, client.answers.into()),
            ("snapshots", client.seen.len() as f64),
            (UNDECODABLE, client.refused.into()),
            (REFUSED, (is_ended && is_sendable(client.settings.stages)).into()),
        ] {
            field.tally.add(count, more);
        }
    }
}

/// Acks snapshots, stops answering, and sends junk that looks like a connection request. Measures how long the server
/// keeps sending.
pub fn dead(field: &mut Field, session: &mut Session) -> bool {
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

/// Sends a connection request. Its challenge is never answered. The request is not repeated in the time that the server
/// has for an answer.
pub fn half_open(_: &mut Field, session: &mut Session) -> bool {
    session.client.update();
    session.age() > Duration::from_millis(100)
}

/// Connects and leaves as fast as possible.
pub fn churn(_: &mut Field, session: &mut Session) -> bool {
    session.client.step(usize::MAX);
    session.client.netcode.is_connected()
}

/// Reads one datagram per turn and sends no acks.
pub fn slow_reader(_: &mut Field, session: &mut Session) -> bool {
    let turns = session.due();
    session.client.step(turns);
    false
}

/// Acks snapshots that have not arrived. Bold sessions also ack snapshots that have not been sent.
pub fn greedy_acks(field: &mut Field, session: &mut Session) -> bool {
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
pub fn rogue(field: &mut Field, session: &mut Session) -> bool {
    for _ in 0..session.due().min(MAX_BURST) {
        let client = &mut session.client;
        match !session.is_bold && field.random.random_ratio(999, 1000) {
            true => client.request(any_settings(field, is_sendable)),
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

/// Decodes and acks like an honest viewer, until the server has sent a few snapshots.
pub fn requests(_: &mut Field, session: &mut Session) -> bool {
    session.client.view();
    session.client.seen.len() >= 3 || session.age() > PATIENCE
}

/// Decodes and acks like an honest viewer, until the end.
pub fn demanding(_: &mut Field, session: &mut Session) -> bool {
    session.client.view();
    false
}

/// Sends a request in each tick, and decodes and acks like an honest viewer. The server answers in each tick.
pub fn talkative(_: &mut Field, session: &mut Session) -> bool {
    if session.due() > 0 {
        session.client.request(session.client.settings);
    }
    session.client.view();
    false
}

/// The settings that cost the server the most bytes.
pub const UNCOMPRESSED: Settings = Settings { stages: ladder::UNCOMPRESSED.stages, ..SETTINGS };

/// The settings that take the server longest to encode: the smallest of several packets, on the last rung, every tick.
pub const SLOWEST: Settings =
    Settings { stages: ladder::PREDICTED.stages, baseline: BaselineChoice::Smallest, ..SETTINGS };

/// Whether the server can serve a request for these stages.
fn is_sendable(stages: Stages) -> bool {
    Plan::cubes().check_complete(stages).is_ok()
}

/// Returns random settings that a request can encode, with stages that fulfil a condition.
fn any_settings(field: &mut Field, is_wanted: fn(Stages) -> bool) -> Settings {
    let random = &mut field.random;
    let stages = loop {
        let stages = field.stages[random.random_range(0..field.stages.len())];
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
