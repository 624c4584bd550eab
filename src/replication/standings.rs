//! Send states of a lane's cubes under a budget.

use bevy::prelude::*;
use cubewire_protocol::{Standing, Waits};
use cubewire_scene::TICKS_PER_SECOND;

/// Whether each cube of a lane is up to date, in flight or waiting, now and in the last second.
#[derive(Component, Clone, Debug)]
pub struct Standings {
    /// State of each cube after the newest tick. Empty without a budget.
    pub now: Vec<Standing>,
    /// Longest wait of each cube in the last second.
    pub waits: Waits,
}

impl Default for Standings {
    fn default() -> Self {
        Self {
            now: Vec::new(),
            waits: Waits::new(TICKS_PER_SECOND as u16),
        }
    }
}

impl Standings {
    /// Adds the waits of this tick.
    pub(crate) fn record(&mut self, tick: u64) {
        self.waits.record(tick, &self.now);
    }
}
