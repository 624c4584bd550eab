//! The figures of a phase and of a run, and their table.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use cubewire_cli::{Table, number};
use serde::Serialize;
use serde_json::Value;

use crate::socket::{Counts, RECEIVED_BYTES, SENT, SENT_BYTES, get};
use crate::viewer::{Newcomer, Notes};

/// All figures of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) rate: u32,
    pub(crate) phases: Vec<Phase>,
    /// Counts of the whole run.
    pub(crate) run: Counts,
    /// The figures that the server printed.
    pub(crate) server: Value,
    /// Reasons for lost connections, and for the failure of the server.
    pub(crate) reasons: Vec<String>,
    pub(crate) expectations: Vec<Expectation>,
}

/// A condition that is met or not, as a sentence.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Expectation {
    pub(crate) is_met: bool,
    pub(crate) sentence: String,
}

/// A phase with its figures, which are the columns of the table.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    /// Whether the attackers do only what every viewer may do.
    pub(crate) is_fair: bool,
    pub(crate) figures: Vec<(&'static str, f64)>,
    /// Counts of each attack.
    pub(crate) attackers: BTreeMap<&'static str, Counts>,
    pub(crate) log_lines: usize,
}

/// Records of the measuring threads during all phases.
#[derive(Default)]
pub(crate) struct Records {
    /// Of the honest viewer.
    pub(crate) notes: Notes,
    /// Newcomers from nearby and from afar.
    pub(crate) newcomers: [Vec<Newcomer>; 2],
    /// Memory of the server at a time, megabytes.
    pub(crate) memory: Vec<(Instant, f64)>,
}

/// Names of the figures of newcomers from nearby and from afar: how many came, how many of them were connected, how
/// many within a second, and the longest time until one was connected.
const NEWCOMERS: [[&str; 4]; 2] = [
    ["near", "near connected", "near at once", "near slowest ms"],
    ["far", "far connected", "far at once", "far slowest ms"],
];

impl Phase {
    pub(crate) fn get(&self, figure: &str) -> f64 {
        let found = self.figures.iter().find(|(name, _)| *name == figure);
        found.expect("every phase has all figures").1
    }

    /// Evaluates the records of the phase, which took place in `span`.
    pub(crate) fn evaluate(&mut self, span: &Range<Instant>, records: &Records) {
        let seconds = (span.end - span.start).as_secs_f64();
        let sum = |count| -> f64 { self.attackers.values().map(|counts| get(counts, count)).sum() };
        let max = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let seen = records.notes.seen.iter().filter(|seen| span.contains(&seen.at));
        let seen: Vec<_> = seen.collect();
        let times = seen.iter().map(|seen| seen.at).chain([span.end]);
        let starts = [span.start].into_iter().chain(seen.iter().map(|seen| seen.at));
        let gaps: Vec<_> = times.zip(starts).map(|(to, from)| ms(to - from)).collect();
        // From the tick numbers of the snapshots.
        let ticks = match seen[..] {
            [first, .., last] => {
                let ticks = last.tick.saturating_sub(first.tick) as f64;
                ticks / (last.at - first.at).as_secs_f64().max(1e-3)
            }
            _ => 0.0,
        };
        // Pauses of the viewer's own thread, for example on a busy machine.
        let stalls = records.notes.stalls.iter().filter(|(at, _)| span.contains(at));
        let memory = records.memory.iter().filter(|(at, _)| span.contains(at));
        let mut figures = vec![
            ("s", seconds),
            ("sent", sum(SENT)),
            ("sent kB", sum(SENT_BYTES) / 1e3),
            ("got kB", sum(RECEIVED_BYTES) / 1e3),
            ("snapshots/s", seen.len() as f64 / seconds),
            ("gap ms", max(&mut gaps.iter().copied())),
            // Longer than the playout delay at 60 snapshots per second.
            ("long gaps", gaps.iter().filter(|&&gap| gap > 100.0).count() as f64),
            ("stall ms", max(&mut stalls.map(|(_, stall)| ms(*stall)))),
            ("ticks/s", ticks),
            ("MB", max(&mut memory.map(|(_, megabytes)| *megabytes))),
            ("log lines", self.log_lines as f64),
        ];
        for (names, newcomers) in NEWCOMERS.into_iter().zip(&records.newcomers) {
            let came = newcomers.iter().filter(|one| span.contains(&one.came));
            let waits: Vec<_> = came.clone().filter_map(|one| one.waited.map(ms)).collect();
            let values = [
                came.count() as f64,
                waits.len() as f64,
                waits.iter().filter(|&&wait| wait <= 1000.0).count() as f64,
                max(&mut waits.iter().copied()),
            ];
            figures.extend(names.into_iter().zip(values));
        }
        self.figures = figures;
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Figures {
    /// Prints the table and the sentences below it.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.phases[0].figures.iter().map(|(name, _)| *name);
        let mut table = Table::new(["attack"].into_iter().chain(figures));
        for phase in &self.phases {
            let cells = phase.figures.iter().map(|(_, value)| shown(*value));
            table.row([phase.name.to_owned()].into_iter().chain(cells));
        }
        writeln!(out, "{table}\n")?;
        for phase in &self.phases {
            for (name, counts) in &phase.attackers {
                writeln!(out, "{}: {name}: {}", phase.name, listed(counts))?;
            }
        }
        writeln!(out, "\nrun: {}\nreport of the server: {}", listed(&self.run), self.server)?;
        for reason in &self.reasons {
            writeln!(out, "{reason}")?;
        }
        writeln!(out)?;
        for Expectation { is_met, sentence } in &self.expectations {
            let mark = if *is_met { "met    " } else { "NOT MET" };
            writeln!(out, "{mark} {sentence}")?;
        }
        Ok(())
    }
}

/// Formats a figure: whole numbers without decimals.
pub(crate) fn shown(value: f64) -> String {
    number(value, if value.fract() == 0.0 { 0 } else { 1 })
}

fn listed(counts: &Counts) -> String {
    let counts = counts.iter().map(|(name, &count)| format!("{} {name}", shown(count)));
    counts.collect::<Vec<_>>().join(", ")
}

/// Viewer, tick and hash of snapshots.
pub(crate) type Snapshots = HashSet<(u64, u64, u64)>;

/// Reads the lines `viewer,tick,hash` of a digest.
pub(crate) fn read_digest(digest: impl BufRead) -> io::Result<Snapshots> {
    let parse = |line: io::Result<String>| {
        let line = line?;
        let mut fields = line.split(',');
        let mut next = |radix| u64::from_str_radix(fields.next()?, radix).ok();
        let parsed = (|| Some((next(10)?, next(10)?, next(16)?)))();
        parsed.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, line.clone()))
    };
    digest.lines().skip(1).map(parse).collect()
}

/// Compares decoded snapshots with sent ones. Returns the number of snapshots that the server sent to the same viewers
/// before their last decoded one, the number of decoded snapshots, and the number of wrong ones. Without any sent
/// snapshots, the digest is missing, and no snapshot counts as wrong.
pub(crate) fn compare(decoded: &Snapshots, sent: &Snapshots) -> [f64; 3] {
    let mut last = HashMap::new();
    for &(viewer, tick, _) in decoded {
        let last = last.entry(viewer).or_insert(tick);
        *last = tick.max(*last);
    }
    let was_due =
        |(viewer, tick, _): &&(u64, u64, u64)| last.get(viewer).is_some_and(|last| tick <= last);
    let due = sent.iter().filter(was_due).count();
    let wrong = if due == 0 { 0 } else { decoded.difference(sent).count() };
    [due, decoded.len(), wrong].map(|count| count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::Seen;

    /// Returns the figures of the second after `start`.
    fn figures(start: Instant, records: &Records) -> impl Fn(&str) -> f64 + use<> {
        let mut phase = Phase::default();
        phase.evaluate(&(start..start + Duration::from_secs(1)), records);
        move |figure| phase.get(figure)
    }

    #[test]
    fn gaps_count_to_the_ends_of_the_phase() {
        let (start, mut records) = (Instant::now(), Records::default());
        let seen = |tick: u64| Seen {
            at: start + Duration::from_millis(10 * tick),
            viewer: 1,
            tick,
            hash: tick,
        };
        assert_eq!(["gap ms", "long gaps"].map(figures(start, &records)), [1000.0, 1.0]);
        records.notes.seen = (0..300).map(seen).collect();
        let figure = figures(start, &records);
        assert_eq!(["snapshots/s", "long gaps"].map(&figure), [100.0, 0.0]);
        assert!((figure("ticks/s") - 100.0).abs() < 0.1);
        // Nothing from 0.2 s to 0.5 s, and nothing from 0.8 s on.
        records.notes.seen = (0..20).chain(50..80).map(seen).collect();
        let figure = figures(start, &records);
        assert_eq!(["snapshots/s", "long gaps"].map(&figure), [50.0, 2.0]);
        assert!((figure("gap ms") - 310.0).abs() < 0.1);
    }

    #[test]
    fn records_belong_to_the_phase_in_which_they_were_made() {
        let (start, mut records) = (Instant::now(), Records::default());
        let at = |tenths: u32| start + Duration::from_millis(100) * tenths;
        records.memory = (0..30).map(|tenths| (at(tenths), tenths.into())).collect();
        let stalls = [(0, 30), (15, 40), (25, 90)];
        let stall = |(tenths, ms)| (at(tenths), Duration::from_millis(ms));
        records.notes.stalls = stalls.map(stall).into();
        let newcomers = [(2, Some(5)), (11, Some(5)), (12, Some(2500)), (13, None), (25, Some(1))];
        let newcomers = newcomers.map(|(tenths, waited)| Newcomer {
            came: at(tenths),
            waited: waited.map(Duration::from_millis),
        });
        records.newcomers[1] = newcomers.into();
        let figure = figures(at(10), &records);
        assert_eq!(NEWCOMERS[1].map(&figure), [3.0, 2.0, 1.0, 2500.0]);
        assert_eq!(NEWCOMERS[0].map(&figure), [0.0; 4]);
        assert_eq!(["MB", "stall ms"].map(&figure), [19.0, 40.0]);
    }

    #[test]
    fn wrong_and_lost_snapshots_are_found() {
        let sent = "viewer,tick,hash\n7,1,a\n7,2,b\n7,3,c\n7,4,d\n8,1,e\n";
        let sent = read_digest(sent.as_bytes()).unwrap();
        assert_eq!(sent.len(), 5);
        let decoded = Snapshots::from([(7, 1, 0xa), (7, 3, 0xc)]);
        assert_eq!(compare(&decoded, &sent), [3.0, 2.0, 0.0]);
        let decoded = Snapshots::from([(7, 1, 0xa), (7, 3, 0xb), (9, 1, 0xa)]);
        assert_eq!(compare(&decoded, &sent), [3.0, 3.0, 2.0]);
        assert_eq!(compare(&decoded, &Snapshots::new()), [0.0, 3.0, 0.0]);
        assert!(read_digest("header\n1,x,2".as_bytes()).is_err());
    }
}
