//! Bodies in the second decoder: the initial state and its block, quantization, ranges, and the fields in a packet.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;

use super::packet::{
    Bits, FULL, OFF, POSITION_AFFINE, POSITION_QUANTIZED, Stages, TWO_RANGES, VELOCITY_AFFINE,
    VELOCITY_AT_REST_FLAG, VELOCITY_OMITTED, VELOCITY_QUANTIZED, binary_digits, check, length,
    single,
};
use super::scene::Scene;

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
    let turned_velocity = scene.turned(body.velocity);
    let velocity = |steps: f64, range: RangeInclusive<i64>| {
        let steps = scene.velocity_steps(steps);
        Some(turned_velocity.map(|value| round(value, steps, &range)))
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
            width => smallest_three(orientation.map(f64::from), scene.largest_component(width)),
        },
        velocity: match velocity_code {
            VELOCITY_QUANTIZED | VELOCITY_AT_REST_FLAG => velocity(32.0, QUANTIZED_VELOCITY),
            VELOCITY_AFFINE => velocity(2097151.0 / 128.0, AFFINE_VELOCITY),
            VELOCITY_OMITTED => None,
            _ => Some(turned_velocity.map(word)),
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

/// The growing ranges of relative positions and orientations, by class (section 9).
const CLASSES: [([u32; 3], [u32; 3]); 6] = [
    ([3, 5, 8], [2, 4, 7]),
    ([3, 5, 9], [2, 3, 6]),
    ([4, 5, 9], [3, 4, 6]),
    ([6, 6, 9], [5, 5, 7]),
    ([7, 7, 10], [6, 6, 7]),
    ([3, 7, 9], [6, 6, 7]),
];

/// Reads a body that follows (section 7), and its values (section 13). `body` starts as the reference's, and is
/// overwritten.
pub(crate) fn read_body(
    bits: &mut Bits,
    scene: &Scene,
    stages: Stages,
    body: &mut Body,
    predicted: [i64; 3],
    class: usize,
) -> Result<(), String> {
    let (position, orientation) = read_flags(bits, stages.codes[6], &mut body.interacting)?;
    if position {
        read_position(bits, scene, stages, &mut body.position, predicted, class)?;
    }
    if orientation {
        read_orientation(bits, scene, stages, &mut body.orientation, class)?;
    }
    // If velocity is omitted, the reference omits it, too, because it has the same precision.
    if let Some(velocity) = &mut body.velocity {
        read_velocity(bits, stages.codes[1], velocity)?;
    }
    read_values(bits, scene, stages.codes[6], &mut body.values)
}

/// Reads the other fields of a scene (section 13). `values` start as the reference's.
fn read_values(
    bits: &mut Bits,
    scene: &Scene,
    flags: u8,
    values: &mut [i64],
) -> Result<(), String> {
    if flags != OFF && !values.is_empty() && !bits.bit()? {
        return Ok(());
    }
    for (value, &largest) in values.iter_mut().zip(&scene.values) {
        if flags == OFF || bits.bit()? {
            *value = bits.number(binary_digits(largest as u64))?;
            check(*value <= largest, "a value out of range")?;
        }
    }
    Ok(())
}

/// Reads the flags (section 7). Returns whether position and orientation follow.
fn read_flags(bits: &mut Bits, flags: u8, interacting: &mut bool) -> Result<(bool, bool), String> {
    let joint = flags == 2;
    if !joint {
        *interacting = bits.bit()?;
    } else if bits.bit()? {
        return Ok((true, true)); // usual
    } else {
        *interacting ^= bits.bit()?;
    }
    if flags == OFF {
        return Ok((true, true));
    }
    Ok((bits.bit()?, bits.bit()?))
}

/// Reads a position (section 7). `position` starts as the reference's.
fn read_position(
    bits: &mut Bits,
    scene: &Scene,
    stages: Stages,
    position: &mut [i64; 3],
    predicted: [i64; 3],
    class: usize,
) -> Result<(), String> {
    let [_, _, precision, _, relative, ..] = stages.codes;
    let (ranges, widths) = match precision {
        POSITION_QUANTIZED => {
            let ranges = scene.positions(stages.steps).map(|(_, range)| range);
            let width =
                |range: &RangeInclusive<i64>| binary_digits((range.end() - range.start()) as u64);
            let widths = ranges.each_ref().map(width);
            (ranges, widths)
        }
        POSITION_AFFINE => (AFFINE_POSITION, [25, 25, 21]),
        _ => {
            *position = bits.singles()?;
            return Ok(());
        }
    };
    let is_difference = precision == POSITION_AFFINE && !bits.bit()?;
    let is_relative = relative != OFF && bits.bit()?;
    for axis in 0..3 {
        let range = &ranges[axis];
        position[axis] = if is_difference {
            position[axis] + bits.number(21)? - 1048576
        } else if is_relative && relative == TWO_RANGES {
            position[axis] + bits.signed_in(&stages.ranges[1])?
        } else if is_relative {
            predicted[axis] + bits.signed_in(&CLASSES[class].0)?
        } else {
            range.start() + bits.number(widths[axis])?
        };
        check(range.contains(&position[axis]), "a position out of range")?;
    }
    Ok(())
}

/// Reads an orientation (section 7). `orientation` starts as the reference's.
fn read_orientation(
    bits: &mut Bits,
    scene: &Scene,
    stages: Stages,
    orientation: &mut [i64; 4],
    class: usize,
) -> Result<(), String> {
    let [width, .., relative, _] = stages.codes;
    if stages.codes[0] == FULL {
        *orientation = bits.quaternion()?;
        return Ok(());
    }
    let range = 0..=scene.largest_component(width);
    let width = u32::from(width);
    if relative == OFF || !bits.bit()? {
        orientation[0] = bits.number(2)?;
        for component in &mut orientation[1..] {
            *component = bits.number(width)?;
        }
    } else {
        let class = &CLASSES[class].1;
        let two = &stages.ranges[2];
        let at_nine_bits: &[u32] = if relative == TWO_RANGES { two } else { class };
        // Wider by width − 9, but at least 1.
        let wider = |bits: &u32| (bits + width).saturating_sub(9).max(1);
        let widths: Vec<u32> = at_nine_bits.iter().map(wider).collect();
        for component in &mut orientation[1..] {
            *component += bits.signed_in(&widths)?;
        }
    }
    let fits = orientation[1..].iter().all(|component| range.contains(component));
    check(fits, "a component out of range")
}

/// Reads a velocity that is not omitted (section 7). `velocity` starts as the reference's.
fn read_velocity(bits: &mut Bits, stage: u8, velocity: &mut [i64; 3]) -> Result<(), String> {
    match stage {
        FULL => *velocity = bits.singles()?,
        VELOCITY_AT_REST_FLAG if bits.bit()? => *velocity = [0; 3],
        VELOCITY_AFFINE => {
            for axis in velocity {
                *axis += bits.number(21)? - 1048576;
                let fits = AFFINE_VELOCITY.contains(axis);
                check(fits, "a velocity out of range")?;
            }
        }
        _ => {
            for axis in velocity {
                *axis = bits.number(11)? - 1024;
            }
        }
    }
    Ok(())
}
