//! `cubewire ladder`: the bandwidth of every rung of the ladder, for the same run of a script.

mod plot;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use cubewire_cli::{Table, number};
use cubewire_codec::{BitKind, ladder};
use cubewire_inspector::words::factor;
use cubewire_scene::TICKS_PER_SECOND;
use serde::Serialize;

use super::args::{NO_SCRIPT, PlayArgs, create};
use super::figures;
use super::headless::KindBits;
use crate::files::{FileError, NewFile};
use crate::game::desktop::progress;
use crate::game::headless::LaneGame;
use crate::game::{Failure, GameError, script_of};
use crate::panel::Scene;
use crate::recording::Script;
use crate::replication::{HEADER_BYTES, LaneSettings, StageCosts, TARGET_KBPS, kbps};

#[derive(Clone, Debug, Args)]
pub struct LadderArgs {
    #[command(flatten)]
    pub(super) play: PlayArgs,
    /// Also draw a plot to this PNG file. Replaces an existing file
    #[arg(long, value_name = "FILE")]
    pub(super) png: Option<PathBuf>,
    /// Also print the largest packet and the bits of each kind
    #[arg(long)]
    pub(super) bits: bool,
    /// Print JSON, which always includes the figures of --bits
    #[arg(long)]
    pub(super) json: bool,
    /// Print only the names of the rungs, one per line
    #[arg(long, exclusive = true)]
    pub(super) list: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct RungCost {
    pub rung: &'static str,
    /// Mean bandwidth in article accounting, kilobits per second.
    pub mean_kbps: f64,
    pub factor: f64,
    /// Bandwidth if every packet were as large as the largest one, kilobits per second.
    pub peak_kbps: f64,
    /// Mean bytes of a packet, payload and headers, in article accounting.
    pub bytes: f64,
    /// Bits of each kind in the order of [`BitKind::DEMO`].
    pub bits: Vec<KindBits>,
}

/// Plays a game and encodes it with every rung. The first `skip` ticks are not measured.
pub fn measure(mut game: LaneGame, ticks: usize, skip: usize) -> Result<Vec<RungCost>, GameError> {
    game.add_shadow();
    for tick in progress(ticks as u64, "ticks").wrap_iter(0..ticks) {
        if tick == skip
            && let Some(mut shadow) = game.shadow()?
        {
            shadow.restart()?;
        }
        game.step();
    }
    let shadow = game.shadow()?;
    let rungs = shadow.as_ref().map_or(&[][..], |shadow| shadow.rows());
    let uncompressed = rungs.iter().find(|rung| rung.of.name == ladder::UNCOMPRESSED.name);
    let uncompressed_kbps = uncompressed.map_or(0.0, StageCosts::mean_kbps);
    let cost = rungs.iter().map(|rung| {
        let totals = &rung.totals;
        RungCost {
            rung: rung.of.name,
            mean_kbps: rung.mean_kbps(),
            factor: uncompressed_kbps / rung.mean_kbps(),
            peak_kbps: kbps(totals.max_payload_bytes + HEADER_BYTES, 1),
            bytes: totals.per_snapshot(totals.article_bytes as f64),
            bits: BitKind::DEMO.map(|kind| KindBits::of(kind, totals)).to_vec(),
        }
    });
    Ok(cost.collect())
}

impl LadderArgs {
    pub fn run(&self, out: &mut impl Write) -> Result<(), Failure> {
        if self.list {
            return Ok(ladder::all().try_for_each(|rung| writeln!(out, "{}", rung.name))?);
        }
        let script = self.play.script()?;
        let (ticks, skip) = self.play.ticks(script.as_ref())?;
        // Create the file first, so that a mistyped path fails before the run.
        let plot = self.png.as_deref().map(new_plot).transpose()?;
        let about = script.as_ref().and_then(|script| script.about.clone());
        let costs = measure(LaneGame::new(script, LaneSettings::default())?, ticks, skip)?;
        let played = self.play.name().unwrap_or_else(|| NO_SCRIPT.to_owned());
        let title = match (about, self.play.script.first().and_then(|path| path.file_name())) {
            (Some(about), _) => about,
            (None, Some(name)) => name.display().to_string(),
            (None, None) => "no keys pressed".to_owned(),
        };
        if let (Some(png), Some(plot)) = (&self.png, plot) {
            plot::draw(&costs, &title, plot).map_err(FileError::at(png))?;
        }
        if self.json {
            figures::print(&costs, true, out)?;
        } else {
            let seconds = (ticks - skip) as f64 / f64::from(TICKS_PER_SECOND);
            writeln!(
                out,
                "{played}: {} snapshots in {seconds:.1} s, {TICKS_PER_SECOND} a second\n",
                number((ticks - skip) as f64, 0)
            )?;
            writeln!(out, "{}", short(&costs))?;
            if self.bits {
                writeln!(out, "\n{}", details(&costs))?;
            }
            if let Some(png) = &self.png {
                writeln!(out, "\nplot written to {}", png.display())?;
            }
        }
        Ok(())
    }
}

fn new_plot(png: &Path) -> Result<NewFile, FileError> {
    let extension = png.extension();
    if extension.is_some_and(|extension| !extension.eq_ignore_ascii_case("png")) {
        return Err(FileError::at(png)("the name of a plot must end in .png"));
    }
    create(png)
}

/// Prints the bandwidth of every rung for a few seconds of `script`, or of a katamari ball without one.
pub fn print_demo(
    script: Option<Script>,
    seconds: Option<f64>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let script = script.unwrap_or_else(|| script_of(Scene::Katamari));
    let game = LaneGame::new(Some(script), LaneSettings::default())?;
    let seconds = seconds.unwrap_or(DEMO_SECONDS);
    let costs = measure(game, (seconds * f64::from(TICKS_PER_SECOND)).ceil() as usize, 0)?;
    writeln!(out, "{}", short(&costs))?;
    Ok(())
}

const DEMO_SECONDS: f64 = 10.0;

/// The table with a description of its columns and the first rung below the target, at most 100 columns wide.
fn short(costs: &[RungCost]) -> String {
    let mut table = Table::new(["rung", "kbps", "factor", "bytes a snapshot", "target"]);
    for cost in costs {
        let is_below = cost.mean_kbps < TARGET_KBPS;
        table.row([
            cost.rung.to_owned(),
            figure(cost.mean_kbps),
            factor(cost.factor),
            figure(cost.bytes),
            if is_below { "below" } else { "" }.to_owned(),
        ]);
    }
    let below = costs.iter().find(|cost| cost.mean_kbps < TARGET_KBPS);
    let crossing = match below {
        Some(first) => format!("{} is the first rung below it", first.rung),
        None => "no rung is below it".to_owned(),
    };
    format!(
        "{table}\n\n\
         kbps    mean kilobits per second, as the article counts: the payload of each snapshot and\n        \
         {HEADER_BYTES} bytes of IP and UDP headers\n\
         factor  kbps of uncompressed, divided by kbps of the rung\n\
         bytes   mean size of a snapshot with these headers\n\
         target  the article's {TARGET_KBPS} kbps: {crossing}"
    )
}

/// Table of the largest packets and the bits of all kinds that occur.
fn details(costs: &[RungCost]) -> String {
    let kinds = BitKind::DEMO
        .into_iter()
        .enumerate()
        .filter(|&(index, _)| costs.iter().any(|cost| cost.bits[index].bits_per_snapshot > 0.0));
    let kinds: Vec<_> = kinds.collect();
    let names = kinds.iter().map(|(_, kind)| kind.name());
    let mut table = Table::new(["rung", "largest, kbps"].into_iter().chain(names));
    for cost in costs {
        let bits = kinds.iter().map(|&(index, _)| cost.bits[index].bits_per_snapshot);
        let figures = [cost.peak_kbps].into_iter().chain(bits).map(figure);
        table.row([cost.rung.to_owned()].into_iter().chain(figures));
    }
    format!(
        "{table}\n\n\
         largest  kbps at the size of the largest snapshot. From delta on, this is usually the first one,\n         \
         because it has no acked baseline yet\n\
         others   mean bits per snapshot of each kind, without IP and UDP headers"
    )
}

fn figure(value: f64) -> String {
    number(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(rung: &'static str, mean_kbps: f64) -> RungCost {
        RungCost {
            rung,
            mean_kbps,
            factor: 17_368.8 / mean_kbps,
            peak_kbps: mean_kbps * 1.5,
            bytes: mean_kbps * 1000.0 / 480.0,
            bits: BitKind::DEMO
                .map(|kind| KindBits { kind: kind.name(), bits_per_snapshot: 115_328.0 })
                .to_vec(),
        }
    }

    #[test]
    fn the_short_table_fits_in_100_columns_and_says_where_it_crosses_the_target() {
        let costs = [
            cost("uncompressed", 17_368.8),
            cost("relative-orientation", 324.2),
            cost("predicted", 115.8),
        ];
        let text = short(&costs);
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
        let row = |rung: &str| {
            let is_row = |line: &&str| line.starts_with(&format!("| {rung} "));
            text.lines().find(is_row).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("uncompressed"), "| uncompressed | 17 368.8 | 1.0× | 36 185.0 | |");
        assert_eq!(row("predicted"), "| predicted | 115.8 | 150× | 241.2 | below |");
        assert!(text.ends_with("256 kbps: predicted is the first rung below it"), "{text}");
        let above = short(&costs[..2]);
        assert!(above.ends_with("256 kbps: no rung is below it"), "{above}");
    }
}
