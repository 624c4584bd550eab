//! The command line.

mod error;
pub mod play;
pub mod record;
pub mod serve;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use cubewire_codec::ladder::Rung;
use cubewire_link::{Preset, Trace};
use cubewire_scene::TICKS_PER_SECOND;

use crate::display;
use crate::headless;
use crate::panel::PanelPlugin;
use crate::recording::Script;
use crate::replication::{self, Half, Key, LaneSettings, Side};
use crate::window::{self, Role, WindowSettings};

pub use error::CommandError;

/// Play Glenn Fiedler's cube demo, and watch where every bit of its network traffic goes.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
#[command(after_help = KEYS)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    window: WindowArgs,
}

const KEYS: &str = "\
Without a command, opens the window and plays:
  arrows  roll            R  reset          PageUp, PageDown  climb the ladder
  Space   blow            P  pause          1-9, 0, -, =, Backspace  choose a rung
  Z       katamari        N  one tick       L  cut the link
  drag    orbit           V  next view      F1 panel
  wheel   zoom            T  trails         F9 replay, F10 video: start and stop";

/// How a lane is set up at first.
#[derive(Clone, Debug, Args)]
pub struct LaneArgs {
    /// Rung of the ladder to start with, by name [default: changed-flags]
    #[arg(long, value_name = "NAME")]
    pub rung: Option<String>,
    /// Network to start with, by name: perfect, lan, wi-fi, wi-fi-bad, cable, 4g, 3g, satellite,
    /// article, hostile [default: 100 ms there and back, and nothing is lost; for `view`, perfect,
    /// as there is a real one]
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
    /// File of delays (CSV with a header of `sent_ms,delay_ms`) to play as the network
    #[arg(long, value_name = "FILE", conflicts_with = "network")]
    pub trace: Option<PathBuf>,
    /// Snapshots a second to start with [default: 60]
    #[arg(long, value_name = "60|30|20|10")]
    pub rate: Option<String>,
    /// Interpolation to start with [default: linear]
    #[arg(long, value_name = "none|linear|hermite|extrapolate")]
    pub interpolation: Option<String>,
}

/// `cubewire`
#[derive(Clone, Debug, Args)]
pub struct WindowArgs {
    /// The lane.
    #[command(flatten)]
    pub lane: LaneArgs,
    /// What the left half shows: `simulation`, or a lane to compare with
    #[arg(long, value_name = "simulation|LANE")]
    pub left: Option<String>,
    /// The lane in the right half, in one word: `rung:delta,link:4g,interpolation:hermite,rate:10`, or
    /// with `stages:…` instead of `rung:…`
    #[arg(
        long,
        value_name = "LANE",
        conflicts_with_all = ["rung", "network", "trace", "rate", "interpolation"]
    )]
    pub right: Option<String>,
    /// Script of keys by tick (RON) to play instead of the keyboard
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Folder for what F9 and F10 record
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub recordings: PathBuf,
    /// Stop after so many seconds
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Size of the window
    #[arg(long, value_name = "WxH", default_value = "1440x900")]
    pub size: String,
    /// Write what was seen to this file, as JSON, every second and at the end
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play a script without a window, as fast as it goes, and print what one rung costs
    Headless(HeadlessArgs),
    /// Play a script once and print what every rung of the ladder costs on that same play
    Ladder(LadderArgs),
    /// Play a script once and send it with every rung over several kinds of network; everything
    /// that arrives is compared with what was sent
    Network(NetworkArgs),
    /// Play, and admit viewers from other processes and machines
    Serve(serve::ServeArgs),
    /// Show what a server plays
    View(serve::ViewArgs),
    /// Play to more and more viewers on this machine, and print what each costs the server
    Viewers(ViewersArgs),
    /// Play a replay that F9 wrote, and say whether every state is as it was
    Play(play::PlayReplayArgs),
    /// Film a script or a replay: every frame of it, however long that takes, without a window
    Record(record::RecordArgs),
    /// Print a new key for `serve` and `view`
    Key,
    /// Play for long to viewers that come and go, with stages and networks that change every few
    /// seconds; everything that arrives is compared with what was sent
    Soak(SoakArgs),
}

/// What to play, for how long, and when to start counting.
#[derive(Clone, Debug, Args)]
pub struct PlayArgs {
    /// Script of keys by tick (RON), such as assets/scripts/mix.ron; without one, nobody plays. What
    /// it shows does not count: every command says itself what it measures
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Seconds to play [default: the script's length, or 30]
    #[arg(long)]
    pub seconds: Option<f64>,
    /// Seconds at the start that are played but not counted
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub skip: f64,
}

/// `cubewire headless`
#[derive(Clone, Debug, Args)]
pub struct HeadlessArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Rung of the ladder to send with, by name
    #[arg(long, value_name = "NAME", default_value = "changed-flags")]
    pub rung: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Time each part of a frame
    #[arg(long)]
    pub profile: bool,
    /// Write the play as a recording that cubewire-lab reads (zstd if the name ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
}

/// `cubewire ladder`
#[derive(Clone, Debug, Args)]
pub struct LadderArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Where to draw the ladder
    #[arg(long, value_name = "FILE", default_value = "ladder.png")]
    pub png: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `cubewire network`
#[derive(Clone, Debug, Args)]
pub struct NetworkArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Networks by name, with commas between them, or `all`
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "perfect,article,3g"
    )]
    pub networks: Vec<String>,
    /// Rungs by name, with commas between them, or `all`
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub rungs: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `cubewire soak`
#[derive(Clone, Debug, Args)]
pub struct SoakArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Number of the first tick; sequence numbers wrap at every 65536th
    #[arg(long, value_name = "TICK", default_value_t = 65_000)]
    pub first_tick: u64,
    /// Seed of everything that happens at random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// `cubewire viewers`
#[derive(Clone, Debug, Args)]
pub struct ViewersArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// Viewers, at most
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub most: usize,
    /// Rung of the ladder to send with, by name
    #[arg(long, value_name = "NAME", default_value = "changed-flags")]
    pub rung: String,
}

impl Cli {
    /// Runs the command; what it prints goes to `out`.
    ///
    /// # Errors
    /// [`CommandError`], one line that names the thing and the place.
    pub fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        match self.command {
            Some(Command::Headless(args)) => headless::run(&args, out),
            Some(Command::Ladder(args)) => headless::ladder::run(&args, out),
            Some(Command::Network(args)) => headless::network::run(&args, out),
            Some(Command::Soak(args)) => headless::soak::run(&args, out),
            Some(Command::Serve(args)) => args.run(out),
            Some(Command::View(args)) => args.run(out),
            Some(Command::Viewers(args)) => headless::viewers::run(&args, out),
            Some(Command::Play(args)) => args.run(out),
            Some(Command::Record(args)) => args.run(out),
            Some(Command::Key) => Ok(writeln!(out, "{}", Key::random().to_hex())?),
            None => self.window.run(out),
        }
    }
}

impl WindowArgs {
    /// Opens the window; where there is nothing to open one on, says so and prints the ladder.
    fn run(self, out: &mut impl Write) -> Result<(), CommandError> {
        let settings = self.settings(Role::Play)?;
        let Some(missing) = display::missing() else {
            return window::run(settings);
        };
        writeln!(
            out,
            "Cubewire opens no window, because {missing}; this is what a few seconds of play \
             cost on each rung.\n"
        )?;
        headless::ladder::print_demo(settings.script, settings.seconds, out)
    }

    fn settings(&self, role: Role) -> Result<WindowSettings, CommandError> {
        let script = self.script.as_deref().map(Script::load).transpose()?;
        let given = (self.left.as_deref(), self.right.as_deref());
        let (left, mut right) = halves(given.0, given.1, script.as_ref())?;
        self.lane.apply(&mut right)?;
        check_folder(&self.recordings)?;
        Ok(WindowSettings {
            role,
            left,
            right,
            script,
            recordings: self.recordings.clone(),
            seconds: check_seconds(self.seconds)?,
            size: size(&self.size)?,
            report: self.report.clone(),
            panel: PanelPlugin::default_settings_path(),
        })
    }
}

impl LaneArgs {
    /// Changes what they say.
    fn apply(&self, lane: &mut LaneSettings) -> Result<(), CommandError> {
        for (option, value) in [
            ("rung", &self.rung),
            ("rate", &self.rate),
            ("interpolation", &self.interpolation),
        ] {
            if let Some(value) = value {
                let set = lane.set(option, value);
                set.map_err(|source| CommandError::Lane { option, source })?;
            }
        }
        if let Some(name) = &self.network {
            lane.link = preset(name)?.conditions.clone();
        }
        if let Some(path) = &self.trace {
            lane.link.trace = Some(Arc::new(trace(path)?));
        }
        Ok(())
    }
}

/// What the halves show at first: as the options say, or else the script, or else as usual.
fn halves(
    left: Option<&str>,
    right: Option<&str>,
    script: Option<&Script>,
) -> Result<(Half, LaneSettings), CommandError> {
    let of_script = |side: Side| script.and_then(|script| script.half_at_start(side).cloned());
    let left = match left {
        Some(text) => half("left", text)?,
        None => of_script(Side::Left).unwrap_or(Half::Simulation),
    };
    let right = match right {
        Some(text) => half("right", text)?,
        None => {
            let usual = || Half::Lane(LaneSettings::default());
            of_script(Side::Right).unwrap_or_else(usual)
        }
    };
    match right {
        Half::Lane(right) => Ok((left, right)),
        Half::Simulation => Err(CommandError::RightIsNoLane),
    }
}

/// What a half shows.
fn half(option: &'static str, text: &str) -> Result<Half, CommandError> {
    let half = text.parse();
    half.map_err(|source| CommandError::Lane { option, source })
}

fn trace(path: &Path) -> Result<Trace, CommandError> {
    let unreadable = |source| CommandError::Trace {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(|error| unreadable(error.into()))?;
    Trace::from_csv(file).map_err(unreadable)
}

/// What is recorded in it must not be lost for a slip of the pen.
fn check_folder(path: &Path) -> Result<(), CommandError> {
    let folder = fs::metadata(path).and_then(|found| match found.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    });
    folder.map_err(|source| CommandError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

/// Width and height in pixels.
fn size(text: &str) -> Result<(u32, u32), CommandError> {
    const SIDES: std::ops::RangeInclusive<u32> = 64..=16_384;
    let sides = text.split_once('x').and_then(|(width, height)| {
        let side = |text: &str| text.parse().ok().filter(|side| SIDES.contains(side));
        Some((side(width)?, side(height)?))
    });
    sides.ok_or_else(|| CommandError::Size {
        given: text.to_owned(),
    })
}

/// A length of play that is one.
fn check_seconds(seconds: Option<f64>) -> Result<Option<f64>, CommandError> {
    match seconds {
        Some(value) if !(value > 0.0 && value <= MAX_SECONDS) => Err(CommandError::Number {
            option: "seconds",
            value,
            wanted: "more than 0 and at most a day",
        }),
        seconds => Ok(seconds),
    }
}

/// Longest play: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// The rung of that name.
pub(crate) fn rung(name: &str) -> Result<Rung, CommandError> {
    replication::rung(name).map_err(|source| CommandError::Lane {
        option: "rung",
        source,
    })
}

/// The network of that name.
pub(crate) fn preset(name: &str) -> Result<&'static Preset, CommandError> {
    Preset::by_name(name).ok_or_else(|| CommandError::UnknownNetwork {
        name: name.to_owned(),
    })
}

impl PlayArgs {
    pub(crate) fn script(&self) -> Result<Option<Script>, CommandError> {
        let script = self.script.as_deref().map(Script::load).transpose()?;
        Ok(script)
    }

    /// Ticks to play, and how many of these are not counted.
    pub(crate) fn ticks(&self, script: Option<&Script>) -> Result<(usize, usize), CommandError> {
        let rate = f64::from(TICKS_PER_SECOND);
        let ticks = match (check_seconds(self.seconds)?, script) {
            (Some(seconds), _) => ((seconds * rate).round() as usize).max(1),
            (None, Some(script)) => script.ticks as usize,
            (None, None) => 30 * TICKS_PER_SECOND as usize,
        };
        let skip = (self.skip * rate).round();
        if !(0.0..ticks as f64).contains(&skip) {
            return Err(CommandError::Number {
                option: "skip",
                value: self.skip,
                wanted: "at least 0 and less than the seconds that are played",
            });
        }
        Ok((ticks, skip as usize))
    }
}
