//! Replays: scripts that are written down during play.
//!
//! Physics is deterministic on one machine and in one build: the same keys at the same ticks, from a
//! world built anew, give the same states bit for bit. So the keys are all that a replay needs. What
//! is pressed is always written down from the last reset on; a recording that begins in the middle of
//! play has what went before as its lead-in. A hash over all states shows whether a replay did the
//! same.

use std::io;
use std::path::{Path, PathBuf};

use bevy::prelude::*;
use cubewire_scene::{Keys, TICKS_PER_SECOND};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::script::{Key, Script, ScriptError, Step};
use crate::files::write_whole;
use crate::replication::{Half, LaneSettings, Side};
use crate::simulation::{
    HeldKeys, ResetSimulation, SimulationSystems, World as CubeWorld, state_hash,
};

/// Goes up when replays of old could no longer be played as they were meant.
pub(super) const FORMAT: u32 = 1;

/// Ticks from one noted hash to the next.
pub const HASH_EVERY: u64 = 10 * TICKS_PER_SECOND as u64;

/// What a replay says of the play that it was written down from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Of the file.
    pub format: u32,
    /// The version that wrote it.
    pub cubewire: String,
    /// What it ran on.
    pub machine: String,
    /// Hash of all states so far, after every [`HASH_EVERY`] ticks and after the last.
    pub states: Vec<u64>,
    /// CRC-32 of the replay, written without spaces, as if this were 0.
    pub checksum: u32,
}

/// RON as it is in scripts: `Some` may be left out.
pub(super) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// The machine that this runs on, as replays name it.
fn machine() -> String {
    format!("{} {}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Refuses replays of another format, which may have other fields.
pub(super) fn check_format(text: &str, path: &Path) -> Result<(), ScriptError> {
    #[derive(Deserialize)]
    struct Versions {
        recorded: Option<Version>,
    }
    #[derive(Deserialize)]
    struct Version {
        format: u32,
        #[serde(default)]
        cubewire: String,
    }
    // What is no RON at all is named by whoever reads the rest.
    let Ok(versions) = ron_options().from_str::<Versions>(text) else {
        return Ok(());
    };
    match versions.recorded {
        Some(Version { format, cubewire }) if format != FORMAT => Err(ScriptError::OtherFormat {
            path: path.to_owned(),
            cubewire,
            format,
        }),
        _ => Ok(()),
    }
}

impl Script {
    /// CRC-32 of everything but the checksum.
    fn checksum(&self) -> u32 {
        let mut script = self.clone();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = 0;
        }
        let text = ron_options().to_string(&script);
        crc32fast::hash(text.unwrap_or_default().as_bytes())
    }

    /// Whether a replay is as it was written.
    pub(super) fn check_sum(&self, path: &Path) -> Result<(), ScriptError> {
        let Some(recorded) = &self.recorded else {
            return Ok(());
        };
        let (wanted, found) = (recorded.checksum, self.checksum());
        if wanted == found {
            return Ok(());
        }
        Err(ScriptError::Damaged {
            path: path.to_owned(),
            found,
            wanted,
        })
    }

    /// Writes the script to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let pretty = PrettyConfig::new()
            .depth_limit(2)
            .extensions(Extensions::empty());
        let text = ron_options()
            .to_string_pretty(self, pretty)
            .map_err(io::Error::other)?;
        let about = "// A replay of the cubes: `cubewire play FILE` shows it.\n";
        write_whole(path, format!("{about}{text}\n").as_bytes())
    }
}

/// What was pressed and shown since the world was built, and what came of it.
#[derive(Resource, Clone, Debug, Default)]
pub struct InputLog {
    /// The tick before its first.
    start: Option<u64>,
    script: Script,
    held: Keys,
    halves: [Option<Half>; Side::ALL.len()],
    hash: u64,
    states: Vec<u64>,
    /// The tick, counted from the start, at which the recording begins.
    recording: Option<u64>,
    keeps_resets: bool,
}

impl InputLog {
    /// A log that goes on when the world is built anew, as that of a script that does it.
    #[must_use]
    pub fn that_keeps_resets() -> Self {
        Self {
            keeps_resets: true,
            ..Self::default()
        }
    }

    /// Ticks so far.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.script.ticks
    }

    /// Ticks recorded so far; none if there is no recording.
    #[must_use]
    pub fn recorded_ticks(&self) -> Option<u64> {
        self.recording.map(|from| self.script.ticks - from)
    }

    /// Begins a recording with the next tick.
    pub const fn begin(&mut self) {
        self.recording = Some(self.script.ticks);
    }

    /// Ends the recording, and gives what it has become; none if not even a tick was played.
    pub fn end(&mut self) -> Option<Script> {
        let lead_in = self.recording.take()?;
        if lead_in == self.script.ticks {
            return None;
        }
        let mut script = Script {
            lead_in,
            recorded: Some(Recorded {
                format: FORMAT,
                cubewire: env!("CARGO_PKG_VERSION").to_owned(),
                machine: machine(),
                states: self.states(),
                checksum: 0,
            }),
            ..self.script.clone()
        };
        let checksum = script.checksum();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = checksum;
        }
        Some(script)
    }

    /// Hash of all states so far.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// As in [`Recorded::states`].
    fn states(&self) -> Vec<u64> {
        let mut states = self.states.clone();
        if !self.script.ticks.is_multiple_of(HASH_EVERY) {
            states.push(self.hash);
        }
        states
    }

    /// Starts anew at this tick.
    fn restart(&mut self, tick: u64) {
        *self = Self {
            start: Some(tick),
            recording: self.recording.map(|_| 0),
            keeps_resets: self.keeps_resets,
            ..Self::default()
        };
    }

    fn add_step(&mut self, step: Step) {
        self.script.steps.push(step);
    }
}

/// Compares a replay, while it is played, with what was recorded.
#[derive(Resource, Clone, Debug)]
pub struct ReplayCheck {
    recorded: Recorded,
    ticks: u64,
    compared: usize,
    outcome: Option<Result<(), Difference>>,
}

impl ReplayCheck {
    /// To be put in before the first tick; none for a script that nobody recorded.
    #[must_use]
    pub fn new(script: &Script) -> Option<Self> {
        Some(Self {
            recorded: script.recorded.clone()?,
            ticks: script.ticks,
            compared: 0,
            outcome: None,
        })
    }

    /// Whether every state was as recorded; none before the end, unless one was not.
    #[must_use]
    pub fn outcome(&self) -> Option<&Result<(), Difference>> {
        self.outcome.as_ref()
    }

    fn compare(&mut self, log: &InputLog) {
        let ticks = log.script.ticks;
        let is_end = ticks == self.ticks;
        if self.outcome.is_some() || !(is_end || ticks.is_multiple_of(HASH_EVERY)) {
            return;
        }
        if self.recorded.states.get(self.compared) != Some(&log.hash) {
            let from = self.compared as u64 * HASH_EVERY;
            self.outcome = Some(Err(Difference::new(&self.recorded, from, ticks)));
        } else if is_end {
            self.outcome = Some(Ok(()));
        }
        self.compared += 1;
    }
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

impl Difference {
    fn new(recorded: &Recorded, from: u64, to: u64) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let machine = machine();
        let reason = if recorded.cubewire == version && recorded.machine == machine {
            "it was recorded by another build, whose physics computes otherwise".to_owned()
        } else {
            format!(
                "it was recorded by cubewire {} on {}, and this is {version} on {machine}",
                recorded.cubewire, recorded.machine
            )
        };
        Self { from, to, reason }
    }
}

/// Keeps the [`InputLog`].
#[derive(Debug)]
pub struct InputLogPlugin;

impl Plugin for InputLogPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<InputLog>().add_systems(
            FixedUpdate,
            (
                note_input
                    .after(SimulationSystems::Control)
                    .before(SimulationSystems::Reset),
                (note_state, check.run_if(resource_exists::<ReplayCheck>))
                    .chain()
                    .after(SimulationSystems::Capture),
            ),
        );
    }
}

fn note_input(
    world: Res<CubeWorld>,
    held: Res<HeldKeys>,
    lanes: Query<(&Side, &LaneSettings)>,
    mut resets: MessageReader<ResetSimulation>,
    mut log: ResMut<InputLog>,
) {
    let is_reset = resets.read().count() > 0;
    let keeps = log.keeps_resets || log.recording.is_some();
    if log.start.is_none() || (is_reset && !keeps) {
        log.restart(world.tick());
    }
    let at = log.script.ticks;
    let halves = Side::ALL.map(|side| {
        let lane = lanes.iter().find(|&(&other, _)| other == side);
        Some(match lane {
            Some((_, settings)) => Half::Lane(settings.clone()),
            None if side == Side::Left => Half::Simulation,
            None => return None,
        })
        // A replay goes without what has no text.
        .filter(|half| half.to_text().is_some())
    });
    let mut step = Step {
        at,
        reset: is_reset && at > 0,
        ..Step::default()
    };
    if held.0 != log.held {
        step.hold = Some(Key::of(held.0));
    }
    if at == 0 {
        let [left, right] = halves.clone();
        log.script.left = left;
        log.script.right = right;
    } else {
        let changed = |side: Side| {
            let (new, old) = (&halves[side as usize], &log.halves[side as usize]);
            new.clone().filter(|_| new != old)
        };
        step.left = changed(Side::Left);
        step.right = changed(Side::Right);
    }
    log.held = held.0;
    log.halves = halves;
    if step
        != (Step {
            at,
            ..Step::default()
        })
    {
        log.add_step(step);
    }
}

fn note_state(world: Res<CubeWorld>, mut log: ResMut<InputLog>) {
    log.script.ticks += 1;
    log.hash = state_hash(log.hash, world.current());
    if log.script.ticks.is_multiple_of(HASH_EVERY) {
        let hash = log.hash;
        log.states.push(hash);
    }
}

fn check(log: Res<InputLog>, mut check: ResMut<ReplayCheck>) {
    check.compare(&log);
}

/// The first free name of the kind `cubewire-1.ron` in a folder.
#[must_use]
pub fn free_name(folder: &Path, extension: &str) -> PathBuf {
    let mut names = (1_u32..).map(|number| folder.join(format!("cubewire-{number}.{extension}")));
    names
        .find(|path| !path.exists())
        .unwrap_or_else(|| folder.join(format!("cubewire.{extension}")))
}
