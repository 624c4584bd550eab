//! Connection requests with valid tokens from many addresses. The challenges are never answered.

use std::collections::VecDeque;
use std::io;
use std::time::Instant;

use rand::RngExt;

use super::{Field, Outcome, factor, is_over};
use crate::caller::Caller;
use crate::wire::Wire;

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    let mut open: VecDeque<Wire> = VecDeque::new();
    let mut outcome = Outcome::default();
    let mut pace = field.pace();
    while !is_over(until) {
        for _ in 0..pace.wait() {
            let token = field.target.token(field.random.random(), TIMEOUT_SECONDS);
            let mut caller = Caller::new(field.peer()?, token);
            caller.update();
            open.push_back(caller.wire);
            if open.len() > MAX_OPEN
                && let Some(oldest) = open.pop_front()
            {
                outcome.close([oldest]);
            }
        }
    }
    outcome.close(open);
    outcome.note = format!("{} requests, each from a new address", outcome.tally.sent);
    let factor = factor(&outcome.tally);
    if factor > MAX_FACTOR {
        outcome.failures.push(format!(
            "addresses that never answered received {factor:.2} times the bytes of their requests"
        ));
    }
    Ok(outcome)
}

/// An answer must not be longer than the request.
const MAX_FACTOR: f64 = 1.0;

const TIMEOUT_SECONDS: u64 = 30;

/// Maximum number of sockets that wait for answers.
const MAX_OPEN: usize = 256;
