//! The rigid-body predictor. Bodies fly, fall and roll, or move as if attached to the player or to the bodies around
//! them.

use wide::f32x4;

use super::extrapolation::{self, LANES, MovingBody};
use super::history::{BaselineHistory, Extrapolation, KinematicHistory, Position};
use super::neighbours::{MeanMotion, Neighbours, RigidMotion};
use super::rotation::{
    Matrix, Quaternion, Vector, difference, dot, matrix, mul_add, multiply, relative_rotation,
    rotation_vector, transform,
};
use crate::plan::{Plan, Solid};

/// Predicts one body at a time, in coding order: candidates for its orientation, then for its position given the decoded
/// orientation. The candidate with the smallest mean error for similar bodies is the prediction. Afterwards
/// [`update`](Self::update) gets both actual values.
#[derive(Debug)]
pub(crate) struct RigidBodyPredictor<'a> {
    plan: &'a Plan,
    /// Motions of the bodies coded so far. Bodies near them move along.
    neighbours: &'a mut Neighbours,
    /// Motion of the anchor, which is coded first. It stays in place if the packet does not carry it.
    player: RigidMotion,
    player_rotation: Matrix,
    /// Extrapolation of the current body, as if no other body moved it.
    pub(super) alone: Extrapolation,
    /// Mean motion of the bodies near the current body.
    pub(super) around: Option<MeanMotion>,
}

/// Context for an unknown residual; above every magnitude.
const UNKNOWN_RESIDUAL: usize = 15;

/// Names of the candidates of [`RigidBodyPredictor`], in order. Each is a hypothesis about what moves a body. On dev-mix and
/// dev-pull, those for orientations save 0.9 and 2.2 %, 1.9 and 0.3 %, 0.0 and 0.5 %, and those for positions 0.8 and 0.1 %,
/// 0.8 and 1.5 %, 0.0 and 3.3 %, 1.2 and 0.1 %.
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

/// Bodies are extrapolated for at most this many ticks, which bounds the work of a packet.
const MAX_EXTRAPOLATED_TICKS: i32 = 24;

impl<'a> RigidBodyPredictor<'a> {
    pub(crate) fn new(neighbours: &'a mut Neighbours, snapshots: &BaselineHistory<'a>) -> Self {
        let plan = snapshots.plan;
        neighbours.clear(plan.lengths.reach);
        let player = snapshots
            .anchor()
            .map_or_else(Position::default, |anchor| snapshots.reference.position(anchor));
        let identity = [0.0, 0.0, 0.0, 1.0];
        Self {
            plan,
            neighbours,
            player: RigidMotion { from: player, to: player, turn: identity, residuals: [0; 2] },
            player_rotation: matrix(identity),
            alone: Extrapolation::default(),
            around: None,
        }
    }

    fn is_near_player(&self, history: &KinematicHistory) -> bool {
        let reach = self.plan.lengths.anchor_reach;
        let distance = difference(history.position, self.player.from);
        let anchor = self.plan.anchor;
        anchor.is_some_and(|anchor| anchor != history.body)
            && dot(distance, distance) < reach * reach
    }

    /// Extrapolates the bodies that will probably be coded, several at a time.
    pub(super) fn prepare(&self, histories: &mut [KinematicHistory]) {
        let plan = self.plan;
        let high = plan.motion.floor.map(|floor| floor as i32 + plan.lengths.high);
        // Bodies that are extrapolated together take the same branches: high bodies skip the contacts with the floor.
        // `None` for bodies without known corners, or without a floor.
        let is_high = |history: &KinematicHistory| {
            let high = high.filter(|_| plan.solids[history.kind].has_corners())?;
            Some(history.position[2] > high)
        };
        let group = |history: &KinematicHistory| (is_high(history), ticks_alone(history));
        for first in 0..histories.len() {
            if histories[first].extrapolation.is_some() {
                continue;
            }
            let own = group(&histories[first]);
            let (mut batch, mut count) = ([first; LANES], 1);
            for (index, history) in histories.iter().enumerate().skip(first + 1) {
                if history.extrapolation.is_none() && group(history) == own {
                    batch[count] = index;
                    count += 1;
                    if count == LANES {
                        break;
                    }
                }
            }
            extrapolate(plan, histories, &batch[..count]);
        }
    }

    pub(super) fn orientations(&mut self, history: &KinematicHistory) -> [Quaternion; 3] {
        self.alone = history.extrapolation.unwrap_or_else(|| Extrapolation::at_rest(history));
        let turned = if self.is_near_player(history) {
            multiply(self.player.turn, history.orientation)
        } else {
            self.alone.spun
        };
        let alone = self.alone.orientation;
        self.around = self.neighbours.mean_motion(history.position);
        let around = self.around.map_or(alone, |around| multiply(around.turn, history.orientation));
        [turned, alone, around]
    }

    /// Returns the [`POSITION_CANDIDATES`]. Called after [`orientations`](Self::orientations), for the same body.
    pub(super) fn positions(
        &self,
        history: &KinematicHistory,
        orientation: Quaternion,
    ) -> [Position; 4] {
        let start = history.position.map(|axis| axis as f32);
        let now = Turned::new(orientation);
        let before = Turned::new(history.orientation);
        let alone = Turned::new(self.alone.orientation);
        let solid = self.plan.solids[history.kind];
        let reach = solid.below(alone.matrix[2]) + self.plan.lengths.contact;
        let is_low = |floor| self.alone.position[2] - floor < reach;
        let is_low = self.plan.motion.floor.is_some_and(is_low);
        let rolling = rolled(solid, start, &before, &now);
        // Near the floor, the coded orientation corrects the extrapolation: the body rolls on from the extrapolated
        // orientation to the coded one. A body without corners rolls all the way from the reference.
        let alone = match is_low {
            true if solid.has_corners() => rolled(solid, self.alone.position, &alone, &now),
            true => rolling,
            false => self.alone.position,
        };
        let moved = if self.is_near_player(history) {
            let arm = difference(history.position, self.player.from);
            let arm = transform(&self.player_rotation, arm);
            std::array::from_fn(|axis| self.player.to[axis] as f32 + arm[axis])
        } else {
            mul_add(start, self.alone.velocity, history.ticks as f32)
        };
        let carried = self.around.map(|around| around.position);
        [rolling, moved, carried.unwrap_or(alone), alone]
            .map(|position| quantize(self.plan, position))
    }

    /// Magnitudes of the residuals of bodies near the current body, by [`PoseField`](super::layout::PoseField).
    /// [`UNKNOWN_RESIDUAL`] if no body is near.
    pub(super) fn neighbour_residuals(&self) -> [usize; 2] {
        self.around.map_or([UNKNOWN_RESIDUAL; 2], |around| around.residuals)
    }

    /// Reports the actual values of a body, and the magnitudes of its largest residuals.
    pub(super) fn update(
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
        if self.plan.anchor == Some(history.body) {
            self.player = motion;
            self.player_rotation = matrix(motion.turn);
        }
        self.neighbours.add(motion);
    }
}

/// Ticks of the extrapolation of a body.
fn ticks_alone(history: &KinematicHistory) -> usize {
    history.ticks.min(MAX_EXTRAPOLATED_TICKS) as usize
}

/// Extrapolates up to [`LANES`] bodies.
fn extrapolate(plan: &Plan, histories: &mut [KinematicHistory], indices: &[usize]) {
    // Bodies lose spin in collisions, which constant spin does not foresee. Tuned on the recordings.
    const DAMPING: f32 = 0.87;
    const STEPS: usize = 2;
    let Some(&first) = indices.first() else { return };
    // Unused lanes repeat the first body.
    let lanes: [usize; LANES] =
        std::array::from_fn(|lane| indices.get(lane).copied().unwrap_or(first));
    let orientations = lanes.map(|lane| histories[lane].orientation);
    let floor = plan.motion.floor.unwrap_or(0.0);
    let past = lanes.map(|lane| histories[lane].past_orientations(&plan.components));
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
    let mut bodies: [MovingBody; LANES] = std::array::from_fn(|lane| {
        let history = &histories[lanes[lane]];
        let [x, y, z] = history.position.map(|axis| axis as f32);
        MovingBody {
            contact: plan.contacts[history.kind],
            position: [x, y, z - floor],
            orientation: history.orientation,
            velocity: history.mean_velocity(),
            spin: spins[0][lane],
        }
    });
    let velocities = bodies.map(|body| body.velocity);
    extrapolation::run(&mut bodies, ticks_alone(&histories[first]), plan);
    let turns = std::array::from_fn(|lane| {
        let ticks = histories[lanes[lane]].ticks as f32;
        let spin = mul_add(spins[0][lane], spins[1][lane], 1.0);
        spin.map(|spin| spin * 0.5 * DAMPING * ticks / STEPS as f32)
    });
    // In small turns, because `turned` is a series for small angles.
    let spun = extrapolation::turned_often(&orientations, &turns, STEPS);
    for (lane, &index) in indices.iter().enumerate() {
        let [x, y, z] = bodies[lane].position;
        histories[index].extrapolation = Some(Extrapolation {
            position: [x, y, z + floor],
            orientation: bodies[lane].orientation,
            spun: spun[lane],
            velocity: velocities[lane],
            spins: spins.map(|spins| spins[lane]),
        });
    }
}

/// Rounds a predicted position to steps and clamps it to the bounds. A body that was teleported seems to move at any
/// speed, so its prediction can be far outside.
pub(super) fn quantize(plan: &Plan, position: Vector) -> Position {
    let [x, y, z] = position;
    let position = f32x4::from([x, y, z, 0.0]);
    let sign = position & f32x4::from(-0.0);
    let rounded = (position + (f32x4::HALF | sign)).trunc_int().to_array();
    std::array::from_fn(|axis| {
        let bounds = &plan.bounds()[axis];
        rounded[axis].clamp(bounds.min, bounds.max)
    })
}

/// An orientation, with its matrix.
pub(super) struct Turned {
    orientation: Quaternion,
    pub(super) matrix: Matrix,
}

impl Turned {
    #[inline]
    pub(super) fn new(orientation: Quaternion) -> Self {
        Self { orientation, matrix: matrix(orientation) }
    }
}

/// Position of a body after it rolled on its lowest point from one orientation to another.
#[inline]
pub(super) fn rolled(solid: Solid, position: Vector, from: &Turned, to: &Turned) -> Vector {
    match solid {
        Solid::Cube(half) => tipped([half; 3], position, from, to),
        Solid::Box(half) => tipped(half, position, from, to),
        _ => rolled_round(solid, position, from, to),
    }
}

/// Like [`rolled`], for bodies without corners.
#[inline(never)]
fn rolled_round(solid: Solid, position: Vector, from: &Turned, to: &Turned) -> Vector {
    let on_ball = |position: Vector, radius: f32| {
        let [x, y, _] = rotation_vector(to.orientation, from.orientation);
        [position[0] + y * radius, position[1] - x * radius, position[2]]
    };
    match solid {
        Solid::Ball(radius) => on_ball(position, radius),
        Solid::Capsule { half, axis, radius } => {
            let mut end = [0.0; 3];
            end[axis] = half;
            on_ball(tipped(end, position, from, to), radius)
        }
        _ => position,
    }
}

/// Position of a box after it turned about its lowest corner, which stays in place. `half` has half of each side.
#[inline]
fn tipped(half: Vector, position: Vector, from: &Turned, to: &Turned) -> Vector {
    let heights = from.matrix[2];
    let lowest = std::array::from_fn(|axis| match heights[axis] < 0.0 {
        true => half[axis],
        false => -half[axis],
    });
    let [from, to] = [from, to].map(|turned| transform(&turned.matrix, lowest));
    std::array::from_fn(|axis| position[axis] + from[axis] - to[axis])
}
