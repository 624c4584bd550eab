//! Bodies that roll on the floor without slipping.

use super::rotation::{Matrix, Quaternion, Vector, matrix, rotation_vector, transform};
use crate::plan::Solid;

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

/// Position of a box after it turned about its lowest corner. `half` has half of each side.
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
