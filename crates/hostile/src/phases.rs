//! The phases: no attack, each attack alone, then all at once.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::attacks::{Attack, Field};
use crate::cli::Cli;
use crate::process::{Failure, Process};
use crate::socket::{Counts, Tally, get};
use crate::viewer::Measuring;

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Phase {
    pub(crate) name: &'static str,
    /// Whether the attackers do only what every viewer may do.
    pub(crate) is_fair: bool,
    #[serde(skip)]
    weight: u32,
    #[serde(skip)]
    attacks: Vec<&'static Attack>,
    /// Counts of the measuring threads during the phase.
    #[serde(skip)]
    tally: Tally,
    pub(crate) figures: Counts,
    pub(crate) attackers: BTreeMap<&'static str, Counts>,
}

impl Phase {
    pub(crate) fn get(&self, figure: &str) -> f64 {
        get(&self.figures, figure)
    }

    /// Evaluates the counts, when no thread adds to them any more.
    pub(crate) fn evaluate(&mut self) {
        self.figures = self.tally.counts();
        add_rates(&mut self.figures);
    }
}

/// Adds the figures that are computed from several counts.
pub(crate) fn add_rates(counts: &mut Counts) {
    let count = |name| get(counts, name);
    let rates = [
        ("snapshots/s", count("snapshots") / count("s")),
        ("ticks/s", count("ticks") / count("seconds of these ticks").max(1e-3)),
        ("gap ms less stall ms", count("gap ms") - count("stall ms")),
    ];
    counts.extend(rates);
}

/// Time limit for the honest viewer to connect.
pub(crate) const READY: Duration = Duration::from_secs(60);

/// Waits until the honest viewer has received snapshots for a second.
pub(crate) fn wait_until_ready(field: &Field) -> Result<(), Failure> {
    let start = Instant::now();
    while field.newest.load(Ordering::Relaxed) == 0 {
        if start.elapsed() > READY {
            return Err(format!(
                "the honest viewer did not connect within {READY:?}, before any attack"
            )
            .into());
        }
        thread::sleep(Duration::from_millis(100));
    }
    thread::sleep(Duration::from_secs(1));
    Ok(())
}

/// Runs the phases, each for its share of the time. Stops early if the server ends, as later phases would measure a
/// dead server.
pub(crate) fn run(
    cli: &Cli,
    server: &Process,
    measuring: &Measuring,
) -> Result<Vec<Phase>, Failure> {
    let begin = |phase: &Tally| {
        *measuring.phase.lock().expect("no thread panics") = phase.clone();
    };
    let plan = plan(cli.attacks());
    let share = Duration::from_secs(cli.seconds) / plan.iter().map(|phase| phase.weight).sum();
    let mut phases = Vec::new();
    let mut end = Instant::now();
    for (index, mut phase) in (0..).zip(plan) {
        end += share * phase.weight;
        let (start, lines) = (Instant::now(), server.log_lines());
        begin(&phase.tally);
        phase.attackers = thread::scope(|scope| {
            let attackers = (0..).zip(&phase.attacks).map(|(number, attack)| {
                let mut field = Field {
                    random: cli.random((1 << 32) + (index << 16) + number),
                    tally: Tally::default(),
                    ..measuring.field.clone()
                };
                (attack.name, scope.spawn(move || attack.run(&mut field, end)))
            });
            let attackers: Vec<_> = attackers.collect();
            let joined = attackers.into_iter().map(|(name, attacker)| {
                attacker.join().expect("no thread panics").map(|counts| (name, counts))
            });
            joined.collect::<io::Result<_>>()
        })?;
        // The phase without an attack has no threads.
        thread::sleep(end.saturating_duration_since(Instant::now()));
        phase.tally.add("s", start.elapsed().as_secs_f64());
        phase.tally.add("log lines", (server.log_lines() - lines) as f64);
        phases.push(phase);
        if server.memory().is_none() {
            break;
        }
    }
    begin(&Tally::default());
    Ok(phases)
}

/// Plans the phases: no attack, each unfair attack alone, all unfair attacks at once, each fair attack alone.
fn plan(attacks: Vec<&'static Attack>) -> Vec<Phase> {
    let (fair, unfair): (Vec<_>, Vec<_>) = attacks.into_iter().partition(|attack| attack.is_fair);
    let phase = |name, weight, attacks: Vec<&'static Attack>| Phase {
        name,
        is_fair: attacks.iter().any(|attack| attack.is_fair),
        weight,
        attacks,
        ..Phase::default()
    };
    let alone = |attack: &'static Attack| phase(attack.name, attack.weight, vec![attack]);
    let mut phases = vec![phase("no attack", QUIET_WEIGHT, Vec::new())];
    phases.extend(unfair.iter().copied().map(alone));
    if unfair.len() > 1 {
        phases.push(phase("all at once", ALL_WEIGHT, unfair));
    }
    phases.extend(fair.into_iter().map(alone));
    phases
}

/// Weights of the other phases, on the scale of the attacks' weights.
const QUIET_WEIGHT: u32 = 4;
const ALL_WEIGHT: u32 = 6;

#[test]
fn every_attack_comes_alone_and_the_unfair_ones_together() {
    let attacks: Vec<_> = crate::attacks::ATTACKS.iter().collect();
    let phases = plan(attacks.clone());
    let names: Vec<_> = phases.iter().map(|phase| phase.name).collect();
    assert_eq!(names.len(), attacks.len() + 2);
    assert_eq!(names[0], "no attack");
    assert_eq!(names[names.len() - 3..], ["all at once", "talkative", "demanding"]);
    let together = &phases[names.len() - 3];
    assert_eq!((together.attacks.len(), together.is_fair), (attacks.len() - 2, false));
    assert_eq!(plan(vec![attacks[0]]).len(), 2);
}
