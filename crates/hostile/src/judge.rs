//! The judge compares figures with a table of limits.

#[cfg(test)]
mod tests;

use self::Scope::{All, Fair, Worst};
use self::Unit::{PercentOf, PercentOfQuiet, Plain};
use crate::attacks::Bound::{self, AtLeast, AtMost};
use crate::attacks::{ATTACKS, Attack};
use crate::figures::{Expectation, Figures, shown};
use crate::phases::{Phase, add_rates};
use crate::socket::{Counts, get};

/// Limits for the counts of the run. The likely causes of later failures come first.
const RUN: &[(&str, Bound)] = &[
    ("failures of the server", AtMost(0.0)),
    ("lost connections of the honest viewer", AtMost(0.0)),
    ("snapshots sent to the honest viewer", AtLeast(1.0)),
    ("wrong snapshots of the honest viewer", AtMost(0.0)),
    ("lost connections behind a bad network", AtMost(0.0)),
    ("snapshots sent behind a bad network", AtLeast(1.0)),
    ("wrong snapshots behind a bad network", AtMost(0.0)),
    // The network drops one packet in 20, and late ones are useless.
    ("% of the snapshots decoded behind a bad network", AtLeast(80.0)),
    ("nonces", AtLeast(1.0)),
    ("nonces used again", AtMost(0.0)),
    (GROWTH, AtMost(128.0)),
    (LOG_RATE, AtMost(10.0)),
];

pub(crate) const GROWTH: &str = "MB by which the memory of the server grew";
pub(crate) const LOG_RATE: &str = "log lines per second besides two for each newcomer";

/// Limits for the figures of phases. They depend on the machine's speed.
const PHASES: &[(Scope, &str, Unit, Bound)] = &[
    (All, "snapshots/s", PercentOfQuiet, AtLeast(97.0)),
    (Worst, "snapshots/s", PercentOfQuiet, AtLeast(90.0)),
    (Worst, "gap ms less stall ms", Plain, AtMost(1000.0)),
    (All, "ticks/s", PercentOfQuiet, AtLeast(97.0)),
    (All, "near connected", PercentOf("near"), AtLeast(99.0)),
    // A flood of handshakes may displace a pending one.
    (All, "far connected", PercentOf("far"), AtLeast(90.0)),
    (All, "near at once", PercentOf("near"), AtLeast(90.0)),
    (Fair, "ticks/s", PercentOfQuiet, AtLeast(97.0)),
    // The server divides its time equally.
    (Fair, "snapshots/s", PercentOfQuiet, AtLeast(30.0)),
    (Fair, "near connected", PercentOf("near"), AtLeast(100.0)),
];

#[derive(Clone, Copy, Debug)]
enum Scope {
    /// All phases with unfair attacks together.
    All,
    /// The worst of these phases.
    Worst,
    /// Each phase with a fair attack.
    Fair,
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    /// In percent of the phase without an attack, which measures the machine's speed.
    PercentOfQuiet,
    /// In percent of another figure.
    PercentOf(&'static str),
    Plain,
}

/// Judges all figures. `pace` scales the limits that depend on the machine's speed: 1 if the machine does no other
/// work.
pub(crate) fn judge(figures: &Figures, pace: f64) -> Vec<Expectation> {
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let (fair, mut attacks): (Vec<_>, Vec<_>) = attacks.iter().partition(|phase| phase.is_fair);
    if attacks.is_empty() {
        attacks.push(quiet);
    }
    let together = sum(&attacks);
    let run = RUN.iter().map(|&(count, bound)| expect(count, get(&figures.run, count), bound));
    let mut all: Vec<_> = run.collect();
    for &(scope, figure, unit, bound) in PHASES {
        let value = |counts: &Counts| unit.value(figure, counts, quiet);
        let bound = match bound {
            AtMost(most) => AtMost(most / pace),
            AtLeast(least) => AtLeast(least * pace),
        };
        let margins = attacks.iter().map(|phase| (*phase, bound.margin(value(&phase.figures))));
        let worst = margins.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let (worst, _) = worst.expect("there is a phase");
        let judged: Vec<(String, &Counts)> = match scope {
            All => vec![(format!("all attacks, the worst being {}", worst.name), &together)],
            Worst => vec![(worst.name.to_owned(), &worst.figures)],
            Fair => fair.iter().map(|phase| (phase.name.to_owned(), &phase.figures)).collect(),
        };
        for (name, counts) in judged {
            all.push(expect(&format!("{name}: {}", unit.name(figure)), value(counts), bound));
        }
    }
    for phase in attacks.into_iter().chain(fair) {
        let is_alone = phase.attackers.len() == 1;
        let is_running = |attack: &&Attack| phase.attackers.contains_key(attack.name);
        for attack in ATTACKS.iter().filter(is_running) {
            for limit in attack.limits.iter().filter(|limit| is_alone || !limit.only_alone) {
                let what = format!("{}: {}: {}", phase.name, attack.name, limit.count);
                let value = get(&phase.attackers[attack.name], limit.count);
                all.push(expect(&what, value, limit.bound));
            }
        }
    }
    all
}

fn expect(what: &str, value: f64, bound: Bound) -> Expectation {
    let expected = match bound {
        AtMost(most) => format!("at most {}", shown(most)),
        AtLeast(least) => format!("at least {}", shown(least)),
    };
    Expectation {
        is_met: bound.margin(value) >= 0.0,
        sentence: format!("{what}: {} (expected: {expected})", shown(value)),
    }
}

impl Bound {
    /// Returns how far a value is within the bound. It is negative outside.
    pub(crate) fn margin(self, value: f64) -> f64 {
        match self {
            AtMost(most) => most - value,
            AtLeast(least) => value - least,
        }
    }
}

impl Unit {
    fn value(self, figure: &str, counts: &Counts, quiet: &Phase) -> f64 {
        let whole = match self {
            PercentOfQuiet => quiet.get(figure).max(1.0),
            PercentOf(whole) => get(counts, whole),
            Plain => 100.0,
        };
        match whole {
            0.0 => 100.0,
            whole => 100.0 * get(counts, figure) / whole,
        }
    }

    fn name(self, figure: &str) -> String {
        match self {
            PercentOfQuiet => format!("{figure}, % of those without an attack"),
            PercentOf(whole) => format!("{figure}, % of {whole}"),
            Plain => figure.to_owned(),
        }
    }
}

/// Sums the counts of phases, as if they were one phase.
fn sum(phases: &[&Phase]) -> Counts {
    let mut sums = Counts::new();
    for (&figure, count) in phases.iter().flat_map(|phase| &phase.figures) {
        *sums.entry(figure).or_default() += count;
    }
    add_rates(&mut sums);
    sums
}
