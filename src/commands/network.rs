//! `cubewire network`: every rung over several simulated networks, for the same run of a script.

use std::io::Write;

use bevy::prelude::*;
use clap::Args;
use cubewire_codec::ladder::{self, Rung};
use cubewire_link::{PRESETS, Preset};
use serde::Serialize;

use super::CommandError;
use super::args::{Choice, PlayArgs, network_or_all, rung_or_all, rungs};
use super::table::markdown;
use crate::game::GameError;
use crate::game::desktop::progress;
use crate::game::headless::HeadlessGame;
use crate::replication::{
    self, Accounting, Divergence, LaneCheck, LaneMeter, LaneSettings, LinkSettings, Totals,
};

/// `cubewire network`
#[derive(Clone, Debug, Args)]
pub struct NetworkArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    #[expect(missing_docs, reason = "the help says it")]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = network_or_all,
        default_value = "perfect,article,3g",
        help = format!("Networks, separated by commas, or `all`: {}", replication::network_names())
    )]
    pub networks: Vec<Choice<&'static Preset>>,
    #[expect(missing_docs, reason = "the help says it")]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = rung_or_all,
        default_value = "all",
        help = format!("Rungs, separated by commas, or `all`: {}", rungs())
    )]
    pub rungs: Vec<Choice<Rung>>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What one rung cost over one network, and what arrived.
#[derive(Clone, Debug, Serialize)]
pub struct Crossing {
    /// Name of the preset.
    pub network: &'static str,
    /// Name of the rung.
    pub rung: &'static str,
    /// Mean by [`Accounting::Article`], kilobits a second.
    pub article_kbps: f64,
    /// Mean by [`Accounting::Wire`], kilobits a second.
    pub wire_kbps: f64,
    /// Snapshots sent.
    pub sent: usize,
    /// Of these, how many were decoded.
    pub decoded: u64,
    /// Decoded snapshots that were compared, cube by cube, with what was sent.
    pub compared: u64,
    /// Of these, how many differed.
    pub wrong: u64,
    /// Packets that the decoder rejected, and the reason for the last one.
    pub refused: u64,
    /// See `refused`.
    pub last_refusal: Option<String>,
    /// Snapshots received more than once.
    pub duplicates: u64,
    /// Packets not decoded because they were too old.
    pub out_of_window: u64,
    /// Snapshots that arrived too late to be shown.
    pub late: usize,
    /// Times that playout stalled.
    pub hitches: u64,
    /// Mean over the ticks of the mean position error of the interacting cubes, millimetres.
    pub position_error_mm: f64,
    /// Likewise of the orientation, degrees.
    pub orientation_error_degrees: f64,
}

/// One lane and its sums.
struct Running {
    lane: Entity,
    preset: &'static Preset,
    rung: Rung,
    totals: Totals,
    compared_ticks: usize,
    error_mm: f64,
    error_degrees: f64,
}

/// Plays, and sends with each of `rungs` over each of `presets`.
///
/// # Errors
/// If the game cannot be set up.
pub fn measure(
    mut game: HeadlessGame,
    ticks: usize,
    presets: &[&'static Preset],
    rungs: &[Rung],
) -> Result<Vec<Crossing>, GameError> {
    let mut running = Vec::new();
    for &preset in presets {
        for &rung in rungs {
            let lane = game.spawn_lane(LaneSettings {
                link: LinkSettings {
                    conditions: preset.conditions.clone(),
                    seed: 0,
                },
                ..LaneSettings::with_stages(rung.stages)
            })?;
            let checks = (LaneCheck::default(), Divergence::default());
            game.app.world_mut().entity_mut(lane).insert(checks);
            running.push(Running::new(lane, preset, rung));
        }
    }
    let progress = progress(ticks as u64, "ticks");
    for _ in 0..ticks {
        game.step();
        for lane in &mut running {
            lane.add(game.app.world());
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let world = game.app.world();
    Ok(running.iter().map(|lane| lane.crossing(world)).collect())
}

impl Running {
    fn new(lane: Entity, preset: &'static Preset, rung: Rung) -> Self {
        Self {
            lane,
            preset,
            rung,
            totals: Totals::default(),
            compared_ticks: 0,
            error_mm: 0.0,
            error_degrees: 0.0,
        }
    }

    fn add(&mut self, world: &World) {
        let lane = world.entity(self.lane);
        if let Some(sample) = lane.get::<LaneMeter>().and_then(|m| m.samples().back()) {
            self.totals.add(sample);
        }
        if let Some(divergence) = lane.get::<Divergence>()
            && divergence.tick.is_some()
        {
            self.compared_ticks += 1;
            self.error_mm += f64::from(divergence.mean_m) * 1000.0;
            self.error_degrees += f64::from(divergence.mean_degrees);
        }
    }

    fn crossing(&self, world: &World) -> Crossing {
        let lane = world.entity(self.lane);
        let check = lane.get::<LaneCheck>().copied().unwrap_or_default();
        let nothing = LaneMeter::default();
        let meter = lane.get::<LaneMeter>().unwrap_or(&nothing);
        let compared_ticks = self.compared_ticks.max(1) as f64;
        Crossing {
            network: self.preset.name,
            rung: self.rung.name,
            article_kbps: self.totals.kbps(Accounting::Article),
            wire_kbps: self.totals.kbps(Accounting::Wire),
            sent: self.totals.snapshots,
            decoded: meter.received,
            compared: check.compared,
            wrong: check.wrong,
            refused: meter.refused,
            last_refusal: meter.last_refusal.as_ref().map(ToString::to_string),
            duplicates: meter.duplicates,
            out_of_window: meter.out_of_window,
            late: self.totals.late,
            hitches: meter.hitches,
            position_error_mm: self.error_mm / compared_ticks,
            orientation_error_degrees: self.error_degrees / compared_ticks,
        }
    }
}

impl NetworkArgs {
    /// Plays, compares and prints.
    ///
    /// # Errors
    /// See [`CommandError`]; also if a snapshot was refused, or decoded to something other than what was
    /// sent.
    pub fn run(&self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = self.play.script()?;
        let (ticks, skip) = self.play.ticks(script.as_ref())?;
        let presets = Choice::expand(&self.networks, PRESETS.iter());
        let rungs = Choice::expand(&self.rungs, ladder::all());
        let mut game = HeadlessGame::new(script);
        for _ in 0..skip {
            game.step();
        }
        let crossings = measure(game, ticks - skip, &presets, &rungs)?;
        if self.json {
            let json = serde_json::to_string_pretty(&crossings).expect("crossings are plain data");
            writeln!(out, "{json}")?;
        } else {
            writeln!(out, "Kilobits a second, article accounting:\n")?;
            let kbps = |crossing: &Crossing| format!("{:.1}", crossing.article_kbps);
            writeln!(out, "{}", grid(&presets, &rungs, &crossings, kbps))?;
            writeln!(out, "\nSnapshots that arrived whole:\n")?;
            let arrived = |crossing: &Crossing| {
                let percent = 100.0 * crossing.decoded as f64 / crossing.sent.max(1) as f64;
                format!("{percent:.1} %")
            };
            writeln!(out, "{}", grid(&presets, &rungs, &crossings, arrived))?;
            writeln!(out, "\n{}", verdict(&crossings))?;
        }
        let sum = |count: fn(&Crossing) -> u64| crossings.iter().map(count).sum();
        CommandError::check_faultless(
            sum(|crossing| crossing.wrong),
            sum(|crossing| crossing.refused),
        )
    }
}

/// Rungs down, networks across.
fn grid(
    presets: &[&Preset],
    rungs: &[Rung],
    crossings: &[Crossing],
    cell: impl Fn(&Crossing) -> String,
) -> String {
    let titles = presets.iter().map(|preset| preset.title.to_owned());
    let header: Vec<_> = ["rung".to_owned()].into_iter().chain(titles).collect();
    let rows = rungs.iter().map(|rung| {
        let row = crossings
            .iter()
            .filter(|crossing| crossing.rung == rung.name);
        let name = [rung.name.to_owned()].into_iter();
        name.chain(row.map(&cell)).collect()
    });
    markdown([header].into_iter().chain(rows), 1)
}

fn verdict(crossings: &[Crossing]) -> String {
    let sum = |count: fn(&Crossing) -> u64| crossings.iter().map(count).sum::<u64>();
    let mut text = format!(
        "{} snapshots decoded, {} compared with what was sent: {} wrong. {} packets refused, {} \
         duplicates, {} too old.",
        sum(|crossing| crossing.decoded),
        sum(|crossing| crossing.compared),
        sum(|crossing| crossing.wrong),
        sum(|crossing| crossing.refused),
        sum(|crossing| crossing.duplicates),
        sum(|crossing| crossing.out_of_window),
    );
    for crossing in crossings {
        if let Some(refusal) = &crossing.last_refusal {
            let Crossing {
                network,
                rung,
                refused,
                ..
            } = crossing;
            text +=
                &format!("\n{rung} over {network}: {refused} refused, the last because {refusal}");
        }
    }
    text
}
