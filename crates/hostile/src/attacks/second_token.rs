//! A connection request with an unanswered challenge, then an honest request with another token from the same
//! address. This happens if a viewer restarts behind a router.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::{Field, Outcome, is_over};
use crate::newcomers::connect;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    let (mut tried, mut connected) = (0, 0);
    while !is_over(until) {
        let mut first = field.caller(TIMEOUT_SECONDS)?;
        first.update();
        thread::sleep(PAUSE);
        // Discard the answers to the first request.
        first.wire.drain();
        let (second, waited) = connect(
            field.target,
            first.wire,
            Duration::ZERO,
            PATIENCE,
            &mut field.random,
        );
        tried += 1;
        connected += u32::from(waited.is_some());
        outcome.tally += second.leave().tally;
    }
    outcome.note = format!("{connected} of {tried} connected with their second token");
    if connected < tried {
        outcome.failures.push(format!(
            "{connected} of {tried} viewers with a second token from the same address connected within {PATIENCE:?}"
        ));
    }
    Ok(outcome)
}

const TIMEOUT_SECONDS: u64 = 10;

/// Time for the first request to arrive.
const PAUSE: Duration = Duration::from_millis(100);

/// Long enough for two retries.
const PATIENCE: Duration = Duration::from_millis(4500);
