//! Every rung of the ladder on one and the same play.

use std::io::Write;
use std::path::Path;

use cubewire_codec::BitKind;
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

use super::{HeadlessGame, progress};
use crate::cli::{CommandError, LadderArgs};
use crate::recording::Script;
use crate::replication::{LaneSettings, ShadowLadder, kbps};

mod picture;

/// What one rung cost.
#[derive(Clone, Debug, Serialize)]
pub struct RungCost {
    /// Its name.
    pub rung: &'static str,
    /// Mean in article accounting, kilobits a second.
    pub mean_kbps: f64,
    /// What the largest packet would make if all were like it, kilobits a second.
    pub peak_kbps: f64,
    /// Mean payload and headers of a packet, in article accounting.
    pub bytes: f64,
    /// Bits of each kind a snapshot, in the order of [`BitKind::ALL`].
    pub bits: Vec<f64>,
}

/// Plays and encodes with every rung; the first `skip` ticks are not counted.
///
/// # Errors
/// If the game cannot be set up.
pub fn measure(
    mut game: HeadlessGame,
    ticks: usize,
    skip: usize,
) -> Result<Vec<RungCost>, CommandError> {
    game.add_shadow()?;
    let progress = progress(ticks, "ticks");
    for tick in 0..ticks {
        if tick == skip
            && let Some(mut shadow) = game.app.world_mut().get_mut::<ShadowLadder>(game.lane)
        {
            shadow.restart();
        }
        game.step();
        progress.inc(1);
    }
    progress.finish_and_clear();

    let shadow = game.app.world().get::<ShadowLadder>(game.lane);
    let rungs = shadow.map_or(&[][..], ShadowLadder::rungs);
    let cost = rungs.iter().map(|rung| {
        let packets = rung.packets.max(1) as f64;
        RungCost {
            rung: rung.rung().name,
            mean_kbps: rung.mean_kbps(),
            peak_kbps: kbps(rung.peak_bytes, 1),
            bytes: rung.total_bytes as f64 / packets,
            bits: BitKind::ALL
                .map(|kind| rung.total.kind(kind) / packets)
                .to_vec(),
        }
    });
    Ok(cost.collect())
}

/// `cubewire ladder`
///
/// # Errors
/// See [`CommandError`].
pub fn run(args: &LadderArgs, out: &mut impl Write) -> Result<(), CommandError> {
    let script = args.play.script()?;
    let (ticks, skip) = args.play.ticks(script.as_ref())?;
    let game = HeadlessGame::new(script, LaneSettings::default())?;
    let costs = measure(game, ticks, skip)?;
    let played = match &args.play.script {
        Some(path) => path.display().to_string(),
        None => "nobody plays".to_owned(),
    };
    picture::draw(&costs, &played, &args.png)?;
    if args.json {
        let json = serde_json::to_string_pretty(&costs).expect("costs are plain data");
        writeln!(out, "{json}")?;
    } else {
        writeln!(out, "{played}, {} snapshots\n", ticks - skip)?;
        writeln!(out, "{}", table(&costs))?;
        writeln!(out, "\ndrawn in {}", args.png.display())?;
    }
    Ok(())
}

/// Prints the ladder of a few seconds of `script`, or of a katamari ball.
///
/// # Errors
/// See [`CommandError`].
pub fn print_demo(
    script: Option<Script>,
    seconds: Option<f64>,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let script = match script {
        Some(script) => script,
        None => Script::parse(DEMO, Path::new("assets/scripts/katamari.ron"))?,
    };
    let game = HeadlessGame::new(Some(script), LaneSettings::default())?;
    let seconds = seconds.unwrap_or(DEMO_SECONDS);
    let ticks = (seconds * f64::from(TICKS_PER_SECOND)).ceil() as usize;
    let costs = measure(game, ticks, 0)?;
    writeln!(out, "{}", table(&costs))?;
    Ok(())
}

/// Played where there is no window.
const DEMO: &str = include_str!("../../assets/scripts/katamari.ron");
const DEMO_SECONDS: f64 = 10.0;

fn table(costs: &[RungCost]) -> String {
    let mut builder = Builder::default();
    let kinds = BitKind::ALL
        .into_iter()
        .enumerate()
        .filter(|&(index, _)| costs.iter().any(|cost| cost.bits[index] > 0.0));
    let kinds: Vec<_> = kinds.collect();
    let header = ["rung", "kbps", "peak", "bytes"].map(str::to_owned);
    let names = kinds
        .iter()
        .map(|(_, kind)| format!("{} bits", kind.name()));
    builder.push_record(header.into_iter().chain(names));
    for cost in costs {
        let figures = [cost.mean_kbps, cost.peak_kbps, cost.bytes];
        let bits = kinds.iter().map(|&(index, _)| cost.bits[index]);
        let cells = figures.into_iter().chain(bits).map(|v| format!("{v:.1}"));
        builder.push_record([cost.rung.to_owned()].into_iter().chain(cells));
    }
    let mut table = builder.build();
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    table.to_string()
}
