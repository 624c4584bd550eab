//! The longest waits of the last second, for displays.

use std::collections::VecDeque;

use super::{SendState, Wait};

/// Keeps the longest wait of each body in about the last second. The current waits change with every packet because a
/// packet ends many of them. This value changes four times a second.
#[derive(Clone, Debug)]
pub struct WaitHistory {
    quarter_ticks: u64,
    /// Quarters of a second, oldest first.
    quarters: VecDeque<Quarter>,
}

/// Longest wait of a body in some period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongestWait {
    /// Number of ticks that the body had been due.
    pub ticks: u64,
    /// The state of the wait at that time.
    pub wait: Wait,
}

#[derive(Clone, Debug)]
struct Quarter {
    /// Number of quarters since tick 0.
    index: u64,
    /// Longest wait of each body.
    longest: Vec<Option<LongestWait>>,
}

impl WaitHistory {
    /// Creates an empty record for a scene with this tick rate.
    pub fn new(ticks_per_second: u16) -> Self {
        Self { quarter_ticks: (u64::from(ticks_per_second) / 4).max(1), quarters: VecDeque::new() }
    }

    /// Records the waits in a tick, by body. A tick before the last one restarts the record.
    pub fn record(&mut self, tick: u64, send_states: &[SendState]) {
        let index = tick / self.quarter_ticks;
        self.quarters.retain(|quarter| (quarter.index..=quarter.index + 4).contains(&index));
        let newest = self.quarters.back();
        if newest.is_none_or(|newest| newest.index < index) {
            let longest = Vec::new();
            self.quarters.push_back(Quarter { index, longest });
        }
        let longest = self.quarters.back_mut().map(|newest| &mut newest.longest);
        let longest = longest.expect("one was just pushed");
        longest.resize(longest.len().max(send_states.len()), None);
        for (longest, send_state) in longest.iter_mut().zip(send_states) {
            let SendState::Waiting(wait) = *send_state else {
                continue;
            };
            let ticks = tick.saturating_sub(wait.since);
            if ticks > 0 && longest.is_none_or(|longest| longest.ticks <= ticks) {
                *longest = Some(LongestWait { ticks, wait });
            }
        }
    }

    /// Returns the longest wait of each body over the complete quarters. Empty without a budget.
    pub fn longest(&self) -> Vec<Option<LongestWait>> {
        let newest = self.quarters.back().map_or(0, |newest| newest.index);
        let whole = self.quarters.iter();
        let whole = whole.filter(|quarter| quarter.index < newest);
        let mut all: Vec<Option<LongestWait>> = Vec::new();
        for quarter in whole {
            all.resize(all.len().max(quarter.longest.len()), None);
            for (longest, other) in all.iter_mut().zip(&quarter.longest) {
                let ticks = |waited: &Option<LongestWait>| waited.map_or(0, |waited| waited.ticks);
                if ticks(other) > ticks(longest) {
                    *longest = *other;
                }
            }
        }
        all
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
