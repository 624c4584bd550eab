//! Bodies in the second decoder: the initial state and its block, quantization, and ranges.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;

use crate::second_bits::{Bits, check, length, single};
use crate::second_scene::Scene;
use crate::second_stages::{
    FULL, POSITION_AFFINE, POSITION_QUANTIZED, Stages, VELOCITY_AFFINE, VELOCITY_AT_REST_FLAG,
    VELOCITY_OMITTED, VELOCITY_QUANTIZED,
};

/// A body of the initial state, in floats (section 3).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FloatBody {
    pub(crate) interacting: bool,
    pub(crate) position: [f32; 3],
    /// x, y, z, w.
    pub(crate) orientation: [f32; 4],
    pub(crate) velocity: [f32; 3],
}

/// A body as integers (section 2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub(crate) interacting: bool,
    pub(crate) position: [i64; 3],
    /// Full: the words of x, y, z and w. Smallest three: *largest* and the three components.
    pub(crate) orientation: [i64; 4],
    /// `None` if velocity is omitted.
    pub(crate) velocity: Option<[i64; 3]>,
    /// The scene's other fields (section 13).
    pub(crate) values: Vec<i64>,
}

// The ranges of section 12.
pub(crate) const AFFINE_POSITION: [RangeInclusive<i64>; 3] =
    [-16777208..=16777208, -16777208..=16777208, 0..=2097151];
const QUANTIZED_VELOCITY: RangeInclusive<i64> = -1024..=1023;
pub(crate) const AFFINE_VELOCITY: RangeInclusive<i64> = -524287..=524287;

/// Decodes the initial state from its block (section 10).
pub(crate) fn decode_block(bytes: &[u8]) -> Result<Vec<FloatBody>, String> {
    let mut bits = Bits { bytes, at: 0 };
    let count = bits.number(17)? as usize;
    check(count <= 65536, "more than the most bodies")?;
    let length = 17 + count * (1 + 96 + 128 + 96);
    check(bytes.len() == length.div_ceil(8), "a wrong length")?;
    let mut bodies = Vec::with_capacity(count);
    for _ in 0..count {
        bodies.push(FloatBody {
            interacting: bits.bit()?,
            position: bits.singles::<3>()?.map(single),
            orientation: bits.quaternion()?.map(single),
            velocity: bits.singles::<3>()?.map(single),
        });
    }
    bits.finish()?;
    Ok(bodies)
}

/// Quantizes a body of the initial state to the precision of a packet (sections 2, 3 and 13).
pub(crate) fn quantize(body: &FloatBody, stages: Stages, scene: &Scene) -> Body {
    let [orientation_code, velocity_code, position_code, ..] = stages.codes;
    let word = |single: f32| i64::from(single.to_bits());
    // Multiplies by steps per metre. Metres per step, 32/(2²¹ − 1), is not exact as a double, but (2²¹ − 1)/32 is.
    let round = |value: f32, steps: f64, range: &RangeInclusive<i64>| {
        nearest(f64::from(value) * steps).clamp(*range.start(), *range.end())
    };
    let turned = scene.turned(body.position);
    let position = |axes: [(f64, RangeInclusive<i64>); 3]| {
        [0, 1, 2].map(|axis| round(turned[axis], axes[axis].0, &axes[axis].1))
    };
    let [x, y, z, w] = body.orientation;
    let [x, y, z] = scene.turned([x, y, z]);
    let orientation = [x, y, z, w];
    let velocity = |steps: f64, range: RangeInclusive<i64>| {
        Some(body.velocity.map(|value| round(value, steps, &range)))
    };
    Body {
        interacting: body.interacting && scene.has_flag,
        position: match position_code {
            POSITION_QUANTIZED => position(scene.positions(stages.steps)),
            POSITION_AFFINE => position(AFFINE_POSITION.map(|range| (2097151.0 / 32.0, range))),
            _ => turned.map(word),
        },
        orientation: match orientation_code {
            FULL => orientation.map(word),
            width => {
                let largest = scene.largest_component(width);
                smallest_three(orientation.map(f64::from), largest)
            }
        },
        velocity: match velocity_code {
            VELOCITY_QUANTIZED | VELOCITY_AT_REST_FLAG => velocity(32.0, QUANTIZED_VELOCITY),
            VELOCITY_AFFINE => velocity(2097151.0 / 128.0, AFFINE_VELOCITY),
            VELOCITY_OMITTED => None,
            _ => Some(body.velocity.map(word)),
        },
        values: vec![0; scene.values.len()],
    }
}

/// Smallest three of a quaternion. `most` is the largest integer of a component (section 2).
fn smallest_three(quaternion: [f64; 4], most: i64) -> [i64; 4] {
    let length = length(quaternion);
    let unit = quaternion.map(|component| component / length);
    let mut largest = 0;
    for index in 1..4 {
        if unit[index].abs() > unit[largest].abs() {
            largest = index;
        }
    }
    let sign = if unit[largest] < 0.0 { -1.0 } else { 1.0 };
    let steps = most as f64;
    let mut integers = [largest as i64; 4];
    let others = (0..4).filter(|index| *index != largest);
    for (integer, index) in integers[1..].iter_mut().zip(others) {
        let scaled = (sign * unit[index] * SQRT_2 + 1.0) / 2.0 * steps;
        *integer = nearest(scaled).clamp(0, most);
    }
    integers
}

/// round(v) (section 3).
fn nearest(value: f64) -> i64 {
    let half = if value < 0.0 { -0.5 } else { 0.5 };
    (value + half) as i64
}
