//! When the newest snapshot of each half arrived. A half without new ones is stale.

use std::time::Duration;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

use super::Side;
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

/// Notes what has arrived in this tick.
pub(super) fn note(
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
