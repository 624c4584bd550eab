//! Requests the largest snapshots with the key, reads only a few datagrams and sends no acks.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::{Field, Outcome, is_over, uncompressed};
use crate::wire::STEP;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut callers = Vec::new();
    for _ in 0..READERS {
        let mut caller = field.caller(TIMEOUT_SECONDS)?;
        caller.connect(PATIENCE);
        callers.push(caller);
    }
    let connected = callers
        .iter()
        .filter(|caller| caller.is_connected())
        .count();
    for caller in &mut callers {
        caller.request(&uncompressed());
    }
    while !is_over(until) {
        for caller in &mut callers {
            caller.step(1);
        }
        thread::sleep(50 * STEP);
    }
    for caller in callers {
        outcome.tally += caller.leave().tally;
    }
    outcome.note = format!("{connected} readers of 20 datagrams per second");
    Ok(outcome)
}

const READERS: usize = 3;
const TIMEOUT_SECONDS: u64 = 30;
const PATIENCE: Duration = Duration::from_millis(500);
