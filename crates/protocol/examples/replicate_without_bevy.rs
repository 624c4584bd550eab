//! Replicates bodies that come and go to a receiver with a byte budget, over a bad link, without an engine:
//! `cargo run -p cubewire-protocol --example replicate_without_bevy`
//!
//! Prints a line each second: the number of bodies, the number that the receiver displays, and the bandwidth.

use std::error::Error;
use std::time::Duration;

use cubewire_codec::glam::{Quat, Vec3};
use cubewire_codec::{BodyState, Life, Limits, Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_link::{Conditions, Link, Loss};
use cubewire_protocol::{
    Interpolation, RateLimiter, SlotTable, SnapshotReceiver, SnapshotSender, Welcome, playout_delay,
};

/// The schema in RON. In an app, the sessions compare its bytes when they connect.
const SCHEMA: &str = r#"(
    name: "bubbles", ticks_per_second: 60, up: Y,
    position: (
        (min: -50, max: 50, steps_per_unit: 128),
        (min: 0, max: 50, steps_per_unit: 128),
        (min: -50, max: 50, steps_per_unit: 128),
    ),
    component_bits: 9, levels: Odd, anchor: None,
    kinds: [(name: "bubble", shape: Ball(0.3)), (name: "drop", shape: Ball(0.1))],
    fields: [(name: "health", form: Int(min: 0, max: 100))],
    world: (gravity: 0, floor: None, max_speed: 20, linear: None),
    slots: Living(max: 300), support: (), seats: 1,
)"#;

/// Bytes of the IPv4 and UDP headers.
const HEADER_BYTES: usize = 28;

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::new(ron::from_str(SCHEMA)?)?;
    let stages = plan.legal(*ladder::PREDICTED.stages)?;
    let conditions = Conditions {
        latency: Duration::from_millis(60),
        loss: Loss::bursts(0.05, 2.0),
        ..Conditions::PERFECT
    };
    let mut down: Link<Vec<u8>> = Link::new(conditions.clone(), 1);
    let mut up: Link<Vec<u8>> = Link::new(conditions, 2);

    // In an app, a `ClientConnection` gets the welcome from a `ServerConnection`. The world starts empty.
    let limits = Limits { max_bodies: 300 };
    let welcome = Welcome { plan: plan.clone(), tick: 0, initial: Snapshot::default() };
    let delay = playout_delay(60);
    let mut receiver = SnapshotReceiver::new(welcome, limits, delay, Duration::ZERO)?;
    let mut sender = SnapshotSender::new(plan.clone(), Snapshot::default(), limits)?;
    let mut budget = RateLimiter::new(32 * 125, 60);

    let mut table = SlotTable::new(300, 60);
    let mut bodies: Vec<(usize, Life, u64)> = Vec::new();
    let mut world = QuantizedSnapshot::new(plan.clone(), stages.precision());
    world.clear_slots(300);
    let health = &plan.schema().fields[0].form;
    let mut bytes = 0;
    for tick in 1..=600_u64 {
        let now = Duration::from_secs(1) * tick as u32 / 60;
        // Bodies rise, turn, and disappear after some seconds; new ones appear.
        if let Some((slot, life)) = table.insert((tick % 2) as u8, tick) {
            bodies.push((slot, life, tick));
        }
        bodies.retain(|&(slot, _, born)| {
            let stays = tick - born < 180 + slot as u64;
            if !stays {
                table.remove(slot, tick);
                world.remove(slot);
            }
            stays
        });
        for &(slot, life, born) in &bodies {
            let age = (tick - born) as f32 / 60.0;
            let body = BodyState {
                position: Vec3::new((slot as f32 * 1.7).sin() * 40.0, age, slot as f32 / 8.0),
                orientation: Quat::from_rotation_y(age),
                ..BodyState::default()
            };
            world.put(slot, life, &body, &[health.quantize(f64::from(100.0 - age))])?;
        }
        // As much as the budget allows, the most urgent bodies first.
        let packet_budget = budget.packet_budget(now, 1200, HEADER_BYTES);
        if sender.send_within(tick, stages, &world, packet_budget)?.is_some() {
            let packet = sender.packet().bytes.clone();
            budget.spend(now, packet.len() + HEADER_BYTES);
            bytes += packet.len() + HEADER_BYTES;
            down.send(now, packet.len() + HEADER_BYTES, packet);
        }
        while let Some(packet) = down.receive(now) {
            // A damaged packet, or one with a lost baseline, is an error, which the feedback reports.
            let _ = receiver.on_packet(now, &packet);
        }
        while let Some(feedback) = receiver.poll_feedback() {
            up.send(now, HEADER_BYTES + 7, feedback.encode());
        }
        while let Some(feedback) = up.receive(now) {
            sender.on_message(&feedback)?;
        }
        receiver.advance_playout(now, Some(delay));
        if tick % 60 == 0 {
            let shown = Interpolation::Linear.playout(receiver.playout(), now);
            let lives = shown.map_or(0, |shown| shown.from.lives.iter().flatten().count());
            let waits = sender.longest_wait(tick);
            println!(
                "{:>2} s: {:>3} bodies, {lives:>3} shown; {bytes:>5} bytes; the longest wait is {waits} ticks",
                tick / 60,
                bodies.len()
            );
            bytes = 0;
        }
    }
    Ok(())
}
