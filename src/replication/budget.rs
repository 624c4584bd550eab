//! Limits the time for encoding snapshots for viewers in other processes, so that their requests cannot delay the simulation.
//!
//! The encoding time of each lane is measured. If the viewers' total demand exceeds the budget, all viewers are throttled
//! equally. First they get the newest baseline instead of the smallest, which needs one encode per candidate. If that is not
//! enough, only every second, third, … snapshot is sent.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy::prelude::*;
use bevy::tasks::ComputeTaskPool;
use cubewire_codec::ladder;
use cubewire_protocol::BaselineChoice;

use super::meter::Mean;
use super::settings::SenderSettings;

/// Limits the time for encoding for remote viewers. Without this resource there is no limit.
#[derive(Resource, Debug)]
pub struct EncodeBudget {
    /// Processor time per tick, summed over all cores.
    per_tick: Duration,
    throttle: Throttle,
    /// Time spent in this tick, in nanoseconds. Atomic because lanes encode in parallel.
    spent: AtomicU64,
}

impl Default for EncodeBudget {
    /// A third of a tick on each encoding core.
    fn default() -> Self {
        Self::new(MAX_WALL_TIME * cores())
    }
}

/// Restrictions that apply to all viewers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Throttle {
    /// Use the newest baseline, whatever was requested.
    newest_only: bool,
    /// Send one of this many due snapshots. At least 1.
    one_in: u32,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { newest_only: false, one_in: 1 }
    }
}

/// Encoding time of a lane, and the restrictions that apply to it. The default is unrestricted.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct LaneCost {
    /// Mean seconds per snapshot, indexed by [`BaselineChoice`].
    means: [Mean; 2],
    throttle: Throttle,
    /// Whether the lane gets `predicted` instead of `simulated`: see [`LaneSync::awaits_reset`](super::LaneSync::awaits_reset).
    pub(super) awaits_reset: bool,
}

impl LaneCost {
    /// Applies the current restrictions to the requested settings.
    pub fn granted(&self, asked: &SenderSettings) -> SenderSettings {
        SenderSettings {
            stages: if self.awaits_reset { ladder::PREDICTED.stages } else { asked.stages },
            baseline: match self.throttle.newest_only {
                true => BaselineChoice::Newest,
                false => asked.baseline,
            },
            send_interval_ticks: asked.send_interval_ticks.max(1) * self.throttle.one_in,
            ..*asked
        }
    }

    /// Mean time to encode a snapshot. `None` before the first measurement, which needs an [`EncodeBudget`].
    pub fn of(&self, choice: BaselineChoice) -> Option<Duration> {
        self.means[choice as usize].0.map(Duration::from_secs_f64)
    }

    /// Whether a snapshot is due in this tick. When throttled, lanes send in different ticks.
    pub(super) fn is_due(&self, lane: Entity, asked: &SenderSettings, tick: u64) -> bool {
        let turn = tick / u64::from(asked.send_interval_ticks.max(1)) + u64::from(lane.index_u32());
        asked.sends_at(tick) && turn.is_multiple_of(self.throttle.one_in.into())
    }

    /// Processor time per tick with the requested baseline choice, and with the newest baseline.
    fn demand(&self, asked: &SenderSettings) -> [Duration; 2] {
        let newest = self.of(BaselineChoice::Newest).unwrap_or(FIRST_GUESS);
        let encodes = match asked.baseline {
            BaselineChoice::Newest => 1,
            BaselineChoice::Smallest => ENCODES_OF_SMALLEST,
        };
        let full = self.of(asked.baseline).unwrap_or(newest * encodes);
        [full, newest].map(|cost| cost / asked.send_interval_ticks.max(1))
    }
}

impl EncodeBudget {
    pub fn new(per_tick: Duration) -> Self {
        Self { per_tick, throttle: Throttle::default(), spent: AtomicU64::default() }
    }

    /// Whether another snapshot may be encoded in this tick. The plan already keeps the mean within the budget; this limits
    /// a single tick to twice the budget if encoding suddenly takes longer.
    pub(super) fn has_time(&self) -> bool {
        let spent = Duration::from_nanos(self.spent.load(Ordering::Relaxed));
        spent < self.per_tick * 2
    }

    pub(super) fn spend(&self, cost: &mut LaneCost, choice: BaselineChoice, took: Duration) {
        cost.means[choice as usize].add(took.as_secs_f64());
        self.spent.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Starts a tick. Updates the throttle every [`PLAN_TICKS`].
pub(super) fn plan(
    mut budget: ResMut<EncodeBudget>,
    mut ticks: Local<u32>,
    mut lanes: Query<(&SenderSettings, &mut LaneCost)>,
) {
    *budget.spent.get_mut() = 0;
    *ticks += 1;
    if ticks.is_multiple_of(PLAN_TICKS) {
        let demands = lanes.iter().map(|(asked, cost)| cost.demand(asked));
        let [full, newest] = demands
            .fold([Duration::ZERO; 2], |sums, demand| [sums[0] + demand[0], sums[1] + demand[1]]);
        let throttle = next(budget.throttle, budget.per_tick, full, newest);
        if throttle != budget.throttle {
            info_once!("encoding is too slow: viewers get less than they requested");
            budget.throttle = throttle;
        }
    }
    for (_, mut cost) in &mut lanes {
        cost.throttle = budget.throttle;
    }
}

/// The throttle for a demand. Hysteresis: throttling is relaxed only if the demand fits into four fifths of the budget.
fn next(now: Throttle, budget: Duration, full: Duration, newest: Duration) -> Throttle {
    let fitting = |budget: Duration| Throttle {
        newest_only: full > budget,
        one_in: newest.as_nanos().div_ceil(budget.as_nanos().max(1)).max(1) as u32,
    };
    let needed = fitting(budget);
    let possible = fitting(budget * 4 / 5);
    Throttle {
        newest_only: if now.newest_only { possible.newest_only } else { needed.newest_only },
        one_in: now.one_in.clamp(needed.one_in, possible.one_in),
    }
}

/// Number of threads that encode: the task pool's, and the main thread, which helps while it waits.
fn cores() -> u32 {
    let pool = ComputeTaskPool::try_get().map_or(0, |pool| pool.thread_num());
    (pool + 1).min(bevy::tasks::available_parallelism()) as u32
}

/// A third of a tick at 60 Hz.
const MAX_WALL_TIME: Duration = Duration::from_micros(5_500);

/// A quarter of a second at 60 Hz.
const PLAN_TICKS: u32 = 15;

/// Assumed cost of a snapshot before the first measurement.
const FIRST_GUESS: Duration = Duration::from_micros(300);

/// One encode per candidate, and one for the packet.
const ENCODES_OF_SMALLEST: u32 = cubewire_protocol::CANDIDATES as u32 + 1;

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
        ] {
            now = next(now, budget, full * MS, newest * MS);
            assert_eq!(now, expected, "{full} and {newest} ms");
        }
    }

    #[test]
    fn lanes_take_turns() {
        let cost =
            LaneCost { throttle: Throttle { newest_only: true, one_in: 3 }, ..LaneCost::default() };
        let mut world = World::new();
        let lanes: Vec<_> = (0..6).map(|_| world.spawn_empty().id()).collect();
        for send_interval_ticks in [1, 2] {
            let asked = SenderSettings {
                send_interval_ticks,
                baseline: BaselineChoice::Smallest,
                ..SenderSettings::default()
            };
            for tick in 0..60 {
                let due = lanes.iter().filter(|&&lane| cost.is_due(lane, &asked, tick));
                let expected = if asked.sends_at(tick) { 2 } else { 0 };
                assert_eq!(due.count(), expected, "{tick}");
            }
            let granted = cost.granted(&asked);
            assert_eq!(granted.send_interval_ticks, 3 * send_interval_ticks);
            assert_eq!(granted.baseline, BaselineChoice::Newest);
        }
    }
}
