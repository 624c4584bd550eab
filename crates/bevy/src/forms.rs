//! How poses, shapes and fields are quantized, as set at registration.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use bevy_math::Vec3;
use cubewire_codec::schema::{self, FieldForm, Levels};

/// Bounds and precision of positions and orientations. Positions out of bounds are clamped.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    axes: [Range<f64>; 3],
    step: f64,
    /// `None` derives the number of bits from the step.
    component_bits: Option<u8>,
}

impl Pose {
    /// Returns a pose with these bounds along x, y and z, in units. The default step is 1/128 unit.
    /// [`orientation_bits`](Self::orientation_bits) describes the default precision of orientations.
    pub const fn within(x: Range<f64>, y: Range<f64>, z: Range<f64>) -> Self {
        Self { axes: [x, y, z], step: 1.0 / 128.0, component_bits: None }
    }

    /// Sets the distance between neighbouring positions, in units. Multiples of it are sent exactly. Each axis has at
    /// most 2²⁰ steps, which is 8 km with steps of 1/128 m.
    #[must_use]
    pub const fn step(mut self, units: f64) -> Self {
        self.step = units;
        self
    }

    /// Sets the bits of each of the three components of a sent orientation, `2..=15`. Above 12, packets are larger,
    /// because orientations are then not coded arithmetically.
    ///
    /// The default follows from the [`step`](Self::step): the orientation error moves a point 5 units from a body's
    /// centre by at most one step. That gives 12 bits for 1/128 unit and 10 for 1/32. The default is always `9..=12`,
    /// so with steps below 1/164 unit such a point can be off by 0.006 units.
    ///
    /// The largest error of an orientation is 5 / (2^bits − 2) radians: 0.6° with 9 bits, 0.07° with 12. The identity,
    /// quarter and half turns about an axis, and half turns about a diagonal between two axes are exact.
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

/// Distance from a body's centre at which the default orientation is as precise as the position, in units.
const ARM: f64 = 5.0;

/// Range of the default bits of a component. 9 is the article's number; 12 is the most that arithmetic coding supports.
const DEFAULT_BITS: RangeInclusive<u8> = 9..=12;

/// Returns the largest error of an orientation with this number of bits per component, in radians.
///
/// Each of the three sent components is off by at most half a step. The fourth is derived from them with a slope of at
/// most √3. So the quaternion is off by √12 half steps of √2 / max, and the rotation by twice that: √24 / max. 5
/// instead of √24 ≈ 4.9 allows for the slightly steeper slope within a step.
fn max_turn(bits: u8) -> f64 {
    5.0 / f64::from(Levels::Odd.max_component(bits))
}

/// Approximate shape of a kind of body, in units. A good approximation makes packets smaller; a wrong one has no other
/// effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape(pub(crate) schema::Shape);

impl Shape {
    /// Unknown or any other shape.
    pub const UNKNOWN: Self = Self(schema::Shape::Unknown);

    /// A box with these half extents.
    pub const fn cuboid(half_extents: Vec3) -> Self {
        Self(schema::Shape::Box(half_extents.to_array()))
    }

    /// A ball.
    pub const fn ball(radius: f32) -> Self {
        Self(schema::Shape::Ball(radius))
    }

    /// A capsule along the local y axis. `half_length` is half the length of the cylinder between the two half balls.
    pub const fn capsule(half_length: f32, radius: f32) -> Self {
        Self(schema::Shape::Capsule { half: half_length, radius })
    }
}

/// Numeric form of a field. A value outside its range is clamped to the nearest legal one. NaN becomes 0, or the legal
/// value nearest to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field(FieldForm);

impl Field {
    /// 0 or 1.
    pub const fn flag() -> Self {
        Self(FieldForm::Flag)
    }

    /// An integer in this range.
    pub const fn int(range: RangeInclusive<i32>) -> Self {
        Self(FieldForm::Int { min: *range.start(), max: *range.end() })
    }

    /// A number in this range, in multiples of `step` from its start.
    pub const fn float(range: RangeInclusive<f32>, step: f32) -> Self {
        Self(FieldForm::Float { min: *range.start(), max: *range.end(), step })
    }

    /// An angle in turns, which wraps, with 2^`bits` steps; `bits` is `1..=16`. Decoded values are in `0.0..1.0`: −0.25
    /// is decoded as 0.75.
    pub const fn angle(bits: u8) -> Self {
        Self(FieldForm::Angle { bits })
    }

    pub(crate) fn schema(self, name: &'static str) -> schema::Field {
        schema::Field { name: Cow::Borrowed(name), form: self.0 }
    }
}

#[cfg(test)]
mod tests {
    use bevy_math::Quat;
    use cubewire_codec::quantize::SmallestThree;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

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
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut random = || random.random_range(-1.0..1.0_f32);
        for step in [1.0 / 164.0, 1.0 / 128.0, 1.0 / 80.0, 1.0 / 40.0, 1.0 / 20.0] {
            let bits = pose().step(step).component_bits();
            for round in 0..20_000 {
                let mut components = [random(), random(), random(), random()];
                if round % 2 == 0 {
                    // The worst case is nearly equal components.
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
