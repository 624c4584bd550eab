//! Visibility of bodies.

use cubewire_bevy::cubewire_codec::ladder;

use super::*;

#[derive(Component, Clone, Copy, PartialEq)]
#[component(immutable)]
pub(super) struct Team(pub(super) u8);

impl VisibilityFilter for Team {
    type Client = Self;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, client: Option<&Self>) -> bool {
        client == Some(self)
    }
}

/// Freezes the body for clients with a restricted view: they keep the last state that they saw.
#[derive(Component, Clone, Copy)]
#[component(immutable)]
pub(super) struct Fog(pub(super) bool);

/// On a client's connection: whether its view is restricted.
#[derive(Component, Clone, Copy)]
pub(super) struct IsShort(pub(super) bool);

impl VisibilityFilter for Fog {
    type Client = IsShort;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Freeze;

    fn is_visible(&self, client: Option<&IsShort>) -> bool {
        !self.0 || client.is_none_or(|client| !client.0)
    }
}

/// Name of the client's only named body.
fn name(net: &mut TestNet) -> &str {
    &only_value::<PlayerName>(net).0
}

#[test]
fn a_hidden_body_vanishes_and_comes_back_with_its_components() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Team>();
    net.add_client_with(watched);
    let ada = (Team(1), PlayerName("Ada".into()));
    let body = spawn(&mut net, "hero", Vec3::X, ada);
    spawn(&mut net, "crate", Vec3::ZERO, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.ticks(30);
    assert_eq!(net.count::<Remote>(0), 1, "the client has no team");
    let client = client_entity(&mut net);
    insert(&mut net, client, Team(1));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    insert(&mut net, body, Team(2));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    insert(&mut net, body, PlayerName("Grace".into()));
    net.ticks(30);
    insert(&mut net, client, Team(2));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    assert_eq!(name(&mut net), "Grace");
    server(&mut net).entity_mut(client).remove::<Team>();
    net.run_until(|net| net.count::<Remote>(0) == 1);
    server(&mut net).entity_mut(body).remove::<Team>();
    net.run_until(|net| net.count::<Remote>(0) == 2);
    server(&mut net).despawn(body);
    net.run_until(|net| net.count::<Remote>(0) == 1);
    use VanishReason::{Despawned, Hidden};
    assert_eq!(noted::<VanishReason>(&mut net.clients[0]), [Hidden, Hidden, Despawned]);
}

#[test]
fn a_frozen_body_stays_as_it_was_and_then_catches_up() {
    let (mut net, client) = filtered::<Fog>();
    insert(&mut net, client, IsShort(true));
    let ada = (Fog(false), PlayerName("Ada".into()));
    let body = spawn(&mut net, "hero", Vec3::X, ada);
    let never = spawn(&mut net, "hero", Vec3::ZERO, Fog(true));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    insert(&mut net, body, Fog(true));
    net.ticks(20);
    put(&mut net, body, Vec3::X * 5.0);
    insert(&mut net, body, PlayerName("Grace".into()));
    net.ticks(30);
    assert_eq!(positions(&mut net, 0), [Vec3::X]);
    assert_eq!(name(&mut net), "Ada");
    // It stays frozen if the client gets another precision.
    for rung in [ladder::NO_VELOCITY, ladder::PREDICTED] {
        server(&mut net).get_mut::<ConnectionSettings>(client).unwrap().stages = *rung.stages;
        net.ticks(30);
        assert_eq!(positions(&mut net, 0), [Vec3::X]);
    }
    insert(&mut net, body, Fog(false));
    net.run_until(|net| positions(net, 0) == [Vec3::X * 5.0] && name(net) == "Grace");
    insert(&mut net, never, Fog(false));
    net.run_until(|net| net.count::<Remote>(0) == 2);
}

/// Bodies of the client's side are visible at any distance, others only within its interest.
#[derive(Component, PartialEq)]
#[component(immutable)]
struct Side(u8);

impl VisibilityFilter for Side {
    type Client = Self;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Despawn;

    fn is_visible(&self, _: Option<&Self>) -> bool {
        true
    }

    fn is_visible_from_afar(&self, client: Option<&Self>) -> bool {
        client == Some(self)
    }
}

#[test]
fn the_own_side_is_visible_from_afar() {
    let (mut net, client) = filtered::<Side>();
    let hero = spawn(&mut net, "hero", Vec3::ZERO, Side(1));
    let friend = spawn(&mut net, "hero", Vec3::X * 50.0, Side(1));
    let enemy = spawn(&mut net, "hero", Vec3::X * 60.0, Side(2));
    spawn(&mut net, "crate", Vec3::X * 70.0, ());
    let sees = |net: &mut TestNet| {
        net.ticks(30);
        positions(net, 0).iter().map(|at| at.x).collect::<Vec<_>>()
    };
    insert(&mut net, client, (Interest::around(hero, 10.0, 15.0), Side(1)));
    assert_eq!(sees(&mut net), [0.0, 50.0]);
    put(&mut net, enemy, Vec3::X * 9.0);
    assert_eq!(sees(&mut net), [0.0, 9.0, 50.0]);
    put(&mut net, enemy, Vec3::X * 16.0);
    insert(&mut net, friend, Side(3));
    assert_eq!(sees(&mut net), [0.0]);
    insert(&mut net, client, Side(2));
    assert_eq!(sees(&mut net), [0.0, 16.0]);
}

#[test]
fn interest_has_a_margin() {
    let (mut net, hero) = with_body(protocol, ());
    let walker = spawn(&mut net, "crate", Vec3::X * 30.0, ());
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let client = client_entity(&mut net);
    insert(&mut net, client, Interest::around(hero, 10.0, 15.0));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let at = |net: &mut TestNet, x: f32| {
        put(net, walker, Vec3::X * x);
        net.ticks(30);
        net.count::<Remote>(0)
    };
    for (x, visible) in [(12.0, 1), (9.0, 2), (14.0, 2), (16.0, 1), (14.0, 1)] {
        assert_eq!(at(&mut net, x), visible, "at {x}");
    }
    put(&mut net, hero, Vec3::X * 14.0);
    net.run_until(|net| net.count::<Remote>(0) == 2);
    server(&mut net).entity_mut(client).remove::<Interest>();
    assert_eq!(at(&mut net, 90.0), 2);
}

#[test]
fn each_of_several_filters_hides_a_body() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Team>().add_visibility_filter::<Hidden>();
    spawn(&mut net, "hero", Vec3::X, Team(1));
    spawn(&mut net, "hero", Vec3::Y, Hidden(true));
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
    let (mut net, mut bodies) = with_row(protocol, 10, 10.0);
    let client = client_entity(&mut net);
    let nothing = server(&mut net).spawn_empty().id();
    for center in [Some(nothing), None] {
        let interest = Interest { near: 25.0, far: 30.0, center };
        insert(&mut net, client, interest);
        net.run_until(|net| net.count::<Remote>(0) == 0);
    }
    insert(&mut net, client, Interest::around(bodies[0], 25.0, 30.0));
    net.run_until(|net| net.count::<Remote>(0) == 3);
    let center = bodies.remove(0);
    server(&mut net).despawn(center);
    net.ticks(60);
    assert_eq!(positions(&mut net, 0), [Vec3::X * 10.0, Vec3::X * 20.0]);
    // A body with an invalid position keeps its last valid one.
    put(&mut net, bodies[0], Vec3::NAN);
    net.ticks(60);
    assert_eq!(positions(&mut net, 0), [Vec3::X * 10.0, Vec3::X * 20.0]);
    // First the client's own entity is the center, then there is no interest, so all bodies are visible.
    let interest = Interest { center: None, ..Interest::around(nothing, 5.0, 5.0) };
    let own = Transform::from_xyz(50.0, 0.0, 0.0);
    insert(&mut net, client, (interest, own));
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
            put(&mut net, hidden, Vec3::new(1.0, height * tick as f32, 0.0));
            put(&mut net, seen, Vec3::Y * 0.1 * tick as f32);
            net.tick();
        }
        let client = client_entity(&mut net);
        sent_bytes(&net, client)
    };
    assert_eq!(sent(0.0), sent(0.3));
}

#[test]
fn the_reason_is_that_of_this_time_and_not_of_the_last() {
    let mut net = lossy(0.4, 8);
    net.server.add_visibility_filter::<Team>();
    net.add_client_with(watched);
    let bodies = spawn_row(&mut net, 40, 1.0);
    net.run_until(|net| net.count::<Remote>(0) == 40);
    for &body in &bodies {
        // The body is hidden for one tick, which the client may not notice.
        insert(&mut net, body, Team(1));
        net.tick();
        server(&mut net).entity_mut(body).remove::<Team>();
        net.ticks(20);
    }
    net.run_until(|net| net.count::<Remote>(0) == 40);
    net.ticks(60);
    let _ = noted::<VanishReason>(&mut net.clients[0]);
    for body in bodies {
        server(&mut net).despawn(body);
        net.ticks(7);
    }
    net.run_until(|net| net.count::<Remote>(0) == 0);
    assert_eq!(noted::<VanishReason>(&mut net.clients[0]), [VanishReason::Despawned; 40]);
}
