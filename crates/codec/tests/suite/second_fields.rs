//! Reads the fields of a body in the second decoder: flags, position, orientation and velocity.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::ops::RangeInclusive;

use crate::second_bits::{Bits, binary_digits, check};
use crate::second_bodies::{AFFINE_POSITION, AFFINE_VELOCITY, Body};
use crate::second_scene::Scene;
use crate::second_stages::{
    FULL, OFF, POSITION_AFFINE, POSITION_QUANTIZED, Stages, TWO_RANGES, VELOCITY_AFFINE,
    VELOCITY_AT_REST_FLAG,
};

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
