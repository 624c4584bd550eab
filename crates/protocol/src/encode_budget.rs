//! Limits the processor time for encoding, so that the requests of clients cannot delay the simulation.
//!
//! The encoding time of each connection is measured. If the connections together need more than the budget, all are throttled
//! equally. First they get the newest baseline instead of the smallest, which needs one encode per candidate. If that is not
//! enough, only every second, third, … snapshot is sent, each connection in other ticks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use log::debug;

use crate::connection::ServerConnection;
use crate::encode_cost::Throttle;

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
}
