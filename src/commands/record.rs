//! `cubewire record`: renders a script or a replay to a video file.

mod report;

use std::io::Write;
use std::path::PathBuf;

use bevy::math::UVec2;
use clap::Args;
use cubewire_cli::whole_number;
use cubewire_scene::TICKS_PER_SECOND;

use super::args::{
    QualityArg, RUNGS, in_seconds, interpolations, load_script, rates, size, skipped_seconds,
    skips_all,
};
use super::figures;
use super::warning::{of_replaced, warn, warn_of_boxes};
use crate::files::FileError;
use crate::game::desktop::film::{Film, FilmContent, MAX_COLUMNS};
use crate::game::desktop::progress;
use crate::game::desktop::record::record;
use crate::game::desktop::series::{Series, record_series};
use crate::game::desktop::stop;
use crate::game::{Failure, fall, halves, right_lane};
use crate::recording::video::{EXTENSIONS, Format};
use crate::recording::{MAX_SECONDS, Outcome, Place, Script, Switch, length_of_play};
use crate::replication::{self, LaneSettings};
use crate::theme::Theme;
use crate::view::{CubeColors, Exaggeration, Overlay, PaneContent, Part, Side, ViewState};

use report::{report, warn_if_over};

fn lanes() -> String {
    format!(
        "\
A LANE is `rung:NAME` or `stages:STAGE=VALUE+…`, then settings that differ from the defaults, separated by commas:
  link:PRESET|CONDITIONS  rate:RATE  interpolation:NAME  playout:rule|adaptive|150ms
  budget:64kbps  baseline:newest|smallest  seed:N
as in `rung:delta,link:4g,rate:20`. --at changes the same settings. `link` sets all network conditions: without a preset,
those that it does not list are off. `link:latency=50ms+loss=0.2` has both, `link:loss=0.2` no delay.
Rungs: {RUNGS}
Networks: {}
Rates: {}
Interpolations: {}",
        replication::network_names(),
        rates(),
        interpolations()
    )
}

#[derive(Clone, Debug, Args)]
#[command(after_help = lanes())]
pub struct RecordArgs {
    /// Script of key presses (RON) to play. Without it, no key is pressed
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Replay to play, recorded with F9. Ticks before the start of the recording are not rendered
    #[arg(long, value_name = "FILE", conflicts_with = "script")]
    replay: Option<PathBuf>,
    /// Play the same as the window at its first start: a ball rolls, and the right half climbs down the ladder
    #[arg(long, conflicts_with_all = ["script", "replay", "right", "lane"])]
    fall: bool,
    /// Content of the left half: `simulation`, or a lane [default: from the script, or simulation]
    #[arg(long, value_name = "simulation|LANE")]
    left: Option<PaneContent>,
    /// Lane in the right half, for example `rung:delta,link:4g,interpolation:hermite,rate:10`, or with `stages:…`
    /// instead of `rung:…` [default: from the script, or rung:changed-flags]
    #[arg(long, value_name = "LANE", value_parser = right_lane)]
    right: Option<LaneSettings>,
    /// Lane to show in a column, instead of the halves. Give it 2 to 4 times
    #[arg(long, value_name = "LANE", value_parser = right_lane, conflicts_with_all = OF_HALVES)]
    lane: Vec<LaneSettings>,
    /// Seconds to render, without the one-second title card of an MP4 [default: the rest of the script, or 10]
    #[arg(long, allow_hyphen_values = true, value_parser = length_of_play)]
    seconds: Option<f64>,
    /// Seconds at the start that are played but not rendered
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = skipped_seconds)]
    skip: f64,
    /// Width and height in pixels. For an MP4 both must be even, and at most 3840x2160 [default: 1280x720]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<UVec2>,
    /// Frames per second, up to 240, for a GIF 50, 25, 20, 10, 5, 4, 2 or 1 [default: 60, for a GIF 20]
    #[arg(long, value_name = "N", value_parser = whole_number(1..=MAX_FRAMES_PER_SECOND))]
    fps: Option<u32>,
    #[arg(long, value_name = "FILE", help = format!(
        "File to write: {EXTENSIONS}, where .png writes a numbered image for each frame; for a series, the folder. \
         Existing files are replaced"
    ))]
    out: PathBuf,
    /// Render a series of videos and an HTML page that plays them: each rung next to the previous one, and each kind of
    /// interpolation
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_ONE_VIDEO)]
    series: Option<Series>,
    /// Change settings during the video, in seconds from the first visible frame: `4s:rung:delta` for the right half or
    /// all columns, `4s:left.link:4g` for the left half, `4s:2.rung:delta` for the second column. Can be repeated
    #[arg(long, value_name = "TIME:SETTING:VALUE", value_parser = switch, allow_hyphen_values = true)]
    at: Vec<Switch>,
    /// Title of the film [default: depends on the halves]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Hide these parts of the overlay, separated by commas
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    hide: Vec<Part>,
    #[command(flatten)]
    quality: QualityArg,
    /// Colours of panel and scene
    #[arg(long, default_value = "dark")]
    theme: Theme,
    /// Quantity that the colours of the cubes show
    #[arg(long, default_value = "interaction", alias = "color")]
    colour: CubeColors,
    /// Draw the errors of replicas this many times as large
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    exaggerate: Exaggeration,
    /// Name of a half or column. Repeat it for the next ones, from left to right [default: Simulation or Replica, or the
    /// rung of the column]
    #[arg(long, value_name = "TEXT")]
    label: Vec<String>,
    /// Largest size of an MP4 in megabytes (10⁶ bytes), at the cost of quality [default: no limit]
    #[arg(long, value_name = "N", value_parser = megabytes)]
    megabytes: Option<f64>,
    // For the hint, because other commands have it.
    #[arg(long, hide = true, value_parser = other_lane)]
    rung: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const OF_HALVES: [&str; 2] = ["left", "right"];

/// Arguments that conflict with a series.
const OF_ONE_VIDEO: [&str; 15] = [
    "fall",
    "script",
    "replay",
    "left",
    "right",
    "lane",
    "seconds",
    "skip",
    "fps",
    "at",
    "title",
    "hide",
    "label",
    "megabytes",
    "json",
];

const DEFAULT_SIZE: UVec2 = UVec2::new(1280, 720);

const DEFAULT_SECONDS: f64 = 10.0;

impl RecordArgs {
    pub fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if let Some(series) = self.series {
            if Format::of(&self.out).is_some() {
                let hint = "a series is a folder of videos: give the name of a folder";
                return Err(FileError::at(&self.out)(hint).into());
            }
            let report = |line: &str| writeln!(out, "{line}").and_then(|()| out.flush());
            let size = self.size.unwrap_or_else(|| series.size());
            return record_series(series, size, self.look(), &self.out, of_replaced, report);
        }
        let film = self.film(self.size.unwrap_or(DEFAULT_SIZE))?;
        let frames = film.card_frames() + film.frames;
        let progress = progress(frames, "frames");
        let max_bytes = self.megabytes.map(|megabytes| (megabytes * 1e6) as u64);
        let take = record(&film, &self.out, max_bytes, &progress, || of_replaced(&self.out))?;
        progress.finish_and_clear();
        stop::say_if_early(take.frames, frames, "frames");
        warn_if_over(&self.out, max_bytes);
        figures::print(&report(&self.out, &film, &take), self.json, out)?;
        match take.replay {
            Some(Outcome::Different(difference)) => Err(difference.into()),
            _ => Ok(()),
        }
    }

    fn look(&self) -> ViewState {
        let mut look = ViewState::default();
        look.quality = self.quality.quality;
        (look.theme, look.colors) = (self.theme, self.colour);
        look.exaggeration = self.exaggerate;
        look
    }

    fn film(&self, size: UVec2) -> Result<Film, Failure> {
        let path = self.script.as_ref().or(self.replay.as_ref());
        let script = match self.fall {
            true => Some(fall::fall()),
            false => load_script(path.map(PathBuf::as_path))?,
        };
        if let (Some(path), Some(script)) = (&self.replay, &script)
            && script.recorded.is_none()
        {
            let hint = "this is a script, not a replay; play it with --script";
            return Err(FileError::at(path)(hint).into());
        }
        let format = Format::of(&self.out);
        let fps = self.fps.unwrap_or(if format == Some(Format::Gif) { 20 } else { 60 });
        let rate = f64::from(TICKS_PER_SECOND);
        let seconds = match (self.seconds, &script) {
            (Some(seconds), _) => seconds,
            (None, Some(script)) => (script.ticks - script.lead_in) as f64 / rate - self.skip,
            (None, None) => DEFAULT_SECONDS,
        };
        let skipped_ticks = (self.skip * rate).round();
        if !(0.0..=MAX_SECONDS * rate).contains(&skipped_ticks) || seconds <= 0.0 {
            let ticks = seconds * rate + skipped_ticks;
            return Err(skips_all(self.skip, ticks));
        }
        let begin = script.as_ref().map_or(0, |script| script.lead_in);
        let begin = begin.saturating_add(skipped_ticks as u64);
        let play = script.as_ref().and_then(|script| script.about.clone());
        let file_name = path.and_then(|path| path.file_name());
        let play = play.or_else(|| Some(format!("keys of {}", file_name?.display())));
        let texts = [("--title", &self.title), ("the description of the script", &play)];
        let texts = texts.into_iter().filter_map(|(what, text)| Some((what, text.as_ref()?)));
        warn_of_boxes(texts.chain(self.label.iter().map(|label| ("--label", label))));
        Ok(Film {
            size,
            frames_per_second: fps,
            frames: ((seconds * f64::from(fps)).round() as u64).max(1),
            skipped_ticks: skipped_ticks as u64,
            shown: self.shown(script.as_ref(), seconds * rate, begin)?,
            script,
            play,
            // Only for MP4: a GIF repeats endlessly, and numbered pictures are for editing.
            has_card: format == Some(Format::Mp4),
            overlay: Overlay {
                title: self.title.clone().or_else(|| self.fall.then(|| fall::TITLE.to_owned())),
                hidden: self.hide.clone(),
                names: [0, 1].map(|half| self.label.get(half).cloned()),
                ..Overlay::default()
            },
            look: self.look(),
        })
    }

    /// Content of the film for `ticks` ticks, starting at tick `begin` of the script.
    fn shown(
        &self,
        script: Option<&Script>,
        ticks: f64,
        begin: u64,
    ) -> Result<FilmContent, Failure> {
        let switches = self.switches(ticks)?;
        let (labels, parts) = (self.label.len(), self.lane.len().max(Side::ALL.len()));
        if labels > parts {
            return Err(
                format!("--label is given {labels} times, but there are {parts} names").into()
            );
        }
        match self.lane.len() {
            0 => {}
            2..=MAX_COLUMNS => {
                for lane in &self.lane {
                    lane.sender.check_budget().map_err(|why| format!("--lane: {why}"))?;
                }
                return Ok(FilmContent::Columns {
                    lanes: self.lane.clone(),
                    labels: self.label.clone(),
                    switches,
                });
            }
            _ => return Err(format!("--lane must be given 2 to {MAX_COLUMNS} times").into()),
        }
        let (left, right) = halves(self.left.clone(), self.right.clone(), script);
        let mut steps = script.iter().flat_map(|script| &script.steps);
        let has_left_lane =
            left != PaneContent::Simulation || steps.any(|step| step.left.is_some());
        for switch in &self.at {
            if switch.side() == Side::Left && !has_left_lane {
                let why = "the left half shows the simulation, which has no settings";
                return Err(format!("--at: {}: {why}", switch.text).into());
            }
        }
        let delayed = switches.iter().map(|switch| switch.clone().delayed(begin));
        let delayed: Vec<Switch> = delayed.collect();
        warn(&left, &right, script, &delayed);
        Ok(FilmContent::Halves { left, right, switches })
    }

    /// The switches of a film of `ticks` ticks, which are before its end and name a half or column that exists.
    fn switches(&self, ticks: f64) -> Result<Vec<Switch>, Failure> {
        let columns = self.lane.len();
        let mut switches = Vec::new();
        for switch in &self.at {
            let why = match switch.place {
                _ if switch.at as f64 >= ticks => {
                    format!("the film ends after {} s", in_seconds(ticks))
                }
                Place::Half(_) if columns > 0 => {
                    "columns have numbers, as in `4s:2.rung:delta`".to_owned()
                }
                Place::Column(_) if columns == 0 => {
                    "halves are called `left.` and `right.`".to_owned()
                }
                Place::Column(column) if !(1..=columns).contains(&column) => {
                    format!("there are {columns} columns")
                }
                _ => {
                    switches.push(switch.clone());
                    continue;
                }
            };
            return Err(format!("--at: {}: {why}", switch.text).into());
        }
        Ok(switches)
    }
}

fn megabytes(text: &str) -> Result<f64, String> {
    let megabytes = text.parse().ok();
    let megabytes = megabytes.filter(|megabytes| (0.01..=1e6).contains(megabytes));
    megabytes.ok_or_else(|| format!("{text} is not a number of megabytes from 0.01 to 1000000"))
}

fn other_lane(rung: &str) -> Result<String, String> {
    Err(format!(
        "a video shows two lanes: set the right one with `--right rung:{rung}`, and the left one with `--left`"
    ))
}

/// Parses a switch. Errors quote the argument, because there can be several switches.
fn switch(text: &str) -> Result<Switch, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}

/// Maximum rate, higher than the rate of common displays.
const MAX_FRAMES_PER_SECOND: u32 = 240;
