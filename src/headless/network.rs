//! Every rung over every kind of network, on one and the same play.

use std::io::Write;

use bevy::prelude::*;
use cubewire_codec::ladder::{self, Rung};
use cubewire_link::{PRESETS, Preset};
use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::{HeadlessGame, progress};
use crate::cli::{self, CommandError, NetworkArgs};
use crate::replication::{
    Accounting, LaneCheck, LaneMeter, LaneSettings, PictureError, kbps, spawn_lane,
};

/// How one rung fared over one network.
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
    /// Packets that the decoder refused, and why, the last time.
    pub refused: u64,
    /// See `refused`.
    pub last_refusal: Option<String>,
    /// Snapshots that came again, and packets that were not decoded because they came after their
    /// place was taken.
    pub duplicates: u64,
    /// See `duplicates`.
    pub out_of_window: u64,
    /// Snapshots that came too late to be shown.
    pub late: usize,
    /// Times that the picture stopped.
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
    sent: usize,
    bytes: [usize; Accounting::ALL.len()],
    late: usize,
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
) -> Result<Vec<Crossing>, CommandError> {
    let mut running = Vec::new();
    game.app.world_mut().despawn(game.lane);
    for &preset in presets {
        for &rung in rungs {
            let settings = LaneSettings {
                stages: rung.stages,
                link: preset.conditions.clone(),
                ..LaneSettings::default()
            };
            let world = game.app.world_mut();
            let lane = spawn_lane(world, settings)
                .map_err(|error| CommandError::Game(error.to_string()))?;
            let checks = (LaneCheck::default(), PictureError::default());
            world.entity_mut(lane).insert(checks);
            running.push(Running::new(lane, preset, rung));
        }
    }
    let progress = progress(ticks, "ticks");
    for _ in 0..ticks {
        game.step();
        for lane in &mut running {
            lane.add(game.app.world());
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    let world = game.app.world();
    Ok(running
        .iter()
        .map(|lane| lane.outcome(world, ticks))
        .collect())
}

impl Running {
    const fn new(lane: Entity, preset: &'static Preset, rung: Rung) -> Self {
        Self {
            lane,
            preset,
            rung,
            sent: 0,
            bytes: [0; Accounting::ALL.len()],
            late: 0,
            compared_ticks: 0,
            error_mm: 0.0,
            error_degrees: 0.0,
        }
    }

    fn add(&mut self, world: &World) {
        let lane = world.entity(self.lane);
        if let Some(sample) = lane.get::<LaneMeter>().and_then(|m| m.samples().back()) {
            self.sent += sample.snapshots;
            self.late += sample.late;
            for (bytes, accounting) in self.bytes.iter_mut().zip(Accounting::ALL) {
                *bytes += sample.bytes(accounting);
            }
        }
        if let Some(error) = lane.get::<PictureError>()
            && error.tick.is_some()
        {
            self.compared_ticks += 1;
            self.error_mm += f64::from(error.mean_m) * 1000.0;
            self.error_degrees += f64::from(error.mean_degrees);
        }
    }

    fn outcome(&self, world: &World, ticks: usize) -> Crossing {
        let lane = world.entity(self.lane);
        let check = lane.get::<LaneCheck>().copied().unwrap_or_default();
        let nothing = LaneMeter::default();
        let meter = lane.get::<LaneMeter>().unwrap_or(&nothing);
        let compared_ticks = self.compared_ticks.max(1) as f64;
        Crossing {
            network: self.preset.name,
            rung: self.rung.name,
            article_kbps: kbps(self.bytes[Accounting::Article as usize], ticks),
            wire_kbps: kbps(self.bytes[Accounting::Wire as usize], ticks),
            sent: self.sent,
            decoded: meter.received,
            compared: check.compared,
            wrong: check.wrong,
            refused: meter.refused,
            last_refusal: meter.last_refusal.as_ref().map(ToString::to_string),
            duplicates: meter.duplicates,
            out_of_window: meter.out_of_window,
            late: self.late,
            hitches: meter.hitches,
            position_error_mm: self.error_mm / compared_ticks,
            orientation_error_degrees: self.error_degrees / compared_ticks,
        }
    }
}

/// `cubewire network`
///
/// # Errors
/// See [`CommandError`]; also if a snapshot was refused, or decoded to something else than what was
/// sent.
pub fn run(args: &NetworkArgs, out: &mut impl Write) -> Result<(), CommandError> {
    let script = args.play.script()?;
    let (ticks, skip) = args.play.ticks(script.as_ref())?;
    let presets = presets(&args.networks)?;
    let rungs = rungs(&args.rungs)?;
    let mut game = HeadlessGame::new(script, LaneSettings::default())?;
    for _ in 0..skip {
        game.step();
    }
    let crossings = measure(game, ticks - skip, &presets, &rungs)?;
    if args.json {
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
    super::faultless(
        sum(|crossing| crossing.wrong),
        sum(|crossing| crossing.refused),
    )
}

fn presets(names: &[String]) -> Result<Vec<&'static Preset>, CommandError> {
    if names.iter().any(|name| name == ALL) {
        return Ok(PRESETS.iter().collect());
    }
    names.iter().map(|name| cli::preset(name)).collect()
}

fn rungs(names: &[String]) -> Result<Vec<Rung>, CommandError> {
    if names.iter().any(|name| name == ALL) {
        return Ok(ladder::all().collect());
    }
    names.iter().map(|name| cli::rung(name)).collect()
}

/// Stands for every name.
const ALL: &str = "all";

/// Rungs down, networks across.
fn grid(
    presets: &[&Preset],
    rungs: &[Rung],
    crossings: &[Crossing],
    cell: impl Fn(&Crossing) -> String,
) -> String {
    let mut builder = Builder::default();
    let titles = presets.iter().map(|preset| preset.title.to_owned());
    builder.push_record(["rung".to_owned()].into_iter().chain(titles));
    for rung in rungs {
        let row = crossings
            .iter()
            .filter(|crossing| crossing.rung == rung.name);
        builder.push_record([rung.name.to_owned()].into_iter().chain(row.map(&cell)));
    }
    let mut table = builder.build();
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    table.to_string()
}

fn verdict(crossings: &[Crossing]) -> String {
    let sum = |count: fn(&Crossing) -> u64| crossings.iter().map(count).sum::<u64>();
    let mut text = format!(
        "{} snapshots decoded, {} compared with what was sent: {} wrong. {} packets refused, {} \
         snapshots came again, {} came after their place was taken.",
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
