//! A budget for encoding snapshots for viewers in other processes, so that their wishes cannot delay the
//! simulation.
//!
//! Each lane's encoding is timed. While what all viewers have asked for takes longer than the budget, all of them
//! are throttled equally: first they get the newest baseline instead of the one that makes the smallest packet, which
//! takes an encode for each candidate, and then only every second, third … snapshot.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bevy::prelude::*;
use bevy::tasks::ComputeTaskPool;
use cubewire_protocol::BaselineChoice;

use super::mean::Mean;
use super::settings::SenderSettings;

/// Limits the time spent on encoding for remote viewers. Without this resource there is no limit.
#[derive(Resource, Debug)]
pub struct EncodeBudget {
    /// Processor time a tick.
    per_tick: Duration,
    throttle: Throttle,
    /// Spent in this tick, nanoseconds.
    spent: AtomicU64,
}

impl Default for EncodeBudget {
    /// A third of a tick on every core that encodes.
    fn default() -> Self {
        Self::new(MAX_WALL_TIME * cores())
    }
}

/// How all viewers are throttled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Throttle {
    /// The newest baseline, whatever was asked for.
    newest_only: bool,
    /// One in this many of the snapshots that are due is sent.
    one_in: u32,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            newest_only: false,
            one_in: 1,
        }
    }
}

/// What encoding costs on a lane, and what the budget leaves of its settings.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct LaneCost {
    /// Of a snapshot, by [`BaselineChoice`], seconds.
    means: [Mean; 2],
    throttle: Throttle,
}

impl LaneCost {
    /// What the budget leaves of the settings that were asked for.
    #[must_use]
    pub fn granted(&self, asked: &SenderSettings) -> SenderSettings {
        SenderSettings {
            baseline: match self.throttle.newest_only {
                true => BaselineChoice::Newest,
                false => asked.baseline,
            },
            send_interval_ticks: asked.send_interval_ticks.max(1) * self.throttle.one_in,
            ..*asked
        }
    }

    /// What a snapshot costs; none before the first. It is measured while there is an [`EncodeBudget`].
    #[must_use]
    pub fn of(&self, choice: BaselineChoice) -> Option<Duration> {
        self.means[choice as usize].0.map(Duration::from_secs_f64)
    }

    /// Whether a snapshot is due: the lanes take turns.
    pub(super) fn is_due(&self, lane: Entity, asked: &SenderSettings, tick: u64) -> bool {
        let turn = tick / u64::from(asked.send_interval_ticks.max(1)) + u64::from(lane.index_u32());
        asked.sends_at(tick) && turn.is_multiple_of(self.throttle.one_in.into())
    }

    /// Processor time a tick, if it gets all that it asks for, and with the newest baseline.
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
    /// A budget of this much processor time a tick.
    #[must_use]
    pub fn new(per_tick: Duration) -> Self {
        Self {
            per_tick,
            throttle: Throttle::default(),
            spent: AtomicU64::default(),
        }
    }

    /// Whether there is time for another snapshot in this tick. The plan prevents most of what this does: it
    /// bounds a tick in which everything takes longer than before.
    pub(super) fn has_time(&self) -> bool {
        let spent = Duration::from_nanos(self.spent.load(Ordering::Relaxed));
        spent < self.per_tick * 2
    }

    /// Counts what an encode on a lane took.
    pub(super) fn spend(&self, cost: &mut LaneCost, choice: BaselineChoice, took: Duration) {
        cost.means[choice as usize].add(took.as_secs_f64());
        self.spent
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Plans again a few times a second.
pub(super) fn plan(
    mut budget: ResMut<EncodeBudget>,
    mut ticks: Local<u32>,
    mut lanes: Query<(&SenderSettings, &mut LaneCost)>,
) {
    *budget.spent.get_mut() = 0;
    *ticks += 1;
    if ticks.is_multiple_of(PLAN_TICKS) {
        let demands = lanes.iter().map(|(asked, cost)| cost.demand(asked));
        let [full, newest] = demands.fold([Duration::ZERO; 2], |sums, demand| {
            [sums[0] + demand[0], sums[1] + demand[1]]
        });
        let throttle = next(budget.throttle, budget.per_tick, full, newest);
        if throttle != budget.throttle {
            info_once!("viewers get less than they ask for while encoding takes too long");
            budget.throttle = throttle;
        }
    }
    for (_, mut cost) in &mut lanes {
        cost.throttle = budget.throttle;
    }
}

/// What fits into the budget. It is left as it is unless the demand is a fifth below what would change it.
fn next(now: Throttle, budget: Duration, full: Duration, newest: Duration) -> Throttle {
    let fitting = |budget: Duration| Throttle {
        newest_only: full > budget,
        one_in: newest.as_nanos().div_ceil(budget.as_nanos().max(1)).max(1) as u32,
    };
    let needed = fitting(budget);
    let possible = fitting(budget * 4 / 5);
    Throttle {
        newest_only: if now.newest_only {
            possible.newest_only
        } else {
            needed.newest_only
        },
        one_in: now.one_in.clamp(needed.one_in, possible.one_in),
    }
}

/// Threads that encode: those of the pool, and the one that waits for them.
fn cores() -> u32 {
    let pool = ComputeTaskPool::try_get().map_or(0, |pool| pool.thread_num());
    (pool + 1).min(bevy::tasks::available_parallelism()) as u32
}

/// A third of a tick.
const MAX_WALL_TIME: Duration = Duration::from_micros(5_500);

/// A quarter of a second.
const PLAN_TICKS: u32 = 15;

/// What a snapshot is taken to cost before the first was encoded.
const FIRST_GUESS: Duration = Duration::from_micros(300);

/// One for each candidate, and one for the packet.
const ENCODES_OF_SMALLEST: u32 = cubewire_protocol::CANDIDATES as u32 + 1;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_baseline_is_throttled_before_the_rate_and_both_recover() {
        let throttled = |newest_only, one_in| Throttle {
            newest_only,
            one_in,
        };
        let budget = 10 * MS;
        let none = Throttle::default();
        let mut now = none;
        for (full, newest, expected) in [
            (10, 10, none),
            (11, 2, throttled(true, 1)),
            // It would fit, but hardly.
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
        let cost = LaneCost {
            throttle: Throttle {
                newest_only: true,
                one_in: 3,
            },
            ..LaneCost::default()
        };
        let mut world = World::new();
        let lanes: Vec<_> = (0..6).map(|_| world.spawn_empty().id()).collect();
        for send_interval_ticks in [1, 2] {
            let asked = SenderSettings {
                send_interval_ticks,
                baseline: BaselineChoice::Smallest,
                ..SenderSettings::default()
            };
            for tick in 0..60 {
                let due = lanes
                    .iter()
                    .filter(|&&lane| cost.is_due(lane, &asked, tick));
                let expected = if asked.sends_at(tick) { 2 } else { 0 };
                assert_eq!(due.count(), expected, "{tick}");
            }
            let granted = cost.granted(&asked);
            assert_eq!(granted.send_interval_ticks, 3 * send_interval_ticks);
            assert_eq!(granted.baseline, BaselineChoice::Newest);
        }
    }
}
