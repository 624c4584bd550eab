//! The judge compares figures with a table of limits.

#[cfg(test)]
mod tests;

use self::Scope::{All, Fair, Worst};
use self::Unit::{Less, PercentOf, PercentOfQuiet};
use crate::attacks::Bound::{self, AtLeast, AtMost};
use crate::attacks::{ATTACKS, Attack};
use crate::figures::{Expectation, Figures, shown};
use crate::phases::Phase;
use crate::socket::get;

/// Limits for the counts of the run. The likely causes of later failures come first.
const RUN: &[(&str, Bound)] = &[
    ("failures of the server", AtMost(0.0)),
    ("lost connections of the honest viewer", AtMost(0.0)),
    ("snapshots sent to the honest viewer", AtLeast(1.0)),
    ("wrong snapshots of the honest viewer", AtMost(0.0)),
    ("lost connections behind the relay", AtMost(0.0)),
    ("snapshots sent behind the relay", AtLeast(1.0)),
    ("wrong snapshots behind the relay", AtMost(0.0)),
    // The relay drops one datagram in 20 and damages one in 30.
    ("% of the snapshots decoded behind the relay", AtLeast(80.0)),
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
    (Worst, "gap ms", Less("stall ms"), AtMost(1000.0)),
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
    /// The difference from another figure.
    Less(&'static str),
}

/// Judges all figures. `pace` scales the limits that depend on the machine's speed: 1 if the machine does no other
/// work.
pub(crate) fn judge(figures: &Figures, pace: f64) -> Vec<Expectation> {
    let (quiet, attacks) = figures.phases.split_first().expect("one phase is quiet");
    let (fair, mut attacks): (Vec<_>, Vec<_>) = attacks.iter().partition(|phase| phase.is_fair);
    if attacks.is_empty() {
        attacks.push(quiet);
    }
    let run = RUN.iter().map(|&(count, bound)| expect(count, get(&figures.run, count), bound));
    let mut all: Vec<_> = run.collect();
    for &(scope, figure, unit, bound) in PHASES {
        let value = |phases: &[&Phase]| unit.value(figure, phases, quiet);
        let bound = match bound {
            AtMost(most) => AtMost(most / pace),
            AtLeast(least) => AtLeast(least * pace),
        };
        let margins = attacks.iter().map(|&phase| (phase, bound.margin(value(&[phase]))));
        let worst = margins.min_by(|(_, one), (_, other)| one.total_cmp(other));
        let (worst, _) = worst.expect("there is a phase");
        let judged: Vec<(String, Vec<&Phase>)> = match scope {
            All => vec![(format!("all attacks, the worst being {}", worst.name), attacks.clone())],
            Worst => vec![(worst.name.to_owned(), vec![worst])],
            Fair => fair.iter().map(|phase| (phase.name.to_owned(), vec![*phase])).collect(),
        };
        for (name, phases) in judged {
            all.push(expect(&format!("{name}: {}", unit.name(figure)), value(&phases), bound));
        }
    }
    for phase in attacks {
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
    /// Returns a figure over some phases.
    fn value(self, figure: &str, phases: &[&Phase], quiet: &Phase) -> f64 {
        let sum =
            |value: &dyn Fn(&Phase) -> f64| phases.iter().map(|phase| value(phase)).sum::<f64>();
        let mean = |value: &dyn Fn(&Phase) -> f64| {
            sum(&|phase| value(phase) * phase.get("s")) / sum(&|phase| phase.get("s"))
        };
        match self {
            PercentOfQuiet => 100.0 * mean(&|phase| phase.get(figure)) / quiet.get(figure).max(1.0),
            PercentOf(whole) => match sum(&|phase| phase.get(whole)) {
                0.0 => 100.0,
                whole => 100.0 * sum(&|phase| phase.get(figure)) / whole,
            },
            Less(other) => mean(&|phase| phase.get(figure) - phase.get(other)),
        }
    }

    fn name(self, figure: &str) -> String {
        match self {
            PercentOfQuiet => format!("{figure}, % of those without an attack"),
            PercentOf(whole) => format!("{figure}, % of {whole}"),
            Less(other) => format!("{figure} less {other}"),
        }
    }
}
