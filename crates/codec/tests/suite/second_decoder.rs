//! A second decoder, implemented from `WIRE.md` and `DECISIONS.md` alone. It shares no code with the crate, so that
//! their agreement confirms the texts, and it prefers simplicity to speed: it reads one bit at a time.
//!
//! Section numbers in comments are those of `WIRE.md`.

use std::collections::HashMap;
use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;

use crate::second_coder::Choice;
use crate::second_scene::{Engine, Scene};
use crate::second_session::{AdaptiveState, Packet, check_number};

/// A cube of the initial state, in floats (section 3).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FloatCube {
    pub(crate) interacting: bool,
    pub(crate) position: [f32; 3],
    /// x, y, z, w.
    pub(crate) orientation: [f32; 4],
    pub(crate) velocity: [f32; 3],
}

/// A cube as integers (section 2).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cube {
    pub(crate) interacting: bool,
    pub(crate) position: [i64; 3],
    /// Full: the four words x, y, z, w. Smallest three: *largest* and the three components.
    pub(crate) orientation: [i64; 4],
    /// Nothing where velocity is omitted.
    pub(crate) velocity: Option<[i64; 3]>,
}

/// What a receiver keeps of a packet (section 3).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) sequence: u16,
    pub(crate) stages: Stages,
    pub(crate) cubes: Vec<Cube>,
    /// Motion (section 9): the ticks since the baseline, 0 for unknown motion.
    pub(crate) ticks: i64,
    pub(crate) moved: Vec<bool>,
    pub(crate) displacement: Vec<[i64; 3]>,
    pub(crate) falling: Vec<bool>,
    /// Of packets that are coded arithmetically (`DECISIONS.md`, section 5).
    pub(crate) state: Option<AdaptiveState>,
    /// Of simulated packets (`DECISIONS.md`, section 17).
    pub(crate) scene: Option<Scene>,
    pub(crate) attachment: Vec<u8>,
}

/// The stages of a packet (section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stages {
    /// The seven codes in order, for given parameters those of the usual ones.
    codes: [u8; 7],
    /// Steps per metre.
    steps: i64,
    /// The small and the large range of indices, positions and orientations.
    ranges: [[u32; 2]; 3],
    is_simulated: bool,
}

/// These codes with the usual parameters (section 12).
const fn usual(codes: [u8; 7]) -> Stages {
    Stages {
        codes,
        steps: 512,
        ranges: [[3, 5], [5, 9], [5, 8]],
        is_simulated: false,
    }
}

// The codes of section 5 that the text below names.
const FULL: u8 = 0;
const OFF: u8 = 0;
const POSITION_QUANTIZED: u8 = 1;
const POSITION_AFFINE: u8 = 2;
const VELOCITY_QUANTIZED: u8 = 1;
const VELOCITY_AT_REST_FLAG: u8 = 2;
const VELOCITY_OMITTED: u8 = 3;
const VELOCITY_AFFINE: u8 = 4;
const RELATIVE_INDICES: u8 = 3;
const TWO_RANGES: u8 = 1;
const PREDICTED: u8 = 2;
const GROWING_RANGES: u8 = 2;
const ARITHMETIC: u8 = 5;
const ARITHMETIC_PREDICTED: u8 = 6;

// The ranges of section 12.
pub(crate) fn quantized_position(steps: i64) -> [RangeInclusive<i64>; 3] {
    let across = -256 * steps..=256 * steps - 1;
    [across.clone(), across, 0..=32 * steps - 1]
}
const AFFINE_POSITION: [RangeInclusive<i64>; 3] =
    [-16777208..=16777208, -16777208..=16777208, 0..=2097151];
const QUANTIZED_VELOCITY: RangeInclusive<i64> = -1024..=1023;
const AFFINE_VELOCITY: RangeInclusive<i64> = -524287..=524287;

/// The widths of the seven codes (section 5).
const STAGE_BITS: [usize; 7] = [4, 3, 2, 3, 2, 2, 2];

/// The growing ranges of relative positions and orientations, by class (section 9).
const CLASSES: [([u32; 3], [u32; 3]); 6] = [
    ([3, 5, 8], [2, 4, 7]),
    ([3, 5, 9], [2, 3, 6]),
    ([4, 5, 9], [3, 4, 6]),
    ([6, 6, 9], [5, 5, 7]),
    ([7, 7, 10], [6, 6, 7]),
    ([3, 7, 9], [6, 6, 7]),
];

/// Decodes one packet (section 4). `held` are the snapshots kept so far, by sequence.
pub(crate) fn decode(
    bytes: &[u8],
    initial: &[FloatCube],
    held: &HashMap<u16, Kept>,
) -> Result<Kept, String> {
    decode_simulated(bytes, initial, held, &|_| None)
}

/// The same, with what simulates the scene.
pub(crate) fn decode_simulated(
    bytes: &[u8],
    initial: &[FloatCube],
    held: &HashMap<u16, Kept>,
    engine: Engine,
) -> Result<Kept, String> {
    let mut bits = Bits { bytes, at: 0 };
    let (sequence, baseline, stages) = read_header(&mut bits, held)?;
    let mut cubes: Vec<Cube> = match baseline {
        Some(kept) => kept.cubes.clone(),
        None => initial.iter().map(|cube| quantize(cube, stages)).collect(),
    };
    let count = initial.len();
    check(cubes.len() == count, "a baseline of other cubes")?;
    let delta = stages.codes[3];
    if delta >= ARITHMETIC {
        let variant = usize::from(delta - ARITHMETIC);
        let sent = bits.number(14)?;
        let bins = bits.after_padding()?;
        let packet = Packet {
            variant,
            sequence,
            cubes: &cubes,
            baseline,
            held,
            engine: stages.is_simulated.then_some(engine),
        };
        let read = packet.read(bins)?;
        let is_right = check_number(sequence, &read.cubes) == sent;
        check(is_right, "the check differs")?;
        let mut kept = keep(sequence, stages, read.cubes, baseline);
        kept.state = Some(read.state);
        kept.scene = read.scene;
        kept.attachment = read.attachment;
        return Ok(kept);
    }
    let follows = read_selection(&mut bits, stages, count, baseline)?;
    let (factor, fall) = prediction(sequence, baseline);
    for index in (0..count).filter(|index| follows[*index]) {
        let (predicted, class) = match baseline {
            Some(kept) if kept.moved[index] => predict(kept, index, factor, fall),
            _ => (cubes[index].position, 0),
        };
        read_cube(&mut bits, stages, &mut cubes[index], predicted, class)?;
    }
    bits.finish()?;
    Ok(keep(sequence, stages, cubes, baseline))
}

/// An arithmetically coded packet of chosen bins, with the right check. A decoder may have to refuse it.
/// `engine` simulates if the scene is simulated.
pub(crate) fn choose(
    choice: Choice,
    (sequence, variant): (u16, u8),
    baseline: Option<u16>,
    (initial, held): (&[FloatCube], &HashMap<u16, Kept>),
    engine: Option<Engine>,
) -> Vec<u8> {
    let codes = [
        9,
        VELOCITY_OMITTED,
        POSITION_QUANTIZED,
        ARITHMETIC + variant,
        0,
        0,
        0,
    ];
    let stages = usual(codes);
    let baseline = baseline.map(|name| &held[&name]);
    let quantized = || initial.iter().map(|cube| quantize(cube, stages)).collect();
    let cubes: Vec<Cube> = baseline.map_or_else(quantized, |kept| kept.cubes.clone());
    let packet = Packet {
        variant: usize::from(variant),
        sequence,
        cubes: &cubes,
        baseline,
        held,
        engine,
    };
    let (bins, chosen) = packet.choose(choice);
    let name = baseline.map(|kept| format!("0{:016b}0", kept.sequence));
    let codes = codes.iter().zip(STAGE_BITS);
    let codes: String = codes
        .map(|(code, bits)| format!("{code:0bits$b}"))
        .collect();
    let mut bits = format!("{sequence:016b}{}{codes}", name.unwrap_or("1".into()));
    if variant == 1 {
        bits += if engine.is_some() { "1" } else { "0" };
    }
    bits += &format!("{:014b}", check_number(sequence, &chosen));
    let byte = |bits: &[u8]| {
        let bits = bits.iter().map(|digit| digit - b'0');
        bits.chain([0; 8])
            .take(8)
            .fold(0, |byte, bit| 2 * byte + bit)
    };
    let header = bits.as_bytes().chunks(8).map(byte);
    header.chain(bins).collect()
}

/// Decodes the initial state from its block (section 10).
pub(crate) fn decode_block(bytes: &[u8]) -> Result<Vec<FloatCube>, String> {
    let mut bits = Bits { bytes, at: 0 };
    let count = bits.number(17)? as usize;
    check(count <= 65536, "more than the most cubes")?;
    let length = 17 + count * (1 + 96 + 128 + 96);
    check(bytes.len() == length.div_ceil(8), "a wrong length")?;
    let mut cubes = Vec::with_capacity(count);
    for _ in 0..count {
        cubes.push(FloatCube {
            interacting: bits.bit()?,
            position: bits.singles::<3>()?.map(single),
            orientation: bits.quaternion()?.map(single),
            velocity: bits.singles::<3>()?.map(single),
        });
    }
    bits.finish()?;
    Ok(cubes)
}

/// Refuses the input unless `holds` (section 11).
pub(crate) fn check(holds: bool, otherwise: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise.into()) }
}

/// The single of 32 bits.
fn single(word: i64) -> f32 {
    f32::from_bits(word as u32)
}

/// The bits of a packet, read one after the other (section 1).
struct Bits<'a> {
    bytes: &'a [u8],
    /// The number of the next bit.
    at: usize,
}

impl<'a> Bits<'a> {
    fn bit(&mut self) -> Result<bool, String> {
        let byte = self
            .bytes
            .get(self.at / 8)
            .ok_or("it ends before the last field")?;
        let bit = (byte >> (7 - self.at % 8)) & 1;
        self.at += 1;
        Ok(bit == 1)
    }

    /// An unsigned number, most significant bit first. No field is wider than 32 bits.
    fn number(&mut self, width: u32) -> Result<i64, String> {
        let mut number = 0;
        for _ in 0..width {
            number = 2 * number + i64::from(self.bit()?);
        }
        Ok(number)
    }

    /// Which of the growing ranges the number is in (section 8).
    fn range(&mut self, widths: &[u32]) -> Result<usize, String> {
        let mut range = 0;
        while range + 1 < widths.len() && !self.bit()? {
            range += 1;
        }
        Ok(range)
    }

    /// An unsigned number in growing ranges (section 8).
    fn unsigned_in(&mut self, widths: &[u32]) -> Result<i64, String> {
        let range = self.range(widths)?;
        let start: i64 = widths[..range].iter().map(|width| 1 << width).sum();
        Ok(start + self.number(widths[range])?)
    }

    /// A signed number in growing ranges (section 8).
    fn signed_in(&mut self, widths: &[u32]) -> Result<i64, String> {
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

    /// The words of finite singles (sections 2 and 11).
    fn singles<const COUNT: usize>(&mut self) -> Result<[i64; COUNT], String> {
        let mut words = [0; COUNT];
        for word in &mut words {
            *word = self.number(32)?;
            check(single(*word).is_finite(), "a single is NaN or infinite")?;
        }
        Ok(words)
    }

    /// The words of a quaternion that has a direction (sections 2 and 11).
    fn quaternion(&mut self) -> Result<[i64; 4], String> {
        let words = self.singles()?;
        let length = length(words.map(|word| f64::from(single(word))));
        check(length >= 1e-6, "a quaternion has no direction")?;
        Ok(words)
    }

    /// The bytes after the padding (section 4).
    fn after_padding(&mut self) -> Result<&'a [u8], String> {
        while !self.at.is_multiple_of(8) {
            check(!self.bit()?, "the padding is not zeros")?;
        }
        Ok(&self.bytes[self.at / 8..])
    }

    /// The padding, and nothing after it (section 4).
    fn finish(&mut self) -> Result<(), String> {
        check(self.after_padding()?.is_empty(), "it goes on")
    }
}

/// The header (section 5): the sequence, the baseline that it names, and the stages.
fn read_header<'a>(
    bits: &mut Bits,
    held: &'a HashMap<u16, Kept>,
) -> Result<(u16, Option<&'a Kept>, Stages), String> {
    let sequence = bits.number(16)? as u16;
    if bits.bit()? {
        return Ok((sequence, None, read_stages(bits)?));
    }
    let same = bits.bit()?;
    let name = match same {
        true => sequence.wrapping_sub(bits.number(8)? as u16 + 1),
        false => bits.number(16)? as u16,
    };
    let baseline = held.get(&name).ok_or("the baseline is not held")?;
    let stages = match same {
        true => baseline.stages,
        false => read_stages(bits)?,
    };
    let same_precision = precision(stages) == precision(baseline.stages);
    check(same_precision, "the baseline has another precision")?;
    let [_, velocity, position, delta, ..] = stages.codes;
    let affine = position == POSITION_AFFINE || velocity == VELOCITY_AFFINE;
    check(delta != OFF || affine, "a baseline of no use")?;
    Ok((sequence, Some(baseline), stages))
}

/// The stages (section 5).
fn read_stages(bits: &mut Bits) -> Result<Stages, String> {
    let mut codes = [0; 7];
    for (code, width) in codes.iter_mut().zip(STAGE_BITS) {
        *code = bits.number(width as u32)? as u8;
    }
    let last_codes = [15, 4, 3, 7, 3, 3, 2];
    for (code, last) in codes.iter().zip(last_codes) {
        check(*code <= last, "an unused code")?;
    }
    let usual = usual(codes);
    let mut stages = usual;
    if codes[2] == 3 {
        stages.codes[2] = POSITION_QUANTIZED;
        stages.steps = 1 << (bits.number(3)? + 5);
        check(stages.steps != usual.steps, "the usual steps, given")?;
    }
    let ranges = [
        (3, 7, RELATIVE_INDICES, 16),
        (4, 3, TWO_RANGES, 18),
        (5, 3, TWO_RANGES, 10),
    ];
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
        && (flags == OFF || delta != OFF)
        && (delta < ARITHMETIC
            || stages.steps == 512
                && stages.codes == [9, VELOCITY_OMITTED, POSITION_QUANTIZED, delta, 0, 0, 0]);
    check(legal, "stages that are not legal together")?;
    Ok(stages)
}

/// The precision that follows from the stages (section 2): orientation, velocity, position and its steps.
pub(crate) fn precision(stages: Stages) -> [i64; 4] {
    let [orientation, mut velocity, position, ..] = stages.codes;
    if velocity == VELOCITY_AT_REST_FLAG {
        velocity = VELOCITY_QUANTIZED;
    }
    let codes = [orientation, velocity, position].map(i64::from);
    [codes[0], codes[1], codes[2], stages.steps]
}

/// A cube of the initial state in the precision of a packet (sections 2 and 3).
fn quantize(cube: &FloatCube, stages: Stages) -> Cube {
    let [orientation_code, velocity_code, position_code, ..] = stages.codes;
    let word = |single: f32| i64::from(single.to_bits());
    // Steps a metre, not metres a step: 32/(2²¹ − 1) is no double, but (2²¹ − 1)/32 is.
    let round = |value: f32, steps: f64, range: &RangeInclusive<i64>| {
        nearest(f64::from(value) * steps).clamp(*range.start(), *range.end())
    };
    let position = |steps: f64, ranges: [RangeInclusive<i64>; 3]| {
        [0, 1, 2].map(|axis| round(cube.position[axis], steps, &ranges[axis]))
    };
    let velocity = |steps: f64, range: RangeInclusive<i64>| {
        Some(cube.velocity.map(|value| round(value, steps, &range)))
    };
    Cube {
        interacting: cube.interacting,
        position: match position_code {
            POSITION_QUANTIZED => position(stages.steps as f64, quantized_position(stages.steps)),
            POSITION_AFFINE => position(2097151.0 / 32.0, AFFINE_POSITION),
            _ => cube.position.map(word),
        },
        orientation: match orientation_code {
            FULL => cube.orientation.map(word),
            width => smallest_three(cube.orientation.map(f64::from), width),
        },
        velocity: match velocity_code {
            VELOCITY_QUANTIZED | VELOCITY_AT_REST_FLAG => velocity(32.0, QUANTIZED_VELOCITY),
            VELOCITY_AFFINE => velocity(2097151.0 / 128.0, AFFINE_VELOCITY),
            VELOCITY_OMITTED => None,
            _ => Some(cube.velocity.map(word)),
        },
    }
}

/// The smallest three of a quaternion, of `width` bits a component (section 2).
fn smallest_three(quaternion: [f64; 4], width: u8) -> [i64; 4] {
    let length = length(quaternion);
    let unit = quaternion.map(|component| component / length);
    let mut largest = 0;
    for index in 1..4 {
        if unit[index].abs() > unit[largest].abs() {
            largest = index;
        }
    }
    let sign = if unit[largest] < 0.0 { -1.0 } else { 1.0 };
    let steps = f64::from((1 << width) - 1);
    let mut integers = [largest as i64; 4];
    let others = (0..4).filter(|index| *index != largest);
    for (integer, index) in integers[1..].iter_mut().zip(others) {
        let scaled = (sign * unit[index] * SQRT_2 + 1.0) / 2.0 * steps;
        *integer = nearest(scaled).clamp(0, steps as i64);
    }
    integers
}

/// round(v) (section 3).
fn nearest(value: f64) -> i64 {
    let half = if value < 0.0 { -0.5 } else { 0.5 };
    (value + half) as i64
}

fn length(quaternion: [f64; 4]) -> f64 {
    let [x, y, z, w] = quaternion;
    (x * x + y * y + z * z + w * w).sqrt()
}

/// *bits(n)*: the number of binary digits (section 1).
fn binary_digits(n: u64) -> u32 {
    u64::BITS - n.leading_zeros()
}

/// The selection (section 6): for each cube, whether it follows.
fn read_selection(
    bits: &mut Bits,
    stages: Stages,
    cubes: usize,
    baseline: Option<&Kept>,
) -> Result<Vec<bool>, String> {
    let index_width = binary_digits(cubes.saturating_sub(1) as u64);
    let widest = index_width.max(1);
    let delta = stages.codes[3];
    let (most, ranges) = match delta {
        OFF => return Ok(vec![true; cubes]),
        1 => return (0..cubes).map(|_| bits.bit()).collect(), // changed bits
        2 => (cubes / widest as usize, None),                 // indices
        RELATIVE_INDICES => {
            let [small, large] = stages.ranges[0];
            (cubes / (1 + small) as usize, Some([small, large, widest]))
        }
        _ => (cubes / 6, Some([5, 6, widest])), // predicted indices
    };
    let mut written = vec![false; cubes];
    if bits.bit()? {
        let count = bits.number(binary_digits(most as u64))?;
        check(count <= cubes as i64, "more indices than cubes")?;
        let mut previous = -1;
        for _ in 0..count {
            let index = match ranges {
                None => bits.number(index_width)?,
                Some(widths) => previous + 1 + bits.unsigned_in(&widths)?,
            };
            check(index > previous, "indices that do not ascend")?;
            check(index < cubes as i64, "an index of no cube")?;
            written[index as usize] = true;
            previous = index;
        }
    } else {
        for bit in &mut written {
            *bit = bits.bit()?;
        }
    }
    // Predicted indices list the cubes for which the prediction is wrong.
    if let (4, Some(kept)) = (delta, baseline) {
        for (bit, moved) in written.iter_mut().zip(&kept.moved) {
            *bit ^= moved;
        }
    }
    Ok(written)
}

/// A cube that follows (section 7). `cube` is the reference's; what is read replaces its fields.
fn read_cube(
    bits: &mut Bits,
    stages: Stages,
    cube: &mut Cube,
    predicted: [i64; 3],
    class: usize,
) -> Result<(), String> {
    let (position, orientation) = read_flags(bits, stages.codes[6], &mut cube.interacting)?;
    if position {
        read_position(bits, stages, &mut cube.position, predicted, class)?;
    }
    if orientation {
        read_orientation(bits, stages, &mut cube.orientation, class)?;
    }
    // A velocity that is omitted is also none in the reference, which has the same precision.
    if let Some(velocity) = &mut cube.velocity {
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

/// *factor* and *fall* of a packet (section 9).
fn prediction(sequence: u16, baseline: Option<&Kept>) -> (i64, i64) {
    let Some(kept) = baseline else { return (0, 0) };
    let ticks = i64::from(sequence.wrapping_sub(kept.sequence));
    if kept.ticks == 0 || ticks > 64 {
        return (0, 0);
    }
    let mut drag = 65536;
    for _ in 0..(ticks + kept.ticks) / 2 {
        drag = (drag * 64841 + 32768) >> 16;
    }
    let fall = 25 * ticks * (ticks + kept.ticks) / 18;
    (drag * ticks / kept.ticks, fall)
}

/// The predicted position and the class of a cube that has moved (section 9).
fn predict(kept: &Kept, index: usize, factor: i64, fall: i64) -> ([i64; 3], usize) {
    let position = kept.cubes[index].position;
    let step = kept.displacement[index].map(|along| (along * factor + 32768) >> 16);
    let mut predicted = [0, 1, 2].map(|axis| position[axis] + step[axis]);
    if kept.falling[index] {
        predicted[2] -= fall;
    }
    predicted[2] = predicted[2].max(position[2].min(102));
    let largest = step.map(i64::unsigned_abs).into_iter().fold(0, u64::max);
    let class = if kept.falling[index] {
        5
    } else {
        (binary_digits(largest) / 2).min(4)
    };
    (predicted, class as usize)
}

/// The snapshot and its motion (section 9).
fn keep(sequence: u16, stages: Stages, cubes: Vec<Cube>, baseline: Option<&Kept>) -> Kept {
    let mut kept = Kept {
        sequence,
        stages,
        ticks: 0,
        moved: vec![false; cubes.len()],
        displacement: vec![[0; 3]; cubes.len()],
        falling: vec![false; cubes.len()],
        state: None,
        scene: None,
        attachment: Vec::new(),
        cubes,
    };
    let Some(baseline) = baseline else {
        return kept;
    };
    let ticks = i64::from(sequence.wrapping_sub(baseline.sequence));
    if ticks == 0 || ticks > 64 {
        return kept;
    }
    kept.ticks = ticks;
    let ticks_before = baseline.ticks;
    for (index, (now, before)) in kept.cubes.iter().zip(&baseline.cubes).enumerate() {
        kept.moved[index] = now != before;
        if stages.codes[2] != POSITION_QUANTIZED || stages.steps != 512 {
            continue;
        }
        let displacement = [0, 1, 2].map(|axis| now.position[axis] - before.position[axis]);
        let (dz, dz_before) = (displacement[2], baseline.displacement[index][2]);
        kept.displacement[index] = displacement;
        kept.falling[index] = now != before
            && now.position[2] > 250
            && ticks_before != 0
            && (dz * ticks_before - dz_before * ticks) * 36
                < -25 * (ticks + ticks_before) * ticks * ticks_before;
    }
    kept
}
