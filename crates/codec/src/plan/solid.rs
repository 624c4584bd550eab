//! Shapes of bodies in steps, with z up, and distances for predictors and contexts.

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
    /// Slightly more than the distance from the centre to a corner. A body with a higher centre cannot touch the
    /// floor.
    pub(crate) reach: f32,
    /// Reciprocal of the moment of inertia about the centre, at mass 1.
    pub(crate) per_inertia: f32,
}

impl Contact {
    /// Contact data of a shape. Without [known corners](Solid::has_corners), the body never touches the floor.
    pub(super) fn of(solid: Solid) -> Self {
        let (half, mean) = match solid {
            Solid::Cube(half) => ([half; 3], half),
            // Half the side of a cube with the same distance of corners from the centre. The square of this distance
            // determines the reaction of a corner to an impulse.
            Solid::Box([x, y, z]) => ([x, y, z], ((x * x + y * y + z * z) / 3.0).sqrt()),
            _ => {
                return Self { half: [0.0; 3], reach: -FAR, per_inertia: 0.0 };
            }
        };
        // √3 × `mean` is the distance of a corner. A cube's inertia is mass × side² / 6.
        Self { half, reach: mean * 1.75, per_inertia: 1.0 / (mean * mean * (2.0 / 3.0)) }
    }
}

/// Farther than every position, in steps.
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

/// Distances in steps for predictors and contexts. They are tuned for cubes of 0.4 m and steps of 1/512 m, and scaled
/// by the size of a scene's bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lengths {
    /// Number of steps in this scene for a step in the cubes' scene.
    pub(crate) scale: f32,
    /// Number of classes of distance to the anchor per step.
    pub(crate) distance_classes: f32,
    /// Distance within which bodies can move with the anchor. The demo's player pulls bodies within 922 steps.
    pub(crate) anchor_reach: f32,
    /// Distance within which bodies can move with a body. Corners of two cubes can touch up to 355 steps.
    pub(crate) reach: f32,
    /// Height above which bodies rarely reach the floor within a packet's time.
    pub(crate) high: i32,
    /// Height below which the lowest point counts as touching the floor.
    pub(crate) contact: f32,
    /// Height above which points do not reach the floor within a tick at the speeds that matter.
    pub(crate) near_floor: f32,
    /// Binary logarithm of the side of a cell in the grid of resting bodies.
    pub(crate) cell_bits: u32,
    /// Difference between the distances from side to centre of the anchor and of another body.
    pub(crate) anchor_margin: i64,
    /// Upper bounds of all classes of clearance except the last.
    pub(crate) clearances: [i32; 5],
}

impl Lengths {
    pub(super) fn new(scale: f32) -> Self {
        let whole = |length: f32| (length * scale).round() as i32;
        // The nearest power of two.
        let cell_bits = ((512.0 * scale * (4.0 / 3.0)) as u32).checked_ilog2().unwrap_or(0);
        Self {
            scale,
            distance_classes: 1.0 / (64.0 * scale),
            anchor_reach: 900.0 * scale,
            reach: 350.0 * scale,
            high: whole(300.0),
            contact: 8.0 * scale,
            near_floor: 44.0 * scale,
            cell_bits: cell_bits.clamp(2, 14),
            anchor_margin: whole(280.0).into(),
            clearances: [-12.0, 5.0, 19.0, 59.0, 150.0].map(whole),
        }
    }

    /// Class of the height of the lowest point above the floor.
    #[inline]
    pub(crate) fn clearance_class(&self, clearance: i32) -> usize {
        self.clearances.iter().filter(|&&bound| clearance > bound).count()
    }
}
