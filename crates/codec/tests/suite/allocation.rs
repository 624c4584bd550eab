//! Once warm, a packet costs no allocation.

use allocation_counter::measure;
use cubewire_codec::ladder::LADDER;
use cubewire_codec::{
    Baseline, BitLedger, Decoder, Encoder, Limits, Packet, QuantizedSnapshot, Sequence, Snapshot,
};

use crate::recording;

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
    for rung in LADDER {
        let stages = rung.stages;
        let mut packet = Packet {
            bytes: Vec::new(),
            ledger: BitLedger::with_cubes(),
        };
        let mut current = QuantizedSnapshot::new(stages.precision());
        let [mut kept, mut next, mut received, mut next_received] =
            [const { None }; 4].map(|_: Option<()>| Baseline::new(stages));
        let mut run = |states: &[Snapshot]| {
            for (tick, state) in states.iter().enumerate() {
                let sequence = Sequence(tick as u16);
                let first = tick == 0;
                current.quantize(state, stages.precision()).unwrap();
                let baseline = (!first).then_some(&kept);
                encoder
                    .encode(sequence, stages, &current, baseline, &mut packet)
                    .unwrap();
                next.record(sequence, stages, &current, baseline);
                decoder
                    .decode(&packet.bytes, |_| Some(&received), &mut next_received)
                    .unwrap();
                std::mem::swap(&mut kept, &mut next);
                std::mem::swap(&mut received, &mut next_received);
            }
        };
        run(&states);
        let allocations = measure(|| run(&states));
        assert_eq!(allocations.count_total, 0, "{}", rung.name);
    }
}
