//! The phases: no attack, each attack alone, then all at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;

use crate::attacks::{Attack, Field, Outcome};
use crate::caller::Target;
use crate::cli::{Cli, stream};
use crate::error::HostileError;
use crate::figures::{Phase, Watched, load, longest_stall};
use crate::newcomers::{Newcomer, Newcomers};
use crate::relay::Captured;
use crate::server::{Sample, Server};
use crate::viewer::{Notes, Progress};
use crate::wire::Wire;

/// Shared by all attackers.
pub(crate) struct Scene<'a> {
    pub(crate) cli: &'a Cli,
    pub(crate) target: Target,
    pub(crate) captured: Captured,
    pub(crate) as_viewer: Wire,
    pub(crate) progress: Arc<Progress>,
}

/// A finished phase without the viewer's measurements.
pub(crate) struct Span {
    name: &'static str,
    is_fair: bool,
    start: Instant,
    end: Instant,
    pub(crate) attackers: Vec<Outcome>,
    log_lines: u64,
}

impl Scene<'_> {
    /// Waits until the honest viewer has received a second of snapshots and the relay has captured datagrams.
    pub(crate) fn wait_until_ready(&self, patience: Duration) -> Result<(), HostileError> {
        let start = Instant::now();
        let mut random = self.cli.random(stream::RELAY_SOCKETS);
        while self.progress.snapshots.load(Ordering::Relaxed) < 60
            || self.captured.any(&mut random).is_none()
        {
            if start.elapsed() > patience {
                return Err(HostileError::NoViewer(patience.as_secs()));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    /// Runs the phases, each for its share of the time. Stops early if the server ends.
    pub(crate) fn phases(&self, server: &Server) -> Result<Vec<Span>, HostileError> {
        let planned = plan(self.cli.attacks());
        let whole: u32 = planned.iter().map(|(_, weight, _)| weight).sum();
        let share = Duration::from_secs(self.cli.seconds) / whole;
        let mut spans = Vec::new();
        let mut end = Instant::now();
        for (index, (name, weight, attacks)) in (0..).zip(planned) {
            end += share * weight;
            spans.push(self.phase(name, index, &attacks, end, server)?);
            // Later phases would measure a dead server.
            if server.has_ended() {
                break;
            }
        }
        Ok(spans)
    }

    fn phase(
        &self,
        name: &'static str,
        index: u64,
        attacks: &[&'static Attack],
        until: Instant,
        server: &Server,
    ) -> Result<Span, HostileError> {
        let start = Instant::now();
        let lines = server.log_lines();
        let attackers = thread::scope(|scope| {
            let mut running = Vec::new();
            for (number, &attack) in (0..).zip(attacks) {
                let random = self.cli.random(stream::PHASES + (index << 16) + number);
                let mut field = self
                    .field(attacks.len() == 1, random)
                    .map_err(HostileError::Socket)?;
                running.push(scope.spawn(move || attack.run(&mut field, until)));
            }
            let attackers = running.into_iter().map(|one| joined(one.join()));
            let attackers: io::Result<_> = attackers.collect();
            attackers.map_err(HostileError::Socket)
        })?;
        // Some attacks end early, and the phase without an attack has no threads.
        thread::sleep(until.saturating_duration_since(Instant::now()));
        Ok(Span {
            name,
            is_fair: attacks.iter().any(|attack| attack.is_fair),
            start,
            end: Instant::now(),
            attackers,
            log_lines: server.log_lines() - lines,
        })
    }

    fn field(&self, is_alone: bool, random: ChaCha8Rng) -> io::Result<Field> {
        Ok(Field {
            target: self.target,
            is_alone,
            rate: self.cli.rate,
            random,
            captured: self.captured.clone(),
            as_viewer: self.as_viewer.try_clone()?,
            progress: self.progress.clone(),
        })
    }
}

/// Returns the name, weight and attacks of each phase: no attack, each unfair attack alone, all unfair attacks at
/// once, each fair attack alone.
fn plan(attacks: Vec<&'static Attack>) -> Vec<(&'static str, u32, Vec<&'static Attack>)> {
    let (fair, unfair): (Vec<_>, Vec<_>) = attacks.into_iter().partition(|attack| attack.is_fair);
    let alone = |attack: &'static Attack| (attack.name, attack.weight, vec![attack]);
    let mut planned = vec![("no attack", QUIET_WEIGHT, Vec::new())];
    planned.extend(unfair.iter().copied().map(alone));
    if unfair.len() > 1 {
        planned.push(("all at once", ALL_WEIGHT, unfair));
    }
    planned.extend(fair.into_iter().map(alone));
    planned
}

/// Minimum duration in seconds that gives each attack enough time to take effect.
pub(crate) fn least_seconds(attacks: Vec<&'static Attack>) -> u64 {
    let planned = plan(attacks);
    let whole: u32 = planned.iter().map(|(_, weight, _)| weight).sum();
    let needed = planned.iter().flat_map(|(_, weight, attacks)| {
        let attacks = attacks.iter();
        attacks.map(move |attack| attack.least * whole / *weight)
    });
    // One second for starting the phases.
    needed.max().unwrap_or_default().as_secs() + 1
}

impl Span {
    /// Adds the measurements of viewer, newcomers and server. `newcomers` has those nearby and those far away.
    pub(crate) fn measured(
        self,
        notes: &Notes,
        newcomers: &[Vec<Newcomer>; 2],
        samples: &[Sample],
    ) -> Phase {
        let [near, far] = newcomers;
        let (rss, cpu_percent) = load(samples, self.start, self.end);
        Phase {
            name: self.name,
            is_fair: self.is_fair,
            seconds: (self.end - self.start).as_secs_f64(),
            attackers: self.attackers,
            watched: Watched::between(&notes.seen, self.start, self.end),
            stall_ms: longest_stall(&notes.stalls, self.start, self.end),
            near: Newcomers::between(near, self.start, self.end),
            far: Newcomers::between(far, self.start, self.end),
            rss,
            cpu_percent,
            log_lines: self.log_lines,
        }
    }
}

/// Returns the result of a thread, or resumes its panic.
pub(crate) fn joined<T>(thread: thread::Result<T>) -> T {
    thread.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

const LOOK_INTERVAL: Duration = Duration::from_millis(100);

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
        let names: Vec<_> = planned.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), ATTACKS.len() + 2);
        assert_eq!(names[0], "no attack");
        assert_eq!(names[names.len() - 2..], ["all at once", "demanding"]);
        let (.., together) = &planned[names.len() - 2];
        assert_eq!(together.len(), ATTACKS.len() - 1);
        assert!(!together.iter().any(|attack| attack.is_fair));
        let one = plan(vec![&ATTACKS[0]]);
        assert_eq!(one.len(), 2);
        assert_eq!(least_seconds(ATTACKS.iter().collect()), 59);
        let dead = ATTACKS.iter().filter(|attack| attack.name == "dead");
        assert_eq!(least_seconds(dead.collect()), 13);
    }
}
