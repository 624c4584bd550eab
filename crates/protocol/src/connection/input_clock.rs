//! The client's clock for tick inputs: when the next one is due.
//!
//! Inputs are due at the rate of the server's ticks. The clock runs up to 5 % faster or slower, so that the shortest queue of
//! the last two seconds, as the server reports it, has one spare input. A report is as old as a round trip, so inputs that the
//! clock has since moved are taken into account: the *phase* of an input is the time at which it was due minus its number.

use std::collections::VecDeque;

/// Number of inputs that the shortest queue has besides the one that is used, and the tolerance.
const TARGET: f64 = 1.0;
const TOLERANCE: f64 = 0.5;

/// Maximum change of the rate.
const MAX_CHANGE: f64 = 0.05;

/// If the shortest queue is this much longer than [`TARGET`], no inputs are due until it is short. This happens after a pause.
const TOO_LONG: f64 = 10.0;

/// Time for which a report counts, ticks.
const WINDOW: f64 = 120.0;

/// Maximum number of reports: those of more packets than arrive in the window.
const MAX_REPORTS: usize = 256;

/// After a call that comes this late, in ticks, no input of the time before it is due: the app was stopped. At most eight inputs can
/// be sent at once.
const STOPPED: f64 = 8.0;

/// Times and phases are in ticks of the server since the first call.
#[derive(Debug, Default)]
pub(super) struct InputClock {
    now: f64,
    /// When the next input is due.
    next: f64,
    /// The phase of the last input that was due.
    pub(super) phase: f64,
    /// Times of reports, and the spare inputs of each plus the phase of the last input in the queue.
    reports: VecDeque<(f64, f64)>,
}

impl InputClock {
    /// Advances the clock by `elapsed` ticks of the server. Returns the number of inputs that are due. `newest` is the number of
    /// the last input.
    pub(super) fn advance(&mut self, elapsed: f64, newest: u64) -> usize {
        self.now += elapsed;
        if elapsed > STOPPED {
            self.next = self.now;
            self.reports.clear();
        }
        while self.reports.front().is_some_and(|&(at, _)| at + WINDOW < self.now) {
            self.reports.pop_front();
        }
        let phases = self.reports.iter().map(|&(_, spare)| spare);
        let next_phase = self.next - (newest + 1) as f64;
        let too_many = match phases.reduce(f64::min) {
            Some(shortest) => shortest - next_phase - TARGET,
            None => 0.0,
        };
        if too_many > TOO_LONG {
            self.next += too_many;
        }
        let interval = 1.0 / (1.0 + change(too_many));
        let mut due = 0;
        while self.next <= self.now {
            due += 1;
            self.next += interval;
        }
        self.phase = self.next - 1.0 - (newest + due as u64) as f64;
        due
    }

    /// Records a report: `spare` inputs were left, the last of which had this phase.
    pub(super) fn reported(&mut self, spare: f64, phase: f64) {
        if self.reports.len() == MAX_REPORTS {
            self.reports.pop_front();
        }
        self.reports.push_back((self.now, spare + phase));
    }
}

/// The change of the rate for a number of superfluous inputs, or of missing ones if it is negative.
fn change(too_many: f64) -> f64 {
    match too_many.abs() > TOLERANCE {
        true => (-MAX_CHANGE * too_many).clamp(-MAX_CHANGE, MAX_CHANGE),
        false => 0.0,
    }
}
