//! Reads headers in the second decoder: the sequence, the baseline and the stages.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::collections::HashMap;

use crate::second_bits::{Bits, check};
use crate::second_kept::Kept;
use crate::second_scene::Scene;
use crate::second_stages::{
    ARITHMETIC, ARITHMETIC_PREDICTED, FULL, GROWING_RANGES, OFF, POSITION_AFFINE,
    POSITION_QUANTIZED, PREDICTED, RELATIVE_INDICES, STAGE_BITS, Stages, TWO_RANGES,
    VELOCITY_AFFINE, VELOCITY_OMITTED, precision, usual,
};

/// Reads the header (section 5). Returns the sequence, the named baseline, and the stages.
pub(crate) fn read_header<'a>(
    bits: &mut Bits,
    scene: &Scene,
    held: &'a HashMap<u16, Kept>,
) -> Result<(u16, Option<&'a Kept>, Stages), String> {
    let sequence = bits.number(16)? as u16;
    if bits.bit()? {
        return Ok((sequence, None, read_stages(bits, scene)?));
    }
    let same = bits.bit()?;
    let name = match same {
        true => sequence.wrapping_sub(bits.number(8)? as u16 + 1),
        false => bits.number(16)? as u16,
    };
    let baseline = held.get(&name).ok_or("the baseline is not held")?;
    let stages = match same {
        true => baseline.stages,
        false => read_stages(bits, scene)?,
    };
    let same_precision = precision(stages) == precision(baseline.stages);
    check(same_precision, "the baseline has another precision")?;
    let [_, velocity, position, delta, ..] = stages.codes;
    let affine = position == POSITION_AFFINE || velocity == VELOCITY_AFFINE;
    check(delta != OFF || affine, "a baseline of no use")?;
    Ok((sequence, Some(baseline), stages))
}

/// Reads the stages (sections 5 and 13).
fn read_stages(bits: &mut Bits, scene: &Scene) -> Result<Stages, String> {
    let mut codes = [0; 7];
    for (code, width) in codes.iter_mut().zip(STAGE_BITS) {
        *code = bits.number(width as u32)? as u8;
    }
    let is_partial = codes[6] == 3;
    if is_partial {
        codes[6] = bits.number(2)? as u8; // changed flags, after partial
    }
    let last_codes = [15, 4, 3, 7, 3, 3, 2];
    for (code, last) in codes.iter().zip(last_codes) {
        check(*code <= last, "an unused code")?;
    }
    let usual = usual(codes);
    let mut stages = Stages { is_partial, ..usual };
    if codes[2] == 3 {
        stages.codes[2] = POSITION_QUANTIZED;
        stages.steps = 1 << (bits.number(3)? + 5);
        check(stages.steps != usual.steps, "the usual steps, given")?;
    }
    let ranges = [(3, 7, RELATIVE_INDICES, 16), (4, 3, TWO_RANGES, 18), (5, 3, TWO_RANGES, 10)];
    for (index, (stage, given, meant, most)) in ranges.into_iter().enumerate() {
        if codes[stage] == given {
            stages.codes[stage] = meant;
            let small = bits.number(5)? as u32 + 1;
            let large = bits.number(5)? as u32 + 1;
            check(small <= large && large <= most, "ranges that are not legal")?;
            stages.ranges[index] = [small, large];
            let differ = stages.ranges[index] != usual.ranges[index];
            check(differ, "the usual ranges, given")?;
        }
    }
    stages.is_simulated = codes[3] == ARITHMETIC_PREDICTED && bits.bit()?;
    let [orientation, _, position, delta, ..] = stages.codes;
    let [.., relative_position, relative_orientation, flags] = stages.codes;
    check(orientation != 1, "an unused code of orientation")?;
    let quantized = position == POSITION_QUANTIZED;
    let legal = (relative_position == OFF || delta != OFF && quantized)
        && (relative_position != PREDICTED || stages.steps == 512)
        && (relative_orientation == OFF || delta != OFF && orientation != FULL)
        && (relative_orientation != GROWING_RANGES || !quantized || stages.steps == 512)
        && ((flags == OFF && !is_partial) || delta != OFF)
        && (delta < ARITHMETIC
            || stages.steps == 512
                && stages.codes[1..] == [VELOCITY_OMITTED, POSITION_QUANTIZED, delta, 0, 0, 0]
                && orientation == scene.component_bits);
    check(legal, "stages that are not legal together")?;
    let predicts = relative_position == PREDICTED
        || relative_orientation == GROWING_RANGES
        || delta == ARITHMETIC_PREDICTED;
    let of_any_scene = orientation == scene.component_bits
        && stages.codes[1..3] == [VELOCITY_OMITTED, POSITION_QUANTIZED]
        && stages.steps == 512
        && (delta < ARITHMETIC || orientation <= 12)
        && (!predicts || scene.has_equal_steps())
        && !stages.is_simulated;
    check(scene.is_cubes || of_any_scene, "stages of the demo alone")?;
    Ok(stages)
}
