//! What a scene costs as it grows: bytes of a packet and memory of both ends, which are printed as a table, and the times of
//! quantizing, encoding and decoding.
//!
//! Bodies are spread over the demo's floor. In every hundred of them, as many as are to change go to and fro, each in its own time.

#[path = "../tests/suite/play.rs"]
mod play;
#[path = "../../codec/tests/suite/replay.rs"]
mod replay;

use std::hint::black_box;
use std::time::Duration;

use allocation_counter::measure;
use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use cubewire_codec::glam::Vec3;
use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED, Rung};
use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, Snapshot};
use cubewire_protocol::{BaselineChoice, MAX_BASELINE_AGE_TICKS, RECEIVER_RING};

use self::play::Play;
use self::replay::Replay;

const BODIES: [usize; 3] = [901, 10_000, 65_536];
const PERCENTS: [usize; 4] = [0, 1, 5, 100];

/// Ticks until everything is as it was.
const PERIOD: usize = 32;

fn state(bodies: usize, percent: usize, tick: usize) -> Snapshot {
    let body = |body: usize| {
        let way = ((tick + body * 7 + body / 100) % PERIOD).abs_diff(PERIOD / 2);
        let shift = if body % 100 < percent { way } else { 0 } as f32 / 64.0;
        let position = Vec3::new((body % 256) as f32 * 2.0, (body / 256) as f32 * 2.0, 0.2);
        BodyState {
            position: position - Vec3::new(255.0 - shift, 255.0, 0.0),
            ..BodyState::default()
        }
    };
    Snapshot {
        bodies: (0..bodies).map(body).collect(),
    }
}

fn frames(bodies: usize, percent: usize) -> Vec<QuantizedSnapshot> {
    let precision = PREDICTED.stages.precision();
    let frame = |tick| {
        let mut frame = QuantizedSnapshot::new(Plan::cubes(), precision);
        let quantized = frame.quantize(&state(bodies, percent, tick), precision);
        quantized.expect("all numbers are finite");
        frame
    };
    (0..PERIOD).map(frame).collect()
}

/// Megabytes of the sender's ring, of the receiver's, and of both ends in all, after they have been in use for long.
fn megabytes(rung: Rung, frames: &[QuantizedSnapshot]) -> [f64; 3] {
    // Dropped outside, so that what is left at the end is what it has taken.
    let mut play = None;
    let total = measure(|| {
        let play = play.insert(Play::new(&frames[0], rung.stages));
        for frame in frames.iter().cycle().take(RECEIVER_RING + PERIOD) {
            play.send(frame, BaselineChoice::Newest);
            play.deliver(true);
        }
    });
    let (sent, received) = play.map_or((0, 0), |play| {
        (play.sender.memory_bytes(), play.receiver.memory_bytes())
    });
    [sent as f64, received as f64, total.bytes_current as f64].map(|bytes| bytes / 1e6)
}

fn scale(criterion: &mut Criterion) {
    let percents = PERCENTS.map(|percent| format!("bytes at {percent} % | "));
    println!(
        "| bodies | rung | {}MB of {} sent | MB of {RECEIVER_RING} received | MB of both ends |",
        percents.concat(),
        MAX_BASELINE_AGE_TICKS + 1,
    );
    println!("| --- | --- |{}", " ---: |".repeat(PERCENTS.len() + 3));
    let mut group = criterion.benchmark_group("scale");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(500));
    for bodies in BODIES {
        let (state, precision) = (state(bodies, 0, 0), PREDICTED.stages.precision());
        let mut quantized = QuantizedSnapshot::new(Plan::cubes(), precision);
        group.bench_function(format!("{bodies}/quantize"), |bencher| {
            bencher.iter(|| quantized.quantize(black_box(&state), precision));
        });
        for rung in [CHANGED_FLAGS, PREDICTED] {
            let mut row = format!("| {bodies} | {} |", rung.name);
            for percent in PERCENTS {
                let frames = frames(bodies, percent);
                let mut replay = Replay::new(rung, &frames);
                while !replay.is_over() {
                    replay.step();
                }
                let bytes = replay.packet.bytes.len();
                assert!(bytes < 16 + bodies * percent / 10, "{bytes}");
                row += &format!(" {bytes} |");
                for (end, name) in ["encode", "decode"].into_iter().enumerate() {
                    let name = format!("{bodies}/{percent} %/{}/{name}", rung.name);
                    group.bench_function(name, |bencher| {
                        bencher.iter_custom(|iterations| {
                            (0..iterations).map(|_| replay.step()[end]).sum()
                        });
                    });
                }
            }
            for megabytes in megabytes(rung, &frames(bodies, 1)) {
                row += &format!(" {megabytes:.1} |");
            }
            println!("{row}");
        }
    }
}

criterion_group!(benches, scale);
criterion_main!(benches);
