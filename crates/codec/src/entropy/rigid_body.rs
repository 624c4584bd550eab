//! The rigid-body predictor: cubes fly, fall and roll on their own, or move as if attached to the player or
//! to the cubes around them.

use super::extrapolation::Body;
use super::history::{KinematicHistory, Position};
use super::predictor::Predictor;
use super::rotation::{
    Matrix, Quaternion, Vector, add, dot, matrix, multiply, step, transform, turned, unpack,
};
use crate::quantize::bounded::POSITION;
use crate::quantize::smallest_three::SmallestThree;
use crate::snapshot::QuantizedSnapshot;

/// The motion of a cube since the reference. It moves a point attached to the cube with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RigidMotion {
    from: Position,
    to: Position,
    rotation: Matrix,
}

impl RigidMotion {
    fn carry(&self, point: Position) -> Vector {
        let arm = std::array::from_fn(|axis| (point[axis] - self.from[axis]) as f32);
        let arm = transform(&self.rotation, arm);
        std::array::from_fn(|axis| self.to[axis] as f32 + arm[axis])
    }
}

/// Predicts from several candidates: see [`ORIENTATION_CANDIDATES`] and [`POSITION_CANDIDATES`].
#[derive(Debug)]
pub(crate) struct RigidBodyPredictor<'a> {
    /// Of the cubes coded so far. Nearby ones carry the cubes that follow.
    carriers: &'a mut Vec<RigidMotion>,
    player: RigidMotion,
    player_rotation: Quaternion,
    /// The extrapolation of the current cube.
    body: Body,
}

/// The candidates of [`RigidBodyPredictor`], in order.
pub(crate) const ORIENTATION_CANDIDATES: [&str; 2] = [
    "turning with the player; far from it, constant spin",
    "rigid-body extrapolation",
];
pub(crate) const POSITION_CANDIDATES: [&str; 4] = [
    "rolling on the lowest corner",
    "carried by the player; far from it, constant velocity",
    "carried by the cubes around it",
    "rigid-body extrapolation",
];

/// Bounds the work, which would otherwise grow with the square of the number of cubes that a sender chooses.
const MAX_CARRIERS: usize = 512;

/// Ticks after which extrapolation stops.
const MAX_EXTRAPOLATED_TICKS: i32 = 24;

/// How far a cube carries others, in 1/512 m.
const REACH: f32 = 350.0;
/// How far the player carries others, which it attracts, in 1/512 m.
const PLAYER_REACH: f32 = 900.0;

/// Height in 1/512 m below which the lowest corner counts as touching the floor.
const CONTACT_HEIGHT: f32 = 8.0;

impl<'a> RigidBodyPredictor<'a> {
    /// Reuses the memory of `carriers`.
    pub(crate) fn new(carriers: &'a mut Vec<RigidMotion>, reference: &QuantizedSnapshot) -> Self {
        carriers.clear();
        let player = reference.positions.first().copied().unwrap_or_default();
        let identity = [0.0, 0.0, 0.0, 1.0];
        Self {
            carriers,
            player: RigidMotion {
                from: player,
                to: player,
                rotation: matrix(identity),
            },
            player_rotation: identity,
            body: Body {
                half_side: 0.0,
                position: [0.0; 3],
                orientation: identity,
                velocity: [0.0; 3],
                spin: [0.0; 3],
            },
        }
    }

    fn is_near_player(&self, history: &KinematicHistory) -> bool {
        let player = self.player.from;
        let distance = std::array::from_fn(|axis| (history.position[axis] - player[axis]) as f32);
        history.cube != 0 && dot(distance, distance) < PLAYER_REACH * PLAYER_REACH
    }

    /// The mean of where nearby carriers move a point, weighted by distance.
    fn carry(&self, point: Position) -> Option<Vector> {
        let mut sum = [0.0; 3];
        let mut weights = 0.0;
        for carrier in &*self.carriers {
            let distance: Vector =
                std::array::from_fn(|axis| (carrier.from[axis] - point[axis]) as f32);
            let square = dot(distance, distance);
            if square < REACH * REACH {
                let near = 1.0 - square / (REACH * REACH);
                let weight = near * near;
                weights += weight;
                sum = add(sum, carrier.carry(point), weight);
            }
        }
        (weights > 0.0).then(|| sum.map(|sum| sum / weights))
    }
}

impl Predictor for RigidBodyPredictor<'_> {
    const SELECTS: bool = true;
    type Orientations = [Quaternion; ORIENTATION_CANDIDATES.len()];
    type Positions = [Position; POSITION_CANDIDATES.len()];

    fn orientations(&mut self, history: &KinematicHistory) -> [Quaternion; 2] {
        self.body = Body {
            half_side: history.half_side,
            position: history.position.map(|axis| axis as f32),
            orientation: history.orientation,
            velocity: history.velocity(),
            spin: history.spin(),
        };
        self.body
            .run(history.ticks.min(MAX_EXTRAPOLATED_TICKS) as usize);
        let turned = if self.is_near_player(history) {
            multiply(self.player_rotation, history.orientation)
        } else {
            spun(history)
        };
        [turned, self.body.orientation]
    }

    fn positions(
        &mut self,
        history: &KinematicHistory,
        orientation: SmallestThree,
    ) -> [Position; 4] {
        let start = history.position.map(|axis| axis as f32);
        let now = matrix(unpack(orientation));
        // Rolling keeps the lowest corner where it is.
        let roll = |position: Vector, rotation: &Matrix| {
            let half = history.half_side;
            let corner = rotation[2].map(|height| if height < 0.0 { half } else { -half });
            let (from, to) = (transform(rotation, corner), transform(&now, corner));
            std::array::from_fn(|axis| position[axis] + from[axis] - to[axis])
        };
        let mut alone = self.body.position;
        let rotation = matrix(self.body.orientation);
        let heights = rotation[2].iter().map(|height| height.abs());
        let reach = history.half_side * heights.sum::<f32>();
        if alone[2] < reach + CONTACT_HEIGHT {
            alone = roll(alone, &rotation);
        }
        let moved = if self.is_near_player(history) {
            self.player.carry(history.position)
        } else {
            add(start, history.velocity(), history.ticks as f32)
        };
        [
            roll(start, &matrix(history.orientation)),
            moved,
            self.carry(history.position).unwrap_or(alone),
            alone,
        ]
        .map(quantize)
    }

    fn update(
        &mut self,
        history: &KinematicHistory,
        orientation: SmallestThree,
        position: Position,
    ) {
        let rotation = step(unpack(orientation), history.orientation);
        let motion = RigidMotion {
            from: history.position,
            to: position,
            rotation: matrix(rotation),
        };
        if history.cube == 0 {
            self.player = motion;
            self.player_rotation = rotation;
        }
        if self.carriers.len() < MAX_CARRIERS {
            self.carriers.push(motion);
        }
    }
}

/// The orientation after turning on at the mean spin, damped for collisions.
fn spun(history: &KinematicHistory) -> Quaternion {
    const DAMPING: f32 = 0.87;
    const STEPS: usize = 4;
    let spin = add(history.spin(), history.long_spin(), 1.0);
    let part = spin.map(|spin| spin * 0.5 * DAMPING * history.ticks as f32 / STEPS as f32);
    (0..STEPS).fold(history.orientation, |orientation, _| {
        turned(orientation, part)
    })
}

/// The nearest position within bounds: a cube that was teleported seems to move at any speed.
fn quantize(position: Vector) -> Position {
    std::array::from_fn(|axis| {
        let bounds = POSITION[axis];
        let rounded = (position[axis] + 0.5_f32.copysign(position[axis])) as i32;
        rounded.clamp(bounds.min, bounds.max)
    })
}

#[cfg(test)]
mod tests {
    use super::super::history::SnapshotHistory;
    use super::super::rotation::pack;
    use super::*;
    use crate::ladder::ARITHMETIC;
    use crate::snapshot::QuantizedCube;

    const UPRIGHT: SmallestThree = SmallestThree {
        largest: 3,
        components: [256; 3],
    };

    fn at(positions: &[Position]) -> QuantizedSnapshot {
        let cubes: Vec<_> = positions
            .iter()
            .map(|&position| QuantizedCube {
                orientation: UPRIGHT,
                position,
                interacting: false,
            })
            .collect();
        let mut snapshot = QuantizedSnapshot::new(ARITHMETIC.stages.precision());
        snapshot.assign(9, cubes).unwrap();
        snapshot
    }

    #[test]
    fn a_teleported_cube_is_predicted_within_bounds() {
        let corners = POSITION.map(|bounds| [bounds.min, bounds.max]);
        for [from, to] in [[0, 1], [1, 0]] {
            let previous = at(&[corners.map(|ends| ends[from])]);
            let reference = at(&[corners.map(|ends| ends[to])]);
            let snapshots = SnapshotHistory {
                reference: &reference,
                moved: &[true],
                ticks: 64,
                previous: Some((&previous, 1)),
                additional: [Some((&previous, 1)); 2],
            };
            let history = snapshots.of(0);
            let mut memory = Vec::new();
            let mut predictor = RigidBodyPredictor::new(&mut memory, &reference);
            predictor.orientations(&history);
            for position in predictor.positions(&history, history.packed) {
                for (axis, bounds) in position.into_iter().zip(POSITION) {
                    assert!((bounds.min..=bounds.max).contains(&axis), "{position:?}");
                }
            }
        }
    }

    #[test]
    fn a_cube_near_the_player_is_carried_by_it() {
        let reference = at(&[[0, 0, 600], [400, 0, 600]]);
        let snapshots = SnapshotHistory {
            reference: &reference,
            moved: &[true; 2],
            ticks: 6,
            previous: None,
            additional: [None, None],
        };
        let mut memory = Vec::new();
        let mut predictor = RigidBodyPredictor::new(&mut memory, &reference);
        let [player, carried] = [0, 1].map(|cube| snapshots.of(cube));
        // A quarter turn about z, and a metre along x.
        let quarter = SmallestThree {
            largest: 3,
            components: [256, 256, 511],
        };
        predictor.update(&player, quarter, [512, 0, 600]);
        let [with_player, _] = predictor.orientations(&carried);
        assert_eq!(pack(with_player, 3)[2], 511);
        let positions = predictor.positions(&carried, quarter);
        for axis in 0..3 {
            assert!(
                positions[1][axis].abs_diff([512, 400, 600][axis]) <= 3,
                "{positions:?}"
            );
        }
    }
}
