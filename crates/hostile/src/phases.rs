//! The phases: no attack, each attack alone, then all at once.

use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::Stages;
use rand::RngExt;

use crate::attacks::{Attack, Field};
use crate::cli::Cli;
use crate::client::Target;
use crate::error::HostileError;
use crate::process::Process;
use crate::relay::Captured;
use crate::socket::{Counts, Tally};
use crate::viewer::Progress;

/// Shared by all attackers.
pub(crate) struct Scene<'a> {
    pub(crate) cli: &'a Cli,
    pub(crate) target: Target,
    pub(crate) captured: Captured,
    pub(crate) as_viewer: Arc<UdpSocket>,
    pub(crate) progress: Arc<Progress>,
}

/// A finished phase.
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) is_fair: bool,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) attackers: BTreeMap<&'static str, Counts>,
    pub(crate) log_lines: usize,
}

impl Scene<'_> {
    /// Waits until the honest viewer has received snapshots for a second and the relay has captured datagrams.
    pub(crate) fn wait_until_ready(&self, patience: Duration) -> Result<(), HostileError> {
        let start = Instant::now();
        let mut random = self.cli.random(0);
        while self.progress.tick.load(Ordering::Relaxed) == 0
            || self.captured.any(&mut random).is_none()
        {
            if start.elapsed() > patience {
                return Err(HostileError::NoViewer(patience.as_secs()));
            }
            thread::sleep(Duration::from_millis(100));
        }
        thread::sleep(Duration::from_secs(1));
        Ok(())
    }

    /// Runs the phases, each for its share of the time. Stops early if the server ends, as later phases would measure
    /// a dead server.
    pub(crate) fn phases(&self, server: &Process) -> Result<Vec<Span>, HostileError> {
        let planned = plan(self.cli.attacks());
        let whole: u32 = planned.iter().map(|planned| planned.weight).sum();
        let share = Duration::from_secs(self.cli.seconds) / whole;
        let mut spans = Vec::new();
        let mut end = Instant::now();
        for (index, planned) in (0..).zip(planned) {
            end += share * planned.weight;
            let span = self.phase(index, &planned, end, server);
            spans.push(span.map_err(HostileError::Socket)?);
            if server.memory().is_none() {
                break;
            }
        }
        Ok(spans)
    }

    fn phase(
        &self,
        index: u64,
        planned: &Planned,
        until: Instant,
        server: &Process,
    ) -> io::Result<Span> {
        let start = Instant::now();
        let lines = server.log_lines();
        let attackers = thread::scope(|scope| {
            let mut running = Vec::new();
            for (number, &attack) in (0..).zip(&planned.attacks) {
                let mut field = self.field((1 << 32) + (index << 16) + number);
                let thread = scope.spawn(move || attack.run(&mut field, until));
                running.push((attack.name, thread));
            }
            let attackers = running.into_iter();
            let attackers = attackers.map(|(name, thread)| Ok((name, joined(thread.join())?)));
            attackers.collect::<io::Result<_>>()
        })?;
        // The phase without an attack has no threads.
        thread::sleep(until.saturating_duration_since(Instant::now()));
        Ok(Span {
            name: planned.name,
            is_fair: planned.attacks.iter().any(|attack| attack.is_fair),
            start,
            end: Instant::now(),
            attackers,
            log_lines: server.log_lines() - lines,
        })
    }

    /// Returns the context of an attacker, with a stream of random numbers.
    fn field(&self, stream: u64) -> Field {
        let mut random = self.cli.random(stream);
        Field {
            target: self.target,
            rate: self.cli.rate,
            stages: Stages::every_readable(|most| random.random_range(0..most)).collect(),
            random,
            captured: self.captured.clone(),
            as_viewer: Arc::clone(&self.as_viewer),
            tally: Tally::default(),
            progress: Arc::clone(&self.progress),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::ATTACKS;

    #[test]
    fn every_attack_comes_alone_and_the_unfair_ones_together() {
        let planned = plan(ATTACKS.iter().collect());
        let names: Vec<_> = planned.iter().map(|planned| planned.name).collect();
        assert_eq!(names.len(), ATTACKS.len() + 2);
        assert_eq!(names[0], "no attack");
        assert_eq!(names[names.len() - 2..], ["all at once", "demanding"]);
        let together = &planned[names.len() - 2].attacks;
        assert_eq!(together.len(), ATTACKS.len() - 1);
        assert!(!together.iter().any(|attack| attack.is_fair));
        assert_eq!(plan(vec![&ATTACKS[0]]).len(), 2);
        assert_eq!(least_seconds(ATTACKS.iter().collect()), 59);
        let dead = ATTACKS.iter().filter(|attack| attack.name == "dead");
        assert_eq!(least_seconds(dead.collect()), 13);
    }
}
