//! Encode and decode of one frame of real play, frame n against frame n − 6.
//!
//! The times include everything that a sender and a receiver do for one packet: also the ledger by kind and storing
//! the snapshot as a baseline, but not the ledger by body. Every packet must decode to the frame that was encoded,
//! and each rung must be smaller than the one before, so that a benchmark cannot become faster by doing less work.

#[path = "../tests/suite/recording.rs"]
mod recording;
#[path = "../tests/suite/replay.rs"]
mod replay;

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, ladder};

use self::replay::{AGE, Replay};

/// Each sample is the mean of all frames of the recording, because packets differ.
fn frame(criterion: &mut Criterion) {
    let frames = recording::frames("dev-mix");
    let mut group = criterion.benchmark_group("frame");
    group.sample_size(30).sampling_mode(SamplingMode::Flat);
    let mut before = usize::MAX;
    for rung in
        [ladder::CHANGED_FLAGS, ladder::PREDICTED_POSITION, ladder::ARITHMETIC, ladder::PREDICTED]
    {
        let mut replay = Replay::new(rung, frames);
        let mut bytes = 0;
        while !replay.is_over() {
            replay.step();
            bytes += replay.packet.bytes.len();
        }
        assert!(bytes < before, "{}: {bytes} bytes", rung.name);
        before = bytes;

        for (name, timed) in
            [("encode+decode", [true, true]), ("encode", [true, false]), ("decode", [false, true])]
        {
            group.bench_function(format!("{}/{name}", rung.name), |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut replay = Replay::new(rung, frames);
                    let mut total = Duration::ZERO;
                    while !replay.is_over() {
                        let parts = replay.step().into_iter().zip(timed);
                        total += parts
                            .filter_map(|(time, timed)| timed.then_some(time))
                            .sum::<Duration>();
                    }
                    total.mul_f64(iterations as f64 / (frames.len() - AGE) as f64)
                });
            });
        }
    }
}

/// The sender's work before it encodes: 901 bodies from floats to integers.
fn quantize(criterion: &mut Criterion) {
    let frame = &recording::frames("dev-mix")[600];
    let mut state = Snapshot::default();
    frame.dequantize(&mut state);
    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), frame.precision());
    quantized.quantize(&state, frame.precision()).expect("what comes from integers is finite");
    for body in 0..frame.len() {
        assert_eq!(quantized.position(body), frame.position(body));
    }
    criterion.bench_function("quantize", |bencher| {
        bencher.iter(|| quantized.quantize(black_box(&state), frame.precision()));
    });
}

criterion_group!(benches, frame, quantize);
criterion_main!(benches);
