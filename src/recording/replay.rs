//! Replays: scripts that are recorded during play.
//!
//! Physics is deterministic on one machine and in one build: the same keys at the same ticks, starting in
//! a new physics world, give the same states bit for bit. So a replay only needs the keys: the simulation
//! has no seed, and the seeds of the links are in the text of each lane. The [`InputLog`] always records the
//! keys since the last reset; a recording that begins later has the ticks before it as its lead-in. A hash
//! over all states shows whether a replay reproduces them: [`ReplayCheck`].

mod check;
mod log;

use bevy::prelude::*;
use bevy_rapier3d::rapier;

use super::script::{FORMAT, Recorded};
use crate::simulation::SimulationSystems;

pub use check::{Difference, Outcome, ReplayCheck};
pub use log::InputLog;

/// Updates the [`InputLog`], and the [`ReplayCheck`] if that resource exists.
#[derive(Debug)]
pub struct InputLogPlugin;

impl Plugin for InputLogPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<InputLog>().add_systems(
            FixedUpdate,
            (
                log::record_input
                    .after(SimulationSystems::Control)
                    .before(SimulationSystems::Reset),
                (
                    log::record_state,
                    check::check.run_if(resource_exists::<ReplayCheck>),
                )
                    .chain()
                    .after(SimulationSystems::Step),
            ),
        );
    }
}

impl Recorded {
    /// The record of a replay made by this program.
    fn by_this_program(states: Vec<u64>) -> Self {
        let profile = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
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
