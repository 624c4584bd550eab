//! The shapes of bodies in steps, with z up.

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
    /// Half of the straight part, the axis along which it lies, and the radius.
    Capsule { half: f32, axis: usize, radius: f32 },
    #[default]
    Unknown,
}

/// What of a body can touch the floor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Half of each side.
    pub(crate) half: [f32; 3],
    /// No corner is as far away as this.
    pub(crate) reach: f32,
    /// The reciprocal of the moment of inertia of a body of mass 1 about its centre.
    pub(crate) per_inertia: f32,
}

impl Contact {
    /// Nothing, unless its [corners are known](Solid::has_corners).
    pub(super) fn of(solid: Solid) -> Self {
        let (half, mean) = match solid {
            Solid::Cube(half) => ([half; 3], half),
            // The square of a corner's distance decides how it reacts to an impulse.
            Solid::Box([x, y, z]) => ([x, y, z], ((x * x + y * y + z * z) / 3.0).sqrt()),
            _ => {
                return Self {
                    half: [0.0; 3],
                    reach: -FAR,
                    per_inertia: 0.0,
                };
            }
        };
        Self {
            half,
            reach: mean * 1.75,
            per_inertia: 1.0 / (mean * mean * (2.0 / 3.0)),
        }
    }
}

/// Farther than anything.
const FAR: f32 = 1e9;

impl Solid {
    /// A shape of the caller. `order` has the caller's axes that become x, y and z.
    pub(super) fn new(shape: Shape, order: [usize; 3], steps: f32) -> Self {
        match shape {
            Shape::Box([x, y, z]) if x == y && y == z => Self::Cube(x * steps),
            Shape::Box(half) => Self::Box(order.map(|axis| half[axis] * steps)),
            Shape::Ball(radius) => Self::Ball(radius * steps),
            Shape::Capsule { half, radius } => Self::Capsule {
                half: half * steps,
                // Its own y.
                axis: order.iter().position(|&axis| axis == 1).unwrap_or(1),
                radius: radius * steps,
            },
            Shape::Unknown => Self::Unknown,
        }
    }

    /// How far below its centre the lowest point is, given the [heights of its axes](crate::entropy::rotation::height_row).
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

    /// Whether its corners are known.
    pub(crate) const fn has_corners(self) -> bool {
        matches!(self, Self::Cube(_) | Self::Box(_))
    }

    /// About half of its size.
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
