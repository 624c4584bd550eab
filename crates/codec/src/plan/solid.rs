//! Shapes of bodies in steps, with z up.

use crate::schema::Shape;

/// The shape of a body, in steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Solid {
    /// Half of a side.
    Cube(f32),
    /// Half of each side.
    Box([f32; 3]),
    /// The radius.
    Ball(f32),
    /// Half of the straight part, its axis, and the radius.
    Capsule { half: f32, axis: usize, radius: f32 },
    #[default]
    Unknown,
}

/// Data of a body for contacts with the floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Half of each side.
    pub(crate) half: [f32; 3],
    /// Distance from the centre beyond every corner.
    pub(crate) reach: f32,
    /// Reciprocal of the moment of inertia about the centre, at mass 1.
    pub(crate) per_inertia: f32,
}

impl Contact {
    /// Contact data of a shape. Without [known corners](Solid::has_corners), the body never touches the floor.
    pub(super) fn of(solid: Solid) -> Self {
        let (half, mean) = match solid {
            Solid::Cube(half) => ([half; 3], half),
            // The squared distance of a corner determines its reaction to an impulse.
            Solid::Box([x, y, z]) => ([x, y, z], ((x * x + y * y + z * z) / 3.0).sqrt()),
            _ => {
                return Self { half: [0.0; 3], reach: -FAR, per_inertia: 0.0 };
            }
        };
        Self { half, reach: mean * 1.75, per_inertia: 1.0 / (mean * mean * (2.0 / 3.0)) }
    }
}

/// Beyond every position.
const FAR: f32 = 1e9;

impl Solid {
    /// Converts a shape of the schema. `order` has the caller's axes that become x, y and z.
    pub(super) fn new(shape: Shape, order: [usize; 3], steps: f32) -> Self {
        match shape {
            Shape::Box([x, y, z]) if x == y && y == z => Self::Cube(x * steps),
            Shape::Box(half) => Self::Box(order.map(|axis| half[axis] * steps)),
            Shape::Ball(radius) => Self::Ball(radius * steps),
            Shape::Capsule { half, radius } => Self::Capsule {
                half: half * steps,
                // Capsules lie along the caller's y axis.
                axis: order.iter().position(|&axis| axis == 1).unwrap_or(1),
                radius: radius * steps,
            },
            Shape::Unknown => Self::Unknown,
        }
    }

    /// Height of the centre above the lowest point, given the
    /// [heights of the body's axes](crate::entropy::rotation::height_row).
    #[inline]
    pub(crate) fn below(self, heights: [f32; 3]) -> f32 {
        let [x, y, z] = heights.map(f32::abs);
        match self {
            Self::Cube(half) => half * (x + y + z),
            Self::Box(half) => half[0] * x + half[1] * y + half[2] * z,
            Self::Ball(radius) => radius,
            Self::Capsule { half, axis, radius } => half * [x, y, z][axis] + radius,
            Self::Unknown => 0.0,
        }
    }

    pub(crate) const fn has_corners(self) -> bool {
        matches!(self, Self::Cube(_) | Self::Box(_))
    }

    /// Approximate half size.
    pub(super) fn half(self) -> f32 {
        match self {
            Self::Cube(half) => half,
            Self::Box([x, y, z]) => (x + y + z) / 3.0,
            Self::Ball(radius) => radius,
            Self::Capsule { half, radius, .. } => radius + half / 2.0,
            Self::Unknown => 0.0,
        }
    }
}
