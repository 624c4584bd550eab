//! Linear blends of predictions.
//!
//! The errors of the candidates are partly independent: one candidate continues the motion of the body, another moves
//! it with the bodies around it. A weighted sum has a smaller mean error than any of them, and saves 0.2 to 0.5 % for
//! orientations and 0.5 to 1.8 % for positions. The weights are trained by class of body and never change. If the mean
//! error of a class is larger with its blend, because the training had no similar bodies, the selected candidate is used
//! without the blend.

use wide::f32x4;

use super::history::{KinematicHistory, Position};
use super::layout::PoseField;
use super::rotation::{Quaternion, Vector, difference, mul_add, rotation_vector};

/// Maximum number of differences in a blend.
pub(crate) const BLENDED: usize = 8;

/// Weights of a blend along one axis, in 1/4096.
pub(crate) type BlendWeights = [i16; BLENDED];

pub(crate) const BLEND_UNIT: f32 = 1.0 / 4096.0;

/// Differences of the other predictions from the selected candidate, and their weighted sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blend {
    pub(crate) field: PoseField,
    /// Class of the body, below [`BLENDS`](super::layout::BLENDS).
    pub(crate) class: usize,
    /// In steps of positions or of packed components.
    pub(crate) differences: [Vector; BLENDED],
    pub(crate) sum: Vector,
}

impl Blend {
    /// Blends orientations. Differences are rotation vectors in steps of packed components. The two angular
    /// velocities are those of an [`Extrapolation`](super::history::Extrapolation).
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
        // The second prediction, constant spin since both older snapshots, and no turn.
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
        Self::new(PoseField::Orientation, class, differences, weights)
    }

    /// Blends positions. `velocity` is the velocity of an [`Extrapolation`](super::history::Extrapolation).
    pub(super) fn of_positions(
        history: &KinematicHistory,
        class: usize,
        selected: Position,
        candidates: &[Position; 4],
        velocity: Vector,
        weights: [&BlendWeights; 2],
    ) -> Self {
        let stay = difference(history.position, selected);
        let ticks = history.ticks as f32;
        let [a, b, c, d] = candidates.map(|candidate| difference(candidate, selected));
        let long = history.motion_6_ticks.map(|axis| axis as f32);
        // The candidates, constant velocity since both older snapshots, and no motion.
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
        Self::new(PoseField::Position, class, differences, weights)
    }

    /// Sums the differences. `weights` are for x and y, then for z: gravity and floor act upwards only, and no direction
    /// across is special.
    fn new(
        field: PoseField,
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
        Self { field, class, differences, sum }
    }
}
