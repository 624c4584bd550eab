//! What is said of poses, shapes and fields when they are registered.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use bevy_math::Vec3;
use cubewire_codec::schema::{self, FieldForm};

/// Where bodies can be, and how exactly they are sent. Positions outside are sent as the nearest inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    axes: [Range<f64>; 3],
    step: f64,
    component_bits: u8,
}

impl Pose {
    /// Bounds along x, y and z, in units. Default step: 1/128 of a unit; default of an orientation: 9 bits a component.
    #[must_use]
    pub const fn within(x: Range<f64>, y: Range<f64>, z: Range<f64>) -> Self {
        Self {
            axes: [x, y, z],
            step: 1.0 / 128.0,
            component_bits: 9,
        }
    }

    /// Distance from a position to the next, in units. Along each axis there are at most 2²⁰ steps: 8 km of 1/128 m.
    #[must_use]
    pub const fn step(mut self, units: f64) -> Self {
        self.step = units;
        self
    }

    /// Bits of each of the three components of an orientation that are sent, `2..=15`: 9 are about half a degree.
    #[must_use]
    pub const fn orientation_bits(mut self, bits: u8) -> Self {
        self.component_bits = bits;
        self
    }

    pub(crate) fn ranges(&self) -> [schema::Range; 3] {
        let range = |axis: &Range<f64>| schema::Range::new(axis.start, axis.end, 1.0 / self.step);
        [0, 1, 2].map(|axis| range(&self.axes[axis]))
    }

    pub(crate) const fn component_bits(&self) -> u8 {
        self.component_bits
    }
}

/// The shape of a kind of body, in units. It makes packets smaller if it is about right, and harms nothing if it is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape(schema::Shape);

impl Shape {
    /// Any other.
    pub const UNKNOWN: Self = Self(schema::Shape::Unknown);

    /// A box with these half extents.
    #[must_use]
    pub const fn cuboid(half_extents: Vec3) -> Self {
        Self(schema::Shape::Box(half_extents.to_array()))
    }

    /// A ball.
    #[must_use]
    pub const fn ball(radius: f32) -> Self {
        Self(schema::Shape::Ball(radius))
    }

    /// A cylinder along its own y between two half balls; `half_length` is that of the cylinder.
    #[must_use]
    pub const fn capsule(half_length: f32, radius: f32) -> Self {
        Self(schema::Shape::Capsule {
            half: half_length,
            radius,
        })
    }

    pub(crate) const fn schema(self) -> schema::Shape {
        self.0
    }
}

/// The values of a field, as numbers. Others are sent as the nearest of them, and a number that is not one as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field(FieldForm);

impl Field {
    /// 0 or 1.
    #[must_use]
    pub const fn flag() -> Self {
        Self(FieldForm::Flag)
    }

    /// A whole number.
    #[must_use]
    pub const fn int(range: RangeInclusive<i32>) -> Self {
        Self(FieldForm::Int {
            min: *range.start(),
            max: *range.end(),
        })
    }

    /// A number in steps from the first of the range.
    #[must_use]
    pub const fn float(range: RangeInclusive<f32>, step: f32) -> Self {
        Self(FieldForm::Float {
            min: *range.start(),
            max: *range.end(),
            step,
        })
    }

    /// An angle in turns, which wraps: in 2 to the power of `bits` steps, `1..=16`. What arrives is in `0.0..1.0`: −0.25 as 0.75.
    #[must_use]
    pub const fn angle(bits: u8) -> Self {
        Self(FieldForm::Angle { bits })
    }

    pub(crate) fn schema(self, name: &'static str) -> schema::Field {
        schema::Field {
            name: Cow::Borrowed(name),
            form: self.0,
        }
    }
}
