//! Records the held keys and the contents of the halves.

use bevy::prelude::*;
use cubewire_scene::{Keys, MAX_PLAYERS};

use crate::recording::script::{HASH_EVERY, Recorded, Script, Step};
use crate::simulation::{CubeWorld, PlayerKeys, RebuildSimulation, ResetSimulation, state_hash};
use crate::view::{Halves, PaneContent, Side};

/// Held keys and contents of the halves since the physics world was built, with a hash of all states.
#[derive(Resource, Clone, Debug, Default)]
pub struct InputLog {
    has_begun: bool,
    pub(super) script: Script,
    held: [Keys; MAX_PLAYERS],
    shown: [Option<PaneContent>; Side::ALL.len()],
    pub hash: u64,
    states: Vec<u64>,
    /// Tick of the log at which the recording started. `None` without a recording.
    recording: Option<u64>,
    keeps_resets: bool,
    /// Whether the log starts at a reset. A replay starts with new links, but the game kept its links.
    pub(in crate::recording) is_after_reset: bool,
}

impl InputLog {
    /// Creates a log that continues when the world is rebuilt, for scripts with resets.
    pub fn across_resets() -> Self {
        Self { keeps_resets: true, ..Self::default() }
    }

    pub fn recorded_ticks(&self) -> Option<u64> {
        self.recording.map(|from| self.script.ticks - from)
    }

    pub const fn begin(&mut self) {
        self.recording = Some(self.script.ticks);
    }

    pub fn replay(&self) -> Option<Script> {
        self.replay_from(self.recording?)
    }

    /// Returns a replay of the last `ticks` ticks, or of the ticks since the reset if these are fewer. `None` before
    /// the first tick.
    pub fn replay_of_last(&self, ticks: u64) -> Option<Script> {
        self.replay_from(self.script.ticks.saturating_sub(ticks))
    }

    fn replay_from(&self, lead_in: u64) -> Option<Script> {
        if lead_in == self.script.ticks {
            return None;
        }
        let mut states = self.states.clone();
        if !self.script.ticks.is_multiple_of(HASH_EVERY) {
            states.push(self.hash);
        }
        let mut script = Script {
            lead_in,
            recorded: Some(Recorded::by_this_program(states)),
            ..self.script.clone()
        };
        let checksum = script.checksum();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = checksum;
        }
        Some(script)
    }

    pub const fn end(&mut self) {
        self.recording = None;
    }

    fn restart(&mut self) {
        *self = Self {
            has_begun: true,
            recording: self.recording.map(|_| 0),
            keeps_resets: self.keeps_resets,
            is_after_reset: self.has_begun,
            ..Self::default()
        };
    }

    /// Records the content of a half, and returns it if it changed. Lanes without a text form are omitted.
    fn record_content(&mut self, side: Side, content: PaneContent) -> Option<Box<PaneContent>> {
        let shown = &mut self.shown[side as usize];
        if shown.as_ref() == Some(&content) {
            return None;
        }
        *shown = Some(content.clone());
        // A script cannot show the simulation in the right half.
        let is_written = side == Side::Left || content != PaneContent::Simulation;
        (is_written && content.to_text().is_some()).then(|| Box::new(content))
    }
}

pub(super) fn record_input(
    world: Res<CubeWorld>,
    keys: Res<PlayerKeys>,
    halves: Halves<'_, '_>,
    mut resets: MessageReader<ResetSimulation>,
    rebuilds: Res<RebuildSimulation>,
    mut log: ResMut<InputLog>,
) {
    let is_reset = resets.read().count() > 0;
    let keeps = log.keeps_resets || log.recording.is_some();
    if !log.has_begun || (is_reset && !keeps) {
        log.restart();
    }
    let at = log.script.ticks;
    // A log starts in a new physics world, so a reset or rebuild in its first tick is not recorded.
    let [left, right] = Side::ALL.map(|side| log.record_content(side, halves.content(side)));
    let mut step = Step {
        at,
        reset: is_reset && at > 0,
        rebuild: rebuilds.0 && !is_reset && at > 0,
        ..Step::default()
    };
    if at == 0 {
        log.script.left = left;
        log.script.right = right;
    } else {
        step.left = left;
        step.right = right;
    }
    for player in 0..world.players() {
        if keys.0[player] != log.held[player] {
            step.hold(player, keys.0[player]);
        }
    }
    log.held = keys.0;
    log.script.players = Some(world.players() as u8).filter(|&players| players > 1);
    if step != (Step { at, ..Step::default() }) {
        log.script.steps.push(step);
    }
}

pub(super) fn record_state(world: Res<CubeWorld>, mut log: ResMut<InputLog>) {
    log.script.ticks += 1;
    log.hash = state_hash(log.hash, world.current());
    if log.script.ticks.is_multiple_of(HASH_EVERY) {
        let hash = log.hash;
        log.states.push(hash);
    }
}
