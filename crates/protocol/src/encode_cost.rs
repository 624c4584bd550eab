//! Encoding time of one connection, and the restrictions that apply to it.

use std::time::Duration;

use crate::sender::{BaselineChoice, CANDIDATES};

/// Restrictions that apply to all connections of an [`EncodeBudget`](crate::EncodeBudget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttle {
    /// Whether the newest baseline is used, whatever was requested.
    pub newest_only: bool,
    /// One of this many due snapshots is sent. At least 1.
    pub one_in: u32,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { newest_only: false, one_in: 1 }
    }
}

/// Encoding time of a connection, and the restrictions that apply to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EncodeCost {
    /// Mean time per snapshot, indexed by [`BaselineChoice`]. A shared snapshot counts for one of its receivers.
    means: [Option<Duration>; 2],
    pub(crate) throttle: Throttle,
    /// Position among the connections.
    pub(crate) index: u64,
    /// Selects the ticks in which a throttled connection sends. Connections with the same turn can share packets.
    turn: u64,
}

impl EncodeCost {
    pub(crate) fn mean(&self, choice: BaselineChoice) -> Option<Duration> {
        self.means[choice as usize]
    }

    pub(crate) fn add(&mut self, choice: BaselineChoice, took: Duration) {
        let mean = &mut self.means[choice as usize];
        *mean = Some(mean.map_or(took, |mean| (mean * 19 + took) / 20));
    }

    /// Lowers the mean of the smallest baseline by 2 %. While it is not used, it is not measured, and has to be tried again.
    pub(crate) fn forget_smallest(&mut self) {
        let mean = &mut self.means[BaselineChoice::Smallest as usize];
        *mean = mean.map(|mean| mean * 49 / 50);
    }

    /// Takes the turn of the connection that shares its packets, or a separate turn without one.
    pub(crate) fn take_turns(&mut self, with: Option<&Self>) {
        self.turn = with.map_or(self.index, |leader| leader.turn);
    }

    /// Whether a throttled snapshot is due in this tick, which is a multiple of the send interval.
    pub(crate) fn is_due(&self, send_interval_ticks: u8, tick: u64) -> bool {
        let turn = tick / u64::from(send_interval_ticks.max(1)) + self.turn;
        turn.is_multiple_of(self.throttle.one_in.into())
    }

    /// Returns the processor time per tick with the requested baseline choice, and with the newest baseline.
    pub(crate) fn demand(&self, choice: BaselineChoice, send_interval_ticks: u8) -> [Duration; 2] {
        let newest = self.mean(BaselineChoice::Newest).unwrap_or(FIRST_GUESS);
        let encodes = match choice {
            BaselineChoice::Newest => 1,
            BaselineChoice::Smallest => ENCODES_OF_SMALLEST,
        };
        let full = self.mean(choice).unwrap_or(newest * encodes);
        [full, newest].map(|cost| cost / u32::from(send_interval_ticks.max(1)))
    }
}

/// Assumed time for a snapshot before the first measurement.
const FIRST_GUESS: Duration = Duration::from_micros(300);

/// One encode per candidate, and one for the packet.
const ENCODES_OF_SMALLEST: u32 = CANDIDATES as u32 + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttled_connections_take_turns() {
        let throttle = Throttle { newest_only: true, one_in: 3 };
        let cost = |turn| EncodeCost { throttle, turn, ..EncodeCost::default() };
        let costs = [0, 1, 2, 3, 4, 5].map(cost);
        for send_interval_ticks in [1, 2] {
            for tick in (0..60).step_by(send_interval_ticks) {
                let due = costs.iter().filter(|cost| cost.is_due(send_interval_ticks as u8, tick));
                assert_eq!(due.count(), 2, "{tick}");
            }
        }
    }
}
