//! Reads bits, headers and selections of packets in the second decoder. It reads one bit at a time.
//!
//! Section numbers in comments refer to `WIRE.md`.

use std::collections::HashMap;

use super::kept::{Kept, Kinetic};
use super::scene::Scene;

/// Returns an error unless `holds` (section 11).
pub(crate) fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The single with these 32 bits.
pub(crate) fn single(word: i64) -> f32 {
    f32::from_bits(word as u32)
}

/// The bits of a packet, read one after another (section 1).
pub(crate) struct Bits<'a> {
    pub(crate) bytes: &'a [u8],
    /// Index of the next bit.
    pub(crate) at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn bit(&mut self) -> Result<bool, String> {
        let byte = self.bytes.get(self.at / 8).ok_or("it ends before the last field")?;
        let bit = (byte >> (7 - self.at % 8)) & 1;
        self.at += 1;
        Ok(bit == 1)
    }

    /// Reads an unsigned number, most significant bit first. No field is wider than 32 bits.
    pub(crate) fn number(&mut self, width: u32) -> Result<i64, String> {
        let mut number = 0;
        for _ in 0..width {
            number = 2 * number + i64::from(self.bit()?);
        }
        Ok(number)
    }

    /// Reads which of the growing ranges a number is in (section 8).
    fn range(&mut self, widths: &[u32]) -> Result<usize, String> {
        let mut range = 0;
        while range + 1 < widths.len() && !self.bit()? {
            range += 1;
        }
        Ok(range)
    }

    /// Reads an unsigned number in growing ranges (section 8).
    pub(crate) fn unsigned_in(&mut self, widths: &[u32]) -> Result<i64, String> {
        let range = self.range(widths)?;
        let start: i64 = widths[..range].iter().map(|width| 1 << width).sum();
        Ok(start + self.number(widths[range])?)
    }

    /// Reads a signed number in growing ranges (section 8).
    pub(crate) fn signed_in(&mut self, widths: &[u32]) -> Result<i64, String> {
        let range = self.range(widths)?;
        let start: i64 = widths[..range].iter().map(|width| 1 << (width - 1)).sum();
        let half = 1 << (widths[range] - 1);
        let number = self.number(widths[range])?;
        Ok(if number >= half {
            start + (number - half)
        } else {
            let magnitude = start + (half - 1 - number);
            -magnitude - 1
        })
    }

    /// Reads the words of finite singles (sections 2 and 11).
    pub(crate) fn singles<const COUNT: usize>(&mut self) -> Result<[i64; COUNT], String> {
        let mut words = [0; COUNT];
        for word in &mut words {
            *word = self.number(32)?;
            check(single(*word).is_finite(), "a single is NaN or infinite")?;
        }
        Ok(words)
    }

    /// Reads the words of a quaternion that has a direction (sections 2 and 11).
    pub(crate) fn quaternion(&mut self) -> Result<[i64; 4], String> {
        let words = self.singles()?;
        let length = length(words.map(|word| f64::from(single(word))));
        check(length >= 1e-6, "a quaternion has no direction")?;
        Ok(words)
    }

    /// Reads the padding, and returns the bytes after it (section 4).
    pub(crate) fn after_padding(&mut self) -> Result<&'a [u8], String> {
        while !self.at.is_multiple_of(8) {
            check(!self.bit()?, "the padding is not zeros")?;
        }
        Ok(&self.bytes[self.at / 8..])
    }

    /// Reads the padding and checks that the packet ends (section 4).
    pub(crate) fn finish(&mut self) -> Result<(), String> {
        check(self.after_padding()?.is_empty(), "it goes on")
    }
}

pub(crate) fn length(quaternion: [f64; 4]) -> f64 {
    let [x, y, z, w] = quaternion;
    (x * x + y * y + z * z + w * w).sqrt()
}

/// *bits(n)*: the number of binary digits (section 1).
pub(crate) fn binary_digits(n: u64) -> u32 {
    u64::BITS - n.leading_zeros()
}

/// The stages of a packet (section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stages {
    /// The seven codes in order. Codes for given parameters are replaced by those for the usual ones.
    pub(crate) codes: [u8; 7],
    /// Steps per metre.
    pub(crate) steps: i64,
    /// The small and the large range of indices, positions and orientations.
    pub(crate) ranges: [[u32; 2]; 3],
    pub(crate) is_simulated: bool,
    pub(crate) is_partial: bool,
}

/// Stages of these codes with the usual parameters (section 12).
pub(crate) const fn usual(codes: [u8; 7]) -> Stages {
    Stages {
        codes,
        steps: 512,
        ranges: [[3, 5], [5, 9], [5, 8]],
        is_simulated: false,
        is_partial: false,
    }
}

// The codes of section 5 that the second decoder names.
pub(crate) const FULL: u8 = 0;
pub(crate) const OFF: u8 = 0;
pub(crate) const POSITION_QUANTIZED: u8 = 1;
pub(crate) const POSITION_AFFINE: u8 = 2;
pub(crate) const VELOCITY_QUANTIZED: u8 = 1;
pub(crate) const VELOCITY_AT_REST_FLAG: u8 = 2;
pub(crate) const VELOCITY_OMITTED: u8 = 3;
pub(crate) const VELOCITY_AFFINE: u8 = 4;
pub(crate) const RELATIVE_INDICES: u8 = 3;
pub(crate) const TWO_RANGES: u8 = 1;
pub(crate) const PREDICTED: u8 = 2;
pub(crate) const GROWING_RANGES: u8 = 2;
pub(crate) const ARITHMETIC: u8 = 5;
pub(crate) const ARITHMETIC_PREDICTED: u8 = 6;

/// The widths of the seven codes (section 5).
pub(crate) const STAGE_BITS: [usize; 7] = [4, 3, 2, 3, 2, 2, 2];

/// Precision of stages (section 2): orientation, velocity, position and its steps.
pub(crate) fn precision(stages: Stages) -> [i64; 4] {
    let [orientation, mut velocity, position, ..] = stages.codes;
    if velocity == VELOCITY_AT_REST_FLAG {
        velocity = VELOCITY_QUANTIZED;
    }
    let codes = [orientation, velocity, position].map(i64::from);
    [codes[0], codes[1], codes[2], stages.steps]
}

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
    let stages = if same { baseline.stages } else { read_stages(bits, scene)? };
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
    let [orientation, velocity, position, delta, ..] = stages.codes;
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
    let [floats, other_steps, velocities, simulation] = scene.support;
    let has_floats = [orientation, velocity, position].contains(&FULL);
    let own_bits = [FULL, scene.component_bits].contains(&orientation);
    let own_steps =
        velocity != VELOCITY_AFFINE && position != POSITION_AFFINE && stages.steps == 512;
    let supported = (velocities || velocity == VELOCITY_OMITTED)
        && (floats || !has_floats)
        && (other_steps || own_bits && own_steps)
        && (simulation || !stages.is_simulated)
        && (delta < ARITHMETIC || orientation <= 12)
        && (!predicts || scene.has_equal_steps())
        && scene.has_positions(stages.steps)
        && (position != POSITION_AFFINE || scene.has_affine_positions());
    check(supported, "stages that the scene does not support")?;
    Ok(stages)
}

/// Reads the selection (section 6). Returns whether each body follows.
pub(crate) fn read_selection(
    bits: &mut Bits,
    stages: Stages,
    reference: &[Kinetic],
) -> Result<Vec<bool>, String> {
    let bodies = reference.len();
    let index_width = binary_digits(bodies.saturating_sub(1) as u64);
    let widest = index_width.max(1);
    let delta = stages.codes[3];
    let (most, ranges) = match delta {
        OFF => return Ok(vec![true; bodies]),
        1 => return (0..bodies).map(|_| bits.bit()).collect(), // changed bits
        2 => (bodies / widest as usize, None),                 // indices
        RELATIVE_INDICES => {
            let [small, large] = stages.ranges[0];
            (bodies / (1 + small) as usize, Some([small, large, widest]))
        }
        _ => (bodies / 6, Some([5, 6, widest])), // predicted indices
    };
    let mut written = vec![false; bodies];
    if bits.bit()? {
        let count = bits.number(binary_digits(most as u64))?;
        check(count <= bodies as i64, "more indices than bodies")?;
        let mut previous = -1;
        for _ in 0..count {
            let index = match ranges {
                None => bits.number(index_width)?,
                Some(widths) => previous + 1 + bits.unsigned_in(&widths)?,
            };
            check(index > previous, "indices that do not ascend")?;
            check(index < bodies as i64, "an index of no body")?;
            written[index as usize] = true;
            previous = index;
        }
    } else {
        for bit in &mut written {
            *bit = bits.bit()?;
        }
    }
    // Predicted indices list the mispredicted bodies.
    if delta == 4 {
        for (bit, before) in written.iter_mut().zip(reference) {
            *bit ^= before.moved;
        }
    }
    Ok(written)
}
