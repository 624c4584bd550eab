//! A fingerprint of the trained model and of the machine's arithmetic, which both ends of arithmetic coding must have
//! in common. They can compare it before the first packet.
//!
//! The predictors compute in floats, with operations whose results IEEE 754 defines. Without the fingerprint, a
//! machine or a compiler that deviates would only be noticed by packets that do not decode.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::baseline::Baseline;
use crate::encoder::{Baselines, Encoder, Packet};
use crate::entropy::TrainedModel;
use crate::entropy::extrapolation::{self, LANES, MovingBody};
use crate::entropy::rotation::{pack, rotation_vector, turned, unpack};
use crate::hash::mix;
use crate::ladder::{ARITHMETIC, PREDICTED, Rung};
use crate::limits::Limits;
use crate::plan::Plan;
use crate::quantize::smallest_three::SmallestThree;
use crate::sequence::Sequence;
use crate::snapshot::{Life, QuantizedBody, QuantizedSnapshot};
use crate::state::{BodyState, Snapshot};

/// Fingerprint of one end. Ends with equal fingerprints can decode each other's arithmetically coded packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Hash of the trained model's file.
    pub model: u64,
    /// Hash of results of this machine for a built-in test scene: its packets, and floats of the predictor. It
    /// changes if the packet format changes.
    pub arithmetic: u64,
}

impl Fingerprint {
    /// Fingerprint of this machine with a model.
    pub fn of(model: &TrainedModel) -> Self {
        static ARITHMETIC: OnceLock<u64> = OnceLock::new();
        Self { model: hash(&model.to_bytes()), arithmetic: *ARITHMETIC.get_or_init(arithmetic) }
    }

    /// Fingerprint of this machine with the model that ships with this crate.
    pub fn shipped() -> Self {
        static SHIPPED: OnceLock<Fingerprint> = OnceLock::new();
        *SHIPPED.get_or_init(|| Self::of(&TrainedModel::shipped()))
    }
}

/// Hashes the length, then words of eight bytes, little endian and padded with zeros.
fn hash(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    words.fold(mix(0, bytes.len() as u64), mix)
}

fn arithmetic() -> u64 {
    let packets = [ARITHMETIC, PREDICTED].into_iter().flat_map(packets).map(|packet| hash(&packet));
    packets.chain(floats()).fold(0, mix)
}

/// Floats extrapolated for bodies that fly, fall, roll and spin.
fn floats() -> impl Iterator<Item = u64> {
    let plan = Plan::cubes();
    (0..16).flat_map(move |group| {
        let numbers: [u16; LANES] = std::array::from_fn(|lane| group * LANES as u16 + lane as u16);
        let starts = numbers.map(|number| {
            unpack(
                &plan.components,
                SmallestThree {
                    largest: (number % 4) as u8,
                    components: [11, 17, 29].map(|factor| 100 + number * factor % 311),
                },
            )
        });
        let mut bodies = std::array::from_fn(|lane| {
            let number = numbers[lane];
            let part = |factor: u16| f32::from(number * factor % 61) - 30.0;
            MovingBody {
                contact: plan.contacts[plan.fixed_kind(number.into())],
                position: [part(7) * 100.0, part(13) * 100.0, part(19) * 8.0 + 300.0],
                orientation: starts[lane],
                velocity: [part(23), part(29), part(31)],
                spin: [part(37), part(41), part(43)].map(|spin| spin / 200.0),
            }
        });
        extrapolation::run(&mut bodies, 24, &plan);
        let plan = Arc::clone(&plan);
        bodies.into_iter().zip(starts).flat_map(move |(body, start)| {
            let end = turned(body.orientation, body.spin);
            let packed = pack(&plan.components, end, 3).map(|component| component as f32);
            let angles = rotation_vector(end, start);
            let floats = [&body.position[..], &body.velocity, &end, &angles, &packed].concat();
            floats.into_iter().map(|float| u64::from(float.to_bits()))
        })
    })
}

/// Packets of a test scene of bodies that fall, slide, spin and rest, coded with the untrained model.
fn packets(rung: Rung) -> Vec<Vec<u8>> {
    let initial = Snapshot { bodies: vec![BodyState::default(); usize::from(BODIES)] };
    let mut encoder = Encoder::new(Plan::cubes(), initial, Limits::default())
        .expect("this many bodies are allowed")
        .with_model(TrainedModel::untrained().into());
    let mut baselines: Vec<Baseline> = Vec::new();
    let mut packets = Vec::new();
    for tick in 0..TICKS {
        let mut current = QuantizedSnapshot::new(Plan::cubes(), rung.stages.precision());
        current.clear_slots(BODIES.into());
        for slot in 0..BODIES {
            let (body, interacting) = known_body(slot.into(), tick.into());
            current
                .put_integers(slot.into(), Life::default(), body, &[interacting.into()])
                .expect("the play stays in range");
        }
        let at = |age: u16| baselines.get(usize::from(tick.checked_sub(age)?));
        let references =
            Baselines { baseline: at(3), additional: [at(4), at(5)], ..Baselines::default() };
        let (mut packet, mut baseline) = (Packet::default(), Baseline::default());
        let out = Some(&mut baseline);
        encoder
            .encode(Sequence(tick), rung.stages, &current, references, &mut packet, out)
            .expect("the stages are legal, and the number of bodies is unchanged");
        baselines.push(baseline);
        packets.push(packet.bytes);
    }
    packets
}

const BODIES: u16 = 24;
const TICKS: u16 = 16;

/// A body, and whether it is interacting. Computed in integers, so that all machines get the same scene.
fn known_body(body: i32, tick: i32) -> (QuantizedBody, bool) {
    let moves = body % 6 != 5;
    let time = if moves { tick } else { 0 };
    let fallen = 25 * time * time / 18;
    let component = |factor: i32| 156 + (body * 37 + time * (body % 7) * factor) % 200;
    let quantized = QuantizedBody {
        orientation: SmallestThree {
            largest: (body % 4) as u8,
            components: [2, 3, 5].map(|factor| component(factor) as u16),
        },
        position: [
            body % 5 * 300 + time * (body % 3) * 9,
            body / 5 * 300 - time * (body % 4) * 7,
            (102 + body % 7 * 40 - fallen).max(102 + body % 3),
        ],
    };
    (quantized, moves && (body + tick) % 9 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_differ_in_one_entry_have_other_fingerprints() {
        let shipped = Fingerprint::shipped();
        assert_eq!(Fingerprint::of(&TrainedModel::shipped()), shipped);
        let bytes = TrainedModel::shipped().to_bytes();
        for offset in (100..bytes.len()).step_by(50_021) {
            let mut changed = bytes.clone();
            changed[offset] ^= 1;
            let other = Fingerprint::of(&TrainedModel::from_bytes(&changed).unwrap());
            assert_eq!(other.arithmetic, shipped.arithmetic);
            assert_ne!(other.model, shipped.model, "{offset}");
        }
    }
}
