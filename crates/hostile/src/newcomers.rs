//! Honest viewers that connect and leave, one after the other. Measures how long each waits.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::caller::{Caller, Target};
use crate::error::HostileError;
use crate::viewer::TIMEOUT_SECONDS;
use crate::wire::{STEP, Tally, Wire};

/// A viewer that tried to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) came: Instant,
    /// Time until it was connected, or `None` if it gave up.
    pub(crate) waited: Option<Duration>,
    pub(crate) tally: Tally,
}

/// Newcomers of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Newcomers {
    pub(crate) came: u32,
    pub(crate) connected: u32,
    /// Number of newcomers that were connected within a second.
    pub(crate) at_once: u32,
    /// Longest time until a newcomer was connected, milliseconds.
    pub(crate) slowest_ms: f64,
}

/// Round-trip time of distant newcomers.
pub(crate) const FAR: Duration = Duration::from_millis(100);

/// A newcomer gives up after the connection timeout of `cubewire view`.
const PATIENCE: Duration = Duration::from_secs(TIMEOUT_SECONDS);

/// `cubewire view` retries with another token after this time, then after twice this time, and so on.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

const INTERVAL: Duration = Duration::from_millis(500);

impl Newcomers {
    /// Sums up the newcomers that started from `start` to `end`.
    pub(crate) fn between(all: &[Newcomer], start: Instant, end: Instant) -> Self {
        let mut sums = Self::default();
        let came = all.iter().filter(|one| (start..end).contains(&one.came));
        for newcomer in came {
            sums.came += 1;
            if let Some(waited) = newcomer.waited {
                sums.connected += 1;
                sums.at_once += u32::from(waited <= Duration::from_secs(1));
                sums.slowest_ms = sums.slowest_ms.max(waited.as_secs_f64() * 1e3);
            }
        }
        sums
    }
}

/// Starts one newcomer after another until told to stop. `round_trip` is added to loopback's.
///
/// # Errors
/// If no socket can be bound.
pub(crate) fn come(
    target: Target,
    round_trip: Duration,
    mut random: ChaCha8Rng,
    should_stop: &AtomicBool,
) -> Result<Vec<Newcomer>, HostileError> {
    let mut newcomers = Vec::new();
    while !should_stop.load(Ordering::Relaxed) {
        let wire = Wire::bind(Ipv4Addr::LOCALHOST).map_err(HostileError::Socket)?;
        let came = Instant::now();
        let (caller, waited) = connect(target, wire, round_trip, PATIENCE, &mut random);
        newcomers.push(Newcomer {
            came,
            waited,
            tally: caller.leave().tally,
        });
        thread::sleep(INTERVAL);
    }
    Ok(newcomers)
}

/// Connects as `cubewire view` does. Returns the time until the connection, or `None` after `patience`.
pub(crate) fn connect(
    target: Target,
    wire: Wire,
    round_trip: Duration,
    patience: Duration,
    random: &mut ChaCha8Rng,
) -> (Caller, Option<Duration>) {
    let start = Instant::now();
    let mut token = || target.token(random.random(), TIMEOUT_SECONDS);
    let mut caller = Caller::new(wire, token());
    caller.delay = round_trip;
    let mut began = start;
    let mut patience_with_token = RETRY_INTERVAL;
    while start.elapsed() < patience && !caller.is_over() {
        caller.step(usize::MAX);
        if caller.is_connected() {
            return (caller, Some(start.elapsed()));
        }
        if began.elapsed() >= patience_with_token {
            began = Instant::now();
            patience_with_token += RETRY_INTERVAL;
            caller = Caller::new(caller.wire, token());
            caller.delay = round_trip;
        }
        thread::sleep(STEP);
    }
    (caller, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcomers_belong_to_the_phase_in_which_they_came() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let all = [Some(5), Some(2500), None, Some(900)].map(|ms| ms.map(Duration::from_millis));
        let all = (0..).zip(all).map(|(index, waited)| Newcomer {
            came: start + second * index,
            waited,
            tally: Tally::default(),
        });
        let all: Vec<_> = all.collect();
        let sums = Newcomers::between(&all, start, start + 3 * second);
        let expected = Newcomers {
            came: 3,
            connected: 2,
            at_once: 1,
            slowest_ms: 2500.0,
        };
        assert_eq!(sums, expected);
    }
}
