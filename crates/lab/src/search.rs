//! Which ranges encode a field in the fewest bits.
//!
//! Every set of two or three growing ranges is tried on every value; nothing is sampled. A set is
//! judged by the mean over the recordings of its mean bits a value.

mod questions;

use std::io::{self, Write};

use self::questions::{Question, Samples};
use crate::cli::SearchField;
use crate::error::LabError;
use crate::progress;
use crate::recording::Recording;
use crate::table::Table;

/// Prints the best ranges for a field, searched on `recordings`, and what they make of `measure`.
pub(crate) fn run(
    field: SearchField,
    recordings: &[Recording],
    measure: Option<&Recording>,
    top: usize,
    out: &mut impl Write,
) -> Result<(), LabError> {
    let questions = questions::about(field);
    let sets: usize = questions.iter().map(|question| question.sets().len()).sum();
    let bar = progress(sets, "sets of ranges");
    let mut classes = AllClasses::default();
    for question in &questions {
        let searched: Vec<Samples> = recordings
            .iter()
            .map(|recording| (question.samples)(recording))
            .collect();
        let measured = measure.map(|recording| (question.samples)(recording));
        if searched.iter().all(|samples| samples.len() == 0) {
            bar.inc(question.sets().len() as u64);
            bar.suspend(|| writeln!(out, "\n{}: none to search on", question.title))?;
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
                    measured: measured.as_ref().map(|samples| samples.mean_bits(&bits)),
                    bits,
                }
            })
            .collect();
        ranked.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        if question.is_a_class {
            let best = &ranked[0].bits;
            classes.add(&searched, measured.as_ref(), [&question.today, best]);
        }
        bar.suspend(|| question.print(&ranked, top, out))?;
    }
    bar.finish_and_clear();
    if !classes.searched.is_empty() {
        classes.print(questions[0].unit, out)?;
    }
    Ok(())
}

/// One set of ranges and what it costs.
struct Ranked {
    bits: Vec<u8>,
    mean: f64,
    measured: Option<f64>,
}

/// Values and their bits in today's ranges and in the best ones found, over all classes.
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
    fn add(&mut self, searched: &[Samples], measured: Option<&Samples>, ranges: [&[u8]; 2]) {
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
        for (which, name) in ["today", "best found"].into_iter().enumerate() {
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
        table.print(out)
    }
}

/// Heading of the column for the recording that was not searched.
const MEASURED: &str = "on --measure";

impl Question {
    fn print(&self, ranked: &[Ranked], top: usize, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}\n", self.title)?;
        let measured = ranked.first().is_some_and(|row| row.measured.is_some());
        let mut header = vec!["rank", "ranges", self.unit];
        if measured {
            header.push(MEASURED);
        }
        let mut table = Table::new(header);
        let today = ranked.iter().position(|row| row.bits == self.today);
        for (rank, row) in ranked.iter().enumerate() {
            if rank >= top && Some(rank) != today {
                continue;
            }
            let mark = if Some(rank) == today { ", today" } else { "" };
            let bits: Vec<String> = row.bits.iter().map(u8::to_string).collect();
            let mut cells = vec![
                format!("{}{mark}", rank + 1),
                bits.join(" "),
                format!("{:.3}", row.mean),
            ];
            cells.extend(row.measured.map(|bits| format!("{bits:.3}")));
            table.row(cells);
        }
        table.print(out)
    }
}
