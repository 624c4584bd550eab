//! Decides when the scene is rebuilt, so that receivers that need its state can get one.
//!
//! A state applies to a snapshot that the receiver must already have. So the scene is rebuilt only after a tick at which a lane
//! that needs the state sends a snapshot. All other lanes that need it send one too. A rebuild visibly moves the cubes of a
//! rolling ball, so rebuilds are rate-limited by a leaky bucket, or do not happen at all.

use std::collections::VecDeque;

use bevy::prelude::*;
use cubewire_scene::TICKS_PER_SECOND;

use super::lane::Sender;
use crate::simulation::{CubeWorld, RebuildSimulation};

/// While this resource exists, the scene is rebuilt only as recorded in the replay.
#[derive(Resource, Clone, Copy, Debug)]
pub struct RebuildsAsRecorded;

/// Limits rebuilds of the scene for receivers, and counts them.
#[derive(Resource, Clone, Debug, Default)]
pub struct Rebuilds {
    /// Whether the scene is rebuilt after this tick, provided that a lane still needs its state. All lanes that need it must
    /// then send a snapshot in this tick.
    pub(super) is_planned: bool,
    /// Level of the leaky bucket: a rebuild adds [`TICKS_PER_REBUILD`], a tick removes 1. At most [`BURST`] times the former.
    owed_ticks: u64,
    recent: VecDeque<u64>,
    /// Whether the scene is never rebuilt for a receiver. Packets to a receiver that needs its state are then coded as on
    /// `predicted` until the scene is reset.
    pub never: bool,
    /// Number of rebuilds since the start.
    pub total: u64,
    /// Largest number in any minute so far, at most [`MAX_A_MINUTE`](Self::MAX_A_MINUTE).
    pub most_in_a_minute: usize,
}

impl Rebuilds {
    /// Maximum number of rebuilds per minute, however many receivers need a state.
    pub const MAX_A_MINUTE: usize = (MINUTE / TICKS_PER_REBUILD + BURST) as usize;

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

/// Runs before the lanes send: decides whether the scene may be rebuilt after this tick.
pub(super) fn plan(
    world: Res<CubeWorld>,
    replay: Option<Res<RebuildsAsRecorded>>,
    mut rebuilds: ResMut<Rebuilds>,
    lanes: Query<&Sender>,
) {
    let tick = world.tick();
    rebuilds.owed_ticks = rebuilds.owed_ticks.saturating_sub(1);
    rebuilds.is_planned = replay.is_none()
        && !rebuilds.never
        && rebuilds.may_rebuild(tick)
        && lanes.iter().any(|lane| lane.wants_state().is_some() && lane.0.is_turn(tick));
}

/// Runs after the lanes sent: requests the rebuild if a lane has sent the snapshot that the state applies to.
pub(super) fn request(
    world: Res<CubeWorld>,
    mut rebuilds: ResMut<Rebuilds>,
    mut simulation: ResMut<RebuildSimulation>,
    lanes: Query<&Sender>,
) {
    let tick = world.tick();
    if rebuilds.is_planned && lanes.iter().any(|lane| lane.wants_state() == Some(tick)) {
        rebuilds.record(tick);
        simulation.0 = true;
    }
}

const MINUTE: u64 = 60 * TICKS_PER_SECOND as u64;

/// Mean time between rebuilds in the long run: 5 s. This is also a receiver's longest wait.
const TICKS_PER_REBUILD: u64 = 5 * TICKS_PER_SECOND as u64;

/// Number of rebuilds that may follow each other faster after a quiet time, for a receiver that needs another try.
const BURST: u64 = 3;

/// Minimum time between rebuilds: 1 s.
const MIN_TICKS_BETWEEN: u64 = TICKS_PER_SECOND as u64;
