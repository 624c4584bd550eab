//! Who sees what.

use cubewire_bevy::{
    Connected, Interest, VanishReason, Vanished, VisibilityAppExt, VisibilityFilter, WhenHidden,
};

use super::*;

#[derive(Component, Clone, Copy, PartialEq)]
#[component(immutable)]
struct Team(u8);

impl VisibilityFilter for Team {
    type Client = Self;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, client: Option<&Self>) -> bool {
        client == Some(self)
    }
}

#[derive(Component)]
#[component(immutable)]
struct Guild;

#[derive(Component)]
struct Member;

impl VisibilityFilter for Guild {
    type Client = Member;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, client: Option<&Member>) -> bool {
        client.is_some()
    }
}

#[derive(Component, Clone, Copy)]
#[component(immutable)]
struct Fog(bool);

impl VisibilityFilter for Fog {
    type Client = Connected;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Freeze;

    fn is_visible(&self, _: Option<&Connected>) -> bool {
        !self.0
    }
}

#[derive(Resource, Default)]
struct Reasons(Vec<VanishReason>);

fn watch(app: &mut App) {
    protocol(app);
    app.init_resource::<Reasons>().add_observer(
        |gone: On<Vanished>, mut reasons: ResMut<Reasons>| {
            reasons.0.push(gone.reason);
        },
    );
}

/// The server's entity of the only client.
fn client_entity(net: &mut TestNet) -> Entity {
    let world = net.server.world_mut();
    world
        .query_filtered::<Entity, With<Connected>>()
        .single(world)
        .unwrap()
}

fn server(net: &mut TestNet) -> &mut World {
    net.server.world_mut()
}

#[test]
fn a_hidden_body_vanishes_and_comes_back_with_its_cold_data() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Team>();
    net.add_client_with(watch);
    let body = spawn(
        &mut net,
        "hero",
        Vec3::X,
        (Team(1), PlayerName("Ada".into())),
    );
    spawn(&mut net, "crate", Vec3::ZERO, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.ticks(30);
    assert_eq!(net.count::<Remote>(0), 1, "the client has no team");
    let client = client_entity(&mut net);
    server(&mut net).entity_mut(client).insert(Team(1));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    server(&mut net).entity_mut(body).insert(Team(2));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    server(&mut net)
        .entity_mut(body)
        .insert(PlayerName("Grace".into()));
    net.ticks(30);
    server(&mut net).entity_mut(client).insert(Team(2));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    let remote = only::<PlayerName>(&mut net, 0);
    assert_eq!(
        net.clients[0].world().get::<PlayerName>(remote).unwrap().0,
        "Grace"
    );
    server(&mut net).entity_mut(client).remove::<Team>();
    net.run_until(|net| net.count::<Remote>(0) == 1);
    server(&mut net).entity_mut(body).remove::<Team>();
    net.run_until(|net| net.count::<Remote>(0) == 2);
    server(&mut net).despawn(body);
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let reasons = &net.clients[0].world().resource::<Reasons>().0;
    use VanishReason::{Despawned, Hidden};
    assert_eq!(*reasons, [Hidden, Hidden, Despawned]);
}

#[test]
fn a_frozen_body_stays_as_it_was_and_then_catches_up() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Fog>();
    net.add_client();
    let body = spawn(
        &mut net,
        "hero",
        Vec3::X,
        (Fog(false), PlayerName("Ada".into())),
    );
    let never = spawn(&mut net, "hero", Vec3::ZERO, Fog(true));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    server(&mut net).entity_mut(body).insert(Fog(true));
    net.ticks(20);
    server(&mut net).entity_mut(body).insert((
        Transform::from_xyz(5.0, 0.0, 0.0),
        PlayerName("Grace".into()),
    ));
    net.ticks(30);
    assert_eq!(positions(&mut net, 0), [Vec3::X]);
    let remote = only::<PlayerName>(&mut net, 0);
    let name = |net: &TestNet| {
        net.clients[0]
            .world()
            .get::<PlayerName>(remote)
            .unwrap()
            .0
            .clone()
    };
    assert_eq!(name(&net), "Ada");
    server(&mut net).entity_mut(body).insert(Fog(false));
    net.run_until(|net| positions(net, 0) == [Vec3::X * 5.0] && name(net) == "Grace");
    server(&mut net).entity_mut(never).insert(Fog(false));
    net.run_until(|net| net.count::<Remote>(0) == 2);
}

#[test]
fn interest_has_a_margin() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let hero = spawn(&mut net, "hero", Vec3::ZERO, ());
    let walker = spawn(&mut net, "crate", Vec3::X * 30.0, ());
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let client = client_entity(&mut net);
    server(&mut net)
        .entity_mut(client)
        .insert(Interest::around(hero, 10.0, 15.0));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let at = |net: &mut TestNet, x: f32| {
        server(net)
            .get_mut::<Transform>(walker)
            .unwrap()
            .translation
            .x = x;
        net.ticks(30);
        net.count::<Remote>(0)
    };
    assert_eq!(at(&mut net, 12.0), 1);
    assert_eq!(at(&mut net, 9.0), 2);
    assert_eq!(at(&mut net, 14.0), 2);
    assert_eq!(at(&mut net, 16.0), 1);
    assert_eq!(at(&mut net, 14.0), 1);
    server(&mut net)
        .get_mut::<Transform>(hero)
        .unwrap()
        .translation
        .x = 14.0;
    net.run_until(|net| net.count::<Remote>(0) == 2);
    server(&mut net).entity_mut(client).remove::<Interest>();
    assert_eq!(at(&mut net, 90.0), 2);
}

#[test]
fn each_of_several_filters_hides_from_those_who_have_nothing() {
    let mut net = TestNet::new(protocol);
    net.server
        .add_visibility_filter::<Team>()
        .add_visibility_filter::<Guild>();
    spawn(&mut net, "hero", Vec3::X, Team(1));
    spawn(&mut net, "hero", Vec3::Y, Guild);
    spawn(&mut net, "hero", Vec3::ZERO, ());
    net.ticks(60);
    for client in 0..3 {
        net.add_client();
        net.ticks(60);
        assert_eq!(positions(&mut net, client), [Vec3::ZERO]);
    }
}

#[test]
fn without_its_center_a_client_sees_what_was_near_it_last() {
    let mut net = TestNet::new(protocol);
    let mut bodies: Vec<_> = (0..10)
        .map(|x| spawn(&mut net, "crate", Vec3::X * x as f32 * 10.0, ()))
        .collect();
    net.add_client();
    net.run_until(|net| net.count::<Remote>(0) == 10);
    let client = client_entity(&mut net);
    let nothing = server(&mut net).spawn_empty().id();
    for center in [Some(nothing), None] {
        let interest = Interest {
            near: 25.0,
            far: 30.0,
            center,
        };
        server(&mut net).entity_mut(client).insert(interest);
        net.run_until(|net| net.count::<Remote>(0) == 0);
    }
    server(&mut net)
        .entity_mut(client)
        .insert(Interest::around(bodies[0], 25.0, 30.0));
    net.run_until(|net| net.count::<Remote>(0) == 3);
    let center = bodies.remove(0);
    server(&mut net).despawn(center);
    net.ticks(60);
    assert_eq!(positions(&mut net, 0), [Vec3::X * 10.0, Vec3::X * 20.0]);
    // A body that is nowhere is still where it was.
    server(&mut net)
        .get_mut::<Transform>(bodies[0])
        .unwrap()
        .translation = Vec3::NAN;
    net.ticks(60);
    assert_eq!(positions(&mut net, 0), [Vec3::X * 10.0, Vec3::X * 20.0]);
    // The client's own entity, and then all.
    server(&mut net).entity_mut(client).insert((
        Interest {
            center: None,
            ..Interest::around(nothing, 5.0, 5.0)
        },
        Transform::from_xyz(50.0, 0.0, 0.0),
    ));
    net.run_until(|net| positions(net, 0) == [Vec3::X * 50.0]);
    server(&mut net).entity_mut(client).remove::<Interest>();
    net.run_until(|net| net.count::<Remote>(0) == 9);
}

#[test]
fn values_of_hidden_bodies_change_no_byte() {
    let sent = |height: f32| {
        let mut net = TestNet::new(protocol);
        net.server.add_visibility_filter::<Team>();
        net.add_client();
        let hidden = spawn(&mut net, "hero", Vec3::X, (Team(1), PlayerName("x".into())));
        let seen = spawn(&mut net, "hero", Vec3::ZERO, ());
        for tick in 0..100 {
            let mut set = |body, y| {
                server(&mut net)
                    .get_mut::<Transform>(body)
                    .unwrap()
                    .translation
                    .y = y;
            };
            set(hidden, height * tick as f32);
            set(seen, 0.1 * tick as f32);
            net.tick();
        }
        let world = server(&mut net);
        world
            .query::<&cubewire_bevy::Mailbox>()
            .single(world)
            .unwrap()
            .wire_bytes
    };
    assert_eq!(sent(0.0), sent(0.3));
}

#[test]
fn the_reason_is_that_of_this_time_and_not_of_the_last() {
    let conditions = cubewire_link::Conditions {
        loss: cubewire_link::Loss::bursts(0.4, 1.0),
        latency: std::time::Duration::from_millis(30),
        ..cubewire_link::Conditions::PERFECT
    };
    let mut net = TestNet::with_conditions(protocol, conditions, 8);
    net.server.add_visibility_filter::<Team>();
    net.add_client_with(watch);
    let bodies: Vec<_> = (0..40)
        .map(|x| spawn(&mut net, "hero", Vec3::X * x as f32, ()))
        .collect();
    net.run_until(|net| net.count::<Remote>(0) == 40);
    for &body in &bodies {
        // Hidden for so short a time that the client may not see that.
        server(&mut net).entity_mut(body).insert(Team(1));
        net.tick();
        server(&mut net).entity_mut(body).remove::<Team>();
        net.ticks(20);
    }
    net.run_until(|net| net.count::<Remote>(0) == 40);
    net.ticks(60);
    net.clients[0]
        .world_mut()
        .resource_mut::<Reasons>()
        .0
        .clear();
    for body in bodies {
        server(&mut net).despawn(body);
        net.ticks(7);
    }
    net.run_until(|net| net.count::<Remote>(0) == 0);
    let reasons = &net.clients[0].world().resource::<Reasons>().0;
    assert_eq!(*reasons, [VanishReason::Despawned; 40]);
}
