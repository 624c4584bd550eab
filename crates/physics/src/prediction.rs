//! Worlds from what a receiver has: quantized snapshots.

use cubewire_codec::{CubeState, QuantizeError, QuantizedSnapshot};
use cubewire_scene::{
    CUBES, Interaction, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, REST_SECONDS, TICKS_PER_SECOND,
};
use glam::{Quat, Vec3};

use crate::World;
use crate::pose::{Integers, PRECISION, dequantize};
use crate::state::{BodyState, WorldState};

impl World {
    /// Builds a world from a snapshot, and from an `earlier` one with the number of ticks between them, if there is
    /// one. `ticks` are those since the start or the last reset.
    ///
    /// Velocities are the differences to the earlier snapshot over time. Cubes that are where they were are put to
    /// sleep. Without an earlier snapshot all velocities are zero, and the cubes sleep that are not interacting.
    ///
    /// # Panics
    /// If a snapshot does not have one state for each cube, or is not in the precision of
    /// [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    #[must_use]
    pub fn cold(
        snapshot: &QuantizedSnapshot,
        earlier: Option<(&QuantizedSnapshot, u16)>,
        ticks: u64,
    ) -> Self {
        check(snapshot);
        if let Some((earlier, _)) = earlier {
            check(earlier);
        }
        let bodies = (0..CUBES).map(|cube| {
            let state = dequantize(snapshot, cube);
            let (sleeping, [linear_velocity, angular_velocity]) = match earlier {
                None => (!state.interacting, [Vec3::ZERO; 2]),
                Some((earlier, _))
                    if Integers::of(earlier, cube) == Integers::of(snapshot, cube) =>
                {
                    (true, [Vec3::ZERO; 2])
                }
                Some((earlier, ticks)) => {
                    let earlier = dequantize(earlier, cube);
                    let from = (earlier.position, earlier.orientation);
                    (false, velocities(from, &state, ticks))
                }
            };
            BodyState {
                position: state.position,
                orientation: state.orientation,
                linear_velocity: linear_velocity.clamp_length_max(MAX_LINEAR_SPEED),
                angular_velocity: angular_velocity.clamp_length_max(MAX_ANGULAR_SPEED),
                sleeping,
                seconds_still: if sleeping { REST_SECONDS } else { 0.0 },
                interacting: state.interacting,
                rest_ticks: 0,
            }
        });
        Self::restored(&WorldState {
            ticks,
            bodies: bodies.collect(),
        })
    }

    /// Corrects the world, which was predicted over `ticks` ticks, where it differs from the `actual` snapshot.
    ///
    /// A position that differs, as integers, becomes that of the snapshot, and the linear velocity changes by the error
    /// over the ticks; so do an orientation and the angular velocity. The cube wakes. Interacting flags become those of
    /// the snapshot. What agrees is left as it is, to the bit: replacing the orientation of a cube of which only the
    /// position differs, or the other way round, takes a quarter to a half more bits in later corrections.
    ///
    /// # Panics
    /// If the snapshot does not have one state for each cube, or is not in the precision of
    /// [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    pub fn correct(&mut self, actual: &QuantizedSnapshot, ticks: u16) {
        check(actual);
        for cube in 0..CUBES {
            let handle = self.handles()[cube];
            let body = &self.bodies[handle];
            let (position, orientation) = (body.translation(), *body.rotation());
            let wanted = Integers::of(actual, cube);
            let [moves, turns] = match Integers::quantize(position, orientation) {
                Some(own) => [
                    own.position != wanted.position,
                    own.orientation != wanted.orientation,
                ],
                None => [true; 2],
            };
            if !moves && !turns {
                continue;
            }
            let state = dequantize(actual, cube);
            let errors = velocities((position, orientation), &state, ticks);
            // A sleeping body keeps the velocity that it had when it fell asleep.
            let [mut linear, mut angular] = match body.is_sleeping() {
                true => [Vec3::ZERO; 2],
                false => [body.linvel(), body.angvel()],
            };
            // Rapier re-examines a body that is borrowed mutably.
            let body = &mut self.bodies[handle];
            body.wake_up(true);
            // What agrees is left alone: the simulation knows it better than a snapshot does.
            if moves {
                body.set_translation(state.position, true);
                linear = (linear + errors[0]).clamp_length_max(MAX_LINEAR_SPEED);
            }
            if turns {
                body.set_rotation(state.orientation, true);
                angular = (angular + errors[1]).clamp_length_max(MAX_ANGULAR_SPEED);
            }
            body.set_linvel(linear, true);
            body.set_angvel(angular, true);
            self.scene.at_rest[cube] = false;
        }
        self.correct_interaction(actual);
    }

    fn correct_interaction(&mut self, actual: &QuantizedSnapshot) {
        let interaction = &mut self.scene.interaction;
        let flags: Vec<_> = (0..CUBES).map(|cube| actual.is_interacting(cube)).collect();
        if flags == interaction.interacting() {
            return;
        }
        let mut rest_ticks = interaction.rest_ticks().to_vec();
        for (cube, ticks) in rest_ticks.iter_mut().enumerate() {
            // It would no longer be interacting after the next tick if it had rested for long.
            if flags[cube] && !interaction.interacting()[cube] {
                *ticks = 0;
            }
        }
        *interaction = Interaction::restored(flags, rest_ticks);
    }

    /// Writes every cube after the last tick into a snapshot, in the precision of
    /// [`SIMULATED`](cubewire_codec::ladder::SIMULATED).
    ///
    /// # Errors
    /// [`QuantizeError`] if a cube is nowhere: a number is not finite.
    pub fn quantize_into(&self, snapshot: &mut QuantizedSnapshot) -> Result<(), QuantizeError> {
        snapshot.quantize(&self.snapshot(), PRECISION)
    }
}

/// The linear and the angular velocity from a pose to a state in some ticks, at least one.
fn velocities((position, orientation): (Vec3, Quat), to: &CubeState, ticks: u16) -> [Vec3; 2] {
    let per_second = TICKS_PER_SECOND as f32 / f32::from(ticks.max(1));
    let turn = to.orientation * orientation.conjugate();
    [
        (to.position - position) * per_second,
        rotation_vector(turn) * per_second,
    ]
}

/// The axis of a rotation, as long as its angle, at most π.
fn rotation_vector(rotation: Quat) -> Vec3 {
    // The shorter of the two ways.
    let rotation = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let axis = rotation.xyz();
    let sine = axis.length();
    if sine < f32::EPSILON {
        return 2.0 * axis;
    }
    // Not that of the system, which may differ between the two ends.
    axis * (2.0 * libm::atan2f(sine, rotation.w) / sine)
}

fn check(snapshot: &QuantizedSnapshot) {
    assert_eq!(snapshot.len(), CUBES, "one state for each cube");
    assert_eq!(
        snapshot.precision(),
        PRECISION,
        "the precision of a prediction"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_vector_turns_the_shorter_way() {
        for (turn, angle) in [(0.5, 0.5), (3.0, 3.0), (6.0, 6.0 - std::f32::consts::TAU)] {
            let axis = Vec3::new(0.6, 0.0, 0.8);
            let vector = rotation_vector(Quat::from_axis_angle(axis, turn));
            assert!((vector - axis * angle).length() < 1e-5, "{turn}");
        }
        assert_eq!(rotation_vector(Quat::IDENTITY), Vec3::ZERO);
        assert_eq!(rotation_vector(-Quat::IDENTITY), Vec3::ZERO);
    }
}
