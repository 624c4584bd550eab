//! Honest viewers that come and go, one after the other: how long each has to wait.

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

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) came: Instant,
    /// How long it took to be connected; `None` if it gave up.
    pub(crate) waited: Option<Duration>,
    pub(crate) tally: Tally,
}

/// Newcomers of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Newcomers {
    pub(crate) came: u32,
    pub(crate) connected: u32,
    /// Connected within a second.
    pub(crate) at_once: u32,
    /// The longest that one waited that was connected, milliseconds.
    pub(crate) slowest_ms: f64,
}

/// Round trip of newcomers from afar.
pub(crate) const FAR: Duration = Duration::from_millis(100);

/// A viewer gives up after as long as it takes it to notice a lost connection.
const PATIENCE: Duration = Duration::from_secs(TIMEOUT_SECONDS);

/// After this time `cubewire view` tries again with another token, then after twice as long, and so on.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

const INTERVAL: Duration = Duration::from_millis(500);

impl Newcomers {
    /// Those of `all` that came from `start` to `end`.
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

/// Sends newcomers until told to stop, all of which have the same round trip, beyond that of loopback.
///
/// # Errors
/// If there is no socket.
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

/// Connects as `cubewire view` does; returns how long that took, and `None` if it took too long.
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
