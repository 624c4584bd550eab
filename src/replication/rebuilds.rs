//! When the scene is rebuilt, so that receivers that need its state can be sent one.
//!
//! The state belongs to the snapshot of the tick before, which a receiver must have. So the scene is rebuilt after a tick
//! in which a lane that needs its state sends a snapshot anyway, and all other lanes that need it send one too.
//! Players notice a rebuild, as it moves the cubes of a rolling ball: it is rationed.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

use super::budget::LaneCost;
use super::lane::{Sender, is_due};
use super::settings::SenderSettings;
use crate::simulation::{CubeWorld, RebuildSimulation};

/// While this resource exists, the scene is only rebuilt where a replay says so.
#[derive(Resource, Clone, Copy, Debug)]
pub struct RebuildsAsRecorded;

/// How often the scene has been rebuilt for receivers, and whether it may be again.
#[derive(Resource, Clone, Debug, Default)]
pub struct Rebuilds {
    /// Whether it is rebuilt after this tick, if a lane then still needs its state.
    is_planned: bool,
    /// For how long none should follow, at most [`BURST`] times [`TICKS_PER_REBUILD`].
    owed_ticks: u64,
    /// Ticks of the rebuilds in the last minute.
    recent: VecDeque<u64>,
    total: u64,
    most_in_a_minute: usize,
}

impl Rebuilds {
    /// Rebuilds since the start.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The most in any minute so far, at most [`MAX_A_MINUTE`](Self::MAX_A_MINUTE).
    #[must_use]
    pub const fn most_in_a_minute(&self) -> usize {
        self.most_in_a_minute
    }

    /// Rebuilds in a minute, at most, however many receivers need a state.
    pub const MAX_A_MINUTE: usize = (MINUTE / TICKS_PER_REBUILD + BURST) as usize;

    /// Whether lanes that need a state send a snapshot of this tick.
    pub(super) const fn is_planned(&self) -> bool {
        self.is_planned
    }

    fn may_rebuild(&self, tick: u64) -> bool {
        let is_recent = |last: &u64| tick - last < MIN_TICKS_BETWEEN;
        self.owed_ticks <= (BURST - 1) * TICKS_PER_REBUILD
            && !self.recent.back().is_some_and(is_recent)
    }

    fn record(&mut self, tick: u64) {
        self.owed_ticks += TICKS_PER_REBUILD;
        self.recent.retain(|&rebuilt| tick - rebuilt < MINUTE);
        self.recent.push_back(tick);
        self.total += 1;
        self.most_in_a_minute = self.most_in_a_minute.max(self.recent.len());
    }
}

type PlannedLane<'a> = (Entity, &'a Sender, &'a SenderSettings, Option<&'a LaneCost>);

/// Before the lanes send: decides whether the scene may be rebuilt after this tick.
pub(super) fn plan(
    world: Res<CubeWorld>,
    replay: Option<Res<RebuildsAsRecorded>>,
    mut rebuilds: ResMut<Rebuilds>,
    lanes: Query<PlannedLane<'_>>,
) {
    let tick = world.tick();
    rebuilds.owed_ticks = rebuilds.owed_ticks.saturating_sub(1);
    rebuilds.is_planned = replay.is_none()
        && rebuilds.may_rebuild(tick)
        && lanes.iter().any(|(lane, sender, settings, cost)| {
            sender.0.wants_state().is_some() && is_due(lane, settings, cost, tick)
        });
}

/// After the lanes have sent: has the scene rebuilt if one of them has sent what its state belongs to.
pub(super) fn request(
    world: Res<CubeWorld>,
    mut rebuilds: ResMut<Rebuilds>,
    mut simulation: ResMut<RebuildSimulation>,
    lanes: Query<&Sender>,
) {
    let tick = world.tick();
    if rebuilds.is_planned && lanes.iter().any(|lane| lane.0.wants_state() == Some(tick)) {
        rebuilds.record(tick);
        simulation.0 = true;
    }
}

const MINUTE: u64 = 60 * TICKS_PER_SECOND as u64;

/// From one rebuild to the next on average, where many are needed: 5 s, which is how long a receiver waits at most.
const TICKS_PER_REBUILD: u64 = 5 * TICKS_PER_SECOND as u64;

/// Rebuilds that may follow each other sooner after a quiet time: for one that needs another try.
const BURST: u64 = 3;

/// Ticks from one rebuild to the next, at least: a second.
const MIN_TICKS_BETWEEN: u64 = TICKS_PER_SECOND as u64;
