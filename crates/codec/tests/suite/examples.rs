//! The examples of `examples.txt` decode. Both decoders read the bit-packed rungs.

use std::collections::HashMap;

use cubewire_codec::{Baseline, Decoder, Limits, Plan, QuantizedSnapshot, Sequence};

use crate::example_states::example_states;
use crate::pair::{assert_agree, float_bodies};
use crate::second_decoder::decode;
use crate::second_scene::Scene;
use crate::wire_document::{example_packets, example_stages};

#[test]
fn the_examples_of_the_file_are_read() {
    let (initial, states) = example_states();
    let floats = float_bodies(&initial);
    let examples = example_packets();
    assert_eq!(examples.len(), example_stages().count());
    for ((name, packets), (expected, stages)) in examples.into_iter().zip(example_stages()) {
        assert_eq!(name, expected);
        let mut decoder = Decoder::new(Plan::cubes(), initial.clone(), Limits::default()).unwrap();
        let (mut held, mut held_by_second) = (HashMap::new(), HashMap::new());
        assert_eq!(packets.len(), states.len());
        for (packet, (sequence, state)) in packets.iter().zip(&states) {
            let mut current = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
            current.quantize(state, stages.precision()).unwrap();
            let mut first = Baseline::default();
            let lookup = |sequence: Sequence| held.get(&sequence.0);
            let begun = decoder.begin(packet, lookup).unwrap();
            decoder
                .finish(begun, lookup, Some(&current), &mut first)
                .unwrap();
            assert_eq!(first.snapshot(), &current);
            if !stages.delta.is_arithmetic() {
                let second = decode(packet, &Scene::cubes(), &floats, &held_by_second).unwrap();
                assert_agree(&first, &second);
                held_by_second.insert(sequence.0, second);
            }
            held.insert(sequence.0, first);
        }
    }
}
