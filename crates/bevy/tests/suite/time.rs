//! Games that pause, run slowly, hang, or change their clock, at either end.

use bevy_time::{Fixed, Real, Time, TimeUpdateStrategy, Virtual};
use cubewire_protocol::SnapshotReceiver;

use super::*;

const TICK: Duration = Duration::from_nanos(16_666_667);

/// A perfect network with a client that shows all bodies. Returns the first body.
fn shown(bodies: usize) -> (TestNet, Entity) {
    let mut net = with_client(protocol);
    let first = spawn(&mut net, "crate", Vec3::new(-60.0, 0.5, 0.0), ());
    for x in 1..bodies {
        spawn(&mut net, "crate", Vec3::new(x as f32 - 50.0, 0.5, 3.0), ());
    }
    net.run_until(|net| net.count::<Remote>(0) == bodies);
    (net, first)
}

/// Distance of a moving body per tick: 16 quantization steps.
const DISTANCE: f32 = 0.125;

/// Moves a body to its position in the server's next tick.
fn step(net: &mut TestNet, body: Entity) {
    let tick = (stats(net).tick + 1) % 800;
    put(net, body, Vec3::new(tick as f32 * DISTANCE - 60.0, 0.5, 0.0));
}

fn move_ticks(net: &mut TestNet, body: Entity, ticks: usize) {
    for _ in 0..ticks {
        step(net, body);
        net.tick();
    }
}

fn receiver(net: &mut TestNet) -> &SnapshotReceiver {
    of_connection::<ReplicationReceiver>(net, 0).receiver().unwrap()
}

/// Number of stalls of the client's playout, and their total time.
fn starved(net: &mut TestNet) -> (u64, Duration) {
    let playout = receiver(net).playout();
    (playout.stalls, playout.starved)
}

/// Snapshot bytes that the server sends in one second.
fn snapshot_bytes(net: &mut TestNet) -> u64 {
    let before = stats(net).snapshot_bytes;
    net.ticks(60);
    stats(net).snapshot_bytes - before
}

fn clock(app: &mut App) -> Mut<'_, Time<Virtual>> {
    app.world_mut().resource_mut()
}

/// Sets another timestep, with the same frame time.
fn set_timestep(app: &mut App, hz: f64) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    app.world_mut().resource_mut::<Time<Fixed>>().set_timestep_hz(hz);
}

#[test]
fn a_client_that_pauses_or_slows_its_own_game_goes_on_acking() {
    type Change = fn(&mut App);
    for (name, change) in [
        ("paused", (|app| clock(app).pause()) as Change),
        ("slow", |app| clock(app).set_relative_speed(0.002)),
        ("10 s a tick", |app| set_timestep(app, 0.1)),
    ] {
        let (mut net, _) = shown(100);
        net.ticks(60);
        let usual = snapshot_bytes(&mut net);
        change(&mut net.clients[0]);
        net.ticks(300);
        let bytes = snapshot_bytes(&mut net);
        assert!(bytes <= 2 * usual, "{usual} bytes a second, and {bytes} while {name}");
    }
}

#[test]
fn what_a_paused_client_writes_arrives() {
    let (mut net, _) = shown(1);
    clock(&mut net.clients[0]).pause();
    net.ticks(10);
    let client = net.clients[0].world_mut();
    client.write_message(ToServer(Chat("I am in the menu".into())));
    client.write_message(ToServer(Steer(7)));
    net.ticks(3);
    assert_eq!(taken::<FromClient<Chat>>(&mut net.server).len(), 1);
    assert_eq!(taken::<FromClient<Steer>>(&mut net.server).len(), 1);
}

#[test]
fn what_a_paused_server_writes_arrives_within_the_budget() {
    let (mut net, _) = shown(1);
    let client = client_entity(&mut net);
    insert(&mut net, client, ByteBudget::kbps(64));
    net.ticks(60);
    clock(&mut net.server).pause();
    for (chat, seconds) in [("a break", 1), (&*"long ".repeat(10_000), 12)] {
        server(&mut net).write_message(ToClient::all(Chat(chat.into())));
        let mut arrived = 0;
        for _ in 0..seconds {
            let before = sent_bytes(&net, client);
            for _ in 0..60 {
                net.tick();
                arrived += taken::<FromServer<Chat>>(&mut net.clients[0]).len();
            }
            let second = sent_bytes(&net, client) - before;
            assert!(second <= 8_000, "{second} bytes in a second");
        }
        assert_eq!(arrived, 1, "{} bytes", chat.len());
    }
}

#[test]
fn a_slow_or_fast_server_is_shown_without_stalls() {
    for speed in [0.9, 0.96, 0.97, 1.03, 1.1] {
        let (mut net, body) = shown(1);
        clock(&mut net.server).set_relative_speed(speed);
        move_ticks(&mut net, body, 600);
        let (before, delay) = (starved(&mut net), receiver(&mut net).playout().delay());
        move_ticks(&mut net, body, 1200);
        assert_eq!(starved(&mut net), before, "at {speed}");
        let later = receiver(&mut net).playout().delay();
        assert!(
            later < delay + 2 * TICK && later < 6 * TICK,
            "{delay:?}, then {later:?} at {speed}"
        );
    }
}

#[test]
fn a_server_in_slow_motion_or_on_another_timestep_is_shown_smoothly() {
    for (change, rate) in [
        ((|app| clock(app).set_relative_speed(0.25)) as fn(&mut App), 0.25),
        (|app| set_timestep(app, 30.0), 0.5),
    ] {
        let (mut net, body) = shown(1);
        move_ticks(&mut net, body, 120);
        let network = net.network.clone();
        change(&mut net.server);
        // `TestNet` advances its network time by the server's timestep, so set the time here.
        let mut now = net.clients[0].world().resource::<Time<Real>>().elapsed() + TICK;
        let mut shown = Vec::new();
        for frame in 0..900 {
            now += TICK;
            network.set_time(now);
            step(&mut net, body);
            net.server.update();
            net.clients[0].update();
            if frame > 300 {
                shown.push(positions(&mut net, 0)[0].x);
            }
        }
        let steps: Vec<_> = shown.windows(2).map(|pair| (pair[1] - pair[0]) / DISTANCE).collect();
        let is_smooth = steps.iter().all(|step| (0.4 * rate..1.6 * rate).contains(step));
        assert!(is_smooth, "{steps:?} at {rate}");
    }
}

#[test]
fn a_client_that_hangs_shows_bodies_as_late_as_before_and_no_loss_is_reported() {
    let (mut net, _) = shown(1);
    let client = client_entity(&mut net);
    insert(&mut net, client, Measure::default());
    net.ticks(600);
    let delay = receiver(&mut net).playout().delay();
    for ticks in [30_u32, 120, 30] {
        // The client misses these ticks, then runs one long frame.
        let mut client = net.clients.remove(0);
        net.ticks(ticks as usize);
        client.insert_resource(TimeUpdateStrategy::ManualDuration((ticks + 1) * TICK));
        net.clients.push(client);
        net.tick();
        net.clients[0].insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
        net.ticks(60);
        let after = receiver(&mut net).playout().delay();
        assert!(after <= delay + TICK, "{delay:?}, then {after:?} after {ticks} ticks");
    }
    let packets = at_server::<Measure>(&net, client).record.packets().rev().skip(60).take(600);
    assert_eq!(packets.filter(|packet| packet.acked_after_ticks.is_none()).count(), 0);
}

#[test]
fn the_time_without_a_snapshot_is_measured_and_not_how_often_alone() {
    let (mut net, _) = shown(1);
    let connection = all::<Server>(&mut net.clients[0])[0];
    net.clients[0].world_mut().entity_mut(connection).insert(Measure::default());
    net.ticks(60);
    clock(&mut net.server).pause();
    net.ticks(120);
    let totals = at_client::<Measure>(&net, connection).record.totals();
    assert_eq!(totals.stalls, 1);
    let range = Duration::from_millis(1_700)..Duration::from_secs(2);
    assert!(range.contains(&totals.starved), "{:?}", totals.starved);
}

#[test]
fn at_the_highest_rate_packets_are_small_over_a_round_trip_of_a_second() {
    fn fast(app: &mut App) {
        app.add_plugins(CubewirePlugin::new("fast").hz(240.0).max_bodies(200))
            .body_kind("crate", Shape::cuboid(Vec3::splat(0.5)));
    }
    let conditions = Conditions { latency: Duration::from_millis(500), ..Conditions::PERFECT };
    let mut net = TestNet::with_conditions(fast, conditions, 1);
    net.add_client();
    spawn_row(&mut net, 100, 1.0);
    net.run_until(|net| net.count::<Remote>(0) == 100);
    net.ticks(600);
    let before = stats(&net);
    net.ticks(240);
    let after = stats(&net);
    let bytes = after.snapshot_bytes - before.snapshot_bytes;
    assert!(bytes < 10 * (after.packets - before.packets), "{bytes} bytes");
}
