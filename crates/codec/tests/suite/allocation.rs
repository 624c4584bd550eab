//! Once warm, a packet costs no allocation.

use allocation_counter::measure;
use cubewire_codec::ladder::{AFFINE, LADDER};
use cubewire_codec::{
    Baseline, BitLedger, Decoder, Encoder, Limits, Packet, QuantizedSnapshot, References, Sequence,
    Snapshot,
};

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
