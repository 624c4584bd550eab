//! `cubewire play`: plays back a replay and compares its states with the recorded ones.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::args::{create, finish, ticks};
use super::figures;
use super::warning::warn;
use super::window::{FrameArgs, opens_window};
use crate::game::desktop::progress;
use crate::game::headless::{HeadlessGame, tick_by_tick};
use crate::game::window::{self, WindowSettings};
use crate::game::{Failure, GameError, halves, right_lane};
use crate::recording::{
    InputLog, InputLogPlugin, Outcome, ReplayCheck, Script, ScriptPlayback, begin,
};
use crate::replication::LaneSettings;

#[derive(Clone, Debug, Args)]
pub struct PlayReplayArgs {
    /// Replay recorded with F9, or a script
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Run without a window, as fast as possible
    #[arg(long)]
    headless: bool,
    /// Encode every tick with every rung, and write the hash of the states and the bytes of each rung per tick to this
    /// CSV file, without a window. Replaces an existing file
    #[arg(long, value_name = "FILE", hide = true)]
    ticks: Option<PathBuf>,
    /// Lane with the network, send rate and interpolation of all rungs, for `--ticks`
    #[arg(long, value_name = "LANE", value_parser = right_lane, requires = "ticks", hide = true)]
    lane: Option<LaneSettings>,
    /// Print JSON, without a window
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    frame: FrameArgs,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    pub hash: u64,
    /// Result of comparing the states with the recorded ones. `None` if the script is not a replay.
    pub outcome: Option<Outcome>,
}

pub fn play(script: Script, ticks: u64) -> Result<Played, GameError> {
    let mut game = HeadlessGame::with_players(script.players(), None, InputLogPlugin);
    // Resets are part of the script, so the log must continue after them.
    game.app.insert_resource(InputLog::across_resets());
    begin(game.app.world_mut(), ScriptPlayback::new(script).once());
    for _ in progress(ticks, "ticks").wrap_iter(0..ticks) {
        game.step();
    }
    let world = game.app.world();
    let check = world.get_resource::<ReplayCheck>();
    Ok(Played {
        hash: world.resource::<InputLog>().hash,
        outcome: check.map(|check| check.outcome.clone()),
    })
}

impl PlayReplayArgs {
    /// Plays, in a window if there is a display. Fails also if the states differ from the recorded ones.
    pub fn run(self, out: &mut impl Write) -> Result<(), Failure> {
        let script = Script::load(&self.file)?;
        if let Some(path) = &self.ticks {
            return self.write_ticks(script, path, out);
        }
        let settings = self.frame.settings()?;
        if !opens_window(self.headless || self.json, out)? {
            return self.play(script, out);
        }
        let (left, right) = halves(None, None, Some(&script));
        warn(&left, &right, Some(&script), &[]);
        window::run(WindowSettings { left, right, script: Some(script), ..settings })
    }

    fn write_ticks(
        &self,
        script: Script,
        path: &Path,
        out: &mut impl Write,
    ) -> Result<(), Failure> {
        let ticks = self.count_ticks(&script);
        let file = create(path)?;
        let lane = self.lane.clone().unwrap_or_default();
        finish(file, &tick_by_tick(script, ticks, &lane)?)?;
        if self.json {
            let written = json!({ "file": path.display().to_string(), "ticks": ticks });
            return Ok(figures::print(&written, true, out)?);
        }
        Ok(writeln!(out, "{}: {ticks} ticks", path.display())?)
    }

    fn count_ticks(&self, script: &Script) -> u64 {
        self.frame.seconds.map_or(script.ticks, ticks)
    }

    fn play(&self, script: Script, out: &mut impl Write) -> Result<(), Failure> {
        let ticks = script.ticks.min(self.count_ticks(&script));
        let played = play(script, ticks)?;
        let comparison = match played.outcome {
            None => "this is a script, which has no recorded states to compare with",
            Some(Outcome::Same) => "every state matches the recording, bit for bit",
            Some(Outcome::Unfinished) => {
                "every state so far matches the recording; the replay was not played to its end"
            }
            Some(Outcome::Different(difference)) => return Err(difference.into()),
        };
        let figures = json!({
            "file": self.file.display().to_string(),
            "ticks": ticks,
            "state_hash": format!("{:016x}", played.hash),
            "comparison": comparison,
        });
        Ok(figures::print(&figures, self.json, out)?)
    }
}
