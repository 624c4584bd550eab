//! Worlds from what a receiver has: quantized snapshots.

use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};

use cubewire_codec::quantize::SmallestThree;
use cubewire_codec::quantize::bounded::POSITION;
use cubewire_codec::quantize::smallest_three::max_component;
use cubewire_codec::{CubeState, Precision, QuantizeError, QuantizedSnapshot, ladder, stages};
use cubewire_scene::{
    CUBES, Interaction, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, REST_SECONDS, TICKS_PER_SECOND,
};
use glam::{Quat, Vec3};

use crate::World;
use crate::state::{BodyState, WorldState};

/// Bits of a component of an orientation.
const ORIENTATION_BITS: u8 = match PRECISION.orientation {
    stages::Orientation::SmallestThree { bits } => bits,
    stages::Orientation::Full => panic!("orientations are quantized"),
};

/// The precision of the snapshots from which worlds are built and corrected.
const PRECISION: Precision = ladder::PREDICTED.stages.precision();

impl World {
    /// Builds a world from a snapshot, and from an `earlier` one with the number of ticks between them, if there is
    /// one. `ticks` are those since the start or the last reset.
    ///
    /// Velocities are the differences to the earlier snapshot over time. Cubes that are where they were are put to
    /// sleep. Without an earlier snapshot all velocities are zero, and the cubes sleep that are not interacting.
    ///
    /// # Panics
    /// If a snapshot does not have one state for each cube, or is not in the precision of [`ladder::PREDICTED`].
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
    /// If the snapshot does not have one state for each cube, or is not in the precision of [`ladder::PREDICTED`].
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

    /// Writes every cube after the last tick into a snapshot, in the precision of [`ladder::PREDICTED`].
    ///
    /// # Errors
    /// [`QuantizeError`] if a cube is nowhere: a number is not finite.
    pub fn quantize_into(&self, snapshot: &mut QuantizedSnapshot) -> Result<(), QuantizeError> {
        snapshot.quantize(&self.snapshot(), PRECISION)
    }
}

/// A quantized pose.
#[derive(PartialEq)]
struct Integers {
    position: [i32; 3],
    orientation: SmallestThree,
}

impl Integers {
    fn of(snapshot: &QuantizedSnapshot, cube: usize) -> Self {
        Self {
            position: snapshot.position(cube),
            orientation: snapshot.smallest_three(cube),
        }
    }

    /// None if the orientation is not finite or zero.
    fn quantize(position: Vec3, orientation: Quat) -> Option<Self> {
        let [x, y, z] = position.to_array();
        let [of_x, of_y, of_z] = POSITION;
        Some(Self {
            position: [of_x.quantize(x), of_y.quantize(y), of_z.quantize(z)],
            orientation: SmallestThree::quantize(orientation, ORIENTATION_BITS)?,
        })
    }
}

/// A cube at the centre of its cell, or near it: its integers are those of the snapshot.
fn dequantize(snapshot: &QuantizedSnapshot, cube: usize) -> CubeState {
    let mut state = snapshot.cube(cube);
    let code = snapshot.smallest_three(cube);
    let is_same =
        |&orientation: &Quat| SmallestThree::quantize(orientation, ORIENTATION_BITS) == Some(code);
    if !is_same(&state.orientation) {
        // At the edge of the codes, the component that is left out may come out smaller than another. It is
        // largest where the others are smallest.
        let pulls = [0.125, 0.25, 0.375, 0.49];
        let nearest = pulls
            .map(|pull| pulled(code, pull))
            .into_iter()
            .find(is_same);
        state.orientation = nearest.unwrap_or(state.orientation);
    }
    state
}

/// An orientation with its three components nearer to zero than those of a code, by a share of a step.
fn pulled(code: SmallestThree, pull: f32) -> Quat {
    let step = SQRT_2 / f32::from(max_component(ORIENTATION_BITS));
    let mut components = [0.0; 4];
    let mut left = code.components.into_iter();
    for (_, component) in (0..)
        .zip(&mut components)
        .filter(|&(i, _)| i != code.largest)
    {
        let value = f32::from(left.next().unwrap_or_default()) * step - FRAC_1_SQRT_2;
        *component = value.signum() * (value.abs() - pull * step).max(0.0);
    }
    let sum: f32 = components
        .iter()
        .map(|component| component * component)
        .sum();
    components[usize::from(code.largest)] = (1.0 - sum).max(0.0).sqrt();
    Quat::from_array(components).normalize()
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
    use cubewire_codec::Snapshot;

    use super::*;

    #[test]
    fn every_orientation_that_is_quantized_has_a_value_with_the_same_integers() {
        let mut seed = 1_u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed) / f64::from(u32::MAX) * 2.0 - 1.0
        };
        let mut snapshot = QuantizedSnapshot::new(PRECISION);
        let mut pulled = 0;
        for round in 0..100_000 {
            let mut components = [random(), random(), random(), random()];
            // Two, three or four components that are nearly equal.
            let equal = round % 4 + 1;
            for component in &mut components[..equal] {
                *component = component.signum() * (0.9 + 0.002 * random());
            }
            let orientation = Quat::from_array(components.map(|c| c as f32)).normalize();
            let cube = CubeState {
                orientation,
                ..CubeState::default()
            };
            let cubes = vec![cube];
            snapshot.quantize(&Snapshot { cubes }, PRECISION).unwrap();
            let value = dequantize(&snapshot, 0).orientation;
            let integers = Integers::quantize(Vec3::ZERO, value);
            assert!(
                integers == Some(Integers::of(&snapshot, 0)),
                "{orientation}"
            );
            assert!(value.is_normalized());
            pulled += usize::from(value != snapshot.cube(0).orientation);
        }
        assert!((100..50_000).contains(&pulled), "{pulled}");
    }

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
