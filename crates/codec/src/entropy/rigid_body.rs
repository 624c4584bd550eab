//! The rigid-body predictor: bodies fly, fall and roll on their own, or move as if attached to the player or
//! to the bodies around them.

use super::carriers::{Carriers, MeanMotion, RigidMotion};
use super::extrapolation::{self, Body, LANES};
use super::history::{BaselineHistory, Extrapolation, KinematicHistory, Position};
use super::predictor::{Predictor, UNKNOWN_RESIDUAL};
use super::rotation::{
    Matrix, Quaternion, Vector, difference, dot, matrix, mul_add, multiply, relative_rotation,
    transform,
};
use crate::quantize::bounded::POSITION;

/// Predicts from several candidates: see [`ORIENTATION_CANDIDATES`] and [`POSITION_CANDIDATES`].
#[derive(Debug)]
pub(crate) struct RigidBodyPredictor<'a> {
    /// Motions of the bodies coded so far. Nearby ones carry the bodies that follow.
    carriers: &'a mut Carriers,
    player: RigidMotion,
    player_rotation: Matrix,
    /// The extrapolation of the current body.
    alone: Extrapolation,
    /// How those near it move.
    around: Option<MeanMotion>,
}

/// The candidates of [`RigidBodyPredictor`], in order.
pub(crate) const ORIENTATION_CANDIDATES: [&str; 3] = [
    "turning with the player; far from it, constant spin",
    "rigid-body extrapolation",
    "turning with the bodies around it",
];
pub(crate) const POSITION_CANDIDATES: [&str; 4] = [
    "rolling on the lowest corner",
    "carried by the player; far from it, constant velocity",
    "carried by the bodies around it",
    "rigid-body extrapolation",
];

/// Ticks after which extrapolation stops.
const MAX_EXTRAPOLATED_TICKS: i32 = 24;

/// Height in 1/512 m above which bodies seldom reach the floor within a packet's time.
const HIGH: i32 = 300;

/// How far the player carries others, which it attracts, in 1/512 m.
const PLAYER_REACH: f32 = 900.0;

/// Height in 1/512 m below which the lowest corner counts as touching the floor.
const CONTACT_HEIGHT: f32 = 8.0;

impl<'a> RigidBodyPredictor<'a> {
    /// Reuses the memory of `carriers`.
    pub(crate) fn new(carriers: &'a mut Carriers, snapshots: &BaselineHistory<'a>) -> Self {
        carriers.clear();
        let player = match snapshots.reference.is_empty() {
            true => Position::default(),
            false => snapshots.reference.position(0),
        };
        let identity = [0.0, 0.0, 0.0, 1.0];
        Self {
            carriers,
            player: RigidMotion {
                from: player,
                to: player,
                turn: identity,
                residuals: [0; 2],
            },
            player_rotation: matrix(identity),
            alone: Extrapolation::default(),
            around: None,
        }
    }

    fn is_near_player(&self, history: &KinematicHistory) -> bool {
        let distance = difference(history.position, self.player.from);
        history.body != 0 && dot(distance, distance) < PLAYER_REACH * PLAYER_REACH
    }
}

impl Predictor for RigidBodyPredictor<'_> {
    const SELECTS: bool = true;
    type Orientations = [Quaternion; ORIENTATION_CANDIDATES.len()];
    type Positions = [Position; POSITION_CANDIDATES.len()];

    fn prepare(&self, histories: &mut [KinematicHistory]) {
        // Those that are high up are computed together, because they touch nothing.
        for high in [false, true] {
            let (mut batch, mut count) = ([0; LANES], 0);
            for index in 0..histories.len() {
                if (histories[index].position[2] > HIGH) == high {
                    batch[count] = index;
                    count += 1;
                }
                if count == LANES || index + 1 == histories.len() {
                    extrapolate(histories, &batch[..count]);
                    count = 0;
                }
            }
        }
    }

    fn orientations(&mut self, history: &KinematicHistory) -> [Quaternion; 3] {
        self.alone = history
            .extrapolation
            .unwrap_or_else(|| Extrapolation::at_rest(history));
        let turned = if self.is_near_player(history) {
            multiply(self.player.turn, history.orientation)
        } else {
            self.alone.spun
        };
        let alone = self.alone.orientation;
        self.around = self.carriers.carry(history.position);
        let around = self
            .around
            .map_or(alone, |around| multiply(around.turn, history.orientation));
        [turned, alone, around]
    }

    fn positions(&mut self, history: &KinematicHistory, orientation: Quaternion) -> [Position; 4] {
        let start = history.position.map(|axis| axis as f32);
        let now = matrix(orientation);
        // Rolling keeps the lowest corner where it is.
        let roll = |position: Vector, rotation: &Matrix| {
            let half = history.half_side;
            let corner = rotation[2].map(|height| if height < 0.0 { half } else { -half });
            let (from, to) = (transform(rotation, corner), transform(&now, corner));
            std::array::from_fn(|axis| position[axis] + from[axis] - to[axis])
        };
        let rotation = matrix(self.alone.orientation);
        let heights = rotation[2].iter().map(|height| height.abs());
        let reach = history.half_side * heights.sum::<f32>();
        let alone = match self.alone.position {
            low if low[2] < reach + CONTACT_HEIGHT => roll(low, &rotation),
            high => high,
        };
        let moved = if self.is_near_player(history) {
            let arm = difference(history.position, self.player.from);
            let arm = transform(&self.player_rotation, arm);
            std::array::from_fn(|axis| self.player.to[axis] as f32 + arm[axis])
        } else {
            mul_add(start, self.alone.velocity, history.ticks as f32)
        };
        let carried = self.around.map(|around| around.position);
        [
            roll(start, &matrix(history.orientation)),
            moved,
            carried.unwrap_or(alone),
            alone,
        ]
        .map(quantize)
    }

    fn is_carried(&self) -> bool {
        self.around.is_some()
    }

    fn extrapolated(&self) -> Extrapolation {
        self.alone
    }

    fn neighbour_residuals(&self) -> Option<[usize; 2]> {
        let unknown = [UNKNOWN_RESIDUAL; 2];
        Some(self.around.map_or(unknown, |around| around.residuals))
    }

    fn update(
        &mut self,
        history: &KinematicHistory,
        orientation: Quaternion,
        position: Position,
        residuals: [usize; 2],
    ) {
        let motion = RigidMotion {
            from: history.position,
            to: position,
            turn: relative_rotation(orientation, history.orientation),
            residuals,
        };
        if history.body == 0 {
            self.player = motion;
            self.player_rotation = matrix(motion.turn);
        }
        self.carriers.add(motion);
    }
}

/// Extrapolates up to [`LANES`] bodies, each on its own.
fn extrapolate(histories: &mut [KinematicHistory], indices: &[usize]) {
    const DAMPING: f32 = 0.87;
    const STEPS: usize = 2;
    let Some(&first) = indices.first() else {
        return;
    };
    let ticks = histories[first].ticks;
    // The first one fills the lanes that are left over.
    let lanes: [usize; LANES] =
        std::array::from_fn(|lane| indices.get(lane).copied().unwrap_or(first));
    let orientations = lanes.map(|lane| histories[lane].orientation);
    let past = lanes.map(|lane| histories[lane].past_orientations());
    let spins: [[Vector; LANES]; 2] = [0, 1].map(|which| {
        let from = std::array::from_fn(|lane| {
            past[lane][which].map_or(orientations[lane], |(orientation, _)| orientation)
        });
        let turns = extrapolation::turns(&orientations, &from);
        std::array::from_fn(|lane| match past[lane][which] {
            Some((_, ticks)) => turns[lane].map(|angle| angle / ticks),
            None => [0.0; 3],
        })
    });
    let mut bodies: [Body; LANES] = std::array::from_fn(|lane| {
        let history = &histories[lanes[lane]];
        Body {
            half_side: history.half_side,
            position: history.position.map(|axis| axis as f32),
            orientation: history.orientation,
            velocity: history.velocity(),
            spin: spins[0][lane],
        }
    });
    let velocities = bodies.map(|body| body.velocity);
    extrapolation::run(&mut bodies, ticks.min(MAX_EXTRAPOLATED_TICKS) as usize);
    let turns = std::array::from_fn(|lane| {
        let spin = mul_add(spins[0][lane], spins[1][lane], 1.0);
        spin.map(|spin| spin * 0.5 * DAMPING * ticks as f32 / STEPS as f32)
    });
    let spun = extrapolation::turned_often(&orientations, &turns, STEPS);
    for (lane, &index) in indices.iter().enumerate() {
        histories[index].extrapolation = Some(Extrapolation {
            position: bodies[lane].position,
            orientation: bodies[lane].orientation,
            spun: spun[lane],
            velocity: velocities[lane],
            spins: spins.map(|spins| spins[lane]),
        });
    }
}

/// The nearest position within bounds: a body that was teleported seems to move at any speed.
pub(super) fn quantize(position: Vector) -> Position {
    std::array::from_fn(|axis| {
        let bounds = POSITION[axis];
        let rounded = (position[axis] + 0.5_f32.copysign(position[axis])) as i32;
        rounded.clamp(bounds.min, bounds.max)
    })
}

#[cfg(test)]
mod tests {
    use super::super::rotation::{pack, unpack};
    use super::*;
    use crate::ladder::ARITHMETIC;
    use crate::quantize::smallest_three::SmallestThree;
    use crate::snapshot::{QuantizedBody, QuantizedSnapshot};

    const UPRIGHT: SmallestThree = SmallestThree {
        largest: 3,
        components: [256; 3],
    };

    fn at(positions: &[Position]) -> QuantizedSnapshot {
        let bodies: Vec<_> = positions
            .iter()
            .map(|&position| QuantizedBody {
                orientation: UPRIGHT,
                position,
                interacting: false,
            })
            .collect();
        let mut snapshot = QuantizedSnapshot::new(ARITHMETIC.stages.precision());
        snapshot.assign(9, bodies).unwrap();
        snapshot
    }

    #[test]
    fn a_teleported_body_is_predicted_within_bounds() {
        let corners = POSITION.map(|bounds| [bounds.min, bounds.max]);
        for [from, to] in [[0, 1], [1, 0]] {
            let previous = at(&[corners.map(|ends| ends[from])]);
            let reference = at(&[corners.map(|ends| ends[to])]);
            let snapshots = BaselineHistory {
                reference: &reference,
                moved: &[true],
                ticks: 64,
                previous: Some((&previous, 1)),
                additional: [Some((&previous, 1)); 2],
            };
            let history = snapshots.of(0);
            let mut memory = Carriers::default();
            let mut predictor = RigidBodyPredictor::new(&mut memory, &snapshots);
            predictor.orientations(&history);
            for position in predictor.positions(&history, history.orientation) {
                for (axis, bounds) in position.into_iter().zip(POSITION) {
                    assert!((bounds.min..=bounds.max).contains(&axis), "{position:?}");
                }
            }
        }
    }

    #[test]
    fn a_body_near_the_player_is_carried_by_it() {
        let reference = at(&[[0, 0, 600], [400, 0, 600]]);
        let snapshots = BaselineHistory {
            reference: &reference,
            moved: &[true; 2],
            ticks: 6,
            previous: None,
            additional: [None, None],
        };
        let mut memory = Carriers::default();
        let mut predictor = RigidBodyPredictor::new(&mut memory, &snapshots);
        let [player, carried] = [0, 1].map(|body| snapshots.of(body));
        // A quarter turn about z, and a metre along x.
        let quarter = SmallestThree {
            largest: 3,
            components: [256, 256, 511],
        };
        predictor.update(&player, unpack(quarter), [512, 0, 600], [0; 2]);
        let [with_player, ..] = predictor.orientations(&carried);
        assert_eq!(pack(with_player, 3)[2], 511);
        let positions = predictor.positions(&carried, unpack(quarter));
        for axis in 0..3 {
            assert!(
                positions[1][axis].abs_diff([512, 400, 600][axis]) <= 3,
                "{positions:?}"
            );
        }
    }
}
