//! Bodies appear and vanish.

use super::*;

/// Notes the lifecycle events of bodies at a client.
fn logged(app: &mut App) {
    protocol(app);
    app.insert_resource(Noted::<String>(Vec::new()))
        .add_observer(
            |added: On<Add, BodyKind>,
             bodies: Query<(&BodyKind, &Transform, &Health, Has<Remote>)>,
             mut log: ResMut<Noted<String>>| {
                let (kind, transform, health, is_remote) = bodies.get(added.entity).unwrap();
                assert!(is_remote);
                let x = transform.translation.x;
                log.0.push(format!("+ {} at {x} with {}", kind.name(), health.0));
            },
        )
        .add_observer(
            |gone: On<Vanished>, bodies: Query<&BodyKind>, mut log: ResMut<Noted<String>>| {
                let kind = bodies.get(gone.entity).unwrap().name();
                log.0.push(format!("- {kind} {:?}", gone.reason));
            },
        );
}

fn log(net: &mut TestNet) -> Vec<String> {
    noted(&mut net.clients[0])
}

#[test]
fn observers_see_births_whole_and_deaths_before_they_happen() {
    let mut net = TestNet::new(protocol);
    net.add_client_with(logged);
    let body = spawn(&mut net, "hero", Vec3::new(3.0, 1.0, 0.0), Health(77));
    net.ticks(30);
    assert_eq!(log(&mut net), ["+ hero at 3 with 77"]);
    // A body of another kind is another body.
    insert(&mut net, body, BodyKind::named("crate"));
    net.ticks(30);
    let mut kinds = log(&mut net);
    kinds.sort();
    assert_eq!(kinds, ["+ crate at 3 with 77", "- hero Despawned"]);
    server(&mut net).entity_mut(body).remove::<Replicated>();
    net.ticks(30);
    assert_eq!(log(&mut net), ["- crate Despawned"], "it is withdrawn");
    insert(&mut net, body, Replicated);
    net.ticks(30);
    server(&mut net).despawn(body);
    net.ticks(30);
    assert_eq!(log(&mut net), ["+ crate at 3 with 77", "- crate Despawned"]);
}

#[test]
fn births_and_deaths_wait_for_playout() {
    let (mut net, _) = with_body(protocol, ());
    net.ticks(60);
    let second = spawn(&mut net, "crate", Vec3::X, ());
    net.tick();
    net.tick();
    assert_eq!(net.count::<Remote>(0), 1, "it has arrived and is not due");
    net.ticks(10);
    assert_eq!(net.count::<Remote>(0), 2);
    server(&mut net).despawn(second);
    net.tick();
    net.tick();
    assert_eq!(net.count::<Remote>(0), 2);
    net.ticks(10);
    assert_eq!(net.count::<Remote>(0), 1);
}

#[test]
fn a_client_can_despawn_and_keep_remote_bodies() {
    let (mut net, bodies) = with_row(protocol, 3, 1.0);
    let world = net.clients[0].world_mut();
    let mut remote = world.query_filtered::<(Entity, &Transform), With<Remote>>();
    let mut remote: Vec<_> = remote.iter(world).collect();
    remote.sort_by_key(|(_, at)| at.translation.x as i32);
    let [despawned, kept, other] = [0, 1, 2].map(|index: usize| remote[index].0);
    world.despawn(despawned);
    world.entity_mut(kept).insert(KeepVanished);
    // Updates and despawns of these bodies at the server must not fail.
    for (tick, body) in bodies.into_iter().enumerate() {
        put(&mut net, body, Vec3::Y);
        net.ticks(20 + tick);
        server(&mut net).despawn(body);
        net.ticks(20);
    }
    assert_eq!(net.count::<Remote>(0), 0);
    let world = net.clients[0].world();
    assert!(world.get_entity(kept).is_ok(), "it is the client's own now");
    assert!(world.get_entity(other).is_err());
}

#[test]
fn slots_are_reused_after_a_second_and_too_many_bodies_wait() {
    fn slow(app: &mut App) {
        app.add_plugins(CubewirePlugin::new("slow").hz(1.0).max_bodies(200))
            .body_kind("crate", Shape::cuboid(Vec3::ONE));
    }
    for (protocol, ticks) in [(protocol as fn(&mut App), 60), (slow, 2)] {
        let (mut net, bodies) = with_row(protocol, 150, 0.0);
        for body in bodies {
            server(&mut net).despawn(body);
        }
        spawn_row(&mut net, 150, 0.0);
        // At 1 Hz, a tick takes several frames.
        let run = |net: &mut TestNet, ticks: u64| {
            let end = stats(net).tick + ticks;
            net.run_until(|net| stats(net).tick == end);
        };
        run(&mut net, 1);
        let seen = |net: &TestNet| (stats(net).bodies, stats(net).waiting, stats(net).cooling);
        assert_eq!(seen(&net), (50, 100, 100));
        run(&mut net, ticks - 2);
        assert_eq!(seen(&net), (50, 100, 100));
        spawn_row(&mut net, 70, 0.0);
        run(&mut net, 1);
        assert_eq!(seen(&net), (200, 20, 0));
        net.run_until(|net| net.count::<Remote>(0) == 200);
    }
}

#[test]
fn a_clone_of_a_body_is_another_body() {
    let more = (SendPriority(3.0), Health(7), PlayerName("Ada".into()));
    let (mut net, body) = with_body(protocol, more);
    let clone = server(&mut net).entity_mut(body).clone_and_spawn();
    assert!(server(&mut net).get::<InSlot>(clone).is_none());
    assert_eq!(*at_server::<SendPriority>(&net, clone), SendPriority(3.0));
    put(&mut net, clone, Vec3::X * 2.0);
    net.run_until(|net| net.count::<PlayerName>(0) == 2);
    server(&mut net).despawn(clone);
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.ticks(100);
    // New bodies must not get the slot of the original.
    for x in 3..10 {
        spawn(&mut net, "crate", Vec3::X * x as f32, ());
    }
    net.run_until(|net| net.count::<Remote>(0) == 8);
    put(&mut net, body, Vec3::X * -1.0);
    net.run_until(|net| positions(net, 0)[0] == Vec3::X * -1.0);
    assert_eq!(net.count::<PlayerName>(0), 1);
    let slots = all::<InSlot>(&mut net.server);
    let slots = slots.iter().map(|&body| at_server::<InSlot>(&net, body).slot());
    assert_eq!(slots.collect::<std::collections::BTreeSet<_>>().len(), 8);
}

#[test]
fn a_clone_of_a_remote_body_is_the_clients_own_and_one_of_a_connection_is_none() {
    let (mut net, body) = with_body(protocol, Health(7));
    let remote = only::<Remote>(&mut net, 0);
    let clone = net.clients[0].world_mut().entity_mut(remote).clone_and_spawn();
    put(&mut net, body, Vec3::Z);
    net.run_until(|net| positions(net, 0) == [Vec3::Z]);
    server(&mut net).despawn(body);
    net.run_until(|net| net.count::<Remote>(0) == 0);
    assert_eq!(at_client::<Transform>(&net, clone).translation, Vec3::ZERO);
    assert_eq!(*at_client::<Health>(&net, clone), Health(7));

    let client = client_entity(&mut net);
    let clone = server(&mut net).entity_mut(client).clone_and_spawn();
    net.ticks(400);
    let clone = net.server.world().entity(clone);
    assert!(clone.archetype().components().is_empty(), "it is a connection");
    assert_eq!(net.count::<Connected>(0), 1);
}

#[test]
fn bodies_that_are_nowhere_do_no_harm() {
    let mut net = with_client(protocol);
    let body = spawn(&mut net, "crate", Vec3::NAN, ());
    spawn(&mut net, "of no kind", Vec3::ZERO, ());
    spawn(&mut net, "crate", Vec3::splat(1e30), ());
    net.ticks(40);
    assert_eq!(net.count::<Remote>(0), 1);
    put(&mut net, body, Vec3::X);
    net.run_until(|net| net.count::<Remote>(0) == 2);
}

#[test]
fn a_body_ends_with_its_kind_or_transform() {
    let (mut net, bodies) = with_row(protocol, 2, 1.0);
    let world = server(&mut net);
    world.entity_mut(bodies[0]).remove::<BodyKind>();
    world.entity_mut(bodies[1]).remove::<Transform>();
    net.run_until(|net| net.count::<Remote>(0) == 0);
    let world = server(&mut net);
    world.entity_mut(bodies[0]).insert(BodyKind::named("hero"));
    world.entity_mut(bodies[1]).insert(Transform::default());
    net.run_until(|net| net.count::<Remote>(0) == 2);
}

#[test]
fn observers_of_a_slot_can_end_the_body_and_others() {
    let mut net = TestNet::new(protocol);
    net.server.add_observer(
        |added: On<Add, InSlot>, all: Query<Entity, With<BodyKind>>, mut to: Commands| {
            to.entity(added.entity).despawn();
            let other = all.iter().find(|&body| body != added.entity);
            other.into_iter().for_each(|body| to.entity(body).despawn());
        },
    );
    for round in 0..300 {
        (0..4).for_each(|x| _ = spawn(&mut net, "crate", Vec3::X * x as f32, ()));
        net.tick();
        let stats = stats(&net);
        assert_eq!((stats.bodies, stats.waiting), (0, 0), "{round}");
    }
}

#[test]
fn one_app_can_be_server_and_client() {
    let network = MemoryNetwork::default();
    let mut app = cubewire_bevy::testing::app(|app| {
        app.add_plugins((protocol, ServerPlugin, ClientPlugin))
            .add_plugins((network.server(), network.client()));
    });
    app.world_mut().spawn((Replicated, BodyKind::named("crate")));
    for tick in 0..60_u32 {
        network.set_time(Duration::from_secs(1) * tick / 60);
        app.update();
    }
    assert_eq!((count::<Remote>(&mut app), count::<Replicated>(&mut app)), (1, 1));
}

#[test]
fn a_slot_that_is_moved_to_another_entity_is_of_no_use() {
    let (mut net, bodies) = with_row(protocol, 2, 1.0);
    let moved = server(&mut net).entity_mut(bodies[0]).take::<InSlot>().unwrap();
    server(&mut net).despawn(bodies[0]);
    let other = spawn(&mut net, "crate", Vec3::X * 7.0, ());
    let nobody = server(&mut net).spawn(moved).id();
    insert(&mut net, other, moved);
    assert!([nobody, other].iter().all(|&entity| server(&mut net).get::<InSlot>(entity).is_none()));
    net.run_until(|net| positions(net, 0) == [Vec3::X, Vec3::X * 7.0]);
    assert_ne!(at_server::<InSlot>(&net, other).slot(), moved.slot());
}
