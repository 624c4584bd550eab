//! Measures the time of a tick with ten thousand bodies, its bytes, and the memory that the server's plugins hold. A tenth of
//! the bodies moves in each tick. First, all clients see the same and share one encode. Then each client has a budget of
//! 256 kbps, and then 25 kbps, within which the most urgent bodies are sent.
//!
//! `cargo run --release -p cubewire-bevy --example many_bodies [BODIES] [CLIENTS] [SLOTS]`
//!
//! With `rungs` after the numbers, it measures each rung of the ladder without a budget, and prints a table.

#![allow(clippy::disallowed_methods, reason = "no browser runs this example")]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use bevy_app::{App, First, Last};
use bevy_ecs::prelude::*;
use bevy_math::Quat;
use bevy_transform::components::Transform;
use cubewire_bevy::cubewire_codec::ladder;
use cubewire_bevy::prelude::*;
use cubewire_bevy::testing::TestNet;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Maximum number of bodies.
static SLOTS: OnceLock<u32> = OnceLock::new();
const TICKS: u32 = 60;

/// Bytes that the server's ticks have allocated and not freed.
#[derive(Resource, Default)]
struct Held(isize);

/// Counts allocations between the first and the last system of the server's ticks. No other app runs at that time.
fn count(app: &mut App) {
    app.init_resource::<Held>()
        .add_systems(First, |mut held: ResMut<Held>| {
            held.0 -= ALLOCATOR.current_usage() as isize;
        })
        .add_systems(Last, |mut held: ResMut<Held>| {
            held.0 += ALLOCATOR.current_usage() as isize;
        });
}

fn protocol(app: &mut App) {
    let slots = *SLOTS.get_or_init(|| 10_000);
    app.add_plugins(CubewirePlugin::new("many").floor(0.0).max_bodies(slots))
        .replicate_pose(Pose::within(-256.0..256.0, 0.0..64.0, -256.0..256.0))
        .body_kind("ball", Shape::ball(0.5));
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|number| number.parse().ok());
    let bodies = numbers.next().unwrap_or(10_000).min(65_536);
    let clients = numbers.next().unwrap_or(4) as usize;
    let slots = numbers.next().unwrap_or(bodies).clamp(bodies, 65_536);
    SLOTS.set(slots).expect("it is not known before");
    let bodies = bodies as usize;
    let mut net = TestNet::new(protocol);
    count(&mut net.server);
    for _ in 0..clients {
        net.add_client();
    }
    for number in 0..bodies {
        let [column, row] = [number % 256, number / 256].map(|number| number as f32 * 2.0 - 255.0);
        let at = Transform::from_xyz(column, 0.5, row);
        net.server.world_mut().spawn((Replicated, BodyKind::named("ball"), at));
    }
    net.run_until(|net| net.count::<Remote>(0) == bodies);
    if std::env::args().any(|argument| argument == "rungs") {
        measure_rungs(&mut net, clients);
        return;
    }
    println!("{bodies} bodies of at most {slots}, {clients} clients; means of {TICKS} ticks\n");
    println!(
        "{:>10} {:>10} {:>10} {:>15} {:>15} {:>10}",
        "budget", "server µs", "client µs", "bytes a packet", "wire kbps each", "server MB"
    );
    print(&mut net, clients, "none");
    for kbps in [256, 25] {
        insert(&mut net, ByteBudget::kbps(kbps));
        print(&mut net, clients, &format!("{kbps} kbps"));
    }
}

/// Prints a table of the rungs that are legal in the scene.
fn measure_rungs(net: &mut TestNet, clients: usize) {
    println!("| rung | bytes a packet | server µs | client µs |");
    println!("| --- | ---: | ---: | ---: |");
    for rung in ladder::LADDER {
        let stages = *rung.stages;
        let protocol = net.server.world().resource::<Protocol>();
        if protocol.plan().legal(stages).is_ok() {
            let settings = ConnectionSettings { stages, ..ConnectionSettings::default() };
            insert(net, settings);
            let [server, client, bytes, _] = measure(net, clients);
            println!("| `{}` | {bytes} | {server} | {client} |", rung.name);
        }
    }
}

/// Inserts a component on all of the server's connections, and waits until it has taken effect.
fn insert(net: &mut TestNet, component: impl Component + Copy) {
    let world = net.server.world_mut();
    let mut clients = world.query_filtered::<Entity, With<Client>>();
    for client in clients.iter(world).collect::<Vec<_>>() {
        world.entity_mut(client).insert(component);
    }
    net.ticks(60);
}

fn print(net: &mut TestNet, clients: usize, budget: &str) {
    let [server, client, bytes, kbps] = measure(net, clients);
    let held = net.server.world().resource::<Held>().0 as f64 / 1e6;
    println!("{budget:>10} {server:>10} {client:>10} {bytes:>15} {kbps:>15} {held:>10.1}");
}

/// Returns the µs of a server's and a client's tick, the bytes of a packet, and the kbps of each client.
fn measure(net: &mut TestNet, clients: usize) -> [u64; 4] {
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
        // One more tick, for the other clients and the clock.
        roll(net.server.world_mut(), tick);
        net.tick();
    }
    let after = (stats(net), wire(net));
    let packets = (after.0.packets - before.0.packets).max(1);
    let bytes = (after.0.snapshot_bytes - before.0.snapshot_bytes) / packets;
    let ticks = after.0.tick - before.0.tick;
    let kbps = (after.1 - before.1) * 8 * 60 / 1000 / ticks / clients.max(1) as u64;
    let [server, client] = [server, client].map(|time| (time / TICKS).as_micros() as u64);
    [server, client, bytes, kbps]
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
    world.query::<&MessageBuffer>().iter(world).map(|buffer| buffer.traffic.sent.bytes()).sum()
}
