//! Whether a replay does again what was recorded.

use bevy::prelude::*;

use super::{HASH_EVERY, InputLog, Recorded};
use crate::recording::Script;

/// Compares a replay, while it is played, with what was recorded.
#[derive(Resource, Clone, Debug)]
pub struct ReplayCheck {
    recorded: Recorded,
    ticks: u64,
    compared: usize,
    outcome: Outcome,
}

/// What comparing has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was the same so far, and there is more.
    #[default]
    Unfinished,
    /// Every state was as recorded.
    Same,
    /// One was not.
    Different(Difference),
}

/// A replay went through other states than those that were recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the states differ from the recorded ones between ticks {from} and {to}: {reason}")]
pub struct Difference {
    /// The last tick at which they were known to be the same.
    pub from: u64,
    /// The tick at which they were found to differ.
    pub to: u64,
    /// What the reason may be.
    pub reason: String,
}

impl ReplayCheck {
    /// To be put in before the first tick, with a log that [keeps resets](InputLog::that_keeps_resets);
    /// none for a script that nobody recorded.
    #[must_use]
    pub fn new(script: &Script) -> Option<Self> {
        Some(Self {
            recorded: script.recorded.clone()?,
            ticks: script.ticks,
            compared: 0,
            outcome: Outcome::Unfinished,
        })
    }

    /// What comparing has shown so far.
    #[must_use]
    pub const fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn compare(&mut self, log: &InputLog) {
        let ticks = log.ticks();
        let is_end = ticks == self.ticks;
        let is_noted = is_end || ticks.is_multiple_of(HASH_EVERY);
        if self.outcome != Outcome::Unfinished || !is_noted {
            return;
        }
        if self.recorded.states.get(self.compared) != Some(&log.hash()) {
            let from = self.compared as u64 * HASH_EVERY;
            let difference = Difference::new(&self.recorded, from, ticks);
            self.outcome = Outcome::Different(difference);
        } else if is_end {
            self.outcome = Outcome::Same;
        }
        self.compared += 1;
    }
}

impl Difference {
    fn new(recorded: &Recorded, from: u64, to: u64) -> Self {
        let here = Recorded::by_this_program(Vec::new());
        let is_alike = (&here.cubewire, &here.build) == (&recorded.cubewire, &recorded.build);
        let reason = if is_alike {
            "another build may have recorded it, whose physics computes otherwise".to_owned()
        } else {
            format!(
                "it was recorded by cubewire {} ({}), and this is {} ({})",
                recorded.cubewire, recorded.build, here.cubewire, here.build
            )
        };
        Self { from, to, reason }
    }
}

pub(super) fn check(log: Res<InputLog>, mut check: ResMut<ReplayCheck>) {
    check.compare(&log);
}
