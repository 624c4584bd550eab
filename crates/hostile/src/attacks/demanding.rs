//! Many viewers with the key. Each requests what takes the server longest to encode: the smallest of several packets,
//! on the last rung, every tick. They decode and ack like honest viewers.

use std::io;
use std::thread;
use std::time::Instant;

use cubewire_codec::ladder;
use cubewire_protocol::BaselineChoice;
use rand::RngExt;

use super::{Field, Outcome, is_over, uncompressed};
use crate::caller::Caller;
use crate::viewer::{Notes, Viewer};
use crate::wire::STEP;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut request = uncompressed();
    request.settings.stages = ladder::PREDICTED.stages;
    request.settings.baseline = BaselineChoice::Smallest;
    let mut viewers = Vec::new();
    for _ in 0..VIEWERS {
        let id = field.random.random();
        let token = field.target.token(id, TIMEOUT_SECONDS);
        viewers.push(Viewer::new(id, Caller::new(field.peer()?, token), request));
    }
    let start = Instant::now();
    let mut snapshots = 0;
    let mut notes = Notes::default();
    while !is_over(until) {
        for viewer in &mut viewers {
            viewer.step(start, &mut notes);
        }
        snapshots += notes.seen.len();
        notes.seen.clear();
        thread::sleep(STEP);
    }
    let connected = viewers
        .iter()
        .filter(|viewer| viewer.caller.is_connected())
        .count();
    let mut outcome = Outcome::default();
    for viewer in viewers {
        outcome.tally += viewer.caller.leave().tally;
    }
    let each = snapshots as f64 / start.elapsed().as_secs_f64() / VIEWERS as f64;
    outcome.note = format!(
        "{connected} of {VIEWERS} viewers stayed, with {each:.1} snapshots per second each; {} refused",
        notes.refused
    );
    Ok(outcome)
}

const VIEWERS: usize = 24;
const TIMEOUT_SECONDS: u64 = 5;
