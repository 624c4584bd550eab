//! Encode and decode of one frame of real play, frame n against frame n − 6.
//!
//! What is timed is what a sender and a receiver do for one packet, the account by kind and the
//! keeping of the snapshot as a later baseline included, the account by cube not. Every packet is
//! checked to decode to the frame that went in, and the mean sizes are checked as well, so that a
//! faster time cannot come from a smaller job.

#[path = "../tests/suite/recording.rs"]
mod recording;

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use cubewire_codec::ladder::{self, Rung};
use cubewire_codec::{
    Baseline, Decoder, Encoder, Limits, Packet, QuantizedSnapshot, Sequence, Snapshot,
};

/// Frames that a baseline is old.
const AGE: usize = 6;

/// Snapshots in the ring whose memory is printed.
const RING: usize = 256;

/// Both ends of a lane, with what each keeps.
struct Lane<'a> {
    rung: Rung,
    frames: &'a [QuantizedSnapshot],
    encoder: Encoder,
    decoder: Decoder,
    current: QuantizedSnapshot,
    packet: Packet,
    sent: Vec<Baseline>,
    received: Vec<Baseline>,
    frame: usize,
}

impl<'a> Lane<'a> {
    fn new(rung: Rung, frames: &'a [QuantizedSnapshot]) -> Self {
        let mut initial = Snapshot::default();
        frames[0].dequantize(&mut initial);
        let kept: Vec<Baseline> = (0..AGE)
            .map(|frame| {
                let mut baseline = Baseline::new(rung.stages);
                baseline.record(Sequence(frame as u16), rung.stages, &frames[frame], None);
                baseline
            })
            .collect();
        Self {
            rung,
            frames,
            encoder: Encoder::new(initial.clone(), Limits::default()).unwrap(),
            decoder: Decoder::new(initial, Limits::default()).unwrap(),
            current: frames[0].clone(),
            packet: Packet::default(),
            sent: kept.clone(),
            received: kept,
            frame: AGE,
        }
    }

    /// Sends the next frame through both ends, and gives the time that each took.
    fn step(&mut self, next_sent: &mut Baseline, next_received: &mut Baseline) -> [Duration; 2] {
        // In play a snapshot has just been quantized: it is in the cache.
        self.current.copy_from(&self.frames[self.frame]);
        let (sequence, slot) = (Sequence(self.frame as u16), self.frame % AGE);
        let stages = self.rung.stages;

        let start = Instant::now();
        let baseline = Some(&self.sent[slot]);
        self.encoder
            .encode(sequence, stages, &self.current, baseline, &mut self.packet)
            .unwrap();
        next_sent.record(sequence, stages, &self.current, baseline);
        let encode = start.elapsed();

        let start = Instant::now();
        let held = &self.received[slot];
        let lookup = |sequence| (held.sequence() == sequence).then_some(held);
        self.decoder
            .decode(&self.packet.bytes, lookup, next_received)
            .unwrap();
        let decode = start.elapsed();

        assert_eq!(next_received.snapshot(), &self.current);
        std::mem::swap(&mut self.sent[slot], next_sent);
        std::mem::swap(&mut self.received[slot], next_received);
        self.frame += 1;
        [encode, decode]
    }
}

fn frame(criterion: &mut Criterion) {
    let frames = recording::frames("dev-mix");
    for (rung, mean_bytes) in [
        (ladder::CHANGED_FLAGS, 339.1),
        (ladder::PREDICTED_POSITION, 263.9),
    ] {
        let (mut sent, mut received) = (Baseline::new(rung.stages), Baseline::new(rung.stages));
        let mut lane = Lane::new(rung, &frames);
        let mut bytes = 0;
        while lane.frame < frames.len() {
            lane.step(&mut sent, &mut received);
            bytes += lane.packet.bytes.len();
            assert_eq!(lane.sent, lane.received);
        }
        let mean = bytes as f64 / (frames.len() - AGE) as f64;
        assert!(
            (mean - mean_bytes).abs() < 0.1,
            "{}: {mean} bytes",
            rung.name
        );
        println!(
            "{}: {mean:.1} bytes a packet; a ring of {RING} snapshots takes {:.2} MiB",
            rung.name,
            (sent.memory_bytes() * RING) as f64 / f64::from(1 << 20)
        );

        for (name, timed) in [
            ("encode+decode", [true, true]),
            ("encode", [true, false]),
            ("decode", [false, true]),
        ] {
            criterion.bench_function(&format!("{}/{name}", rung.name), |bencher| {
                bencher.iter_custom(|iterations| {
                    let mut total = Duration::ZERO;
                    for _ in 0..iterations {
                        if lane.frame == frames.len() {
                            lane = Lane::new(rung, &frames);
                        }
                        let times = lane.step(&mut sent, &mut received);
                        let parts = times.into_iter().zip(timed);
                        total += parts
                            .filter_map(|(time, timed)| timed.then_some(time))
                            .sum::<Duration>();
                    }
                    total
                });
            });
        }
    }
}

criterion_group!(benches, frame);
criterion_main!(benches);
