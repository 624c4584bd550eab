//! Connects and leaves as fast as possible, with the key.

use std::io;
use std::time::{Duration, Instant};

use super::{Field, Outcome, is_over};
use crate::caller::Caller;
use crate::wire::Pace;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut cycles = 0_u64;
    let mut callers: Vec<(Instant, Caller)> = Vec::new();
    let mut pace = Pace::new(field.rate / DATAGRAMS_EACH);
    while !is_over(until) {
        for _ in 0..pace.wait().min(AT_ONCE - callers.len() as u32) {
            callers.push((Instant::now(), field.caller(TIMEOUT_SECONDS)?));
        }
        let mut staying = Vec::new();
        for (since, mut caller) in callers {
            caller.step(usize::MAX);
            cycles += u64::from(caller.is_connected());
            if caller.is_connected() || caller.is_over() || since.elapsed() > PATIENCE {
                outcome.tally += caller.leave().tally;
            } else {
                staying.push((since, caller));
            }
        }
        callers = staying;
    }
    for (_, caller) in callers {
        outcome.tally += caller.leave().tally;
    }
    outcome.note = format!("{cycles} connected and left");
    Ok(outcome)
}

const AT_ONCE: u32 = 8;
/// A request, a response and a disconnect.
const DATAGRAMS_EACH: u32 = 3;
const TIMEOUT_SECONDS: u64 = 5;
const PATIENCE: Duration = Duration::from_secs(1);
