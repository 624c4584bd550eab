//! Arguments that several commands share, and their value parsers.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy::app::App;
use bevy::math::UVec2;
use clap::Args;
use cubewire_bevy::udp::resolve;
use cubewire_cli::whole_number;
use cubewire_link::Trace;
use cubewire_protocol::Interpolation;
use cubewire_scene::{MAX_PLAYERS, TICKS_PER_SECOND};

use super::warning::of_replaced;
use crate::files::{FileError, NewFile, read_at_most};
use crate::game::Failure;
use crate::recording::{MAX_SECONDS, Script, length_of_play};
use crate::replication::{self, Digest, LaneChange, LaneSettings, SEND_INTERVALS, setting};
use crate::view::Quality;

/// Number of ticks in a length of a run in seconds, at least one.
pub fn ticks(seconds: f64) -> u64 {
    ((seconds * f64::from(TICKS_PER_SECOND)).round() as u64).max(1)
}

/// Parses a time to skip at the start, from 0 to [`MAX_SECONDS`] seconds.
pub fn skipped_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    seconds.ok_or_else(|| format!("{text} is not a number of seconds from 0 to 86400"))
}

pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    // The name of an interface, as in [fe80::1%eth0]:7000.
    let zoned = || resolve(text).ok()?.first().copied();
    let address = text.parse().ok().or_else(|| text.contains('%').then(zoned).flatten());
    address.ok_or_else(|| {
        format!("{text} is not an IP address and port, for example 192.168.1.5:7000")
    })
}

pub fn size(text: &str) -> Result<UVec2, String> {
    let side = |text: &str| text.parse().ok().filter(|side| (64..=16_384).contains(side));
    let sides = text.split_once('x');
    let sides = sides.and_then(|(width, height)| Some(UVec2::new(side(width)?, side(height)?)));
    sides.ok_or_else(|| {
        format!("{text} is not a width and height from 64 to 16384, for example 1280x720")
    })
}

pub(super) const RUNGS: &str = "`cubewire ladder --list` prints their names";

pub(super) fn interpolations() -> String {
    Interpolation::ALL.map(Interpolation::name).join(", ")
}

pub(super) fn rates() -> String {
    SEND_INTERVALS.map(|ticks| (TICKS_PER_SECOND / ticks).to_string()).join(", ")
}

#[derive(Clone, Copy, Debug, Args)]
pub struct QualityArg {
    /// Quality of the graphics
    #[arg(long, value_name = "QUALITY", default_value = "auto")]
    pub(super) quality: Quality,
}

#[derive(Clone, Debug, Args)]
pub struct LaneArgs {
    #[arg(long, value_name = "NAME", value_parser = setting("rung"), help = format!(
        "Rung of the ladder to start with: {RUNGS} [default: changed-flags]"
    ))]
    pub(super) rung: Option<LaneChange>,
    #[arg(long, value_name = "LINK", value_parser = setting("link"), help = format!(
        "Simulated network to start with: {}, or conditions such as `latency=75ms+loss=0.02` [default: a round trip of 100 ms \
         without loss]",
        replication::network_names()
    ))]
    pub(super) network: Option<LaneChange>,
    /// File of recorded delays (CSV with the header `sent_ms,delay_ms`) to replay as the simulated network
    #[arg(long, value_name = "FILE", conflicts_with = "network")]
    pub(super) trace: Option<PathBuf>,
    #[arg(long, value_name = "RATE", value_parser = setting("rate"), help = format!(
        "Snapshots per second to start with: {} [default: 60]", rates()
    ))]
    pub(super) rate: Option<LaneChange>,
    #[arg(long, value_name = "NAME", value_parser = setting("interpolation"), help = format!(
        "Interpolation to start with: {} [default: linear]",
        interpolations()
    ))]
    pub(super) interpolation: Option<LaneChange>,
    /// End to which keys go: `simulation`, or `client`, from where they travel to the simulation [default: simulation]
    #[arg(long, value_name = "END", value_parser = setting("play-at"))]
    pub(super) play_at: Option<LaneChange>,
    /// Cubes that a client predicts at which the player plays: `none`, `own`, the player's and those near it, or `world`, all on
    /// the rung `simulated` [default: none]
    #[arg(long, value_name = "CUBES", value_parser = setting("predict"))]
    pub(super) predict: Option<LaneChange>,
    /// Baseline to start with: `newest`, or `smallest`, which chooses the baseline with the smallest packet [default:
    /// newest]
    #[arg(long, value_name = "NAME", value_parser = setting("baseline"))]
    pub(super) baseline: Option<LaneChange>,
    /// Maximum bandwidth on the wire to start with, 16 to 1024 kbps. If it is too low for all cubes, packets carry the
    /// most urgent ones [default: no limit]
    #[arg(long, value_name = "KBPS", value_parser = setting("budget"))]
    pub(super) budget: Option<LaneChange>,
}

impl LaneArgs {
    pub fn apply(&self, lane: &mut LaneSettings) -> Result<(), Failure> {
        for change in self.changes().into_iter().flatten() {
            change.apply(lane)?;
        }
        if self.budget.is_some() {
            lane.sender.check_budget().map_err(|why| format!("--budget: {why}"))?;
        }
        if let Some(path) = &self.trace {
            lane.link.conditions.trace = Some(Arc::new(read_trace(path)?));
        }
        Ok(())
    }

    pub fn network_name(&self) -> Option<String> {
        let trace = self.trace.as_ref().map(|path| path.display().to_string());
        trace.or_else(|| Some(self.network.as_ref()?.values()))
    }

    pub fn is_empty(&self) -> bool {
        let changes = self.changes().into_iter();
        changes.flatten().next().is_none() && self.trace.is_none()
    }

    const fn changes(&self) -> [&Option<LaneChange>; 8] {
        [
            &self.rung,
            &self.network,
            &self.rate,
            &self.interpolation,
            &self.play_at,
            &self.predict,
            &self.baseline,
            &self.budget,
        ]
    }
}

/// Options of `serve` and `view` for a run without a window.
#[derive(Clone, Debug, Args)]
pub struct WindowlessArgs {
    /// Run without a window
    #[arg(long)]
    pub(super) headless: bool,
    /// Write a CSV file at the end with a hash of every snapshot sent or decoded. Replaces an existing file. Needs --headless
    #[arg(long, value_name = "FILE", requires = "headless", hide = true)]
    digest: Option<PathBuf>,
    /// Print the figures at the end as JSON, without a window
    #[arg(long)]
    pub(super) json: bool,
}

impl WindowlessArgs {
    pub(super) const fn is_windowless(&self) -> bool {
        self.headless || self.json
    }

    /// Starts the digest of a run, if it is asked for.
    pub(super) fn start_digest(&self, app: &mut App) -> Result<(), Failure> {
        if let Some(path) = &self.digest {
            app.insert_resource(Digest::create(path).map_err(FileError::at(path))?);
            of_replaced(path);
        }
        Ok(())
    }

    pub(super) fn finish_digest(&self, app: &mut App) -> Result<(), Failure> {
        let digest = app.world_mut().remove_resource::<Digest>();
        if let (Some(path), Some(digest)) = (&self.digest, digest) {
            digest.finish().map_err(FileError::at(path))?;
        }
        Ok(())
    }
}

/// Creates an output file before a run, so that a mistyped path fails at once. Warns if it replaces a file.
pub(super) fn create(path: &Path) -> Result<NewFile, FileError> {
    let file = NewFile::create(path).map_err(FileError::at(path))?;
    of_replaced(path);
    Ok(file)
}

/// Writes the text and gives the file its name.
pub(super) fn finish(mut file: NewFile, text: &str) -> Result<(), FileError> {
    let path = file.path().to_owned();
    let written = file.write_all(text.as_bytes()).and_then(|()| file.finish());
    written.map(drop).map_err(FileError::at(&path))
}

fn read_trace(path: &Path) -> Result<Trace, Failure> {
    let text = read_at_most(path, Trace::MAX_BYTES).map_err(FileError::at(path))?;
    Ok(Trace::from_csv(&text).map_err(FileError::at(path))?)
}

#[derive(Clone, Debug, Args)]
pub struct PlayArgs {
    /// Script of key presses (RON), such as assets/scripts/mix.ron; again for each further player. Without it, no key is pressed.
    /// The lanes in the script are ignored, because each command chooses its lanes
    #[arg(long, value_name = "FILE")]
    pub(super) script: Vec<PathBuf>,
    /// Number of players, up to 4 [default: those of the scripts]
    #[arg(long, value_name = "N", value_parser = whole_number(1..=MAX_PLAYERS))]
    pub(super) players: Option<usize>,
    /// Seconds to play, --skip included [default: the script's length, or 30]
    #[arg(long, allow_hyphen_values = true, value_parser = length_of_play)]
    pub(super) seconds: Option<f64>,
    /// Seconds at the start that are played but not measured
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = skipped_seconds)]
    pub(super) skip: f64,
}

impl PlayArgs {
    /// Loads the scripts, and makes one of them. Fails if they have more players than the scene.
    pub fn script(&self) -> Result<Option<Script>, Failure> {
        let scripts = self.script.iter().map(|path| Script::load(path));
        let scripts = scripts.collect::<Result<Vec<_>, _>>()?;
        if scripts.len() > 1 && scripts.iter().any(|script| script.players() > 1) {
            return Err("--script: a script of several players cannot be played with others".into());
        }
        let given: usize = scripts.iter().map(Script::players).sum();
        let players = self.players.unwrap_or(given.max(1));
        let most = players.min(MAX_PLAYERS);
        if given > most {
            return Err(
                format!("--script: {given} players, but the scene has at most {most}").into()
            );
        }
        let script = scripts.into_iter().reduce(|all, script| all.and(&script));
        let is_more = players > given.max(1);
        Ok(match script {
            None if !is_more => None,
            script => {
                let script = script.unwrap_or_default();
                let players = if is_more { Some(players as u8) } else { script.players };
                Some(Script { players, ..script })
            }
        })
    }

    /// Number of ticks to play, and how many at the start are not measured. Fails if no tick would be measured.
    pub fn ticks(&self, script: Option<&Script>) -> Result<(usize, usize), Failure> {
        let ticks = match (self.seconds, script) {
            (Some(seconds), _) => ticks(seconds) as usize,
            (None, Some(script)) if script.ticks > 0 => script.ticks as usize,
            (None, _) => 30 * TICKS_PER_SECOND as usize,
        };
        let skip = (self.skip * f64::from(TICKS_PER_SECOND)).round();
        if !(0.0..ticks as f64).contains(&skip) {
            return Err(skips_all(self.skip, ticks as f64));
        }
        Ok((ticks, skip as usize))
    }

    pub fn name(&self) -> Option<String> {
        let paths: Vec<_> = self.script.iter().map(|path| path.display().to_string()).collect();
        (!paths.is_empty()).then(|| paths.join(", "))
    }
}

/// Error for a `--skip` that is not shorter than the run of `ticks` ticks.
pub(super) fn skips_all(skipped_seconds: f64, ticks: f64) -> Failure {
    let seconds = in_seconds(ticks);
    format!("--skip: {skipped_seconds} s must be less than the {seconds} s that are played").into()
}

/// Converts ticks to seconds, rounded to a tenth.
pub(super) fn in_seconds(ticks: f64) -> f64 {
    (ticks * 10.0 / f64::from(TICKS_PER_SECOND)).round() / 10.0
}

pub(super) const NO_SCRIPT: &str =
    "no keys pressed (see --script, for example assets/scripts/mix.ron)";

pub fn load_script(path: Option<&Path>) -> Result<Option<Script>, Failure> {
    Ok(path.map(Script::load).transpose()?)
}

/// Checks that a folder exists. Called early, so that a mistyped path does not lose a recording.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    let wrong = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "is not a folder".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            "there is no such folder".to_owned()
        }
        Err(error) => error.to_string(),
    };
    Err(FileError::at(path)(wrong).into())
}
