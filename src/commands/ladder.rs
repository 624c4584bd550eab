//! `cubewire ladder`: the bandwidth of every rung of the ladder, for the same run of a script.

mod plot;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use cubewire_codec::BitKind;
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;

use super::CommandError;
use super::args::PlayArgs;
use super::table::markdown;
use crate::game::GameError;
use crate::game::headless::LaneGame;
use crate::game::progress;
use crate::recording::Script;
use crate::replication::{HEADER_BYTES, LaneSettings, kbps};

/// `cubewire ladder`
#[derive(Clone, Debug, Args)]
pub struct LadderArgs {
    /// What to play.
    #[command(flatten)]
    pub play: PlayArgs,
    /// PNG file for the plot
    #[arg(long, value_name = "FILE", default_value = "ladder.png")]
    pub png: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What one rung cost.
#[derive(Clone, Debug, Serialize)]
pub struct RungCost {
    /// Its name.
    pub rung: &'static str,
    /// Mean in article accounting, kilobits a second.
    pub mean_kbps: f64,
    /// The bandwidth if every packet were as large as the largest, kilobits a second.
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
pub fn measure(mut game: LaneGame, ticks: usize, skip: usize) -> Result<Vec<RungCost>, GameError> {
    game.add_shadow()?;
    let progress = progress(ticks as u64, "ticks");
    for tick in 0..ticks {
        if tick == skip
            && let Some(mut shadow) = game.shadow()?
        {
            shadow.restart()?;
        }
        game.step();
        progress.inc(1);
    }
    progress.finish_and_clear();

    let shadow = game.shadow()?;
    let rungs = shadow.as_ref().map_or(&[][..], |shadow| shadow.rungs());
    let cost = rungs.iter().map(|rung| {
        let totals = &rung.totals;
        RungCost {
            rung: rung.rung().name,
            mean_kbps: rung.mean_kbps(),
            peak_kbps: kbps(totals.max_payload_bytes + HEADER_BYTES, 1),
            bytes: totals.per_snapshot(totals.article_bytes as f64),
            bits: BitKind::ALL
                .map(|kind| totals.per_snapshot(totals.ledger.kind(kind)))
                .to_vec(),
        }
    });
    Ok(cost.collect())
}

impl LadderArgs {
    /// Plays, prints and draws.
    ///
    /// # Errors
    /// See [`CommandError`].
    pub fn run(&self, out: &mut impl Write) -> Result<(), CommandError> {
        let script = self.play.script()?;
        let (ticks, skip) = self.play.ticks(script.as_ref())?;
        let game = LaneGame::new(script, LaneSettings::default())?;
        let costs = measure(game, ticks, skip)?;
        let played = self.play.name().unwrap_or_else(|| "no script".to_owned());
        plot::draw(&costs, &played, &self.png)?;
        if self.json {
            let json = serde_json::to_string_pretty(&costs).expect("costs are plain data");
            writeln!(out, "{json}")?;
        } else {
            writeln!(out, "{played}, {} snapshots\n", ticks - skip)?;
            writeln!(out, "{}", table(&costs))?;
            writeln!(out, "\ndrawn in {}", self.png.display())?;
        }
        Ok(())
    }
}

/// Prints the bandwidth of every rung for a few seconds of `script`, or of a katamari ball.
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
    let game = LaneGame::new(Some(script), LaneSettings::default())?;
    let seconds = seconds.unwrap_or(DEMO_SECONDS);
    let ticks = (seconds * f64::from(TICKS_PER_SECOND)).ceil() as usize;
    let costs = measure(game, ticks, 0)?;
    writeln!(out, "{}", table(&costs))?;
    Ok(())
}

/// Played where there is no display.
const DEMO: &str = include_str!("../../assets/scripts/katamari.ron");
const DEMO_SECONDS: f64 = 10.0;

fn table(costs: &[RungCost]) -> String {
    let kinds = BitKind::ALL
        .into_iter()
        .enumerate()
        .filter(|&(index, _)| costs.iter().any(|cost| cost.bits[index] > 0.0));
    let kinds: Vec<_> = kinds.collect();
    let titles = ["rung", "kbps", "peak", "bytes"].map(str::to_owned);
    let names = kinds
        .iter()
        .map(|(_, kind)| format!("{} bits", kind.name()));
    let header: Vec<_> = titles.into_iter().chain(names).collect();
    let rows = costs.iter().map(|cost| {
        let figures = [cost.mean_kbps, cost.peak_kbps, cost.bytes];
        let bits = kinds.iter().map(|&(index, _)| cost.bits[index]);
        let cells = figures.into_iter().chain(bits).map(|v| format!("{v:.1}"));
        [cost.rung.to_owned()].into_iter().chain(cells).collect()
    });
    markdown([header].into_iter().chain(rows), 1)
}
