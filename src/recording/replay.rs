//! Replays: scripts that are recorded during play.
//!
//! Physics is deterministic with the same build on the same machine. The same keys at the same ticks from a new physics
//! world give bit-identical states. A replay therefore stores only keys and lane settings, including the seeds of the
//! links. The simulation has no seed.
//!
//! The [`InputLog`] always records the keys since the last reset. If a recording starts later, the ticks before it
//! become its lead-in. [`ReplayCheck`] compares hashes of the states to verify a replay.

mod check;
mod log;

use bevy::prelude::*;
use bevy_rapier3d::rapier;

use super::script::{FORMAT, Recorded};
use crate::simulation::SimulationSystems;

pub use check::{Difference, Outcome, ReplayCheck};
pub use log::InputLog;

/// Updates the [`InputLog`], and the [`ReplayCheck`] while that resource exists.
pub struct InputLogPlugin;

impl Plugin for InputLogPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<InputLog>().add_systems(
            FixedUpdate,
            (
                log::record_input
                    .after(SimulationSystems::Control)
                    .before(SimulationSystems::Reset),
                (log::record_state, check::check.run_if(resource_exists::<ReplayCheck>))
                    .chain()
                    .after(SimulationSystems::Step),
            ),
        );
    }
}

impl Recorded {
    fn by_this_program(states: Vec<u64>) -> Self {
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        let (machine, system) = (std::env::consts::ARCH, std::env::consts::OS);
        Self {
            format: FORMAT,
            cubewire: env!("CARGO_PKG_VERSION").to_owned(),
            build: format!("rapier {}, {profile}, {machine} {system}", rapier::VERSION),
            states,
            checksum: 0,
        }
    }
}
