//! Rigid-body extrapolation with ground contact: bodies fly, fall, and roll over their corners without
//! slipping or bouncing.
//!
//! Four bodies are computed at a time, one per SIMD lane. The result of a lane does not depend on the other lanes:
//! where lanes take different branches, a select keeps the old numbers.

use wide::f32x4;

use super::rotation::{
    Matrix, Quaternion, Real, Vector, cross, dot, matrix, mul_add, rotation_vector, turned,
    turned_a_little,
};
use crate::plan::{Contact, MotionPlan, Plan};

/// A body and its motion, in steps and ticks, with mass 1. The floor is at height 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovingBody {
    pub(crate) contact: Contact,
    pub(crate) position: Vector,
    pub(crate) orientation: Quaternion,
    pub(crate) velocity: Vector,
    /// Angular velocity, in radians per tick.
    pub(crate) spin: Vector,
}

/// Number of bodies computed at a time.
pub(crate) const LANES: usize = 4;

/// Simulates this many ticks. Bodies without known corners must not be mixed with others.
pub(crate) fn run(bodies: &mut [MovingBody; LANES], ticks: usize, plan: &Plan) {
    let half = columns(&bodies.map(|body| body.contact.half));
    let mut lanes = BodyLanes {
        motion: plan.motion,
        near_floor: plan.lengths.near_floor,
        half,
        reach: bodies.map(|body| body.contact.reach).into(),
        per_inertia: bodies.map(|body| body.contact.per_inertia).into(),
        position: columns(&bodies.map(|body| body.position)),
        orientation: columns(&bodies.map(|body| body.orientation)),
        velocity: columns(&bodies.map(|body| body.velocity)),
        spin: columns(&bodies.map(|body| body.spin)),
    };
    for _ in 0..ticks {
        lanes.step();
    }
    let position = rows(lanes.position);
    let orientation = rows(lanes.orientation);
    let velocity = rows(lanes.velocity);
    let spin = rows(lanes.spin);
    for (lane, body) in bodies.iter_mut().enumerate() {
        body.position = position[lane];
        body.orientation = orientation[lane];
        body.velocity = velocity[lane];
        body.spin = spin[lane];
    }
}

/// Rotation vectors from `from` to `to`, as [`rotation_vector`].
pub(crate) fn turns(to: &[Quaternion; LANES], from: &[Quaternion; LANES]) -> [Vector; LANES] {
    rows(rotation_vector(columns(to), columns(from)))
}

/// Orientations after `steps` small turns each, as [`turned`].
pub(crate) fn turned_often(
    orientations: &[Quaternion; LANES],
    turns: &[Vector; LANES],
    steps: usize,
) -> [Quaternion; LANES] {
    let turns = columns(turns);
    let orientations = columns(orientations);
    rows((0..steps).fold(orientations, |orientations, _| turned(orientations, turns)))
}

fn columns<const N: usize>(rows: &[[f32; N]; LANES]) -> [f32x4; N] {
    std::array::from_fn(|column| rows.map(|row| row[column]).into())
}

fn rows<const N: usize>(columns: [f32x4; N]) -> [[f32; N]; LANES] {
    let columns = columns.map(f32x4::to_array);
    std::array::from_fn(|row| columns.map(|column| column[row]))
}

/// A [`MovingBody`] in each lane.
struct BodyLanes {
    motion: MotionPlan,
    near_floor: f32,
    half: Vector<f32x4>,
    reach: f32x4,
    per_inertia: f32x4,
    position: Vector<f32x4>,
    orientation: Quaternion<f32x4>,
    velocity: Vector<f32x4>,
    spin: Vector<f32x4>,
}

impl BodyLanes {
    fn step(&mut self) {
        self.velocity[2] -= f32x4::from(self.motion.gravity);
        self.apply_contacts();
        self.velocity = self.velocity.map(|part| clamp(part, self.motion.max_velocity));
        self.spin = self.spin.map(|part| clamp(part, self.motion.max_spin));
        self.position = std::array::from_fn(|axis| self.position[axis] + self.velocity[axis]);
        self.orientation = turned_a_little(self.orientation, self.spin);
    }

    /// Stops corners that touch the floor and would go through it in this tick. The impulse acts against the whole
    /// velocity of the corner, as friction is high and bodies do not bounce.
    fn apply_contacts(&mut self) {
        // For most bodies in the air, this comparison is enough.
        let below = self.position[2] - self.reach;
        if below.simd_gt(f32x4::from(self.near_floor)).all() {
            return;
        }
        for arm in lowest_corners(&matrix(self.orientation), self.half) {
            let gap = self.position[2] + arm[2];
            let is_near = gap.simd_lt(f32x4::from(self.near_floor));
            if is_near.any() {
                self.stop(arm, gap, is_near);
            }
        }
    }

    /// Stops a corner that is near the floor in some lanes.
    fn stop(&mut self, arm: Vector<f32x4>, gap: f32x4, is_near: f32x4) {
        let per_inertia = self.per_inertia;
        let zero = f32x4::from(0.0);
        // The downward velocity that the corner can have in this tick.
        let lowest = -gap.if_less(zero, zero, gap);
        let lever = cross(self.spin, arm);
        let motion: Vector<f32x4> = std::array::from_fn(|axis| self.velocity[axis] + lever[axis]);
        let is_hit = is_near & motion[2].simd_lt(lowest);
        if !is_hit.any() {
            return;
        }
        let change = [-motion[0], -motion[1], lowest - motion[2]];
        // An impulse J changes the corner's velocity by (1 + r²/I) J − r (r·J)/I. This is solved for J. At a corner,
        // r²/I = 3 / (2/3) = 4.5.
        let along = dot(arm, change) * per_inertia;
        let impulse = mul_add(change, arm, along).map(|part| part * f32x4::from(1.0 / 5.5));
        let velocity: Vector<f32x4> =
            std::array::from_fn(|axis| self.velocity[axis] + impulse[axis]);
        let spin = mul_add(self.spin, cross(arm, impulse), per_inertia);
        for axis in 0..3 {
            self.velocity[axis] = is_hit.select(velocity[axis], self.velocity[axis]);
            self.spin[axis] = is_hit.select(spin[axis], self.spin[axis]);
        }
    }
}

/// Corners of the lowest face of a body relative to its centre, lowest corner first. Other corners rarely touch the
/// floor.
fn lowest_corners(rotation: &Matrix<f32x4>, half: Vector<f32x4>) -> [Vector<f32x4>; 4] {
    // From the centre to the middle of each face, or of the opposite face if it is lower.
    let mut faces: Matrix<f32x4> = std::array::from_fn(|side| {
        let downwards = f32x4::from(0.0).if_less(rotation[2][side], -half[side], half[side]);
        std::array::from_fn(|axis| rotation[axis][side] * downwards)
    });
    // Move the lowest face to the end.
    for side in [1, 0] {
        let [other, last] = [faces[side], faces[2]];
        let is_lower = other[2].simd_lt(last[2]);
        let select = |yes: Vector<f32x4>, no: Vector<f32x4>| {
            std::array::from_fn(|axis| is_lower.select(yes[axis], no[axis]))
        };
        faces[side] = select(last, other);
        faces[2] = select(other, last);
    }
    let [first, second, lowest] = faces;
    let arm = |signs: [f32; 2]| {
        std::array::from_fn(|axis| {
            first[axis] * f32x4::from(signs[0])
                + second[axis] * f32x4::from(signs[1])
                + lowest[axis]
        })
    };
    [[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]].map(arm)
}

fn clamp(number: f32x4, max: f32) -> f32x4 {
    let (min, max) = (f32x4::from(-max), f32x4::from(max));
    let number = number.if_less(min, min, number);
    max.if_less(number, max, number)
}
