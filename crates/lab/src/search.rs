//! Searches for the ranges that encode a field in the fewest bits.
//!
//! The search is exhaustive: every set of two or three growing ranges on every value. Sets are ranked
//! by their mean bits a value, averaged over the recordings.

mod questions;
mod samples;

use std::io::{self, Write};

use cubewire_cli::Table;
use cubewire_recording::Recording;

use self::questions::{Question, questions};
use self::samples::{Samples, samples};
use crate::cli::SearchArgs;
use crate::error::LabError;
use crate::progress;

/// Runs the command: prints the best ranges for each kind of value.
pub(crate) fn run(args: &SearchArgs, out: &mut impl Write) -> Result<(), LabError> {
    let mut component_bits = 0;
    // Recordings are read one at a time, to hold only the samples in memory.
    let searched: Vec<Vec<Samples>> = args
        .files
        .iter()
        .map(|path| {
            let recording = Recording::read(path)?;
            component_bits = component_bits.max(recording.plan.schema().component_bits);
            samples(args.field, &recording)
        })
        .collect::<Result<_, LabError>>()?;
    let questions = questions(args.field, component_bits);
    let sets: usize = questions.iter().map(|question| question.sets().len()).sum();
    let bar = progress(sets, "sets of ranges");
    for (index, question) in questions.iter().enumerate() {
        let searched: Vec<&Samples> = searched.iter().map(|samples| &samples[index]).collect();
        let rank = |bits: Vec<u8>| {
            bar.inc(1);
            let each = searched.iter().map(|samples| samples.mean_bits(&bits));
            Ranked {
                mean: each.sum::<f64>() / searched.len() as f64,
                bits,
            }
        };
        let mut ranked: Vec<Ranked> = question.sets().into_iter().map(rank).collect();
        ranked.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        bar.suspend(|| question.print(&ranked, args, out))?;
    }
    bar.finish_and_clear();
    Ok(())
}

/// A set of ranges and its mean cost.
struct Ranked {
    bits: Vec<u8>,
    mean: f64,
}

impl Question {
    fn print(&self, ranked: &[Ranked], args: &SearchArgs, out: &mut impl Write) -> io::Result<()> {
        let mut table = Table::new(["rank", "ranges", self.unit]);
        for (rank, row) in ranked.iter().enumerate() {
            let is_current = row.bits == self.current;
            if rank >= args.top.into() && !is_current {
                continue;
            }
            let mark = if is_current { ", current" } else { "" };
            let bits: Vec<String> = row.bits.iter().map(u8::to_string).collect();
            let rank = format!("{}{mark}", rank + 1);
            table.row([rank, bits.join(" "), format!("{:.3}", row.mean)]);
        }
        writeln!(out, "\n{}\n\n{table}", self.title)
    }
}
