//! Decoding any bytes gives a snapshot or an error, whatever baselines the receiver holds.
//!
//! ```text
//! cargo +nightly fuzz run decode        (in crates/codec)
//! ```

#![no_main]

use std::cell::RefCell;

use cubewire_codec::ladder::{AFFINE, LADDER};
use cubewire_codec::{
    Baseline, CubeState, Decoder, Limits, QuantizedSnapshot, Sequence, Snapshot, decode_initial,
};
use glam::Vec3;
use libfuzzer_sys::fuzz_target;

const CUBES: usize = 50;

/// A receiver and what it holds: two snapshots of each rung, the second of them in motion.
struct Receiver {
    decoder: Decoder,
    held: Vec<Baseline>,
}

impl Receiver {
    fn new() -> Self {
        let state = |tick: u16| {
            let cubes = (0..CUBES).map(|index| CubeState {
                position: Vec3::new(
                    index as f32 + f32::from(tick) * (index % 3) as f32 * 0.05,
                    -1.0,
                    3.0 - f32::from(tick * tick) * (index % 2) as f32 * 0.01,
                ),
                ..CubeState::default()
            });
            Snapshot {
                cubes: cubes.collect(),
            }
        };
        let mut held: Vec<Baseline> = Vec::new();
        for rung in LADDER.iter().chain([&AFFINE]) {
            let stages = rung.stages;
            for step in 0..3 {
                let sequence = Sequence(held.len() as u16);
                let mut snapshot = QuantizedSnapshot::new(stages.precision());
                snapshot
                    .quantize(&state(step * 6), stages.precision())
                    .unwrap();
                let named = (step > 0).then(|| held.last().unwrap());
                let mut baseline = Baseline::default();
                baseline.record(sequence, stages, &snapshot, named);
                held.push(baseline);
            }
        }
        Self {
            decoder: Decoder::new(state(0), Limits::default()).unwrap(),
            held,
        }
    }
}

thread_local! {
    static RECEIVER: RefCell<Receiver> = RefCell::new(Receiver::new());
}

fuzz_target!(|bytes: &[u8]| {
    let _ = decode_initial(bytes, Limits { max_cubes: 1000 });
    RECEIVER.with_borrow_mut(|Receiver { decoder, held }| {
        let mut out = held[0].clone();
        let lookup = |sequence: Sequence| held.get(usize::from(sequence.0));
        match decoder.decode(bytes, lookup, &mut out) {
            Ok(header) => {
                assert_eq!(out.sequence(), header.sequence);
                assert_eq!(out.snapshot().len(), CUBES);
            }
            Err(_) => assert_eq!(out, held[0]),
        }
    });
});
