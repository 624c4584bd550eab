//! Linear blends of predictions.
//!
//! The errors of the candidates are partly independent: one follows the body's own motion, another that of
//! the bodies around it. A sum that weighs them is nearer on average than any of them. The weights are trained
//! by class of body and never change; a class for which they do not fit, because the training had none like
//! it, is predicted without.

use wide::f32x4;

use super::history::{KinematicHistory, Position};
use super::layout::Field;
use super::rotation::{Quaternion, Vector, difference, mul_add, rotation_vector};

/// Differences that are blended, at most.
pub(crate) const BLENDED: usize = 8;

/// Weights of a blend along one axis, in 1/4096.
pub(crate) type BlendWeights = [i16; BLENDED];

/// One unit of a weight.
pub(crate) const BLEND_UNIT: f32 = 1.0 / 4096.0;

/// The differences of other predictions from the selected candidate, and their weighted sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend {
    pub(crate) field: Field,
    pub(crate) class: usize,
    pub(crate) differences: [Vector; BLENDED],
    pub(crate) sum: Vector,
}

impl Blend {
    /// Differences as rotations in packed steps. `spins` are the angular velocities of an
    /// [`Extrapolation`](super::history::Extrapolation).
    pub(super) fn of_orientations(
        history: &KinematicHistory,
        class: usize,
        [selected, secondary]: [Quaternion; 2],
        [spin, long_spin]: [Vector; 2],
        weights: [&BlendWeights; 2],
        steps_per_radian: f32,
    ) -> Self {
        let selected = rotation_vector(selected, history.orientation);
        let from_selected = |turn: Vector| {
            std::array::from_fn(|axis| (turn[axis] - selected[axis]) * steps_per_radian)
        };
        let ticks = history.ticks as f32;
        let differences = [
            from_selected(rotation_vector(secondary, history.orientation)),
            from_selected(spin.map(|spin| spin * ticks)),
            from_selected(long_spin.map(|spin| spin * ticks)),
            from_selected([0.0; 3]),
            [0.0; 3],
            [0.0; 3],
            [0.0; 3],
            [0.0; 3],
        ];
        Self::new(Field::Orientation, class, differences, weights)
    }

    /// `velocity` is that of an [`Extrapolation`](super::history::Extrapolation).
    pub(super) fn of_positions(
        history: &KinematicHistory,
        class: usize,
        selected: Position,
        candidates: &[Position],
        velocity: Vector,
        weights: [&BlendWeights; 2],
    ) -> Self {
        let stay = difference(history.position, selected);
        let ticks = history.ticks as f32;
        let [a, b, c, d] = std::array::from_fn(|index| difference(candidates[index], selected));
        let long = history.motion_6_ticks.map(|axis| axis as f32);
        let differences = [
            a,
            b,
            c,
            d,
            mul_add(stay, velocity, ticks),
            mul_add(stay, long, ticks / 6.0),
            stay,
            [0.0; 3],
        ];
        Self::new(Field::Position, class, differences, weights)
    }

    /// Blends with weights for x and y, and for z.
    fn new(
        field: Field,
        class: usize,
        differences: [Vector; BLENDED],
        weights: [&BlendWeights; 2],
    ) -> Self {
        let [level, upright] = weights;
        let mut sum = f32x4::ZERO;
        for (index, &[x, y, z]) in differences.iter().enumerate() {
            let [level, upright] = [level, upright].map(|weights| f32::from(weights[index]));
            let weights = f32x4::from([level, level, upright, 0.0]) * f32x4::splat(BLEND_UNIT);
            sum += weights * f32x4::from([x, y, z, 0.0]);
        }
        let [x, y, z, _] = sum.to_array();
        let sum = [x, y, z];
        Self {
            field,
            class,
            differences,
            sum,
        }
    }
}
