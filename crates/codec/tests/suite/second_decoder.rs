//! A second decoder of the bit-packed rungs, implemented from `WIRE.md` alone. It shares no code with the crate, so that
//! their agreement confirms the text, and it prefers simplicity to speed: it reads one bit at a time.
//!
//! Section numbers in comments are those of `WIRE.md`.

use std::collections::HashMap;

use crate::second_bits::{Bits, check};
use crate::second_bodies::{Body, FloatBody, quantize};
use crate::second_fields::read_body;
use crate::second_header::read_header;
use crate::second_kept::{Kept, keep, predict, prediction};
use crate::second_selection::read_selection;
use crate::second_stages::ARITHMETIC;

/// Decodes one packet (section 4). `held` are the snapshots kept so far, by sequence.
pub(crate) fn decode(
    bytes: &[u8],
    initial: &[FloatBody],
    held: &HashMap<u16, Kept>,
) -> Result<Kept, String> {
    let mut bits = Bits { bytes, at: 0 };
    let (sequence, baseline, stages) = read_header(&mut bits, held)?;
    let mut bodies: Vec<Body> = match baseline {
        Some(kept) => kept.bodies.clone(),
        None => initial.iter().map(|body| quantize(body, stages)).collect(),
    };
    let count = initial.len();
    check(bodies.len() == count, "a baseline of other bodies")?;
    let delta = stages.codes[3];
    check(delta < ARITHMETIC, "an arithmetically coded packet")?;
    let follows = read_selection(&mut bits, stages, count, baseline)?;
    let (factor, fall) = prediction(sequence, baseline);
    for index in (0..count).filter(|index| follows[*index]) {
        let (predicted, class) = match baseline {
            Some(kept) if kept.moved[index] => predict(kept, index, factor, fall),
            _ => (bodies[index].position, 0),
        };
        read_body(&mut bits, stages, &mut bodies[index], predicted, class)?;
    }
    bits.finish()?;
    Ok(keep(sequence, stages, bodies, baseline))
}
