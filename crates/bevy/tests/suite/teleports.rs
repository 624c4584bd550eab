//! Bodies that teleport are never shown between the two places.

use bevy_ecs::entity_disabling::Disabled;

use super::*;

fn jumping(app: &mut App) {
    protocol(app);
    app.replicate_teleports();
}

/// A lossy network, with a client that interpolates between ticks, and the server's entity for it.
fn net(loss: f64, seed: u64) -> (TestNet, Entity) {
    let mut net = lossy_with(jumping, loss, seed);
    let client = connect_with(&mut net, jumping);
    let world = net.clients[0].world_mut();
    let connection = world.query_filtered::<Entity, With<Server>>().single(world).unwrap();
    world.entity_mut(connection).insert(PlayoutDelay::Fixed(Duration::from_millis(107)));
    (net, client)
}

/// Teleports a body to the other side and changes its rotation.
fn jump(net: &mut TestNet, body: Entity) {
    let at = *server(net).get::<Transform>(body).unwrap();
    let x = -at.translation.x;
    let turned = Quat::from_rotation_y(f32::from(u8::from(x > 0.0)));
    let there = Transform::from_xyz(x, at.translation.y, 0.0).with_rotation(turned);
    insert(net, body, (there, Teleport));
}

/// For each of a client's bodies, whether x is positive. Asserts that bodies are not interpolated between the places.
fn places(net: &mut TestNet) -> Vec<bool> {
    let world = net.clients[0].world_mut();
    let mut bodies = world.query_filtered::<&Transform, With<Remote>>();
    let places = bodies.iter(world).map(|at| {
        let (x, angle) = (at.translation.x, at.rotation.to_scaled_axis().y);
        let (is_right, angle) = (x > 0.0, angle - f32::from(u8::from(x > 0.0)));
        assert!((x.abs() - 90.0).abs() < 0.001, "a body is in between, at {x}");
        assert!(angle.abs() < 0.02, "a body is turned in between, at {x}");
        is_right
    });
    places.collect()
}

/// Teleports a body `jumps(tick)` times in each tick. Returns the number of changes of place that the client showed.
fn shown(net: &mut TestNet, ticks: usize, jumps: impl Fn(usize) -> usize) -> usize {
    let body = spawn(net, "crate", Vec3::new(-90.0, 1.0, 0.0), ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let (mut before, mut shown) = (false, 0);
    for tick in 0..ticks {
        (0..jumps(tick)).for_each(|_| jump(net, body));
        net.server.world_mut().get_mut::<Transform>(body).unwrap().translation.y += 0.01;
        net.tick();
        let now = places(net)[0];
        shown += usize::from(now != before);
        before = now;
    }
    shown
}

/// Loss hides no teleport if a later packet arrives before the body returns. The counter on the wire counts ticks with
/// teleports, modulo 256. Several teleports in a tick count once.
#[test]
fn a_body_that_jumps_is_at_the_old_place_or_at_the_new_one() {
    type Jumps = fn(usize) -> usize;
    let each_tenth: Jumps = |tick| usize::from(tick.is_multiple_of(10));
    let each_seventh: Jumps = |tick| usize::from(tick.is_multiple_of(7));
    let cases: [(f64, u64, usize, Jumps, std::ops::RangeInclusive<usize>); 8] = [
        (0.0, 1, 200, each_tenth, 19..=20),
        (0.4, 1, 600, each_seventh, 41..=86),
        (0.4, 2, 600, each_seventh, 41..=86),
        (0.4, 3, 600, each_seventh, 41..=86),
        (0.4, 4, 600, each_seventh, 41..=86),
        (0.2, 5, 700, |_| 1, 301..=700),
        (0.0, 5, 40, |_| 256, 0..=0),
        (0.0, 5, 40, |_| 257, 31..=40),
    ];
    for (loss, seed, ticks, jumps, expected) in cases {
        let shown = shown(&mut net(loss, seed).0, ticks, jumps);
        assert!(expected.contains(&shown), "{shown} with a loss of {loss}, seed {seed}");
    }
}

#[test]
fn jumps_are_exact_within_a_budget() {
    for (loss, seed) in [(0.0, 3), (0.2, 4)] {
        let (mut net, client) = net(loss, seed);
        insert(&mut net, client, ByteBudget::kbps(32));
        let bodies: Vec<_> =
            (0..100).map(|_| spawn(&mut net, "crate", Vec3::new(-90.0, 1.0, 0.0), ())).collect();
        let mut seen = [0; 2];
        for tick in 0..900_usize {
            for (index, &body) in bodies.iter().enumerate() {
                if (tick + index * 17).is_multiple_of(20 + index) {
                    jump(&mut net, body);
                }
                let mut at = server(&mut net).get_mut::<Transform>(body).unwrap();
                at.translation.y = 1.0 + (tick * (index + 3) % 64) as f32 / 16.0;
            }
            net.tick();
            places(&mut net).into_iter().for_each(|is_right| seen[usize::from(is_right)] += 1);
        }
        assert!(seen.iter().all(|&seen| seen > 10_000), "{seen:?}");
        assert!(snapshot_sender(&net, client).is_scheduling());
    }
}

#[test]
fn only_protocols_that_ask_for_teleports_pay_for_them() {
    let text = |protocol: fn(&mut App)| {
        let mut app = App::empty();
        protocol(&mut app);
        app.finish();
        app.world().resource::<Protocol>().text()
    };
    let fields = |text: String| {
        let fields = text.lines().filter(|line| line.starts_with("field "));
        fields.map(str::to_owned).collect::<Vec<_>>()
    };
    let (without, with) = (fields(text(protocol)), fields(text(jumping)));
    assert_eq!(with[..without.len()], without);
    assert_eq!(with[without.len()..], ["field teleports: Int { min: 0, max: 255 }"]);
}

/// Snapshot bytes of 600 ticks with a hundred moving bodies, without teleports.
fn bytes(protocol: fn(&mut App)) -> u64 {
    let mut net = with_client(protocol);
    let at = |x: i32| Vec3::new(x as f32 - 50.0, 0.5, 0.0);
    let bodies: Vec<_> = (0..100).map(|x| spawn(&mut net, "crate", at(x), Health(5))).collect();
    net.run_until(|net| net.count::<Remote>(0) == 100);
    let before = stats(&net).snapshot_bytes;
    for tick in 0..600 {
        shake(server(&mut net), &bodies, tick);
        net.tick();
    }
    stats(&net).snapshot_bytes - before
}

#[test]
fn bodies_that_do_not_jump_take_hardly_any_bits_for_it() {
    fn poses_only(app: &mut App) {
        app.add_plugins(CubewirePlugin::new("arena").max_bodies(200))
            .body_kind("crate", Shape::cuboid(Vec3::splat(0.5)));
    }
    fn with_teleports(app: &mut App) {
        poses_only(app);
        app.replicate_teleports();
    }
    for [without, with] in [[protocol as fn(&mut App), jumping], [poses_only, with_teleports]] {
        let bits = [without, with].map(|protocol| bytes(protocol) as f64 * 8.0 / 600.0 / 100.0);
        println!("{bits:?} bits a body");
        assert!(bits[1] < bits[0] + 0.1, "{bits:?} bits a body");
    }
}

/// A pooled body is disabled for up to three ticks, and used again elsewhere. Snapshots are sent at 10 Hz.
#[test]
fn a_disabled_body_jumps_at_a_low_send_rate() {
    for (seed, is_after) in [(1, false), (2, true)] {
        let (mut net, client) = net(0.1, seed);
        insert(
            &mut net,
            client,
            ConnectionSettings { send_interval_ticks: 6, ..Default::default() },
        );
        let body = spawn(&mut net, "crate", Vec3::new(-90.0, 1.0, 0.0), ());
        net.run_until(|net| net.count::<Remote>(0) == 1);
        net.ticks(60);
        for round in 0..20 {
            insert(&mut net, body, Disabled);
            net.ticks(1 + round % 3);
            if is_after {
                server(&mut net).entity_mut(body).remove::<Disabled>();
                jump(&mut net, body);
            } else {
                jump(&mut net, body);
                net.tick();
                server(&mut net).entity_mut(body).remove::<Disabled>();
            }
            for _ in 0..40 {
                net.tick();
                places(&mut net);
            }
        }
        let is_right = is_on_the_right(&net, body);
        net.run_until(|net| places(net) == [is_right]);
    }
}

/// Whether a body of the server is on the right.
fn is_on_the_right(net: &TestNet, body: Entity) -> bool {
    at_server::<Transform>(net, body).translation.x > 0.0
}
