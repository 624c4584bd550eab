//! Many viewers with the key and with well-formed requests. The server serves some requests and closes the connection
//! for others. Served viewers decode and ack like honest ones.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::{Plan, Stages};
use cubewire_protocol::{BaselineChoice, Request, Settings};
use rand::{Rng, RngExt};

use super::{Field, Outcome, is_over};
use crate::caller::Caller;
use crate::viewer::{Notes, Viewer};
use crate::wire::STEP;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let readable = readable(&mut field.random);
    let mut outcome = Outcome::default();
    let mut asking = Vec::new();
    let [mut served, mut refused, mut wrong] = [0; 3];
    let start = Instant::now();
    while !is_over(until) {
        while asking.len() < VIEWERS {
            asking.push(Asking::new(field, &readable)?);
        }
        for one in &mut asking {
            one.viewer.step(start, &mut one.notes);
            one.was_connected |= one.viewer.caller.is_connected();
        }
        for one in asking.extract_if(.., |one| one.is_done()) {
            let is_ended = one.was_connected && one.viewer.caller.is_over();
            wrong += one.notes.refused;
            served += u64::from(!one.notes.seen.is_empty());
            refused += u64::from(is_ended);
            if field.is_alone && is_ended && is_sendable(one.request.settings.stages) {
                let stages = one.request.settings.stages;
                let why = format!("a valid request for {stages:?} was refused");
                outcome.failures.push(why);
            }
            outcome.tally += one.viewer.caller.leave().tally;
        }
        thread::sleep(STEP);
    }
    for one in asking {
        outcome.tally += one.viewer.caller.leave().tally;
    }
    if wrong > 0 {
        let why = format!("{wrong} packets could not be decoded");
        outcome.failures.push(why);
    }
    outcome.note = format!("{served} requests were served, {refused} refused");
    Ok(outcome)
}

/// A viewer with a request that is neither served nor refused yet.
struct Asking {
    viewer: Viewer,
    request: Request,
    notes: Notes,
    since: Instant,
    was_connected: bool,
}

impl Asking {
    fn new(field: &mut Field, readable: &[Stages]) -> io::Result<Self> {
        let id = field.random.random();
        let token = field.target.token(id, TIMEOUT_SECONDS);
        let request = any_request(readable, &mut field.random);
        Ok(Self {
            viewer: Viewer::new(id, Caller::new(field.peer()?, token), request),
            request,
            notes: Notes::default(),
            since: Instant::now(),
            was_connected: false,
        })
    }

    fn is_done(&self) -> bool {
        self.notes.seen.len() >= SNAPSHOTS
            || self.viewer.caller.is_over()
            || self.since.elapsed() > PATIENCE
    }
}

/// Returns every combination of stages that a request can encode.
pub(super) fn readable(random: &mut impl Rng) -> Vec<Stages> {
    Stages::every_readable(|most| random.random_range(0..most)).collect()
}

/// Whether the server can serve a request for these stages.
pub(super) fn is_sendable(stages: Stages) -> bool {
    Plan::cubes().check_complete(stages).is_ok()
}

/// Returns a random request for one of these stages, with valid settings.
pub(super) fn any_request(stages: &[Stages], random: &mut impl Rng) -> Request {
    let settings = Settings {
        stages: stages[random.random_range(0..stages.len())],
        send_interval_ticks: [1, 2, 3, 6][random.random_range(0..4)],
        baseline: match random.random_ratio(1, 8) {
            true => BaselineChoice::Smallest,
            false => BaselineChoice::Newest,
        },
        budget_kbps: [None, Some(16), Some(100), Some(1024)][random.random_range(0..4)],
    };
    let number = random.random();
    Request { number, settings }
}

const VIEWERS: usize = 8;
const TIMEOUT_SECONDS: u64 = 5;

/// Number of snapshots after which a request counts as served.
const SNAPSHOTS: usize = 3;

/// Maximum time to wait for these snapshots.
const PATIENCE: Duration = Duration::from_secs(2);
