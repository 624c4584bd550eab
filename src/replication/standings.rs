//! How the bodies of a lane stand within its budget, now and in the last second.

use bevy::prelude::*;
use cubewire_protocol::{Standing, Waits};
use cubewire_scene::TICKS_PER_SECOND;

/// How the bodies of a lane stand within its budget.
#[derive(Component, Clone, Debug)]
pub struct Standings {
    /// After the newest tick; empty without a budget.
    pub now: Vec<Standing>,
    /// Who has waited in the last second.
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
    /// Notes who waits in this tick.
    pub(crate) fn record(&mut self, tick: u64) {
        self.waits.record(tick, &self.now);
    }
}
