//! Sends snapshots of moving cubes over a link with a round-trip time of 100 ms, and prints the bandwidth of each rung
//! of the compression ladder.
//!
//! Shows all steps of a game with `cubewire-codec`. The sender quantizes a snapshot, encodes it relative to the newest
//! acked snapshot, and keeps it as a baseline. The receiver decodes it and keeps it as a baseline.
//!
//! ```text
//! cargo run --example send_snapshots
//! ```

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::f32::consts::PI;

use cubewire_codec::ladder::LADDER;
use cubewire_codec::{
    Baseline, BodyState, Decoder, Encoder, Limits, Packet, Plan, QuantizedSnapshot, Sequence,
    Snapshot, Stages,
};
use glam::{Quat, Vec3};

/// Number of snapshots: ten seconds.
const TICKS: u16 = 600;

/// Ticks from sending a packet to receiving its ack.
const ROUND_TRIP_TICKS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    println!("A hundred cubes, each packet against a baseline that was acked 100 ms later:\n");
    println!("{:<22}{:>10}", "rung", "kbit/s");
    for rung in LADDER {
        let bytes = send_all(rung.stages)?;
        let kbps = bytes as f64 * 8.0 / 1000.0 / (f64::from(TICKS) / 60.0);
        println!("{:<22}{kbps:>10.1}", rung.name);
    }
    Ok(())
}

/// Sends all snapshots and returns the total size of the packets in bytes.
fn send_all(stages: Stages) -> Result<usize, Box<dyn Error>> {
    // Both sides have the initial state. If the receiver does not have it, encode it with `encode_initial`.
    let initial = play(0);
    let mut encoder = Encoder::new(Plan::cubes(), initial.clone(), Limits::default())?;
    let mut decoder = Decoder::new(Plan::cubes(), initial, Limits::default())?;

    // Snapshots by sequence. The sender has such a store per receiver. A real program discards old snapshots: the
    // sender after a maximum age, and the receiver after twice that age.
    let mut sent: HashMap<u16, Baseline> = HashMap::new();
    let mut received: HashMap<u16, Baseline> = HashMap::new();
    let mut acks = VecDeque::new();
    let mut newest_acked = None;

    let mut packet = Packet::default();
    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    let mut bytes = 0;
    for tick in 1..=TICKS {
        let sequence = Sequence(tick);

        // The sender.
        quantized.quantize(&play(tick), stages.precision())?;
        let baseline = newest_acked.and_then(|acked: Sequence| sent.get(&acked.0));
        let mut kept = Baseline::default();
        encoder.encode(sequence, stages, &quantized, baseline, &mut packet, Some(&mut kept))?;
        sent.insert(tick, kept);
        bytes += packet.bytes.len();

        // The receiver.
        let mut snapshot = Baseline::default();
        decoder.decode(&packet.bytes, |sequence| received.get(&sequence.0), &mut snapshot)?;
        assert_eq!(snapshot.snapshot(), &quantized, "decoding is exact");
        received.insert(tick, snapshot);

        // The ack arrives one round trip later.
        acks.push_back(sequence);
        if acks.len() == ROUND_TRIP_TICKS {
            newest_acked = acks.pop_front();
        }
    }
    Ok(bytes)
}

/// A hundred cubes in a row, lifted by a travelling wave.
fn play(tick: u16) -> Snapshot {
    let seconds = f32::from(tick) / 60.0;
    let cubes = (0..100).map(|index| {
        let x = index as f32 - 50.0;
        let phase = seconds * 2.0 - index as f32 * 0.2;
        let (lift, rise) = if (0.0..1.0).contains(&phase) {
            let (sin, cos) = (phase * PI).sin_cos();
            (sin, cos * PI * 2.0)
        } else {
            (0.0, 0.0)
        };
        BodyState {
            position: Vec3::new(x, 0.0, 0.2 + lift),
            orientation: Quat::from_rotation_x(lift),
            linear_velocity: Vec3::new(0.0, 0.0, rise),
            interacting: lift > 0.0,
        }
    });
    Snapshot { bodies: cubes.collect() }
}
