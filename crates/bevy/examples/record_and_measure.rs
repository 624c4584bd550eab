//! Records a game's bodies, and measures the bytes and the encoding time of each rung of the ladder. It helps to choose a rung
//! before the game has a network. There is no window. `cubewire-lab` can read the recording and train a model on it:
//! `cargo run -p cubewire-lab -- stats FILE`.
//! `cargo run -p cubewire-bevy --example record_and_measure -- FILE [SECONDS]`

#![allow(clippy::disallowed_methods, reason = "no browser runs this example")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use bevy_app::{App, FixedUpdate, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use cubewire_bevy::prelude::*;
use cubewire_codec::{Baseline, Baselines, Encoder, Limits, Packet, Sequence, Snapshot, ladder};
use cubewire_recording::{Recording, RecordingFile, Writer};

const BALLS: u32 = 200;
const HZ: f32 = 60.0;

/// Ticks from a packet to its ack.
const ROUND_TRIP: usize = 6;

#[derive(Component)]
struct Velocity(Vec3);

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("balls").hz(HZ.into()).floor(0.0).max_bodies(BALLS))
        .replicate_pose(Pose::within(-32.0..32.0, 0.0..32.0, -32.0..32.0))
        .body_kind("ball", Shape::ball(0.5));
}

/// Moves the balls: they bounce lower each time, and come to rest.
fn bounce(mut balls: Query<(&mut Transform, &mut Velocity)>) {
    for (mut transform, mut velocity) in &mut balls {
        if velocity.0 == Vec3::ZERO {
            continue;
        }
        velocity.0.y -= 9.81 / HZ;
        transform.translation += velocity.0 / HZ;
        transform.rotation = Quat::from_scaled_axis(velocity.0 / HZ) * transform.rotation;
        if transform.translation.y < 0.5 {
            transform.translation.y = 0.5;
            velocity.0 *= Vec3::new(0.7, -0.7, 0.7);
            if velocity.0.y < 0.5 {
                velocity.0 = Vec3::ZERO;
            }
        }
    }
}

/// Runs the game, and records the snapshots that the server would send.
fn record(path: &Path, ticks: u32) -> Result<(), Box<dyn Error>> {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, protocol, ServerPlugin))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_systems(FixedUpdate, bounce)
        .finish();
    for ball in 0..BALLS {
        let turn = Quat::from_rotation_y(ball as f32 * 2.4);
        let at = turn * Vec3::X * (ball as f32).sqrt() + Vec3::Y * (1.0 + ball as f32 % 10.0);
        let body = (Replicated, BodyKind::named("ball"), Transform::from_translation(at));
        app.world_mut().spawn((body, Velocity(turn * Vec3::X)));
    }
    app.update();
    let plan = app.world().resource::<Bodies>().snapshot().plan().clone();
    let mut writer = Writer::begin(RecordingFile::create(path)?, plan, BALLS as usize)?;
    for _ in 0..ticks {
        app.update();
        writer.frame(app.world().resource::<Bodies>().snapshot())?;
    }
    writer.into_inner().finish()?;
    Ok(())
}

/// Encodes a recording with a rung, each snapshot relative to the newest one that a client would have acked. Returns the bytes of
/// all packets and the encoding time. `None` if the rung is illegal in the scene.
fn measure(
    recording: &Recording,
    rung: ladder::Rung,
) -> Result<Option<(usize, Duration)>, Box<dyn Error>> {
    let plan = &recording.plan;
    let Ok(stages) = plan.legal(*rung.stages) else {
        return Ok(None);
    };
    if stages.precision() != recording.frames[0].precision() {
        return Ok(None);
    }
    let mut encoder = Encoder::new(plan.clone(), Snapshot::default(), Limits::default())?;
    let (mut packet, mut bytes) = (Packet::default(), 0);
    let mut time = Duration::ZERO;
    let mut sent = Vec::<Baseline>::new();
    for (tick, frame) in recording.frames.iter().enumerate() {
        let at = |age| tick.checked_sub(age).map(|tick| &sent[tick]);
        let references = Baselines {
            baseline: at(ROUND_TRIP),
            additional: [at(ROUND_TRIP + 1), at(ROUND_TRIP + 2)],
            ..Baselines::default()
        };
        let (sequence, mut out) = (Sequence(tick as u16), Baseline::default());
        let start = Instant::now();
        encoder.encode(sequence, stages, frame, references, &mut packet, Some(&mut out))?;
        time += start.elapsed();
        bytes += packet.bytes.len();
        sent.push(out);
    }
    Ok(Some((bytes, time)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds = |argument: Option<String>| argument.map_or(Ok(10.0), |seconds| seconds.parse());
    let (Some(path), Ok(seconds)) = (arguments.next(), seconds(arguments.next())) else {
        eprintln!("usage: record_and_measure FILE [SECONDS]");
        std::process::exit(2);
    };
    record(path.as_ref(), (f32::clamp(seconds, 1.0, 600.0) * HZ) as u32)?;
    let recording = Recording::read(path.as_ref())?;
    let packets = recording.frames.len() as f32;
    println!("{path}: {packets} ticks of {BALLS} balls\n");
    println!("| rung | bytes a packet | kbit/s | encode µs |");
    println!("| --- | ---: | ---: | ---: |");
    for rung in ladder::LADDER {
        if let Some((bytes, time)) = measure(&recording, rung)? {
            let bytes = bytes as f32 / packets;
            let kbps = bytes * 8.0 * HZ / 1000.0;
            let us = time.as_secs_f32() * 1e6 / packets;
            println!("| `{}` | {bytes:.1} | {kbps:.1} | {us:.1} |", rung.name);
        }
    }
    Ok(())
}
