//! Bodies that roll on the floor without slipping.

use super::rotation::{Matrix, Quaternion, Vector, matrix, rotation_vector, transform};
use crate::plan::Solid;

/// An orientation, and its matrix.
pub(super) struct Turned {
    orientation: Quaternion,
    pub(super) matrix: Matrix,
}

impl Turned {
    #[inline]
    pub(super) fn new(orientation: Quaternion) -> Self {
        Self {
            orientation,
            matrix: matrix(orientation),
        }
    }
}

/// Where a body at `position` is after it has rolled on its lowest point, from one orientation to another.
#[inline]
pub(super) fn rolled(solid: Solid, position: Vector, from: &Turned, to: &Turned) -> Vector {
    // A point stays where it is.
    let on = |point: Vector| {
        let (from, to) = (transform(&from.matrix, point), transform(&to.matrix, point));
        std::array::from_fn(|axis| position[axis] + from[axis] - to[axis])
    };
    let lowest = |half: Vector| {
        let heights = from.matrix[2];
        std::array::from_fn(|axis| match heights[axis] < 0.0 {
            true => half[axis],
            false => -half[axis],
        })
    };
    let on_ball = |position: Vector, radius: f32| {
        let [x, y, _] = rotation_vector(to.orientation, from.orientation);
        [
            position[0] + y * radius,
            position[1] - x * radius,
            position[2],
        ]
    };
    match solid {
        Solid::Cube(half) => on(lowest([half; 3])),
        Solid::Box(half) => on(lowest(half)),
        Solid::Ball(radius) => on_ball(position, radius),
        Solid::Capsule { half, axis, radius } => {
            let mut end = [0.0; 3];
            end[axis] = half;
            on_ball(on(lowest(end)), radius)
        }
        Solid::Unknown => position,
    }
}
