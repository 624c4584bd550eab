//! Limits the processor time for encoding, so that the requests of clients cannot delay the simulation.
//!
//! The encoding time of each connection is measured. If the connections together need more than the budget, all are throttled
//! equally. First they get the newest baseline instead of the smallest, which needs one encode per candidate. If that is not
//! enough, only every second, third, … snapshot is sent, each connection in other ticks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use log::debug;

use crate::connection::ServerConnection;
use crate::sender::{BaselineChoice, CANDIDATES};

/// Processor time per tick for encoding snapshots of all connections of a server.
#[derive(Debug)]
pub struct EncodeBudget {
    /// Summed over all cores.
    per_tick: Duration,
    throttle: Throttle,
    ticks: u32,
    /// Time spent in this tick, nanoseconds. Atomic, because packets are encoded in parallel.
    spent: AtomicU64,
}

/// Restrictions that apply to all connections of an [`EncodeBudget`].
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
    index: u64,
    /// Decides on the ticks in which a throttled connection sends: its own index, or that of the connection whose packets it
    /// shares, because only packets of the same tick are shared.
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
    fn forget_smallest(&mut self) {
        let mean = &mut self.means[BaselineChoice::Smallest as usize];
        *mean = mean.map(|mean| mean * 49 / 50);
    }

    /// Takes turns with the connection whose packets it shares, or alone.
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

impl EncodeBudget {
    /// Creates a budget of processor time per tick, summed over all cores.
    pub fn new(per_tick: Duration) -> Self {
        Self { per_tick, throttle: Throttle::default(), ticks: 0, spent: AtomicU64::new(0) }
    }

    /// Returns the default budget for this number of threads that encode: a third of a tick at 60 Hz on each.
    pub fn of_threads(threads: usize) -> Self {
        Self::new(MAX_WALL_TIME * threads.max(1) as u32)
    }

    /// Begins a tick: applies the current restrictions to the connections, and changes them four times a second at 60 Hz.
    pub fn begin_tick<'c>(
        &mut self,
        connections: impl IntoIterator<Item = &'c mut ServerConnection>,
    ) {
        *self.spent.get_mut() = 0;
        let is_planned = (self.ticks + 1).is_multiple_of(PLAN_TICKS);
        let mut sums = [Duration::ZERO; 2];
        let sending = connections.into_iter().filter_map(ServerConnection::cost);
        for ((cost, demand), index) in sending.zip(0..) {
            sums = [sums[0] + demand[0], sums[1] + demand[1]];
            (cost.throttle, cost.index) = (self.throttle, index);
            if is_planned && self.throttle.newest_only {
                cost.forget_smallest();
            }
        }
        self.ticks += 1;
        if is_planned {
            let next = next(self.throttle, self.per_tick, sums);
            if next != self.throttle {
                debug!("encoding needs {:?} of {:?} a tick: {next:?}", sums[0], self.per_tick);
            }
            self.throttle = next;
        }
    }

    /// The restrictions in use.
    pub const fn throttle(&self) -> Throttle {
        self.throttle
    }

    /// Whether another snapshot may be encoded in this tick. The throttle already keeps the mean within the budget; this
    /// limits a single tick to twice the budget if encoding suddenly takes longer.
    pub fn has_time(&self) -> bool {
        self.spent() < self.per_tick.saturating_mul(2)
    }

    /// Records the time for a snapshot.
    pub fn spend(&self, took: Duration) {
        self.spent.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Returns the processor time spent in this tick.
    pub fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }
}

/// Returns the throttle for a demand. Hysteresis: it is relaxed only if the demand fits into four fifths of the budget.
fn next(now: Throttle, budget: Duration, [full, newest]: [Duration; 2]) -> Throttle {
    let fitting = |budget: Duration| Throttle {
        newest_only: full > budget,
        one_in: newest.as_nanos().div_ceil(budget.as_nanos().max(1)).clamp(1, MAX_ONE_IN) as u32,
    };
    let needed = fitting(budget);
    let possible = fitting(budget / 5 * 4);
    Throttle {
        newest_only: if now.newest_only { possible.newest_only } else { needed.newest_only },
        one_in: now.one_in.clamp(needed.one_in, possible.one_in),
    }
}

/// A third of a tick at 60 Hz.
const MAX_WALL_TIME: Duration = Duration::from_micros(5_500);

/// A quarter of a second at 60 Hz.
const PLAN_TICKS: u32 = 15;

/// A client gets at least one snapshot a second at 60 Hz, so that its baseline does not become too old.
const MAX_ONE_IN: u128 = 60;

/// Assumed time for a snapshot before the first measurement.
const FIRST_GUESS: Duration = Duration::from_micros(300);

/// One encode per candidate, and one for the packet.
const ENCODES_OF_SMALLEST: u32 = CANDIDATES as u32 + 1;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_baseline_is_throttled_before_the_rate_and_both_recover() {
        let throttled = |newest_only, one_in| Throttle { newest_only, one_in };
        let budget = 10 * MS;
        let none = Throttle::default();
        let mut now = none;
        for (full, newest, expected) in [
            (10, 10, none),
            (11, 2, throttled(true, 1)),
            // The full demand fits, but not into four fifths.
            (9, 2, throttled(true, 1)),
            (8, 2, none),
            (200, 25, throttled(true, 3)),
            (200, 18, throttled(true, 3)),
            (200, 16, throttled(true, 2)),
            (200, 9, throttled(true, 2)),
            (8, 8, none),
            (80_000, 80_000, throttled(true, 60)),
        ] {
            now = next(now, budget, [full * MS, newest * MS]);
            assert_eq!(now, expected, "{full} and {newest} ms");
        }
    }

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
