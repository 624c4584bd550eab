//! The figures of a phase and of a run, and their table.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use cubewire_cli::{Table, number};
use serde::Serialize;
use serde_json::Value;

use crate::phases::Span;
use crate::socket::Counts;
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
    /// Datagrams of the relay, by fault.
    pub(crate) relay: Counts,
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

/// Figures of a phase, which are the columns of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    /// Whether the attackers do only what every viewer may do.
    pub(crate) is_fair: bool,
    pub(crate) figures: Vec<(&'static str, f64)>,
    /// Counts of each attack.
    pub(crate) attackers: BTreeMap<&'static str, Counts>,
}

/// Records of the measuring threads during all phases.
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

    /// Evaluates the records of a phase.
    pub(crate) fn new(span: Span, records: &Records) -> Self {
        let (start, end) = (span.start, span.end);
        let within = |at: Instant| (start..end).contains(&at);
        let seconds = (end - start).as_secs_f64();
        let sum = |count| -> f64 {
            let counts = span.attackers.values();
            counts.map(|counts: &Counts| counts[count]).sum()
        };
        let seen = records.notes.seen.iter();
        let seen: Vec<_> = seen.filter(|seen| within(seen.at)).collect();
        let times = seen.iter().map(|seen| seen.at).chain([end]);
        let starts = [start].into_iter().chain(seen.iter().map(|seen| seen.at));
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
        let stalls = records.notes.stalls.iter().filter(|(at, _)| within(*at));
        let memory = records.memory.iter().filter(|(at, _)| within(*at));
        let mut figures = vec![
            ("s", seconds),
            ("sent", sum("datagrams sent")),
            ("sent kB", sum("bytes sent") / 1e3),
            ("got kB", sum("bytes received") / 1e3),
            ("snapshots/s", seen.len() as f64 / seconds),
            ("gap ms", gaps.iter().copied().fold(0.0, f64::max)),
            // Longer than the playout delay at 60 snapshots per second.
            ("long gaps", gaps.iter().filter(|&&gap| gap > 100.0).count() as f64),
            ("stall ms", stalls.map(|(_, stall)| ms(*stall)).fold(0.0, f64::max)),
            ("ticks/s", ticks),
            ("MB", memory.map(|(_, megabytes)| *megabytes).fold(0.0, f64::max)),
            ("log lines", span.log_lines as f64),
        ];
        for (names, newcomers) in NEWCOMERS.into_iter().zip(&records.newcomers) {
            let came = newcomers.iter().filter(|one| within(one.came));
            let waits = came.clone().filter_map(|one| one.waited.map(ms));
            let values = [
                came.count() as f64,
                waits.clone().count() as f64,
                waits.clone().filter(|&wait| wait <= 1000.0).count() as f64,
                waits.fold(0.0, f64::max),
            ];
            figures.extend(names.into_iter().zip(values));
        }
        Self { name: span.name, is_fair: span.is_fair, figures, attackers: span.attackers }
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
                writeln!(out, "{}: {name}: {}", phase.name, listed(&plain(counts)))?;
            }
        }
        writeln!(out, "\nrun: {}", listed(&plain(&self.run)))?;
        writeln!(out, "relay: {}", listed(&plain(&self.relay)))?;
        writeln!(out, "report of the server: {}", listed(&self.server))?;
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

fn plain(counts: &Counts) -> Value {
    serde_json::to_value(counts).expect("counts are plain data")
}

/// Formats a figure: whole numbers without decimals.
pub(crate) fn shown(value: f64) -> String {
    number(value, if value.fract() == 0.0 { 0 } else { 1 })
}

/// Formats counts with their names, including counts in nested objects.
fn listed(counts: &Value) -> String {
    let fields = counts.as_object().into_iter().flatten();
    let counts = fields.filter_map(|(name, value)| match value {
        Value::Object(_) => Some(listed(value)),
        value => Some(format!("{} {}", shown(value.as_f64()?), name.replace('_', " "))),
    });
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
    let was_due = |(viewer, tick, _): &&(u64, u64, u64)| {
        let last = last.get(viewer);
        last.is_some_and(|last| tick <= last)
    };
    let due = sent.iter().filter(was_due).count();
    let wrong = decoded.difference(sent).count();
    let wrong = if due == 0 { 0 } else { wrong };
    [due, decoded.len(), wrong].map(|count| count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::Seen;

    /// Returns the figures of the second after `start`.
    fn figures(start: Instant, records: &Records) -> impl Fn(&str) -> f64 + use<> {
        let span = Span {
            name: "",
            is_fair: false,
            start,
            end: start + Duration::from_secs(1),
            attackers: BTreeMap::new(),
            log_lines: 0,
        };
        let phase = Phase::new(span, records);
        move |figure| phase.get(figure)
    }

    fn records() -> Records {
        Records { notes: Notes::default(), newcomers: [Vec::new(), Vec::new()], memory: Vec::new() }
    }

    #[test]
    fn gaps_count_to_the_ends_of_the_phase() {
        let (start, mut records) = (Instant::now(), records());
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
        let (start, mut records) = (Instant::now(), records());
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

    #[test]
    fn counts_are_listed_with_their_names() {
        let counts = serde_json::json!({ "log_lines": 2526, "traffic": { "sent": 3 }, "list": [] });
        assert_eq!(listed(&counts), "2\u{2009}526 log lines, 3 sent");
    }
}
