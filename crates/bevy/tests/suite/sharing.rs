//! Clients with the same view share encoded packets.

use cubewire_bevy::{ByteBudget, VisibilityAppExt, VisibilityFilter, WhenHidden};

use super::*;

/// Number of packets and encodes in a hundred ticks.
fn counted(net: &mut TestNet, bodies: &mut Vec<Entity>) -> (u64, u64) {
    let before = stats(net);
    for tick in 0..100 {
        play(net, bodies, tick);
        net.tick();
    }
    let after = stats(net);
    let encodes = after.encodes - before.encodes;
    (after.packets - before.packets, encodes)
}

#[test]
fn clients_with_the_same_view_share_one_encode() {
    let mut net = TestNet::new(protocol);
    for _ in 0..4 {
        net.add_client();
    }
    let mut bodies = Vec::new();
    net.run_until(|net| (0..4).all(|client| net.count::<Connected>(client) == 1));
    net.ticks(30);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    let first = all::<Connected>(&mut net.server)[0];
    // A client that joins later, or that has a budget, gets its own encode.
    net.add_client();
    net.ticks(400);
    assert_eq!(counted(&mut net, &mut bodies), (500, 200));
    insert(&mut net, first, ByteBudget::kbps(500));
    let (packets, encodes) = counted(&mut net, &mut bodies);
    assert_eq!(packets - encodes, 200);
    net.ticks(60);
    let expected = states(server(&mut net), false);
    for client in &mut net.clients {
        assert_eq!(expected, states(client.world_mut(), true));
    }
}

#[test]
fn clients_with_the_same_budget_share_while_it_suffices() {
    let mut net = TestNet::new(protocol);
    for _ in 0..4 {
        net.add_client();
    }
    let mut bodies = Vec::new();
    net.run_until(|net| (0..4).all(|client| net.count::<Connected>(client) == 1));
    let clients = all::<Connected>(&mut net.server);
    for &client in &clients {
        insert(&mut net, client, ByteBudget::kbps(500));
    }
    net.ticks(90);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    // With a small budget each client has its own priorities, until all are up to date.
    for &client in &clients {
        insert(&mut net, client, ByteBudget::kbps(16));
    }
    let (packets, encodes) = counted(&mut net, &mut bodies);
    assert!(packets < 400 && encodes > packets / 2, "{encodes} of {packets}");
    for &client in &clients {
        insert(&mut net, client, ByteBudget::kbps(500));
    }
    net.ticks(120);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    net.ticks(60);
    let expected = states(server(&mut net), false);
    for client in &mut net.clients {
        assert_eq!(expected, states(client.world_mut(), true));
    }
}

/// Freezes the body for clients with restricted view: they keep the last state that they saw.
#[derive(Component, Clone, Copy)]
#[component(immutable)]
struct Fog(bool);

/// On a client's connection: whether its view is restricted.
#[derive(Component, Clone, Copy)]
struct IsShort(bool);

impl VisibilityFilter for Fog {
    type Client = IsShort;
    const WHEN_HIDDEN: WhenHidden = WhenHidden::Freeze;

    fn is_visible(&self, client: Option<&IsShort>) -> bool {
        !self.0 || client.is_none_or(|client| !client.0)
    }
}

#[test]
fn clients_that_see_the_same_frozen_share_one_encode() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Fog>();
    for _ in 0..6 {
        net.add_client();
    }
    net.run_until(|net| (0..6).all(|client| net.count::<Connected>(client) == 1));
    let mut bodies = Vec::new();
    for x in 0..10 {
        bodies.push(spawn(&mut net, "crate", Vec3::X * x as f32, (Health(9), Fog(false))));
    }
    net.ticks(60);
    // All clients see all bodies.
    assert_eq!(counted(&mut net, &mut bodies), (600, 100));
    // Half of the clients do not see the five foggy bodies.
    for (index, client) in all::<Connected>(&mut net.server).into_iter().enumerate() {
        insert(&mut net, client, IsShort(index % 2 == 0));
    }
    for &body in &bodies[..5] {
        insert(&mut net, body, Fog(true));
    }
    assert_eq!(counted(&mut net, &mut bodies), (600, 200));
    for &body in &bodies[..5] {
        insert(&mut net, body, Fog(true));
    }
    net.ticks(10);
    // One client saw them later than the others, so its baseline differs for a while.
    let late = all::<Connected>(&mut net.server)[0];
    insert(&mut net, late, IsShort(false));
    net.ticks(10);
    insert(&mut net, late, IsShort(true));
    assert_eq!(counted(&mut net, &mut bodies), (600, 300));
}
