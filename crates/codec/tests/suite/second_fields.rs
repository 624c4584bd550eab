//! The fields of a body as the second decoder reads them: flags, position, orientation and velocity.
//!
//! Section numbers in comments are those of `WIRE.md`.

use crate::second_bits::{Bits, binary_digits, check};
use crate::second_bodies::{AFFINE_POSITION, AFFINE_VELOCITY, Body, quantized_position};
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

/// A body that follows (section 7). `body` is the reference's; what is read replaces its fields.
pub(crate) fn read_body(
    bits: &mut Bits,
    stages: Stages,
    body: &mut Body,
    predicted: [i64; 3],
    class: usize,
) -> Result<(), String> {
    let (position, orientation) = read_flags(bits, stages.codes[6], &mut body.interacting)?;
    if position {
        read_position(bits, stages, &mut body.position, predicted, class)?;
    }
    if orientation {
        read_orientation(bits, stages, &mut body.orientation, class)?;
    }
    // A velocity that is omitted is also none in the reference, which has the same precision.
    if let Some(velocity) = &mut body.velocity {
        read_velocity(bits, stages.codes[1], velocity)?;
    }
    Ok(())
}

/// The flags (section 7): whether position and orientation follow.
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

/// A position (section 7). `position` is the reference's.
fn read_position(
    bits: &mut Bits,
    stages: Stages,
    position: &mut [i64; 3],
    predicted: [i64; 3],
    class: usize,
) -> Result<(), String> {
    let [_, _, precision, _, relative, ..] = stages.codes;
    let (ranges, widths) = match precision {
        POSITION_QUANTIZED => {
            let width = binary_digits(32 * stages.steps as u64 - 1);
            let widths = [width + 4, width + 4, width];
            (quantized_position(stages.steps), widths)
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

/// An orientation (section 7). `orientation` is the reference's.
fn read_orientation(
    bits: &mut Bits,
    stages: Stages,
    orientation: &mut [i64; 4],
    class: usize,
) -> Result<(), String> {
    let [width, .., relative, _] = stages.codes;
    let width = u32::from(width);
    if stages.codes[0] == FULL {
        *orientation = bits.quaternion()?;
    } else if relative == OFF || !bits.bit()? {
        orientation[0] = bits.number(2)?;
        for component in &mut orientation[1..] {
            *component = bits.number(width)?;
        }
    } else {
        let class = &CLASSES[class].1;
        let two = &stages.ranges[2];
        let at_nine_bits: &[u32] = if relative == TWO_RANGES { two } else { class };
        // Larger by width − 9, but at least 1.
        let wider = |bits: &u32| (bits + width).saturating_sub(9).max(1);
        let widths: Vec<u32> = at_nine_bits.iter().map(wider).collect();
        let range = 0..1 << width;
        for component in &mut orientation[1..] {
            *component += bits.signed_in(&widths)?;
            check(range.contains(component), "a component out of range")?;
        }
    }
    Ok(())
}

/// A velocity that is not omitted (section 7). `velocity` is the reference's.
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
