//! A second decoder of the bit-packed rungs in scenes of fixed bodies, implemented from `WIRE.md` alone. It shares no
//! code with the crate, so that their agreement confirms the document. It is simple, not fast: it reads one bit at a
//! time.
//!
//! Section numbers in comments refer to `WIRE.md`.

mod bodies;
mod kept;
mod packet;
mod scene;

use std::collections::HashMap;

pub(crate) use self::bodies::{Body, FloatBody, decode_block};
use self::bodies::{quantize, read_body};
pub(crate) use self::kept::Kept;
use self::kept::{Kinetic, carried, not_carried, predict, read_merged};
use self::packet::{ARITHMETIC, check, read_header, read_selection};
pub(crate) use self::packet::{Bits, STAGE_BITS};
pub(crate) use self::scene::Scene;

/// Decodes one packet (section 4). `held` has the snapshots kept so far, by sequence.
pub(crate) fn decode(
    bytes: &[u8],
    scene: &Scene,
    initial: &[FloatBody],
    held: &HashMap<u16, Kept>,
) -> Result<Kept, String> {
    let mut bits = Bits { bytes, at: 0 };
    let (sequence, baseline, stages) = read_header(&mut bits, scene, held)?;
    let reference: Vec<Kinetic> = match baseline {
        Some(kept) => read_merged(&mut bits, kept, held)?,
        None => {
            initial.iter().map(|body| quantize(body, stages, scene)).map(Kinetic::initial).collect()
        }
    };
    let count = initial.len();
    check(reference.len() == count, "a baseline of other bodies")?;
    let delta = stages.codes[3];
    check(delta < ARITHMETIC, "an arithmetically coded packet")?;
    let ticks = baseline.map(|kept| i64::from(sequence.wrapping_sub(kept.sequence)));
    let follows = read_selection(&mut bits, stages, &reference)?;
    let mut bodies = Vec::with_capacity(count);
    for (before, follows) in reference.iter().zip(follows) {
        let mut body = before.body.clone();
        if follows {
            let (predicted, class) = predict(before, ticks.unwrap_or(0), scene.linear);
            read_body(&mut bits, scene, stages, &mut body, predicted, class)?;
        }
        bodies.push(match follows || !stages.is_partial {
            true => carried(before, body, stages, ticks, scene.linear),
            false => not_carried(before, ticks),
        });
    }
    bits.finish()?;
    let between = ticks.map_or(31, |ticks| (ticks - 1).clamp(0, 31));
    Ok(Kept {
        sequence,
        stages,
        bodies,
        mask_bits: if stages.is_partial { between as u16 } else { 0 },
        has_tracks: stages.is_partial || baseline.is_some_and(|kept| kept.has_tracks),
    }
    .forget_unused())
}
