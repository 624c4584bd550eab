//! Bodies that are heard of at different ticks.
//!
//! A receiver of partial packets knows each body of some ticks. Every snapshot to play has all of them: those that its
//! packet carried; those of which a later packet has told, on their way to there; and the others as they were last.

use std::time::Duration;

use cubewire_codec::stages::Velocity;
use cubewire_codec::{Baseline, BodyState, Coverage, Life, Snapshot};

use crate::playout::PlayoutBuffer;

/// A snapshot to play back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Received {
    /// The bodies.
    pub snapshot: Snapshot,
    /// Who is in each slot, if bodies come and go; otherwise empty.
    pub lives: Vec<Option<Life>>,
    /// Whether velocities were sent; they are zero if not.
    pub has_velocity: bool,
    /// By body: ticks since a packet carried it, 255 for as many or more; empty if this packet carried all. Between such
    /// ticks, a body is where it will have passed, as far as that is known.
    pub ages: Vec<u8>,
    /// By body: its number of teleports, if the receiver [knows](crate::SnapshotReceiver::with_teleports) which field that
    /// is; otherwise empty. Between two snapshots with different numbers, a body stays where it is in the first.
    pub teleports: Vec<u32>,
}

impl Received {
    /// Sets this to the snapshot of `tick`. Of a partial packet, what is known as well from the one `before` is taken from
    /// there if that has the same precision, and otherwise what is known better. `teleports` is the index of the field with
    /// the number of a body's teleports.
    pub(crate) fn set(
        &mut self,
        baseline: &Baseline,
        tick: u64,
        before: Option<(u64, &Self)>,
        is_same_precision: bool,
        teleports: Option<usize>,
    ) {
        let slots = baseline.snapshot();
        let is_partial = baseline.stages().coverage() == Coverage::Partial;
        self.has_velocity = baseline.stages().velocity != Velocity::Omitted;
        self.ages.clear();
        if is_partial {
            self.ages.extend(baseline.ages());
        }
        let fits = |&(_, before): &(u64, &Self)| before.snapshot.bodies.len() == slots.len();
        let before = before.filter(|_| is_partial).filter(fits);
        let Some((then, before)) = before else {
            slots.dequantize(&mut self.snapshot);
            self.lives.clear();
            if slots.plan().has_lives() {
                let lives = (0..slots.len()).map(|slot| slots.life(slot));
                self.lives.extend(lives);
            }
            self.teleports.clear();
            if let Some(field) = teleports {
                let counts = (0..slots.len()).map(|slot| slots.value(slot, field));
                self.teleports.extend(counts);
            }
            return;
        };
        self.snapshot.bodies.clone_from(&before.snapshot.bodies);
        self.lives.clone_from(&before.lives);
        self.teleports.clone_from(&before.teleports);
        for (body, age) in self.ages.iter_mut().enumerate() {
            let known = aged(before.age(body), tick - then);
            if *age > known || *age == known && is_same_precision {
                *age = known;
                continue;
            }
            self.snapshot.bodies[body] = slots.body(body);
            if let Some(life) = self.lives.get_mut(body) {
                *life = slots.life(body);
            }
            if let Some((count, field)) = self.teleports.get_mut(body).zip(teleports) {
                *count = slots.value(body, field);
            }
        }
    }

    /// Ticks since a packet carried a body.
    #[must_use]
    pub fn age(&self, body: usize) -> u8 {
        self.ages.get(body).copied().unwrap_or(0)
    }
}

/// Tells the snapshots around that of `tick`, which has just arrived, of the bodies that its packet carried: later ones
/// that know less have it, and before it a body is on its way, from where it is shown or was heard of last.
pub(crate) fn spread(playout: &mut PlayoutBuffer<Received>, now: Duration, tick: u64) {
    if playout
        .upcoming_mut(now)
        .all(|(_, held)| held.ages.is_empty())
    {
        return;
    }
    let mut held: Vec<(u64, &mut Received)> = playout.upcoming_mut(now).collect();
    let Ok(index) = held.binary_search_by_key(&tick, |&(tick, _)| tick) else {
        return;
    };
    let (before, rest) = held.split_at_mut(index);
    let Some(((_, arrived), after)) = rest.split_first_mut() else {
        return;
    };
    for body in 0..arrived.snapshot.bodies.len() {
        if arrived.age(body) > 0 {
            continue;
        }
        for (later, received) in &mut *after {
            let age = aged(0, *later - tick);
            if received.has(body) && received.age(body) > age {
                received.take(body, arrived, age);
            }
        }
        approach(before, body, tick, arrived);
    }
}

/// Moves a body in the snapshots before that of `tick`, in which it is known, back to the last in which it was.
fn approach(before: &mut [(u64, &mut Received)], body: usize, tick: u64, arrived: &Received) {
    let known = before
        .iter()
        .rposition(|(_, received)| received.age(body) == 0)
        .unwrap_or(0);
    let Some(((from, first), later)) = before.get_mut(known..).and_then(<[_]>::split_first_mut)
    else {
        return;
    };
    let is_same = first.has(body) && first.life(body) == arrived.life(body);
    if !is_same || first.teleports.get(body) != arrived.teleports.get(body) {
        return;
    }
    let (start, end) = (first.snapshot.bodies[body], arrived.snapshot.bodies[body]);
    for (at, received) in later.iter_mut().filter(|(_, received)| received.has(body)) {
        let fraction = (*at - *from) as f32 / (tick - *from) as f32;
        let interacting = received.snapshot.bodies[body].interacting;
        received.snapshot.bodies[body] = BodyState {
            interacting,
            ..between(&start, &end, fraction)
        };
    }
}

/// A body on a straight line, turning at constant speed along the shortest arc; interacting as at the end.
pub(crate) fn between(from: &BodyState, to: &BodyState, fraction: f32) -> BodyState {
    BodyState {
        position: from.position.lerp(to.position, fraction),
        orientation: from.orientation.slerp(to.orientation, fraction),
        linear_velocity: from.linear_velocity.lerp(to.linear_velocity, fraction),
        interacting: to.interacting,
    }
}

fn aged(age: u8, ticks: u64) -> u8 {
    u64::from(age).saturating_add(ticks).min(u8::MAX.into()) as u8
}

impl Received {
    fn has(&self, body: usize) -> bool {
        body < self.snapshot.bodies.len()
    }

    fn life(&self, body: usize) -> Option<Life> {
        self.lives.get(body).copied().flatten()
    }

    /// Takes a body from another snapshot, of which this knows it to be as old.
    fn take(&mut self, body: usize, other: &Self, age: u8) {
        self.snapshot.bodies[body] = other.snapshot.bodies[body];
        if let Some(life) = self.lives.get_mut(body) {
            *life = other.life(body);
        }
        if let Some((own, count)) = self.teleports.get_mut(body).zip(other.teleports.get(body)) {
            *own = *count;
        }
        if let Some(own) = self.ages.get_mut(body) {
            *own = age;
        }
    }
}
