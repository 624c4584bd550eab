//! The phases: no attack, each attack alone, then all at once.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::attacks::{Attack, Field};
use crate::cli::Cli;
use crate::error::HostileError;
use crate::process::Process;
use crate::socket::{Counts, Tally, get};
use crate::viewer::Measuring;

/// A phase with its figures.
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
    /// Counts of each attack.
    pub(crate) attackers: BTreeMap<&'static str, Counts>,
}

impl Phase {
    pub(crate) fn get(&self, figure: &str) -> f64 {
        get(&self.figures, figure)
    }

    /// Evaluates the counts, when no thread adds to them any more.
    pub(crate) fn evaluate(&mut self) {
        self.figures = self.tally.counts();
        let figures = [
            ("snapshots/s", self.get("snapshots") / self.get("s")),
            ("ticks/s", self.get("ticks") / self.get("seconds of these ticks").max(1e-3)),
        ];
        self.figures.extend(figures);
    }
}

/// Waits until the honest viewer has received snapshots for a second and the relay has captured datagrams.
pub(crate) fn wait_until_ready(field: &mut Field, patience: Duration) -> Result<(), HostileError> {
    let start = Instant::now();
    while field.newest.load(Ordering::Relaxed) == 0
        || field.captured.any(&mut field.random).is_none()
    {
        if start.elapsed() > patience {
            return Err(HostileError::NoViewer(patience.as_secs()));
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
    field: &Field,
    server: &Process,
    measuring: &Measuring,
) -> Result<Vec<Phase>, HostileError> {
    let mut phases = plan(cli.attacks());
    let share = Duration::from_secs(cli.seconds) / whole(&phases);
    let mut end = Instant::now();
    for index in 0..phases.len() {
        let phase = &mut phases[index];
        end += share * phase.weight;
        let (start, lines) = (Instant::now(), server.log_lines());
        *measuring.phase.lock().expect("no thread panics") = phase.tally.clone();
        phase.attackers = thread::scope(|scope| {
            let attackers = (0..).zip(&phase.attacks).map(|(number, attack)| {
                let mut field = Field {
                    random: cli.random((1 << 32) + ((index as u64) << 16) + number),
                    tally: Tally::default(),
                    ..field.clone()
                };
                (attack.name, scope.spawn(move || attack.run(&mut field, end)))
            });
            let attackers = attackers.collect::<Vec<_>>().into_iter();
            let attackers = attackers
                .map(|(name, thread)| Ok((name, thread.join().expect("no thread panics")?)));
            attackers.collect::<io::Result<_>>()
        })?;
        // The phase without an attack has no threads.
        thread::sleep(end.saturating_duration_since(Instant::now()));
        phase.tally.add("s", start.elapsed().as_secs_f64());
        phase.tally.add("log lines", (server.log_lines() - lines) as f64);
        if server.memory().is_none() {
            phases.truncate(index + 1);
            break;
        }
    }
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

fn whole(phases: &[Phase]) -> u32 {
    phases.iter().map(|phase| phase.weight).sum()
}

/// Minimum duration in seconds that gives each attack enough time to take effect.
pub(crate) fn least_seconds(attacks: Vec<&'static Attack>) -> u64 {
    let phases = plan(attacks);
    let needed = phases.iter().flat_map(|phase| {
        let attacks = phase.attacks.iter();
        attacks.map(|attack| attack.least * whole(&phases) / phase.weight)
    });
    // One second for starting the phases.
    needed.max().unwrap_or_default().as_secs() + 1
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
    assert_eq!(names[names.len() - 2..], ["all at once", "demanding"]);
    let together = &phases[names.len() - 2];
    assert_eq!((together.attacks.len(), together.is_fair), (attacks.len() - 1, false));
    assert_eq!(plan(vec![attacks[0]]).len(), 2);
    assert_eq!(least_seconds(attacks.clone()), 59);
    let dead = attacks.into_iter().filter(|attack| attack.name == "dead");
    assert_eq!(least_seconds(dead.collect()), 13);
}

#[test]
fn a_phase_divides_its_counts_by_its_time() {
    let mut phase = Phase::default();
    let counts =
        [("s", 2.0), ("snapshots", 50.0), ("ticks", 90.0), ("seconds of these ticks", 1.5)];
    counts.into_iter().for_each(|(count, value)| phase.tally.add(count, value));
    phase.evaluate();
    assert_eq!(["snapshots/s", "ticks/s"].map(|figure| phase.get(figure)), [25.0, 60.0]);
}
