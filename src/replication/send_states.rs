//! Send states of a lane's cubes under a budget.

use bevy::prelude::*;
use cubewire_protocol::{SendState, WaitHistory};
use cubewire_scene::TICKS_PER_SECOND;

/// Whether each cube of a lane is up to date, in flight or waiting, now and in the last second.
#[derive(Component, Clone, Debug)]
pub struct SendStates {
    /// State of each cube after the newest tick. Empty without a budget.
    pub now: Vec<SendState>,
    /// Longest wait of each cube in the last second.
    pub waits: WaitHistory,
}

impl Default for SendStates {
    fn default() -> Self {
        Self { now: Vec::new(), waits: WaitHistory::new(TICKS_PER_SECOND as u16) }
    }
}

impl SendStates {
    /// Adds the waits of this tick.
    pub(crate) fn record(&mut self, tick: u64) {
        self.waits.record(tick, &self.now);
    }
}
