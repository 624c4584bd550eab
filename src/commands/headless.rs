//! `cubewire headless`: plays a script and prints the bandwidth of one rung.

mod output;
mod playing;
mod summary;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cubewire_codec::ladder;
use cubewire_scene::TICKS_PER_SECOND;

use super::args::{self, LaneArgs, PlayArgs, skipped_seconds};
use super::figures;
use super::warning::of_replaced;
use crate::game::Failure;
use crate::game::desktop::stop::{self, Stopped};
use crate::game::headless::{HeadlessGame, LaneGame};
use crate::game::profile;
use crate::recording::length_of_play;
use crate::replication::{Compared, ForceDesync, LaneSettings};

use output::{Capture, Table};
use playing::PlayingTotals;
use summary::PlayTotals;

pub use summary::KindBits;

#[derive(Clone, Debug, Args)]
pub struct HeadlessArgs {
    #[command(flatten)]
    pub(super) play: PlayArgs,
    #[command(flatten)]
    pub(super) lane: LaneArgs,
    /// Seconds after which the viewer joins the game. --seconds and --skip count from then on, and the script continues
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = skipped_seconds, hide = true)]
    pub(super) join: f64,
    /// Interval in seconds at which a viewer with the rung `simulated` loses its simulated world
    #[arg(long, value_name = "SECONDS", value_parser = length_of_play, hide = true)]
    pub(super) nudge: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Print the CPU time of a window's frame instead, without drawing it
    #[arg(long, conflicts_with_all = ["skip", "budget", "join", "nudge", "capture", "csv"], hide = true)]
    pub(super) profile: bool,
    /// Write the simulated states as a recording for cubewire-lab (zstd if the name ends in .zst). Replaces an existing
    /// file
    #[arg(long, value_name = "FILE")]
    pub(super) capture: Option<PathBuf>,
    /// Write a table with a row for each measured tick: sizes, bits by kind, arrival, playout, errors. Replaces an
    /// existing file
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
}

impl HeadlessArgs {
    /// Plays and prints. Fails also if a snapshot was refused, or a decoded snapshot differs from the sent one.
    pub fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        let script = self.play.script()?;
        let (ticks, skip) = self.play.ticks(script.as_ref())?;
        let mut settings = LaneSettings::default();
        self.lane.apply(&mut settings)?;
        let (rung, budget) = (settings.rung_name(), settings.sender.budget);
        if self.nudge.is_some() && rung != ladder::SIMULATED.name {
            let why = "has no simulation to change: use --rung simulated";
            return Err(format!("--nudge: a viewer with the rung `{rung}` {why}").into());
        }
        for path in [&self.capture, &self.csv].into_iter().flatten() {
            of_replaced(path);
        }
        if self.profile {
            let times = profile::measure(script, settings, ticks)?;
            return Ok(figures::print(&times, self.json, out)?);
        }
        let mut table = self.csv.as_deref().map(Table::create).transpose()?;
        let mut game = HeadlessGame::new(script);
        let capture = self.capture.as_deref().map(|path| Capture::create(path, game.cubes()));
        let mut capture = capture.transpose()?;
        stop::play((self.join * f64::from(TICKS_PER_SECOND)) as usize, |_| {
            game.step();
            Ok::<_, Failure>(())
        })?;
        let mut game = LaneGame::join(game, settings)?;

        if table.is_some() || budget.is_some() {
            let lane = game.lane;
            let mut lane = game.app.world_mut().entity_mut(lane);
            lane.insert(Compared);
        }

        let (mut totals, mut playing) = (PlayTotals::default(), PlayingTotals::default());
        let played = stop::play(ticks, |tick| {
            if self.nudge.is_some_and(|nudge| (tick as u64).is_multiple_of(args::ticks(nudge))) {
                let entity = game.lane;
                game.app.world_mut().trigger(ForceDesync { entity });
            }
            if tick == skip {
                game.mark();
            }
            game.step();
            if let Some(capture) = &mut capture {
                capture.add(game.cubes().current())?;
            }
            totals.hash(game.cubes().current());
            if tick >= skip
                && let Some(sample) = game.meter().samples().back()
            {
                totals.add(sample);
                playing.add(sample, game.cubes());
                if let Some(table) = &mut table {
                    table.add(game.meter())?;
                }
            }
            Ok::<_, Failure>(())
        })?;

        if let Some(capture) = capture {
            capture.finish()?;
        }
        if let Some(table) = table {
            table.finish(game.meter())?;
        }
        if played <= skip {
            return Err(Stopped("the first measurement").into());
        }
        let (script, network) = (self.play.name(), self.lane.network_name());
        let mut summary = totals.summary(script, rung, network, budget, &game);
        if let Some(playing) = playing.summary() {
            summary["playing"] = playing;
        }
        match self.json {
            true => figures::print(&summary, true, out)?,
            false => summary::print(&summary, out)?,
        }
        match (game.check().wrong, game.meter().refused) {
            (0, 0) => Ok(()),
            (wrong, refused) => Err(format!(
                "{wrong} decoded snapshots differ from the sent ones, {refused} were refused"
            )
            .into()),
        }
    }
}
