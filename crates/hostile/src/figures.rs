//! The figures of a run, and their table.

use std::collections::HashMap;
use std::io::{self, Write};

use cubewire_cli::{Table, number};
use serde::Serialize;
use serde_json::Value;

use crate::phases::Phase;
use crate::socket::Counts;
use crate::viewer::Snapshots;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) rate: u32,
    pub(crate) phases: Vec<Phase>,
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

/// Names of the figures of newcomers from nearby and from afar: how many came, how many of them were connected, how
/// many within a second, and the longest time until one was connected.
pub(crate) const NEWCOMERS: [[&str; 4]; 2] = [
    ["near", "near connected", "near at once", "near slowest ms"],
    ["far", "far connected", "far at once", "far slowest ms"],
];

/// Columns of the table, before the columns of newcomers.
const COLUMNS: [&str; 8] =
    ["s", "snapshots/s", "gap ms", "long gaps", "stall ms", "ticks/s", "MB", "log lines"];

impl Figures {
    /// Prints the table and the sentences below it.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = [&["attack"], &COLUMNS[..], NEWCOMERS.as_flattened()].concat();
        let mut table = Table::new(columns.iter().copied());
        for phase in &self.phases {
            let cells = columns[1..].iter().map(|figure| shown(phase.get(figure)));
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

/// Reads the lines `viewer,tick,hash` of a digest.
pub(crate) fn read_digest(digest: &str) -> io::Result<Snapshots> {
    let parse = |line: &str| {
        let mut fields = line.split(',');
        let mut next = |radix| u64::from_str_radix(fields.next()?, radix).ok();
        Some((next(10)?, next(10)?, next(16)?))
    };
    let parsed = digest
        .lines()
        .skip(1)
        .map(|line| parse(line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, line)));
    parsed.collect()
}

/// Names of the counts of [`compare`].
pub(crate) const VIEWER: [&str; 4] = [
    "snapshots sent to the honest viewer",
    "snapshots decoded by the honest viewer",
    "wrong snapshots of the honest viewer",
    "% of the snapshots decoded by the honest viewer",
];
pub(crate) const BYSTANDER: [&str; 4] = [
    "snapshots sent behind a bad network",
    "snapshots decoded behind a bad network",
    "wrong snapshots behind a bad network",
    "% of the snapshots decoded behind a bad network",
];

/// Compares decoded snapshots with sent ones. Returns the number of snapshots that the server sent to the same viewers
/// before their last decoded one, the number of decoded snapshots, the number of wrong ones, and the decoded ones in
/// percent. Without any sent snapshots, the digest is missing, and no snapshot counts as wrong.
pub(crate) fn compare(decoded: &Snapshots, sent: &Snapshots) -> [f64; 4] {
    let mut last = HashMap::new();
    for &(viewer, tick, _) in decoded {
        let last = last.entry(viewer).or_insert(tick);
        *last = tick.max(*last);
    }
    let is_due = |viewer, tick| last.get(viewer).is_some_and(|last| tick <= last);
    let due = sent.iter().filter(|(viewer, tick, _)| is_due(viewer, tick)).count();
    let wrong = if due == 0 { 0 } else { decoded.difference(sent).count() };
    let [due, decoded, wrong] = [due, decoded.len(), wrong].map(|count| count as f64);
    [due, decoded, wrong, 100.0 * decoded.min(due) / due.max(1.0)]
}

#[test]
fn wrong_and_lost_snapshots_are_found() {
    let sent = "viewer,tick,hash\n7,1,a\n7,2,b\n7,3,c\n7,4,d\n8,1,e\n";
    let sent = read_digest(sent).unwrap();
    assert_eq!(sent.len(), 5);
    let decoded = Snapshots::from([(7, 1, 0xa), (7, 3, 0xc)]);
    assert_eq!(compare(&decoded, &sent), [3.0, 2.0, 0.0, 200.0 / 3.0]);
    let decoded = Snapshots::from([(7, 1, 0xa), (7, 3, 0xb), (9, 1, 0xa)]);
    assert_eq!(compare(&decoded, &sent), [3.0, 3.0, 2.0, 100.0]);
    assert_eq!(compare(&decoded, &Snapshots::new()), [0.0, 3.0, 0.0, 0.0]);
    assert!(read_digest("header\n1,x,2").is_err());
}
