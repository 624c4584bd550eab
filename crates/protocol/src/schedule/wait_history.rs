//! The longest waits of the last second, for displays.

use std::collections::VecDeque;

use super::{SendState, Wait};

/// Keeps the longest wait of each body in about the last second. The current waits change with every packet because a
/// packet ends many of them. This value changes four times a second.
#[derive(Clone, Debug)]
pub struct WaitHistory {
    quarter_ticks: u64,
    /// Longest wait of each body in a quarter of a second, oldest first, with the number of quarters since tick 0.
    quarters: VecDeque<(u64, Waits)>,
}

type Waits = Vec<Option<LongestWait>>;

/// Longest wait of a body in some period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongestWait {
    /// Number of ticks that the body had been due.
    pub ticks: u64,
    /// The state of the wait at that time.
    pub wait: Wait,
}

impl WaitHistory {
    /// Creates an empty record for a scene with this tick rate.
    pub fn new(ticks_per_second: u16) -> Self {
        Self { quarter_ticks: (u64::from(ticks_per_second) / 4).max(1), quarters: VecDeque::new() }
    }

    /// Records the waits in a tick, by body. A tick before the last one restarts the record.
    pub fn record(&mut self, tick: u64, send_states: &[SendState]) {
        let quarter = tick / self.quarter_ticks;
        self.quarters.retain(|&(held, _)| (held..=held + 4).contains(&quarter));
        if self.quarters.back().is_none_or(|&(newest, _)| newest < quarter) {
            self.quarters.push_back((quarter, Vec::new()));
        }
        let (_, longest) = self.quarters.back_mut().expect("one was just pushed");
        let waits = send_states.iter().map(|send_state| match *send_state {
            SendState::Waiting(wait) => {
                Some(LongestWait { ticks: tick.saturating_sub(wait.since), wait })
            }
            _ => None,
        });
        keep_longer(longest, waits);
    }

    /// Returns the longest wait of each body over the complete quarters. Empty without a budget.
    pub fn longest(&self) -> Vec<Option<LongestWait>> {
        let mut longest = Vec::new();
        // The newest quarter is not complete. Of equal waits, the oldest is returned.
        for (_, waits) in self.quarters.iter().rev().skip(1) {
            keep_longer(&mut longest, waits.iter().copied());
        }
        longest
    }
}

/// Replaces each wait by another one that is at least as long. Waits of 0 ticks do not count.
fn keep_longer(longest: &mut Waits, others: impl ExactSizeIterator<Item = Option<LongestWait>>) {
    longest.resize(longest.len().max(others.len()), None);
    for (longest, other) in longest.iter_mut().zip(others) {
        let ticks = |wait: Option<LongestWait>| wait.map_or(0, |wait| wait.ticks);
        if ticks(other) >= ticks(*longest).max(1) {
            *longest = other;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_of_a_second_stays_while_packets_end_waits() {
        let mut waits = WaitHistory::new(60);
        let mut longest = Vec::new();
        let up_to_date = SendState::UpToDate { sent: None };
        for tick in 0..240 {
            // The first body is sent every tenth tick and waits in between until tick 120. The second never waits.
            let since = tick / 10 * 10;
            let wait = Wait { since, error: 0.1, priority: 1.0, more_urgent: 0 };
            let first = match tick < 120 && tick > since {
                true => SendState::Waiting(wait),
                false => up_to_date,
            };
            waits.record(tick, &[first, up_to_date]);
            let ticks = |waited: Option<LongestWait>| waited.map_or(0, |waited| waited.ticks);
            longest.push(waits.longest().into_iter().map(ticks).collect::<Vec<_>>());
        }
        // No quarter is complete yet.
        assert!(longest[14].is_empty());
        assert!(longest[15..180].iter().all(|longest| longest == &[9, 0]));
        assert!(longest[180..].iter().all(|longest| longest == &[0, 0]));
        // An earlier tick restarts the record.
        waits.record(0, &[up_to_date]);
        assert!(waits.longest().is_empty());
    }
}
