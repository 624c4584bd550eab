//! What is said of poses, shapes and fields when they are registered.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use bevy_math::Vec3;
use cubewire_codec::schema::{self, FieldForm, Levels};

/// Where bodies can be, and how exactly they are sent. Positions outside are sent as the nearest inside.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    axes: [Range<f64>; 3],
    step: f64,
    /// None for as many as the step needs.
    component_bits: Option<u8>,
}

impl Pose {
    /// Bounds along x, y and z, in units. The default step is 1/128 of a unit. Orientations are by default as exact as
    /// [`orientation_bits`](Self::orientation_bits) says.
    #[must_use]
    pub const fn within(x: Range<f64>, y: Range<f64>, z: Range<f64>) -> Self {
        Self {
            axes: [x, y, z],
            step: 1.0 / 128.0,
            component_bits: None,
        }
    }

    /// Distance from a position to the next, in units. Multiples of it are exact. Along each axis there are at most 2²⁰ steps: 8 km of 1/128 m.
    #[must_use]
    pub const fn step(mut self, units: f64) -> Self {
        self.step = units;
        self
    }

    /// Bits of each of the three components of an orientation that are sent, `2..=15`. With more than 12, packets are larger,
    /// because they are not coded arithmetically.
    ///
    /// The default depends on the [`step`](Self::step): the error of an orientation moves a point 5 units from the centre of a
    /// body by at most a step. It is 12 for 1/128 of a unit, 10 for 1/32, and never below 9. It is never above 12 either: with
    /// steps below 1/164 of a unit, such a point can be off by 0.006 units.
    ///
    /// An orientation is off by at most 5 / (2^bits − 2) radians: 0.6 degrees with 9 bits, 0.07 with 12. The identity is exact.
    /// So are quarter and half turns about an axis, and half turns about a diagonal between two axes.
    #[must_use]
    pub const fn orientation_bits(mut self, bits: u8) -> Self {
        self.component_bits = Some(bits);
        self
    }

    pub(crate) fn ranges(&self) -> [schema::Range; 3] {
        let range = |axis: &Range<f64>| schema::Range::new(axis.start, axis.end, 1.0 / self.step);
        [0, 1, 2].map(|axis| range(&self.axes[axis]))
    }

    pub(crate) fn component_bits(&self) -> u8 {
        self.component_bits.unwrap_or_else(|| {
            let is_exact = |&bits: &u8| max_turn(bits) * ARM <= self.step;
            let (least, most) = DEFAULT_BITS.into_inner();
            (least..most).find(is_exact).unwrap_or(most)
        })
    }
}

/// Distance from the centre of a body at which its default orientation is as exact as its position, in units.
const ARM: f64 = 5.0;

/// Bits of a component by default: the article's at least, and at most as many as arithmetic coding takes.
const DEFAULT_BITS: RangeInclusive<u8> = 9..=12;

/// The largest error of an orientation, in radians, if its components have this number of bits.
///
/// Each of three components is off by half a step at most. The fourth follows with a slope of at most √3 along them, so that
/// the quaternion is off by √12 half steps of √2 / max, and the rotation by twice as much: √24 / max. The rest is for the slope,
/// which is a little steeper within a step.
fn max_turn(bits: u8) -> f64 {
    5.0 / f64::from(Levels::Odd.max_component(bits))
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

/// The values of a field, as numbers. Others are sent as the nearest of them, and NaN as 0 or as the nearest to it.
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

#[cfg(test)]
mod tests {
    use bevy_math::Quat;
    use cubewire_codec::quantize::SmallestThree;

    use super::*;

    fn pose() -> Pose {
        Pose::within(-100.0..100.0, -10.0..50.0, -100.0..100.0)
    }

    #[test]
    fn default_bits_follow_from_the_step() {
        for (step, bits) in [
            (1.0 / 512.0, 12),
            (1.0 / 128.0, 12),
            (1.0 / 64.0, 11),
            (1.0 / 32.0, 10),
            (0.1, 9),
            (f64::NAN, 12),
        ] {
            assert_eq!(pose().step(step).component_bits(), bits, "{step}");
        }
        assert_eq!(pose().component_bits(), 12);
        assert_eq!(pose().orientation_bits(9).step(0.001).component_bits(), 9);
    }

    #[test]
    fn a_point_5_units_away_stays_within_a_step() {
        // A fixed sequence of rotations, among them the worst: of components that are nearly equal.
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (f64::from(state) / f64::from(u32::MAX) * 2.0 - 1.0) as f32
        };
        for step in [1.0 / 164.0, 1.0 / 128.0, 1.0 / 80.0, 1.0 / 40.0, 1.0 / 20.0] {
            let bits = pose().step(step).component_bits();
            for round in 0..20_000 {
                let mut components = [random(), random(), random(), random()];
                if round % 2 == 0 {
                    components = components.map(|part| 1.0 + 0.01 * part);
                }
                let rotation = Quat::from_array(components).normalize();
                let packed = SmallestThree::quantize(rotation, bits, Levels::Odd).unwrap();
                let axis = Vec3::new(random(), random(), random());
                let point = axis.normalize_or(Vec3::X) * ARM as f32;
                let shown = packed.dequantize(bits, Levels::Odd) * point;
                let off = f64::from(shown.distance(rotation * point));
                assert!(off <= step, "{off} of {step}: {rotation}");
            }
        }
    }
}
