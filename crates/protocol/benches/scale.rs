//! Costs of a scene by its size. Prints a table with packet bytes and the memory of both ends, and times quantizing,
//! encoding and decoding. Also measures partial packets.
//!
//! Bodies are spread over the demo's floor. In every hundred bodies, a given number moves back and forth, each with
//! its own phase.

#![allow(clippy::disallowed_methods, reason = "no browser runs this")]

#[path = "../tests/suite/play.rs"]
mod play;
#[path = "../../codec/tests/suite/replay.rs"]
mod replay;

use std::hint::black_box;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use cubewire_codec::glam::Vec3;
use cubewire_codec::ladder::{CHANGED_FLAGS, PREDICTED, Rung};
use cubewire_codec::{BodyState, Plan, QuantizedSnapshot, Snapshot};
use cubewire_protocol::{BaselineChoice, RECEIVER_RING};

use self::play::Play;
use self::replay::Replay;

const BODIES: [usize; 3] = [901, 10_000, 65_536];
const PERCENTS: [usize; 4] = [0, 1, 5, 100];

/// Number of bodies, rung, and percentage of bodies that change, for complete packets.
const COMPLETE: [(usize, Rung, usize); 4] = [
    (901, CHANGED_FLAGS, 4),
    (901, PREDICTED, 25),
    (10_000, CHANGED_FLAGS, 1),
    (10_000, PREDICTED, 2),
];

/// Number of packets for the median.
const STEPS: usize = 1000;

/// Number of ticks until the scene repeats.
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
    Snapshot { bodies: (0..bodies).map(body).collect() }
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

/// Sends a frame, within a byte budget if one is given. Returns the times of the sender and the receiver.
fn step(play: &mut Play, frame: &QuantizedSnapshot, packet_budget: Option<usize>) -> [Duration; 2] {
    let start = Instant::now();
    let is_sent = match packet_budget {
        None => {
            play.send(frame, BaselineChoice::Newest);
            true
        }
        Some(bytes) => play.send_within(frame, bytes),
    };
    [start.elapsed(), play.deliver(is_sent)]
}

/// Returns both ends after a long play, and megabytes of the sender's ring, the receiver's ring, and both ends in
/// total.
fn long_play(
    rung: Rung,
    frames: &[QuantizedSnapshot],
    packet_budget: Option<usize>,
) -> (Play, [f64; 3]) {
    // Dropped outside, so that the measurement includes the memory in use at the end.
    let mut play = None;
    let total = measure(|| {
        let play = play.insert(Play::new(&frames[0], rung.stages));
        for frame in frames.iter().cycle().take(RECEIVER_RING + PERIOD) {
            step(play, frame, packet_budget);
        }
    });
    let play = play.expect("it was begun");
    let (sent, received) = (play.sender.memory_bytes(), play.receiver.memory_bytes());
    let bytes = [sent as f64, received as f64, total.bytes_current as f64];
    (play, bytes.map(|bytes| bytes / 1e6))
}

fn scale(criterion: &mut Criterion) {
    let percents = PERCENTS.map(|percent| format!("bytes at {percent} % | "));
    println!("| bodies | rung | {}MB sent | MB received | MB of both ends |", percents.concat(),);
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
            let (_, megabytes) = long_play(rung, &frames(bodies, 1), None);
            for megabytes in megabytes {
                row += &format!(" {megabytes:.1} |");
            }
            println!("{row}");
        }
    }
}

/// Compares complete and partial packets of equal size: memory, and time per packet at both ends.
fn partial(_: &mut Criterion) {
    println!("| bodies | rung | packets | bytes | MB sent | MB received | MB of both ends |");
    println!("| --- | --- | --- |{}", " ---: |".repeat(4));
    let mut times = Vec::new();
    for (bodies, rung, percent) in COMPLETE {
        let (mut packet_budget, mut took) = (None, Vec::new());
        for (packets, percent) in [("complete", percent), ("partial", 30)] {
            let frames = frames(bodies, percent);
            let (mut play, [sent, received, both]) = long_play(rung, &frames, packet_budget);
            let bytes = play.sender.packet().bytes.len();
            assert!(bytes <= packet_budget.unwrap_or(usize::MAX), "{bytes}");
            let name = rung.name;
            println!(
                "| {bodies} | {name} | {packets} | {bytes} | {sent:.1} | {received:.1} | {both:.1} |"
            );
            took.push(median_step(&mut play, &frames, packet_budget));
            packet_budget = Some(bytes);
        }
        times.push((bodies, rung.name, took));
    }
    for (bodies, rung, took) in times {
        let [[sent, received], [partly_sent, partly_received]] = took[..] else {
            unreachable!("a complete packet and a partial one");
        };
        let ratio = (partly_sent + partly_received) / (sent + received);
        println!(
            "partial/{bodies}/{rung}: complete packets {sent:.1} + {received:.1} µs, \
             partial ones {partly_sent:.1} + {partly_received:.1} µs, {ratio:.2} times as much"
        );
    }
}

/// Returns the median times for sending and for receiving a packet, microseconds.
fn median_step(
    play: &mut Play,
    frames: &[QuantizedSnapshot],
    packet_budget: Option<usize>,
) -> [f64; 2] {
    let next = frames.iter().cycle().skip(RECEIVER_RING % PERIOD);
    let steps: Vec<_> = next.take(STEPS).map(|frame| step(play, frame, packet_budget)).collect();
    [0, 1].map(|end| {
        let mut times: Vec<_> = steps.iter().map(|step| step[end]).collect();
        times.sort_unstable();
        times[STEPS / 2].as_secs_f64() * 1e6
    })
}

criterion_group!(benches, scale, partial);
criterion_main!(benches);
