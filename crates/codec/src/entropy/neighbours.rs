//! Predicts the motion of a body from the bodies around it.
//!
//! Bodies that stick to the player move with it and with each other, and pushed bodies move together. As candidates for
//! positions, neighbours save 3.3 % of dev-pull, where the player pulls bodies along, and hardly anything of dev-mix.

use wide::f32x4;

use super::history::Position;
use super::rotation::{Quaternion, Vector, difference, dot, matrix, normalized, transform};

/// The motion of a body since the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidMotion {
    pub(super) from: Position,
    pub(super) to: Position,
    pub(super) turn: Quaternion,
    /// Magnitudes of its largest residuals, by [`PoseField`](super::layout::PoseField).
    pub(super) residuals: [usize; 2],
}

/// Mean motion of the bodies near a point, applied to a body at the point.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanMotion {
    /// Position of the body after the motion, in steps.
    pub(super) position: Vector,
    pub(super) turn: Quaternion,
    /// Mean of the [residuals](RigidMotion::residuals), rounded.
    pub(super) residuals: [usize; 2],
}

/// Motions of the bodies coded so far in this packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    /// Distance within which a body is a neighbour, in steps.
    reach: f32,
    motions: Vec<Summand>,
    /// Start position of each motion. Each vector has four motions in the lanes of its axes, so that four distances
    /// are compared at a time.
    from: Vec<Vector<f32x4>>,
}

/// Terms of one motion. The sums multiply them by its weight.
#[derive(Clone, Copy, Debug)]
struct Summand {
    from: f32x4,
    step: f32x4,
    /// The rotation, as the quaternion with non-negative w: q and −q are the same rotation, but cancel in a sum.
    turn: f32x4,
    /// The two residuals, and 1 to sum up the weights.
    residuals: f32x4,
}

/// Maximum number of motions. Without it, the work would grow with the square of the number of bodies in a packet.
const MAX_NEIGHBOURS: usize = 512;

const LANES: usize = 4;

/// Coordinate of unused lanes, out of reach of every body.
const FAR: f32 = 1e9;

impl Neighbours {
    /// Removes all motions. `reach` is the distance within which a body is a neighbour, in steps.
    pub(super) fn clear(&mut self, reach: f32) {
        self.reach = reach;
        self.motions.clear();
        self.from.clear();
    }

    pub(super) fn add(&mut self, motion: RigidMotion) {
        if self.motions.len() == MAX_NEIGHBOURS {
            return;
        }
        let lane = self.motions.len() % LANES;
        if lane == 0 {
            self.from.push([f32x4::splat(FAR); 3]);
        }
        if let Some(last) = self.from.last_mut() {
            for (axis, from) in last.iter_mut().zip(motion.from) {
                axis.as_mut_array()[lane] = from as f32;
            }
        }
        let [x, y, z] = difference(motion.to, motion.from);
        let [from_x, from_y, from_z] = motion.from.map(|axis| axis as f32);
        let sign = if motion.turn[3] < 0.0 { -1.0 } else { 1.0 };
        let [orientation, position] = motion.residuals.map(|residual| residual as f32);
        self.motions.push(Summand {
            from: [from_x, from_y, from_z, 0.0].into(),
            step: [x, y, z, 0.0].into(),
            turn: motion.turn.map(|part| part * sign).into(),
            residuals: [orientation, position, 1.0, 0.0].into(),
        });
    }

    /// Returns the mean motion of the bodies near a point, weighted by distance, and the position of the point if it
    /// were attached to them. `None` if no body is near.
    pub(super) fn mean_motion(&self, point: Position) -> Option<MeanMotion> {
        let reach = f32x4::splat(self.reach * self.reach);
        let at = point.map(|axis| f32x4::splat(axis as f32));
        let [x, y, z] = point.map(|axis| axis as f32);
        let target = f32x4::from([x, y, z, 0.0]);
        let [mut step, mut arm, mut turn, mut residuals] = [f32x4::ZERO; 4];
        for (from, motions) in self.from.iter().zip(self.motions.chunks(LANES)) {
            let distance: Vector<f32x4> = std::array::from_fn(|axis| from[axis] - at[axis]);
            let squares = dot(distance, distance);
            if !squares.simd_lt(reach).any() {
                continue;
            }
            // The weight is (1 − distance² / reach²)², which falls to 0 without a jump, so that the prediction does not
            // depend on who is just inside. Far bodies get weight 0. A branch would often be mispredicted.
            let near = f32x4::ONE - squares / reach;
            let near = near.fast_max(f32x4::ZERO);
            for (weight, motion) in (near * near).to_array().into_iter().zip(motions) {
                let weight = f32x4::splat(weight);
                step += motion.step * weight;
                arm += (target - motion.from) * weight;
                turn += motion.turn * weight;
                residuals += motion.residuals * weight;
            }
        }
        let turn = turn.to_array();
        let [_, _, weights, _] = residuals.to_array();
        // Opposite half turns can cancel, so that there is no mean rotation.
        (turn[3] > 0.0).then(|| {
            let turn = normalized(turn);
            let [step, arm, residuals] = [step, arm, residuals].map(|sum| {
                let [x, y, z, _] = (sum / f32x4::splat(weights)).to_array();
                [x, y, z]
            });
            let turned = transform(&matrix(turn), arm);
            let position = std::array::from_fn(|axis| {
                point[axis] as f32 + step[axis] + (turned[axis] - arm[axis])
            });
            MeanMotion {
                position,
                turn,
                residuals: [0, 1].map(|field| (residuals[field] + 0.5) as usize),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(from: i32, to: i32) -> RigidMotion {
        let turn = [0.0, 0.0, 0.0, 1.0];
        RigidMotion { from: [from, 0, 600], to: [to, 0, 600], turn, residuals: [0; 2] }
    }

    #[test]
    fn only_the_first_bodies_are_neighbours() {
        let mut neighbours = Neighbours::default();
        neighbours.clear(350.0);
        for _ in 0..MAX_NEIGHBOURS {
            neighbours.add(moved(9_000, 9_100));
        }
        neighbours.add(moved(18_000, 18_100));
        let [x, y, z] = neighbours.mean_motion([9_001, 0, 600]).unwrap().position;
        assert!((x - 9_101.0).abs() < 0.1 && y == 0.0 && z == 600.0, "{x}");
        assert!(neighbours.mean_motion([18_000, 0, 600]).is_none());
    }
}
