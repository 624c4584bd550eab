//! How long a tick of ten thousand bodies takes, and how many bytes it has: `cargo run --release -p cubewire-bevy --example
//! many_bodies [BODIES] [CLIENTS]`. A tenth of the bodies moves in each tick. All clients see the same, so that they share one
//! encode; then each has a budget of 256 kbps, and is sent what is most urgent.

use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_transform::components::Transform;
use cubewire_bevy::testing::TestNet;
use cubewire_bevy::{
    BodyKind, ByteBudget, Client, CubewireAppExt, CubewirePlugin, Mailbox, Pose, Remote,
    Replicated, ReplicationStats, Shape,
};

const TICKS: u32 = 60;

fn protocol(app: &mut App) {
    app.add_plugins(CubewirePlugin::new("many").floor(0.0).max_bodies(10_000))
        .replicate_pose(Pose::within(-256.0..256.0, 0.0..64.0, -256.0..256.0))
        .body_kind("ball", Shape::ball(0.5));
}

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|number| number.parse().ok());
    let bodies = numbers.next().unwrap_or(10_000_usize).min(10_000);
    let clients = numbers.next().unwrap_or(4);
    let mut net = TestNet::new(protocol);
    for _ in 0..clients {
        net.add_client();
    }
    for number in 0..bodies {
        let at = Vec3::new(
            (number % 100) as f32 * 2.0,
            0.5,
            (number / 100) as f32 * 2.0,
        );
        let at = Transform::from_translation(at - Vec3::new(100.0, 0.0, 100.0));
        net.server
            .world_mut()
            .spawn((Replicated, BodyKind::named("ball"), at));
    }
    net.run_until(|net| net.count::<Remote>(0) == bodies);
    println!("{bodies} bodies, {clients} clients; means of {TICKS} ticks\n");
    println!(
        "{:>16} {:>12} {:>12} {:>16} {:>16}",
        "budget", "server µs", "client µs", "bytes a packet", "wire kbps each"
    );
    measure(&mut net, clients, "none");
    let world = net.server.world_mut();
    let peers: Vec<_> = world
        .query_filtered::<Entity, With<Client>>()
        .iter(world)
        .collect();
    for peer in peers {
        world.entity_mut(peer).insert(ByteBudget::kbps(256));
    }
    net.ticks(60);
    measure(&mut net, clients, "256 kbps");
}

fn measure(net: &mut TestNet, clients: usize, budget: &str) {
    let (mut server, mut client) = (Duration::ZERO, Duration::ZERO);
    let before = (stats(net), wire(net));
    for tick in 0..TICKS as usize {
        roll(net.server.world_mut(), tick);
        let start = Instant::now();
        net.server.update();
        server += start.elapsed();
        let start = Instant::now();
        net.clients[0].update();
        client += start.elapsed();
        // Another tick, for the other clients and the clock.
        roll(net.server.world_mut(), tick);
        net.tick();
    }
    let after = (stats(net), wire(net));
    let packets = (after.0.packets - before.0.packets).max(1);
    let bytes = (after.0.snapshot_bytes - before.0.snapshot_bytes) / packets;
    let ticks = after.0.tick - before.0.tick;
    let kbps = (after.1 - before.1) * 8 * 60 / 1000 / ticks / clients.max(1) as u64;
    let [server, client] = [server, client].map(|time| (time / TICKS).as_micros());
    println!("{budget:>16} {server:>12} {client:>12} {bytes:>16} {kbps:>16}");
}

/// Rolls every tenth body.
fn roll(world: &mut World, tick: usize) {
    let mut bodies = world.query_filtered::<&mut Transform, With<Replicated>>();
    for (number, mut body) in bodies.iter_mut(world).enumerate() {
        if number % 10 == tick / 30 % 10 {
            body.translation.x += 0.05;
            body.rotation = Quat::from_rotation_z(-0.1) * body.rotation;
        }
    }
}

fn stats(net: &TestNet) -> ReplicationStats {
    *net.server.world().resource()
}

fn wire(net: &mut TestNet) -> u64 {
    let world = net.server.world_mut();
    world
        .query::<&Mailbox>()
        .iter(world)
        .map(|mailbox| mailbox.traffic.sent.bytes())
        .sum()
}
