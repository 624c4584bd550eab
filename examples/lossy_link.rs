//! Replicates moving cubes over a bad network and prints statistics each second.
//!
//! Shows all parts of `cubewire-protocol` that a game needs. A sender per receiver tracks which snapshots the receiver
//! has. The receiver decodes, acks and plays back. Both take the time and the bytes as arguments. Here the bytes cross
//! a simulated link (`cubewire-link`), in a game a socket.
//!
//! ```text
//! cargo run --example lossy_link hostile
//! ```

use std::error::Error;
use std::f32::consts::PI;
use std::time::Duration;

use cubewire_codec::{BodyState, Limits, Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_link::{Link, PRESETS, Preset};
use cubewire_protocol::{
    BaselineChoice, Interpolation, PacketOutcome, SnapshotReceiver, SnapshotSender, Welcome,
};
use glam::{Quat, Vec3};

const TICKS_PER_SECOND: u16 = 60;

/// Bytes of the IPv4 and UDP headers.
const HEADER_BYTES: usize = 28;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "hostile".into());
    let Some(preset) = Preset::by_name(&name) else {
        let names = PRESETS.each_ref().map(|preset| preset.name).join(", ");
        eprintln!("error: unknown network `{name}`; use one of {names}");
        std::process::exit(2);
    };
    println!("{}: {}\n", preset.title, preset.summary);
    let mut down: Link<Vec<u8>> = Link::new(preset.conditions.clone(), 1);
    let mut up: Link<Vec<u8>> = Link::new(preset.conditions.clone(), 2);

    // In an app, a `ClientConnection` gets the welcome from a `ServerConnection`, with the initial state and the tick.
    let stages = ladder::PREDICTED_POSITION.stages;
    let welcome = Welcome { plan: Plan::cubes(), tick: 0, initial: play(0) };
    let limits = Limits { max_bodies: 901 };
    let mut sender = SnapshotSender::new(Plan::cubes(), welcome.initial.clone(), limits)?;
    let mut receiver =
        SnapshotReceiver::new(welcome, limits, Duration::from_millis(150), Duration::ZERO)?;

    let mut quantized = QuantizedSnapshot::new(Plan::cubes(), stages.precision());
    let (mut bytes, mut decoded, mut late, mut worst) = (0, 0, 0, 0.0_f32);
    println!("second  kbps  decoded  late  oldest baseline  largest error");
    let mut oldest = 0;
    for tick in 1..=10 * u64::from(TICKS_PER_SECOND) {
        let now = Duration::from_secs(tick) / TICKS_PER_SECOND.into();

        // The sender: process feedback, encode, send.
        while let Some(message) = up.receive(now) {
            sender.on_message(&message)?;
        }
        quantized.quantize(&play(tick), stages.precision())?;
        let sent = sender.send(tick, stages, &quantized, BaselineChoice::Newest)?;
        oldest = oldest.max(sent.baseline_age().map_or(0, u64::from));
        let packet = sender.packet().bytes.clone();
        bytes += packet.len() + HEADER_BYTES;
        down.send(now, packet.len() + HEADER_BYTES, packet);

        // The receiver: process packets, send feedback.
        while let Some(packet) = down.receive(now) {
            if let PacketOutcome::Decoded { late: is_late, .. } =
                receiver.on_packet(now, &packet)?
            {
                decoded += 1;
                late += u32::from(is_late);
            }
        }
        while let Some(feedback) = receiver.poll_feedback() {
            let message = feedback.encode();
            up.send(now, message.len() + HEADER_BYTES, message);
        }

        // Playout, at any frame rate. Here once per tick.
        let kind = Interpolation::Linear;
        if let Some(playout) = kind.playout(receiver.playout(), now) {
            let truth = play_at(playout.tick);
            for (cube, truth) in truth.bodies.iter().enumerate() {
                let shown = kind.body(&playout, cube);
                worst = worst.max(shown.position.distance(truth.position));
            }
        }

        if tick % u64::from(TICKS_PER_SECOND) == 0 {
            let kbps = bytes as f64 * 8.0 / 1000.0;
            println!(
                "{:>6} {kbps:>5.1} {decoded:>8} {late:>5} {oldest:>10} ticks {:>11.1} mm",
                tick / u64::from(TICKS_PER_SECOND),
                worst * 1000.0
            );
            (bytes, decoded, late, worst, oldest) = (0, 0, 0, 0.0, 0);
        }
    }
    Ok(())
}

fn play(tick: u64) -> Snapshot {
    play_at(tick as f64)
}

/// A hundred cubes. Ten of them move in circles and rotate.
fn play_at(tick: f64) -> Snapshot {
    let seconds = tick as f32 / f32::from(TICKS_PER_SECOND);
    let cube = |index: usize| {
        let centre = Vec3::new((index % 10) as f32, (index / 10) as f32, 0.2);
        let angle = if index.is_multiple_of(10) { seconds * PI } else { 0.0 };
        BodyState {
            position: centre + 0.5 * Vec3::new(angle.cos(), angle.sin(), 0.0),
            orientation: Quat::from_rotation_z(angle),
            ..BodyState::default()
        }
    };
    Snapshot { bodies: (0..100).map(cube).collect() }
}
