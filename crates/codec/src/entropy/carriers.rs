//! Cubes that carry those around them.

use wide::f32x4;

use super::history::Position;
use super::rotation::{Quaternion, Vector, add, difference, dot, matrix, normalized, transform};

/// The motion of a cube since the reference.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigidMotion {
    pub(super) from: Position,
    pub(super) to: Position,
    pub(super) turn: Quaternion,
}

/// How nearby cubes carry a cube with them, on average.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanMotion {
    /// Where they carry it.
    pub(super) position: Vector,
    pub(super) turn: Quaternion,
}

/// The motions of the cubes coded so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carriers {
    motions: Vec<RigidMotion>,
    /// Where each begins: of four in the lanes of each axis, so that four distances are compared at a time.
    from: Vec<Vector<f32x4>>,
}

/// Bounds the work, which would otherwise grow with the square of the number of cubes that a sender chooses.
const MAX_CARRIERS: usize = 512;

/// How far a cube carries others, in 1/512 m.
const REACH: f32 = 350.0;

const LANES: usize = 4;

/// A coordinate that nothing is near.
const FAR: f32 = 1e9;

impl Carriers {
    pub(super) fn clear(&mut self) {
        self.motions.clear();
        self.from.clear();
    }

    pub(super) fn add(&mut self, motion: RigidMotion) {
        if self.motions.len() == MAX_CARRIERS {
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
        self.motions.push(motion);
    }

    /// The mean motion of cubes near a point, weighted by distance, and where a point goes that is attached to them.
    /// None if no cube is near.
    pub(super) fn carry(&self, point: Position) -> Option<MeanMotion> {
        let at = point.map(|axis| f32x4::splat(axis as f32));
        let (mut step, mut arm) = ([0.0; 3], [0.0; 3]);
        let mut turn = [0.0; 4];
        let mut weights = 0.0;
        for (from, motions) in self.from.iter().zip(self.motions.chunks(LANES)) {
            let distance: Vector<f32x4> = std::array::from_fn(|axis| from[axis] - at[axis]);
            let squares = dot(distance, distance);
            if !squares.simd_lt(f32x4::splat(REACH * REACH)).any() {
                continue;
            }
            for (square, motion) in squares.to_array().into_iter().zip(motions) {
                if square < REACH * REACH {
                    let near = 1.0 - square / (REACH * REACH);
                    let weight = near * near;
                    weights += weight;
                    step = add(step, difference(motion.to, motion.from), weight);
                    arm = add(arm, difference(point, motion.from), weight);
                    // Of the two quaternions of a rotation, the one nearer to none.
                    let sign = if motion.turn[3] < 0.0 { -1.0 } else { 1.0 };
                    turn = std::array::from_fn(|part| {
                        turn[part] + motion.turn[part] * (weight * sign)
                    });
                }
            }
        }
        // Half turns may leave no mean.
        (turn[3] > 0.0).then(|| {
            let turn = normalized(turn);
            let [step, arm] = [step, arm].map(|sum| sum.map(|sum| sum / weights));
            let turned = transform(&matrix(turn), arm);
            let position = std::array::from_fn(|axis| {
                point[axis] as f32 + step[axis] + (turned[axis] - arm[axis])
            });
            MeanMotion { position, turn }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_TURN: Quaternion = [0.0, 0.0, 0.0, 1.0];

    fn moved(from: i32, to: i32, turn: Quaternion) -> RigidMotion {
        RigidMotion {
            from: [from, 0, 600],
            to: [to, 0, 600],
            turn,
        }
    }

    #[test]
    fn only_the_first_cubes_carry_others() {
        let mut carriers = Carriers::default();
        for _ in 0..MAX_CARRIERS {
            carriers.add(moved(9_000, 9_100, NO_TURN));
        }
        carriers.add(moved(18_000, 18_100, NO_TURN));
        let [x, y, z] = carriers.carry([9_001, 0, 600]).unwrap().position;
        assert!((x - 9_101.0).abs() < 0.1 && y == 0.0 && z == 600.0, "{x}");
        assert!(carriers.carry([18_000, 0, 600]).is_none());
    }

    #[test]
    fn the_nearer_a_cube_the_more_it_carries() {
        let mut carriers = Carriers::default();
        for (from, to) in [(0, 0), (100, 200), (1_000, 0)] {
            carriers.add(moved(from, to, NO_TURN));
        }
        let carried = |x| carriers.carry([x, 0, 600]).unwrap().position[0];
        assert!((0.1..50.0).contains(&carried(0)));
        assert!((150.0..199.9).contains(&carried(100)));
    }

    #[test]
    fn what_is_attached_to_a_turning_cube_turns_about_it() {
        // A quarter about z, as either of its quaternions.
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let quarter = [0.0, 0.0, half, half];
        let mut carriers = Carriers::default();
        for turn in [quarter, quarter.map(|part| -part)] {
            carriers.add(moved(0, 50, turn));
        }
        let motion = carriers.carry([200, 0, 600]).unwrap();
        for (part, expected) in motion.position.into_iter().zip([50.0, 200.0, 600.0]) {
            assert!((part - expected).abs() < 0.01, "{motion:?}");
        }
        assert!((motion.turn[2] - half).abs() < 1e-6);
        // Two half turns against each other.
        let mut carriers = Carriers::default();
        for x in [1.0, -1.0] {
            carriers.add(moved(0, 0, [x, 0.0, 0.0, 0.0]));
        }
        assert!(carriers.carry([0, 0, 600]).is_none());
    }
}
