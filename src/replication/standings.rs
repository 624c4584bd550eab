//! How the bodies of a lane stand within its budget, now and in the last second.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_protocol::{Standing, Wait};
use cubewire_scene::TICKS_PER_SECOND;

/// How the bodies of a lane stand within its budget. A packet ends many waits at once, so what waits now changes with
/// every packet; [`longest`](Self::longest) is steady.
#[derive(Component, Clone, Debug, Default)]
pub struct Standings {
    /// After the newest tick; empty without a budget.
    pub now: Vec<Standing>,
    /// The newest last.
    quarters: VecDeque<Quarter>,
}

/// A wait of a body when it had lasted that long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waited {
    /// Ticks for which the body had been due.
    pub ticks: u64,
    /// What kept it waiting.
    pub wait: Wait,
}

/// A quarter of a second.
#[derive(Clone, Debug)]
struct Quarter {
    /// Counted from tick 0.
    index: u64,
    /// By body.
    longest: Vec<Option<Waited>>,
}

const QUARTER_TICKS: u64 = TICKS_PER_SECOND as u64 / 4;

impl Standings {
    /// Notes who waits in this tick.
    pub(crate) fn record(&mut self, tick: u64) {
        let index = tick / QUARTER_TICKS;
        // A simulation that begins again begins with tick 0.
        self.quarters
            .retain(|quarter| (quarter.index..=quarter.index + 4).contains(&index));
        if self
            .quarters
            .back()
            .is_none_or(|newest| newest.index < index)
        {
            let longest = Vec::new();
            self.quarters.push_back(Quarter { index, longest });
        }
        let longest = self.quarters.back_mut().map(|newest| &mut newest.longest);
        let longest = longest.expect("one was just pushed");
        longest.resize(longest.len().max(self.now.len()), None);
        for (longest, standing) in longest.iter_mut().zip(&self.now) {
            let Standing::Waits(wait) = *standing else {
                continue;
            };
            let ticks = tick.saturating_sub(wait.since);
            if ticks > 0 && longest.is_none_or(|longest| longest.ticks <= ticks) {
                *longest = Some(Waited { ticks, wait });
            }
        }
    }

    /// The longest wait of each body in the last second, which changes four times in one; empty where there is no budget.
    #[must_use]
    pub fn longest(&self) -> Vec<Option<Waited>> {
        let newest = self.quarters.back().map_or(0, |newest| newest.index);
        let mut all: Vec<Option<Waited>> = Vec::new();
        for quarter in self
            .quarters
            .iter()
            .filter(|quarter| quarter.index < newest)
        {
            all.resize(all.len().max(quarter.longest.len()), None);
            for (longest, other) in all.iter_mut().zip(&quarter.longest) {
                let ticks = |waited: &Option<Waited>| waited.map_or(0, |waited| waited.ticks);
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
        let mut standings = Standings::default();
        let mut longest = Vec::new();
        for tick in 0..240 {
            // The first body is sent in every tenth tick and waits in between, until tick 120; the second never waits.
            let since = tick / 10 * 10;
            let wait = Wait {
                since,
                error: 0.1,
                priority: 1.0,
                more_urgent: 0,
            };
            let waits = tick < 120 && tick > since;
            let up_to_date = Standing::UpToDate { sent: Some(since) };
            let first = if waits {
                Standing::Waits(wait)
            } else {
                up_to_date
            };
            standings.now = vec![first, up_to_date];
            standings.record(tick);
            let ticks = |waited: Option<Waited>| waited.map_or(0, |waited| waited.ticks);
            longest.push(
                standings
                    .longest()
                    .into_iter()
                    .map(ticks)
                    .collect::<Vec<_>>(),
            );
        }
        // No quarter is whole yet.
        assert!(longest[14].is_empty());
        assert!(longest[15..180].iter().all(|longest| longest == &[9, 0]));
        assert!(longest[180..].iter().all(|longest| longest == &[0, 0]));
        // From the start.
        standings.record(0);
        assert!(standings.longest().is_empty());
    }
}
