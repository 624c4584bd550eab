//! Interpolation between snapshots.

use std::time::Duration;

use cubewire_codec::BodyState;
use cubewire_codec::glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::playout::{Playout, PlayoutBuffer};
use crate::tracks::{PlayoutSnapshot, between};

/// Interpolation of bodies between two snapshots, after Fiedler, *Snapshot Interpolation* (2014).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interpolation {
    /// Shows the newest snapshot as soon as it arrives.
    None,
    /// Interpolates positions linearly, and orientations at constant speed along the shortest arc.
    #[default]
    Linear,
    /// Interpolates positions by a cubic spline through both positions and both velocities, and orientations as in
    /// `Linear`. Needs velocities.
    Hermite,
    /// Like `Hermite`, but without a playout delay. Past the newest snapshot, bodies continue in a straight line for
    /// up to [`MAX_EXTRAPOLATION_SECONDS`]. This shows why extrapolation fails for this scene: bodies pass through
    /// the floor and through each other, and snap back when the next snapshot arrives. Needs velocities.
    Extrapolate,
}

/// Time after which extrapolated bodies stop, seconds.
pub const MAX_EXTRAPOLATION_SECONDS: f32 = 0.25;

impl Interpolation {
    /// All kinds, the simplest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Linear, Self::Hermite, Self::Extrapolate];

    /// Returns the lower-case name for command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Linear => "linear",
            Self::Hermite => "hermite",
            Self::Extrapolate => "extrapolate",
        }
    }

    /// Whether it needs velocities. Without them it behaves like `Linear`.
    pub const fn needs_velocity(self) -> bool {
        matches!(self, Self::Hermite | Self::Extrapolate)
    }

    /// Whether it uses a playout delay, so that bodies can move between two snapshots.
    pub const fn waits(self) -> bool {
        matches!(self, Self::Linear | Self::Hermite)
    }

    /// Returns the kind that is used for snapshots with or without velocities.
    pub const fn effective(self, has_velocity: bool) -> Self {
        if self.needs_velocity() && !has_velocity { Self::Linear } else { self }
    }

    /// Returns the playout to display at `now`. `None` before the first snapshot.
    pub fn playout(
        self,
        buffer: &PlayoutBuffer<PlayoutSnapshot>,
        now: Duration,
    ) -> Option<Playout<'_, PlayoutSnapshot>> {
        match self {
            Self::None => buffer.newest(now),
            _ => buffer.sample(now),
        }
    }

    /// Returns the interpolated state of the body in a slot, or `None` if the slot is empty. A body appears with the
    /// first snapshot that has it and disappears with the first that does not.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn slot(self, playout: &Playout<'_, PlayoutSnapshot>, slot: usize) -> Option<BodyState> {
        let life = |received: &PlayoutSnapshot| received.lives.get(slot).copied();
        match (life(playout.from), life(playout.to)) {
            // The scene has fixed bodies.
            (None, _) => Some(self.body(playout, slot)),
            (Some(None), _) => None,
            (from, to) if from == to => Some(self.body(playout, slot)),
            _ => Some(playout.from.snapshot.bodies[slot]),
        }
    }

    /// Returns the interpolated state of a body. A body that teleports between the two snapshots stays at its first
    /// position until the second snapshot is due.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn body(self, playout: &Playout<'_, PlayoutSnapshot>, body: usize) -> BodyState {
        let from = playout.from.snapshot.bodies[body];
        let to = playout.to.snapshot.bodies[body];
        if playout.from.teleports.get(body) != playout.to.teleports.get(body) {
            return from;
        }
        let has_velocity = playout.from.has_velocity && playout.to.has_velocity;
        let between = between(&from, &to, playout.fraction);
        let position = match self.effective(has_velocity) {
            Self::None => from.position,
            Self::Linear => between.position,
            Self::Hermite => spline(&from, &to, playout),
            Self::Extrapolate => {
                let seconds = playout.starved_seconds.min(MAX_EXTRAPOLATION_SECONDS);
                spline(&from, &to, playout) + to.linear_velocity * seconds
            }
        };
        BodyState { position, ..between }
    }
}

/// The cubic Hermite spline through both positions and both velocities.
fn spline(from: &BodyState, to: &BodyState, playout: &Playout<'_, PlayoutSnapshot>) -> Vec3 {
    let (t, span) = (playout.fraction, playout.span_seconds);
    let (t2, t3) = (t * t, t * t * t);
    from.position * (2.0 * t3 - 3.0 * t2 + 1.0)
        + from.linear_velocity * (span * (t3 - 2.0 * t2 + t))
        + to.position * (3.0 * t2 - 2.0 * t3)
        + to.linear_velocity * (span * (t3 - t2))
}

#[cfg(test)]
mod tests {
    use cubewire_codec::Snapshot;

    use super::*;
    use crate::SenderClock;

    /// A body on the parabola z = 4 t − t², at t = 0 s and t = 2 s, in ticks of a second.
    fn thrown(has_velocity: bool) -> PlayoutBuffer<PlayoutSnapshot> {
        let mut buffer = PlayoutBuffer::new(SenderClock::new(1, 0, Duration::ZERO), Duration::ZERO);
        for tick in [0, 2] {
            let t = tick as f32;
            let body = BodyState {
                position: Vec3::new(0.0, 0.0, 4.0 * t - t * t),
                linear_velocity: Vec3::new(
                    0.0,
                    0.0,
                    if has_velocity { 4.0 - 2.0 * t } else { 0.0 },
                ),
                ..BodyState::default()
            };
            let snapshot = Snapshot { bodies: vec![body] };
            let received = PlayoutSnapshot { snapshot, has_velocity, ..PlayoutSnapshot::default() };
            buffer.insert(Duration::from_secs(tick), tick, received);
        }
        buffer
    }

    fn height(kind: Interpolation, has_velocity: bool, seconds: f64) -> f32 {
        let buffer = thrown(has_velocity);
        let playout = kind.playout(&buffer, Duration::from_secs_f64(seconds));
        kind.body(&playout.unwrap(), 0).position.z
    }

    #[test]
    fn a_line_cuts_the_corner_and_a_spline_with_velocities_follows_the_parabola() {
        for (kind, without, with) in [
            (Interpolation::Linear, 2.0, 2.0),
            (Interpolation::Hermite, 2.0, 3.0),
            (Interpolation::Extrapolate, 2.0, 3.0),
            (Interpolation::None, 4.0, 4.0),
        ] {
            assert!((height(kind, false, 1.0) - without).abs() < 1e-6, "{kind:?}");
            assert!((height(kind, true, 1.0) - with).abs() < 1e-6, "{kind:?}");
        }
    }

    #[test]
    fn only_extrapolation_goes_past_the_newest_snapshot_and_it_stops() {
        for kind in [Interpolation::None, Interpolation::Linear, Interpolation::Hermite] {
            assert!((height(kind, true, 2.1) - 4.0).abs() < 1e-6, "{kind:?}");
        }
        // At the top of the parabola the velocity is 0.
        assert!((height(Interpolation::Extrapolate, true, 2.1) - 4.0).abs() < 1e-5);
        let mut buffer = thrown(true);
        let falling = BodyState {
            position: Vec3::new(0.0, 0.0, 3.0),
            linear_velocity: Vec3::new(0.0, 0.0, -2.0),
            ..BodyState::default()
        };
        let received = PlayoutSnapshot {
            snapshot: Snapshot { bodies: vec![falling] },
            has_velocity: true,
            ..PlayoutSnapshot::default()
        };
        buffer.insert(Duration::from_secs(3), 3, received);
        for (seconds, height) in [(3.1, 2.8), (3.25, 2.5), (9.0, 2.5)] {
            let kind = Interpolation::Extrapolate;
            let playout = kind.playout(&buffer, Duration::from_secs_f64(seconds));
            let z = kind.body(&playout.unwrap(), 0).position.z;
            assert!((z - height).abs() < 1e-5, "{z} at {seconds}");
        }
    }

    #[test]
    fn a_body_that_teleports_stays_until_the_next_snapshot_is_due() {
        let mut buffer = PlayoutBuffer::new(SenderClock::new(1, 0, Duration::ZERO), Duration::ZERO);
        for (tick, teleports) in [(0, 255), (2, 0), (4, 0)] {
            let body = BodyState { position: Vec3::X * tick as f32, ..BodyState::default() };
            let received = PlayoutSnapshot {
                snapshot: Snapshot { bodies: vec![body] },
                teleports: vec![teleports],
                ..PlayoutSnapshot::default()
            };
            buffer.insert(Duration::from_secs(tick), tick, received);
        }
        for kind in [Interpolation::Linear, Interpolation::Hermite] {
            for (seconds, x) in [(0.0, 0.0), (1.0, 0.0), (1.9, 0.0), (2.0, 2.0), (3.0, 3.0)] {
                let playout = kind.playout(&buffer, Duration::from_secs_f64(seconds));
                let shown = kind.slot(&playout.unwrap(), 0).unwrap();
                assert!((shown.position.x - x).abs() < 1e-6, "{shown:?} at {seconds}");
            }
        }
    }
}
