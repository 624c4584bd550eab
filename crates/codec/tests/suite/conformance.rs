//! The second decoder, written from WIRE.md alone, agrees with the first.

use std::collections::HashMap;

use cubewire_codec::ladder::{AFFINE, LADDER};
use cubewire_codec::stages::{Orientation, Position};
use cubewire_codec::{
    Baseline, BitLedger, Decoder, Limits, QuantizedSnapshot, Sequence, Snapshot, Stages,
    VelocityPrecision, encode_initial,
};
use proptest::prelude::*;

use crate::recording;
use crate::scene::{Lane, scenes};
use crate::second_decoder::{Cube, FloatCube, Kept, decode, decode_block};
use crate::wire_document::{example_packets, example_states};

fn float_cubes(snapshot: &Snapshot) -> Vec<FloatCube> {
    let cubes = snapshot.cubes.iter().map(|cube| FloatCube {
        interacting: cube.interacting,
        position: cube.position.to_array(),
        orientation: cube.orientation.to_array(),
        velocity: cube.linear_velocity.to_array(),
    });
    cubes.collect()
}

/// The second decoder's integers of what the first has decoded.
fn integers(baseline: &Baseline) -> Vec<Cube> {
    let snapshot = baseline.snapshot();
    let widen = |integers: [i32; 3], full: bool| {
        integers.map(|integer| {
            if full {
                i64::from(integer.cast_unsigned())
            } else {
                i64::from(integer)
            }
        })
    };
    let precision = snapshot.precision();
    let cube = |index: usize| Cube {
        interacting: snapshot.interacting()[index],
        position: widen(
            snapshot.positions()[index],
            precision.position == Position::Full,
        ),
        orientation: match precision.orientation {
            Orientation::Full => snapshot
                .cube(index)
                .orientation
                .to_array()
                .map(|component| i64::from(component.to_bits())),
            Orientation::SmallestThree { .. } => {
                let orientation = snapshot.smallest_three(index);
                let [a, b, c] = orientation.components.map(i64::from);
                [i64::from(orientation.largest), a, b, c]
            }
        },
        velocity: snapshot
            .velocities()
            .get(index)
            .map(|&integers| widen(integers, precision.velocity == VelocityPrecision::Full)),
    };
    (0..snapshot.len()).map(cube).collect()
}

fn assert_agree(first: &Baseline, second: &Kept) {
    assert_eq!(first.sequence().0, second.sequence);
    assert_eq!(integers(first), second.cubes);
    assert_eq!(first.moved(), second.moved);
}

/// Sends the frames through the first decoder and the second.
fn send_to_both(initial: &Snapshot, frames: &[(Sequence, Snapshot)], stages: &[Stages]) {
    let mut lane = Lane::new(initial, BitLedger::new());
    let float_initial = float_cubes(initial);
    let mut held = HashMap::new();
    let mut before = None;
    for ((sequence, snapshot), stages) in frames.iter().zip(stages.iter().cycle()) {
        lane.send(*sequence, *stages, snapshot, before);
        let second = decode(&lane.packet.bytes, &float_initial, &held)
            .unwrap_or_else(|error| panic!("{stages:?}: {error}"));
        assert_agree(&lane.received[&sequence.0], &second);
        held.insert(sequence.0, second);
        before = Some(*sequence);
    }
}

#[test]
fn both_read_the_examples_of_the_document() {
    let (initial, states) = example_states();
    let examples = example_packets();
    assert_eq!(examples.len(), LADDER.len() + 1);
    for (name, packets) in examples {
        let stages = cubewire_codec::ladder::rung(name).unwrap().stages;
        let mut decoder = Decoder::new(initial.clone(), Limits::default()).unwrap();
        let (mut held_by_first, mut held) = (HashMap::new(), HashMap::new());
        assert_eq!(packets.len(), states.len());
        for (packet, (sequence, state)) in packets.iter().zip(&states) {
            let mut first = Baseline::default();
            let lookup = |sequence: Sequence| held_by_first.get(&sequence.0);
            decoder.decode(packet, lookup, &mut first).unwrap();
            let second = decode(packet, &float_cubes(&initial), &held).unwrap();
            assert_agree(&first, &second);
            let mut quantized = QuantizedSnapshot::new(stages.precision());
            quantized.quantize(state, stages.precision()).unwrap();
            assert_eq!(first.snapshot(), &quantized);
            held_by_first.insert(sequence.0, first);
            held.insert(sequence.0, second);
        }
    }
}

#[test]
fn both_read_real_play() {
    let frames = recording::frames("dev-pull");
    let mut states = Vec::new();
    for (index, frame) in frames.iter().enumerate().skip(600).take(30) {
        let mut state = Snapshot::default();
        frame.dequantize(&mut state);
        states.push((Sequence(index as u16), state));
    }
    let initial = states[0].1.clone();
    for rung in LADDER.into_iter().chain([AFFINE]) {
        send_to_both(&initial, &states, &[rung.stages]);
    }
}

#[test]
fn both_read_the_initial_state() {
    let (_, [(_, first), ..]) = example_states();
    let mut bytes = Vec::new();
    encode_initial(&first, &mut bytes).unwrap();
    assert_eq!(decode_block(&bytes), Ok(float_cubes(&first)));
}

/// Stages whose packets the document specifies to the last bit.
fn documented(component_bits: &[u8]) -> Vec<Stages> {
    Stages::every_legal(component_bits)
        .filter(|stages| !stages.delta.is_arithmetic())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_read_any_legal_combination(
        scene in scenes(30, 5),
        stages in prop::collection::vec(
            prop::sample::select(documented(&[2, 8, 9, 10, 15])),
            1..3,
        ),
    ) {
        send_to_both(&scene.initial, &scene.play(), &stages);
    }

    /// Whatever one refuses, the other does too.
    #[test]
    fn both_refuse_the_same_packets(
        scene in scenes(8, 3),
        stages in prop::sample::select(documented(&[2, 9])),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut lane = Lane::new(&scene.initial, BitLedger::new());
        let float_initial = float_cubes(&scene.initial);
        let mut held = HashMap::new();
        let mut before = None;
        for (sequence, snapshot) in scene.play() {
            let held_by_first = lane.received.clone();
            lane.send(sequence, stages, &snapshot, before);
            let kept = decode(&lane.packet.bytes, &float_initial, &held).unwrap();
            let mut bytes = lane.packet.bytes.clone();
            for flip in &flips {
                let bit = flip.index(bytes.len() * 8);
                bytes[bit / 8] ^= 0x80 >> (bit % 8);
            }
            let mut first = Baseline::default();
            let lookup = |sequence: Sequence| held_by_first.get(&sequence.0);
            let by_first = lane.decoder.decode(&bytes, lookup, &mut first);
            match (by_first, decode(&bytes, &float_initial, &held)) {
                (Ok(_), Ok(second)) => assert_agree(&first, &second),
                (Err(_), Err(_)) => {}
                (first, second) => panic!("{stages:?}: {first:?}, but {second:?}"),
            }
            held.insert(sequence.0, kept);
            before = Some(sequence);
        }
    }
}
