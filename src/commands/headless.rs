//! `cubewire headless`: plays a script and prints the bandwidth of one rung.

mod capture;
mod summary;
mod table;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cubewire_link::Preset;
use cubewire_scene::TICKS_PER_SECOND;

use super::CommandError;
use super::args::{PlayArgs, RungArg, Seconds, skipped_seconds};
use crate::game::desktop::stop;
use crate::game::headless::{HeadlessGame, LaneGame};
use crate::game::profile::Profile;
use crate::replication::{self, Divergence, LaneChange, LaneSettings, NudgeLane, setting};
use crate::view::ViewPlugin;

use capture::Capture;
use summary::PlayTotals;
use table::Table;

pub use capture::CaptureError;
pub use summary::Summary;

/// `cubewire headless`
#[derive(Clone, Debug, Args)]
pub struct HeadlessArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// What to send with.
    #[command(flatten)]
    pub rung: RungArg,
    #[expect(missing_docs, reason = "the help says it")]
    #[arg(long, value_name = "NAME", value_parser = replication::network, help = format!(
        "Simulated network to send over: {} [default: a round trip of 100 ms without loss]",
        replication::network_names()
    ))]
    pub network: Option<&'static Preset>,
    /// Worlds that a viewer with the rung `simulated` has: exact, or corrected by every packet
    #[arg(long, value_name = "NAME", default_value = "exact", value_parser = setting("worlds"))]
    pub worlds: LaneChange,
    /// Seconds after which the viewer joins the game. It is measured from then on, and the script goes on
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = skipped_seconds)]
    pub join: f64,
    /// Every so many seconds, the two ends of a viewer with the rung `simulated` lose the world that they agree about
    #[arg(long, value_name = "SECONDS")]
    pub nudge: Option<Seconds>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Time each part of a frame
    #[arg(long)]
    pub profile: bool,
    /// Time it with everything open: timeline, a packet and a cube of it, bits as colours, ablation
    #[arg(long, requires = "profile")]
    pub open: bool,
    /// Write the simulated states as a recording that cubewire-lab reads (zstd if the name ends in .zst)
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Write a table with a row for each tick that is measured: sizes, bits by kind, arrival, playout, errors
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

impl HeadlessArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn run(&self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = self.play.script()?;
        let (ticks, skip) = self.play.ticks(script.as_ref())?;
        let mut settings = LaneSettings::with_stages(self.rung.rung.stages);
        if let Some(network) = self.network {
            settings.link.conditions = network.conditions.clone();
        }
        self.worlds.apply(&mut settings)?;
        let mut capture = self.capture.as_deref().map(Capture::create).transpose()?;
        let mut table = self.csv.as_deref().map(Table::create).transpose()?;
        let mut game = if self.profile {
            let mut game = LaneGame::with_plugins(script, settings, ViewPlugin)?;
            game.add_shadow()?;
            Profile::install(&mut game.app, self.open);
            game
        } else {
            let mut game = HeadlessGame::new(script);
            stop::play((self.join * f64::from(TICKS_PER_SECOND)) as usize, |_| {
                game.step();
                Ok::<_, CommandError>(())
            })?;
            LaneGame::join(game, settings)?
        };

        if table.is_some() {
            let lane = game.lane;
            let mut lane = game.app.world_mut().entity_mut(lane);
            lane.insert(Divergence::default());
        }

        let mut totals = PlayTotals::default();
        let played = stop::play(ticks, |tick| {
            if self
                .nudge
                .is_some_and(|nudge| (tick as u64).is_multiple_of(nudge.ticks()))
            {
                let (entity, ticks) = (game.lane, 0);
                game.app.world_mut().trigger(NudgeLane { entity, ticks });
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
                if let Some(table) = &mut table {
                    table.add(game.meter())?;
                }
            }
            Ok::<_, CommandError>(())
        })?;

        if let Some(capture) = capture {
            capture.finish()?;
        }
        if let Some(table) = table {
            table.finish(game.meter())?;
        }
        if played <= skip {
            return Err(CommandError::Stopped);
        }
        let summary = totals.summary(self, game.meter(), game.check());
        if self.json {
            let json = serde_json::to_string_pretty(&summary).expect("a summary is plain data");
            writeln!(out, "{json}")?;
        } else {
            summary.print(out)?;
        }
        if let Some(profile) = game.app.world().get_resource::<Profile>() {
            // Standard output stays JSON for programs that read it.
            if self.json {
                profile.print(&mut std::io::stderr())?;
            } else {
                profile.print(out)?;
            }
        }
        Ok(())
    }
}
