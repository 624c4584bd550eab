//! Once warm, a packet costs no allocation.

use allocation_counter::measure;
use cubewire_codec::ladder::{AFFINE, LADDER, SIMULATED};
use cubewire_codec::{
    Baseline, BitLedger, Decoder, Encoder, Limits, Origin, Packet, QuantizedSnapshot, References,
    Sequence, Simulated, Snapshot,
};

use crate::engine::{Foreseen, shifted};
use crate::golden::play;
use crate::recording;

/// Ticks that a baseline is old.
const AGE: usize = 6;

/// Snapshots that each side keeps: the baseline, and two more references.
const RING: usize = AGE + 3;

#[test]
fn encoding_and_decoding_allocate_nothing_once_warm() {
    let frames = recording::frames("dev-pull");
    let mut states = Vec::new();
    for frame in frames.iter().skip(900).take(40) {
        let mut state = Snapshot::default();
        frame.dequantize(&mut state);
        states.push(state);
    }
    let mut encoder = Encoder::new(states[0].clone(), Limits::default()).unwrap();
    let mut decoder = Decoder::new(states[0].clone(), Limits::default()).unwrap();
    for rung in LADDER.into_iter().chain([AFFINE]) {
        let stages = rung.stages;
        let mut packet = Packet {
            ledger: BitLedger::itemized(),
            ..Packet::default()
        };
        let mut current = QuantizedSnapshot::new(stages.precision());
        let ring = || -> Vec<Baseline> { (0..RING).map(|_| Baseline::default()).collect() };
        let (mut sent, mut received) = (ring(), ring());
        let [mut kept, mut decoded] = [Baseline::default(), Baseline::default()];
        let mut run = |states: &[Snapshot]| {
            for (tick, state) in states.iter().enumerate() {
                let sequence = Sequence(tick as u16);
                current.quantize(state, stages.precision()).unwrap();
                let held = |age: usize| Some(&sent[tick.checked_sub(age)? % RING]);
                let references = References {
                    baseline: held(AGE),
                    additional: [held(AGE + 1), held(AGE + 2)],
                    ..References::default()
                };
                encoder
                    .encode(
                        sequence,
                        stages,
                        &current,
                        references,
                        &mut packet,
                        Some(&mut kept),
                    )
                    .unwrap();
                let held = |sequence: Sequence| Some(&received[usize::from(sequence.0) % RING]);
                decoder.decode(&packet.bytes, held, &mut decoded).unwrap();
                let slot = tick % RING;
                std::mem::swap(&mut sent[slot], &mut kept);
                std::mem::swap(&mut received[slot], &mut decoded);
            }
        };
        // The second time begins with full rings.
        run(&states);
        run(&states);
        let allocations = measure(|| run(&states));
        assert_eq!(allocations.count_total, 0, "{}", rung.name);
    }
}

#[test]
fn simulated_packets_allocate_nothing_once_warm() {
    let (initial, frames) = play();
    let mut encoder = Encoder::new(initial.clone(), Limits::default()).unwrap();
    let mut decoder = Decoder::new(initial, Limits::default()).unwrap();
    let wrong = |tick: usize| move |cube: usize| (cube + tick).is_multiple_of(5);
    let predictions = frames.iter().enumerate();
    let predictions: Vec<_> = predictions
        .map(|(tick, frame)| shifted(frame, wrong(tick)))
        .collect();
    let mut engine = Foreseen::new(&frames[0]);
    engine.inputs.reserve(255);
    let mut packet = Packet {
        ledger: BitLedger::itemized(),
        ..Packet::default()
    };
    let ring = || -> Vec<Baseline> { (0..RING).map(|_| Baseline::default()).collect() };
    let (mut sent, mut received) = (ring(), ring());
    let [mut kept, mut decoded] = [Baseline::default(), Baseline::default()];
    let (inputs, attachment) = ([5; 255], [9; 1_023]);
    let mut run = || {
        for (tick, frame) in frames.iter().enumerate() {
            let held = |age: usize| Some(&sent[tick.checked_sub(age)? % RING]);
            let origin = match tick % 7 {
                _ if tick < AGE => Some(Origin::Started(tick as u8 + 1)),
                0 => Some(Origin::Continued(AGE as u8)),
                1 => Some(Origin::Restored(255)),
                2 | 3 => Some(Origin::Corrected),
                4 | 5 => Some(Origin::Cold),
                _ => None,
            };
            let count = origin.map_or(0, |origin| origin.age().map_or(AGE, usize::from));
            let prediction = match origin.is_none_or(Origin::is_exact) || tick % 2 == 0 {
                true => frame,
                false => &predictions[tick],
            };
            engine.prediction.as_mut().unwrap().copy_from(prediction);
            let references = References {
                baseline: held(AGE),
                additional: [held(AGE + 1), held(AGE + 2)],
                simulated: Simulated {
                    origin,
                    inputs: &inputs[..count],
                    prediction: Some(prediction),
                    attachment: &attachment[..if tick % 5 == 0 { 1_023 } else { 0 }],
                },
            };
            let (sequence, stages) = (Sequence(tick as u16), SIMULATED.stages);
            let next = Some(&mut kept);
            encoder
                .encode(sequence, stages, frame, references, &mut packet, next)
                .unwrap();
            let held = |sequence: Sequence| Some(&received[usize::from(sequence.0) % RING]);
            decoder
                .decode_simulated(&packet.bytes, held, &mut engine, &mut decoded)
                .unwrap();
            std::mem::swap(&mut sent[tick % RING], &mut kept);
            std::mem::swap(&mut received[tick % RING], &mut decoded);
        }
    };
    run();
    run();
    let allocations = measure(run);
    assert_eq!(allocations.count_total, 0);
}
