//! The phases: no attack, each attack alone, then all at once.

use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::attacks::{Attack, Field};
use crate::cli::Cli;
use crate::error::HostileError;
use crate::figures::Phase;
use crate::process::Process;
use crate::socket::Tally;

/// Waits until the honest viewer has received snapshots for a second and the relay has captured datagrams.
pub(crate) fn wait_until_ready(field: &mut Field, patience: Duration) -> Result<(), HostileError> {
    let start = Instant::now();
    while field.progress.tick.load(Ordering::Relaxed) == 0
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

/// Runs the phases, each for its share of the time, and returns them with the times at which they took place. Stops
/// early if the server ends, as later phases would measure a dead server.
pub(crate) fn run(
    cli: &Cli,
    field: &Field,
    server: &Process,
) -> Result<Vec<(Phase, Range<Instant>)>, HostileError> {
    let planned = plan(cli.attacks());
    let whole: u32 = planned.iter().map(|planned| planned.weight).sum();
    let share = Duration::from_secs(cli.seconds) / whole;
    let mut phases = Vec::new();
    let mut end = Instant::now();
    for (index, planned) in (0..).zip(planned) {
        end += share * planned.weight;
        let (start, lines) = (Instant::now(), server.log_lines());
        let attacker = |number: u64| Field {
            random: cli.random((1 << 32) + (index << 16) + number),
            tally: Tally::default(),
            ..field.clone()
        };
        let attackers = thread::scope(|scope| {
            let running: Vec<_> = (0..)
                .zip(&planned.attacks)
                .map(|(number, attack)| {
                    let mut field = attacker(number);
                    (attack.name, scope.spawn(move || attack.run(&mut field, end)))
                })
                .collect();
            let attackers = running.into_iter();
            let attackers = attackers.map(|(name, thread)| Ok((name, joined(thread.join())?)));
            attackers.collect::<io::Result<_>>()
        })?;
        // The phase without an attack has no threads.
        thread::sleep(end.saturating_duration_since(Instant::now()));
        let phase = Phase {
            name: planned.name,
            is_fair: planned.attacks.iter().any(|attack| attack.is_fair),
            figures: Vec::new(),
            attackers,
            log_lines: server.log_lines() - lines,
        };
        phases.push((phase, start..Instant::now()));
        if server.memory().is_none() {
            break;
        }
    }
    Ok(phases)
}

/// A phase to run.
struct Planned {
    name: &'static str,
    weight: u32,
    attacks: Vec<&'static Attack>,
}

/// Plans the phases: no attack, each unfair attack alone, all unfair attacks at once, each fair attack alone.
fn plan(attacks: Vec<&'static Attack>) -> Vec<Planned> {
    let (fair, unfair): (Vec<_>, Vec<_>) = attacks.into_iter().partition(|attack| attack.is_fair);
    let planned = |name, weight, attacks| Planned { name, weight, attacks };
    let alone = |attack: &'static Attack| planned(attack.name, attack.weight, vec![attack]);
    let mut phases = vec![planned("no attack", QUIET_WEIGHT, Vec::new())];
    phases.extend(unfair.iter().copied().map(alone));
    if unfair.len() > 1 {
        phases.push(planned("all at once", ALL_WEIGHT, unfair));
    }
    phases.extend(fair.into_iter().map(alone));
    phases
}

/// Minimum duration in seconds that gives each attack enough time to take effect.
pub(crate) fn least_seconds(attacks: Vec<&'static Attack>) -> u64 {
    let planned = plan(attacks);
    let whole: u32 = planned.iter().map(|planned| planned.weight).sum();
    let needed = planned.iter().flat_map(|planned| {
        let attacks = planned.attacks.iter();
        attacks.map(move |attack| attack.least * whole / planned.weight)
    });
    // One second for starting the phases.
    needed.max().unwrap_or_default().as_secs() + 1
}

/// Returns the result of a thread, or resumes its panic.
pub(crate) fn joined<T>(thread: thread::Result<T>) -> T {
    thread.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Weights of the other phases, on the scale of the attacks' weights.
const QUIET_WEIGHT: u32 = 4;
const ALL_WEIGHT: u32 = 6;

#[test]
fn every_attack_comes_alone_and_the_unfair_ones_together() {
    let attacks: Vec<_> = crate::attacks::ATTACKS.iter().collect();
    let planned = plan(attacks.clone());
    let names: Vec<_> = planned.iter().map(|planned| planned.name).collect();
    assert_eq!(names.len(), attacks.len() + 2);
    assert_eq!(names[0], "no attack");
    assert_eq!(names[names.len() - 2..], ["all at once", "demanding"]);
    let together = &planned[names.len() - 2].attacks;
    assert_eq!(together.len(), attacks.len() - 1);
    assert!(!together.iter().any(|attack| attack.is_fair));
    assert_eq!(plan(vec![attacks[0]]).len(), 2);
    assert_eq!(least_seconds(attacks.clone()), 59);
    let dead = attacks.into_iter().filter(|attack| attack.name == "dead");
    assert_eq!(least_seconds(dead.collect()), 13);
}
