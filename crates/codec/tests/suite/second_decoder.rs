//! A second decoder, implemented from `WIRE.md` and `DECISIONS.md` alone. It shares no code with the crate, so that
//! their agreement confirms the texts, and it prefers simplicity to speed: it reads one bit at a time.
//!
//! Section numbers in comments are those of `WIRE.md`.

use std::collections::HashMap;

use crate::second_bits::{Bits, check};
use crate::second_coder::Choice;
use crate::second_cubes::{Cube, FloatCube, quantize};
use crate::second_fields::read_cube;
use crate::second_header::read_header;
use crate::second_kept::{Kept, keep, predict, prediction};
use crate::second_packet::{Packet, check_number};
use crate::second_scene::Engine;
use crate::second_selection::read_selection;
use crate::second_stages::{ARITHMETIC, POSITION_QUANTIZED, STAGE_BITS, VELOCITY_OMITTED, usual};

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
