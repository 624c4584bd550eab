//! The examples of `WIRE.md`, which both decoders read, and their bins, which `DECISIONS.md` lists.

use std::collections::HashMap;

use cubewire_codec::ladder::{PREDICTED, Rung, SIMULATED};
use cubewire_codec::{Baseline, Decoder, Limits, QuantizedSnapshot, Sequence};

use crate::example_states::{example_engine, example_states};
use crate::pair::{assert_agree, float_cubes, second_engine};
use crate::second_coder::Coder;
use crate::second_decoder::{choose, decode_simulated};
use crate::second_scene::Engine;
use crate::wire_document::{DECISIONS, example_packets, example_stages};

#[test]
fn both_read_the_examples_of_the_document() {
    let (initial, states) = example_states();
    let examples = example_packets();
    assert_eq!(examples.len(), example_stages().count());
    for ((name, packets), (expected, stages)) in examples.into_iter().zip(example_stages()) {
        assert_eq!(name, expected);
        let mut decoder = Decoder::new(initial.clone(), Limits::default()).unwrap();
        let (mut held_by_first, mut held) = (HashMap::new(), HashMap::new());
        assert_eq!(packets.len(), states.len());
        for (packet, (sequence, state)) in packets.iter().zip(&states) {
            let mut first = Baseline::default();
            let lookup = |sequence: Sequence| held_by_first.get(&sequence.0);
            let mut engine = example_engine(*sequence);
            let decoded = decoder.decode_simulated(packet, lookup, &mut engine, &mut first);
            decoded.unwrap();
            let engine = second_engine(&engine);
            let floats = float_cubes(&initial);
            let second = decode_simulated(packet, &floats, &held, &engine).unwrap();
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
fn the_listed_bins_are_those_of_the_examples() {
    assert!(
        DECISIONS == with_bins(),
        "the bins should be those of write_the_bins_of_an_example"
    );
}

#[test]
#[ignore = "writes what the one above compares with"]
fn write_the_bins_of_an_example() {
    let folder = env!("CARGO_MANIFEST_DIR");
    std::fs::write(format!("{folder}/DECISIONS.md"), with_bins()).unwrap();
}

/// DECISIONS.md with the bins of the examples that the code writes now.
fn with_bins() -> String {
    let mut document = DECISIONS.to_owned();
    for rung in [PREDICTED, SIMULATED] {
        let title = format!(" of *{}* in WIRE.md", rung.name);
        let example = document.find(&title).unwrap();
        let start = example + document[example..].find("```text\n").unwrap() + "```text\n".len();
        let end = start + document[start..].find("\n```").unwrap();
        document.replace_range(start..end, &bins_of_an_example(rung));
    }
    document
}

/// The bins of packet #1012.
fn bins_of_an_example(rung: Rung) -> String {
    let initial = float_cubes(&example_states().0);
    let mut examples = example_packets().into_iter();
    let packets = examples.find(|(name, _)| *name == rung.name).unwrap().1;
    let mut held = HashMap::new();
    for (packet, sequence) in packets.iter().zip([1000, 1006]) {
        let engine = second_engine(&example_engine(Sequence(sequence)));
        let kept = decode_simulated(packet, &initial, &held, &engine).unwrap();
        held.insert(sequence, kept);
    }
    // After header and check, which name the rung there and the stages here.
    let coded = &packets[2][5..];
    let mut coder = Coder::new(coded, None);
    let mut lines = vec![String::new()];
    let mut choice = |one: i64| {
        let bin = coder.bin(one);
        let listed = format!("{}:{one}", u8::from(bin));
        match lines.last_mut() {
            Some(line) if line.is_empty() => *line = listed,
            Some(line) if line.len() + listed.len() < LINE => *line += &format!(" {listed}"),
            _ => lines.push(listed),
        }
        bin
    };
    let engine = second_engine(&example_engine(Sequence(1012)));
    let engine: Option<Engine> = (rung == SIMULATED).then_some(&engine);
    let both = (&initial[..], &held);
    let bytes = choose(&mut choice, (1012, 1), Some(1006), both, engine);
    assert!(bytes.ends_with(coded), "{bytes:02x?}");
    lines.join("\n")
}

/// Characters of a line of the document.
const LINE: usize = 112;
