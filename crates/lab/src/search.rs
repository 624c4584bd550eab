//! Searches for the ranges that encode a field in the fewest bits.
//!
//! The search is exhaustive: every set of two or three growing ranges on every value. Sets are ranked
//! by their mean bits a value, averaged over the recordings.

mod questions;
mod samples;

use std::io::{self, Write};
use std::path::Path;

use cubewire_cli::Table;

use self::questions::{Question, questions};
use self::samples::{Samples, samples};
use crate::cli::SearchArgs;
use crate::error::LabError;
use crate::progress;
use crate::recording::{Recording, RecordingError};

/// Runs the command: prints the best ranges for each kind of value.
pub(crate) fn run(args: &SearchArgs, out: &mut impl Write) -> Result<(), LabError> {
    // Recordings are read one at a time, to hold only the samples in memory.
    let read = |path: &Path| -> Result<Vec<Samples>, RecordingError> {
        Ok(samples(args.field, &Recording::read(path)?))
    };
    let searched = args
        .files
        .iter()
        .map(|path| read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let measured = args.measure.as_deref().map(read).transpose()?;

    let questions = questions(args.field);
    let sets: usize = questions.iter().map(|question| question.sets().len()).sum();
    let bar = progress(sets, "sets of ranges");
    let mut classes = AllClasses::default();
    for (index, question) in questions.iter().enumerate() {
        let searched: Vec<&Samples> = searched.iter().map(|samples| &samples[index]).collect();
        let measured = measured.as_ref().map(|samples| &samples[index]);
        if searched.iter().all(|samples| samples.len() == 0) {
            bar.inc(question.sets().len() as u64);
            bar.suspend(|| writeln!(out, "\n{}: no values", question.title))?;
            continue;
        }
        let mut ranked: Vec<Ranked> = question
            .sets()
            .into_iter()
            .map(|bits| {
                bar.inc(1);
                let each = searched.iter().map(|samples| samples.mean_bits(&bits));
                Ranked {
                    mean: each.sum::<f64>() / searched.len() as f64,
                    bits,
                }
            })
            .collect();
        ranked.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        if question.is_class {
            let best = &ranked[0].bits;
            classes.add(&searched, measured, [&question.current, best]);
        }
        bar.suspend(|| question.print(&ranked, usize::from(args.top), measured, out))?;
    }
    bar.finish_and_clear();
    if !classes.searched.is_empty() {
        classes.print(questions[0].unit, out)?;
    }
    Ok(())
}

/// A set of ranges and its mean cost.
struct Ranked {
    bits: Vec<u8>,
    mean: f64,
}

/// Number of values, and their bits in the current ranges and in the best ones, over all classes.
#[derive(Default)]
struct AllClasses {
    searched: Vec<Sums>,
    measured: Option<Sums>,
}

#[derive(Clone, Default)]
struct Sums {
    values: f64,
    bits: [f64; 2],
}

impl Sums {
    fn add(&mut self, samples: &Samples, ranges: [&[u8]; 2]) {
        let values = samples.len() as f64;
        self.values += values;
        for (sum, ranges) in self.bits.iter_mut().zip(ranges) {
            *sum += samples.mean_bits(ranges) * values;
        }
    }

    fn mean(&self, which: usize) -> f64 {
        self.bits[which] / self.values
    }
}

impl AllClasses {
    fn add(&mut self, searched: &[&Samples], measured: Option<&Samples>, ranges: [&[u8]; 2]) {
        self.searched.resize(searched.len(), Sums::default());
        for (sums, samples) in self.searched.iter_mut().zip(searched) {
            sums.add(samples, ranges);
        }
        if let Some(samples) = measured {
            self.measured.get_or_insert_default().add(samples, ranges);
        }
    }

    fn print(&self, unit: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\nThree ranges, all classes together\n")?;
        let mut header = vec!["ranges", unit];
        header.extend(self.measured.as_ref().map(|_| MEASURED));
        let mut table = Table::new(header);
        for (which, name) in ["current", "best found"].into_iter().enumerate() {
            let means = self.searched.iter().map(|sums| sums.mean(which));
            let mean = means.sum::<f64>() / self.searched.len() as f64;
            let mut cells = vec![name.to_owned(), format!("{mean:.3}")];
            cells.extend(
                self.measured
                    .as_ref()
                    .map(|sums| format!("{:.3}", sums.mean(which))),
            );
            table.row(cells);
        }
        writeln!(out, "{table}")
    }
}

/// Header of the column for the recording that was not searched.
const MEASURED: &str = "on --measure";

impl Question {
    fn print(
        &self,
        ranked: &[Ranked],
        top: usize,
        measured: Option<&Samples>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(out, "\n{}\n", self.title)?;
        let mut header = vec!["rank", "ranges", self.unit];
        header.extend(measured.map(|_| MEASURED));
        let mut table = Table::new(header);
        for (rank, row) in ranked.iter().enumerate() {
            let is_current = row.bits == self.current;
            if rank >= top && !is_current {
                continue;
            }
            let mark = if is_current { ", current" } else { "" };
            let bits: Vec<String> = row.bits.iter().map(u8::to_string).collect();
            let mut cells = vec![
                format!("{}{mark}", rank + 1),
                bits.join(" "),
                format!("{:.3}", row.mean),
            ];
            cells.extend(measured.map(|samples| format!("{:.3}", samples.mean_bits(&row.bits))));
            table.row(cells);
        }
        writeln!(out, "{table}")
    }
}
