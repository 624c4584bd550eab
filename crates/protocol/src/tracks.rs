//! Snapshots for playout, assembled from partial packets.
//!
//! A partial packet carries some bodies only. A snapshot for playout has all bodies. A body that its packet did not
//! carry is interpolated if a later packet with the body has arrived. Otherwise it has its last known state.

use std::time::Duration;

use cubewire_codec::stages::Velocity;
use cubewire_codec::{Baseline, BodyState, Coverage, Life, Snapshot};

use crate::playout::PlayoutBuffer;

/// A snapshot for playout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlayoutSnapshot {
    /// The bodies.
    pub snapshot: Snapshot,
    /// Kind and generation of the body in each slot. Empty if the scene has fixed bodies.
    pub lives: Vec<Option<Life>>,
    /// Whether velocities were sent. Otherwise they are zero.
    pub has_velocity: bool,
    /// For each body, ticks since a packet carried it; 255 stands for 255 or more. Empty if this packet carried every
    /// body. A body with an age above 0 is interpolated if a later packet that carried it has arrived.
    pub ages: Vec<u8>,
    /// For each body, its number of teleports, if the receiver [knows](crate::SnapshotReceiver::with_teleports) this
    /// field; otherwise empty. A body is not interpolated between two snapshots with different numbers: it stays in
    /// the first position.
    pub teleports: Vec<u32>,
}

impl PlayoutSnapshot {
    /// Sets this to the snapshot of `tick`. If the packet was partial, a body is copied from the snapshot `before` if
    /// its state there is newer, or equally new in the same precision. `teleports` is the index of the field with the
    /// number of teleports.
    pub(crate) fn set(
        &mut self,
        baseline: &Baseline,
        tick: u64,
        before: Option<(u64, &Self)>,
        is_same_precision: bool,
        teleports: Option<usize>,
    ) {
        let slots = baseline.snapshot();
        let bodies = 0..slots.len();
        let is_partial = baseline.stages().coverage() == Coverage::Partial;
        self.has_velocity = baseline.stages().velocity != Velocity::Omitted;
        slots.dequantize(&mut self.snapshot);
        self.lives.clear();
        if slots.plan().has_lives() {
            self.lives.extend(bodies.clone().map(|slot| slots.life(slot)));
        }
        self.teleports.clear();
        if let Some(field) = teleports {
            self.teleports.extend(bodies.clone().map(|slot| slots.value(slot, field)));
        }
        self.ages.clear();
        if !is_partial {
            return;
        }
        self.ages.extend(baseline.ages());
        let before = before.filter(|(_, before)| before.snapshot.bodies.len() == slots.len());
        let Some((then, before)) = before else {
            return;
        };
        for body in bodies {
            let (age, known) = (self.ages[body], aged(before.age(body), tick - then));
            if age > known || age == known && is_same_precision {
                self.copy_body(body, before, known);
            }
        }
    }

    /// Number of ticks since a packet carried a body, up to 255.
    pub fn age(&self, body: usize) -> u8 {
        self.ages.get(body).copied().unwrap_or(0)
    }
}

/// Updates the buffered snapshots around `tick` with the bodies of its packet, which has just arrived. Later
/// snapshots with an older state of a body take the new one. In earlier snapshots the body is interpolated from its
/// last known state.
pub(crate) fn update_neighbours(
    playout: &mut PlayoutBuffer<PlayoutSnapshot>,
    now: Duration,
    tick: u64,
) {
    if playout.upcoming_mut(now).all(|(_, held)| held.ages.is_empty()) {
        return;
    }
    let mut held: Vec<(u64, &mut PlayoutSnapshot)> = playout.upcoming_mut(now).collect();
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
            if received.has_body(body) && received.age(body) > age {
                received.copy_body(body, arrived, age);
            }
        }
        interpolate_gap(before, body, tick, arrived);
    }
}

/// Interpolates a body in the snapshots between `tick` and the last one before it with a known state.
fn interpolate_gap(
    before: &mut [(u64, &mut PlayoutSnapshot)],
    body: usize,
    tick: u64,
    arrived: &PlayoutSnapshot,
) {
    // Without a known state, start from the displayed snapshot, which is the first one.
    let known = before.iter().rposition(|(_, received)| received.age(body) == 0).unwrap_or(0);
    let Some(((from, first), later)) = before.get_mut(known..).and_then(<[_]>::split_first_mut)
    else {
        return;
    };
    let is_same = first.has_body(body) && first.life(body) == arrived.life(body);
    if !is_same || first.teleports.get(body) != arrived.teleports.get(body) {
        return;
    }
    let (start, end) = (first.snapshot.bodies[body], arrived.snapshot.bodies[body]);
    for (at, received) in later.iter_mut().filter(|(_, received)| received.has_body(body)) {
        let fraction = (*at - *from) as f32 / (tick - *from) as f32;
        let interacting = received.snapshot.bodies[body].interacting;
        received.snapshot.bodies[body] =
            BodyState { interacting, ..between(&start, &end, fraction) };
    }
}

/// Interpolates a body: position and velocity linearly, orientation along the shortest arc, `interacting` from `to`.
pub(crate) fn between(from: &BodyState, to: &BodyState, fraction: f32) -> BodyState {
    BodyState {
        position: from.position.lerp(to.position, fraction),
        orientation: from.orientation.slerp(to.orientation, fraction),
        linear_velocity: from.linear_velocity.lerp(to.linear_velocity, fraction),
        interacting: to.interacting,
    }
}

/// Returns an age that is `ticks` greater, up to 255.
fn aged(age: u8, ticks: u64) -> u8 {
    u64::from(age).saturating_add(ticks).min(u8::MAX.into()) as u8
}

impl PlayoutSnapshot {
    fn has_body(&self, body: usize) -> bool {
        body < self.snapshot.bodies.len()
    }

    fn life(&self, body: usize) -> Option<Life> {
        self.lives.get(body).copied().flatten()
    }

    /// Copies a body from another snapshot and sets its age.
    fn copy_body(&mut self, body: usize, other: &Self, age: u8) {
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
