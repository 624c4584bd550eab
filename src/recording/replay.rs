//! Replays: scripts that are recorded during play.
//!
//! Physics is deterministic with the same build on the same machine. The same keys at the same ticks from a new physics
//! world give bit-identical states. A replay therefore stores only keys and lane settings, including the seeds of the
//! links. The simulation has no seed.
//!
//! The [`InputLog`] always records the keys since the last reset. If a recording starts later, the ticks before it
//! become its lead-in. [`ReplayCheck`] compares hashes of the states to verify a replay.

mod log;

use bevy::prelude::*;
use bevy_rapier3d::rapier;

use super::script::{FORMAT, HASH_EVERY, Recorded, Script};
use crate::simulation::SimulationSystems;

pub use log::InputLog;

/// Updates the [`InputLog`], and the [`ReplayCheck`] while that resource exists.
pub struct InputLogPlugin;

impl Plugin for InputLogPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<InputLog>().add_systems(
            FixedUpdate,
            (
                log::record_input.after(SimulationSystems::Keys).before(SimulationSystems::Reset),
                (log::record_state, check.run_if(resource_exists::<ReplayCheck>))
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

/// Compares the states of a replay with the recorded ones while it is played.
#[derive(Resource, Clone, Debug)]
pub struct ReplayCheck {
    recorded: Recorded,
    ticks: u64,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Unfinished,
    Same,
    Different(Difference),
}

/// Range of ticks that contains the first difference of a replay, and the probable reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the states differ from the recorded ones between ticks {from} and {to}: {reason}")]
pub struct Difference {
    pub from: u64,
    pub to: u64,
    pub reason: String,
}

impl ReplayCheck {
    /// Creates the check of `script`, or returns `None` if it is not a replay. Insert it before the first tick, with a
    /// log that continues [across resets](InputLog::across_resets).
    pub fn new(script: &Script) -> Option<Self> {
        Some(Self {
            recorded: script.recorded.clone()?,
            ticks: script.ticks,
            outcome: Outcome::Unfinished,
        })
    }

    fn compare(&mut self, log: &InputLog) {
        let ticks = log.script.ticks;
        let is_end = ticks == self.ticks;
        let is_noted = is_end || ticks.is_multiple_of(HASH_EVERY);
        if self.outcome != Outcome::Unfinished || !is_noted {
            return;
        }
        let compared = (ticks - 1) / HASH_EVERY;
        if self.recorded.states.get(compared as usize) != Some(&log.hash) {
            let from = compared * HASH_EVERY;
            let difference = Difference::new(&self.recorded, from, ticks);
            self.outcome = Outcome::Different(difference);
        } else if is_end {
            self.outcome = Outcome::Same;
        }
    }
}

impl Difference {
    fn new(recorded: &Recorded, from: u64, to: u64) -> Self {
        let here = Recorded::by_this_program(Vec::new());
        let is_same_program =
            (&here.cubewire, &here.build) == (&recorded.cubewire, &recorded.build);
        let reason = if is_same_program {
            "it may have been recorded by another build with different physics".to_owned()
        } else {
            format!(
                "it was recorded by cubewire {} ({}), but this is cubewire {} ({})",
                recorded.cubewire, recorded.build, here.cubewire, here.build
            )
        };
        Self { from, to, reason }
    }
}

fn check(log: Res<InputLog>, mut check: ResMut<ReplayCheck>) {
    check.compare(&log);
}
