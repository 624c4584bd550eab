//! When the newest snapshot of each half arrived. A half without new ones is stale.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

use super::side::Side;
use crate::replication::{Lane, Replica, SenderSettings};

/// How much later than usual a snapshot may come before its half is stale.
const TOLERANCE: Duration = Duration::from_millis(250);

/// For each half with a lane, when its newest snapshot arrived.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals([Option<Arrival>; Side::ALL.len()]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrival {
    lane: Entity,
    /// Tick of the newest snapshot; none before the first.
    newest: Option<u64>,
    /// By the clock of the ticks, which stands still in a pause. Before the first snapshot, when the lane
    /// was first seen.
    at: Duration,
    /// Time from one snapshot to the next.
    interval: Duration,
}

/// How long no snapshot has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// Since the last snapshot, or since the lane was first seen.
    pub age: Duration,
    /// Whether a snapshot has ever arrived.
    pub has_any: bool,
}

impl Arrivals {
    /// How stale a half is; none if its snapshots arrive as expected, or if it has no lane. `now` is by the
    /// clock of the ticks. `frame` is the time that the newest frame spans: snapshots are received at its
    /// start.
    #[must_use]
    pub fn stale(&self, side: Side, now: Duration, frame: Duration) -> Option<Stale> {
        let arrival = self.0[side as usize]?;
        let age = now.saturating_sub(arrival.at);
        let is_stale = age > arrival.interval + TOLERANCE + frame;
        is_stale.then_some(Stale {
            age,
            has_any: arrival.newest.is_some(),
        })
    }
}

/// Records what has arrived in this tick.
pub(super) fn record(
    time: Res<Time<Fixed>>,
    lanes: Query<(Entity, &Side, &Replica, &SenderSettings), With<Lane>>,
    mut arrivals: ResMut<Arrivals>,
) {
    let mut noted = Arrivals::default();
    for (lane, &side, replica, sender) in &lanes {
        let newest = replica.receiver().newest();
        let before = arrivals.0[side as usize];
        let same = before.filter(|before| (before.lane, before.newest) == (lane, newest));
        noted.0[side as usize] = Some(Arrival {
            lane,
            newest,
            at: same.map_or(time.elapsed(), |before| before.at),
            interval: Duration::from_secs(1) * sender.send_interval_ticks / TICKS_PER_SECOND,
        });
    }
    arrivals.set_if_neq(noted);
}

#[cfg(test)]
mod tests {
    use cubewire_scene::TICK;

    use super::*;

    fn arrivals(interval_ticks: u32) -> Arrivals {
        let arrival = Arrival {
            lane: Entity::PLACEHOLDER,
            newest: Some(7),
            at: Duration::from_secs(10),
            interval: TICK * interval_ticks,
        };
        Arrivals([None, Some(arrival)])
    }

    fn age_ms(arrivals: Arrivals, after_ms: u64, frame: Duration) -> Option<u128> {
        let now = Duration::from_secs(10) + Duration::from_millis(after_ms);
        let stale = arrivals.stale(Side::Right, now, frame);
        stale.map(|stale| stale.age.as_millis())
    }

    #[test]
    fn a_half_is_stale_a_quarter_of_a_second_after_a_snapshot_was_due() {
        assert_eq!(age_ms(arrivals(1), 280, TICK), None);
        assert_eq!(age_ms(arrivals(1), 290, TICK), Some(290));
        assert_eq!(age_ms(arrivals(6), 290, TICK), None);
        assert_eq!(age_ms(arrivals(6), 370, TICK), Some(370));
    }

    #[test]
    fn snapshots_that_arrived_in_a_long_frame_are_not_stale_at_its_end() {
        let frame = Duration::from_millis(900);
        assert_eq!(age_ms(arrivals(1), 900, frame), None);
    }

    #[test]
    fn the_simulation_is_never_stale() {
        let stale = arrivals(1).stale(Side::Left, Duration::MAX, TICK);
        assert_eq!(stale, None);
    }
}
