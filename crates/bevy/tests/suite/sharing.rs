//! Clients with the same view share encoded packets.

use super::visibility::{Fog, IsShort};
use super::*;

/// Number of packets and encodes in a hundred ticks.
fn counted(net: &mut TestNet, bodies: &mut Vec<Entity>) -> (u64, u64) {
    let before = stats(net);
    play_ticks(net, bodies, 0..100);
    let after = stats(net);
    let encodes = after.encodes - before.encodes;
    (after.packets - before.packets, encodes)
}

#[test]
fn clients_with_the_same_view_share_one_encode() {
    let mut net = TestNet::new(protocol);
    let clients = connect_all(&mut net, 4);
    let mut bodies = Vec::new();
    net.ticks(30);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    // A client that joins later, or that has a budget, gets its own encode.
    net.add_client();
    net.ticks(400);
    assert_eq!(counted(&mut net, &mut bodies), (500, 200));
    insert(&mut net, clients[0], ByteBudget::kbps(500));
    let (packets, encodes) = counted(&mut net, &mut bodies);
    assert_eq!(packets - encodes, 200);
    net.ticks(60);
    assert!(are_equal(&mut net));
}

#[test]
fn clients_with_the_same_budget_share_while_it_suffices() {
    let mut net = TestNet::new(protocol);
    let clients = connect_all(&mut net, 4);
    let mut bodies = Vec::new();
    let limit = |net: &mut TestNet, kbps| {
        clients.iter().for_each(|&client| insert(net, client, ByteBudget::kbps(kbps)));
    };
    limit(&mut net, 500);
    net.ticks(90);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    // With a small budget each client has its own priorities, until all are up to date.
    limit(&mut net, 16);
    let (packets, encodes) = counted(&mut net, &mut bodies);
    assert!(packets < 400 && encodes > packets / 2, "{encodes} of {packets}");
    limit(&mut net, 500);
    net.ticks(120);
    assert_eq!(counted(&mut net, &mut bodies), (400, 100));
    net.ticks(60);
    assert!(are_equal(&mut net));
}

#[test]
fn clients_that_see_the_same_frozen_share_one_encode() {
    let mut net = TestNet::new(protocol);
    net.server.add_visibility_filter::<Fog>();
    let clients = connect_all(&mut net, 6);
    let mut bodies = spawn_row(&mut net, 10, 1.0);
    bodies.iter().for_each(|&body| insert(&mut net, body, (Health(9), Fog(false))));
    net.ticks(60);
    // All clients see all bodies.
    assert_eq!(counted(&mut net, &mut bodies), (600, 100));
    // Half of the clients do not see the five foggy bodies.
    for (index, &client) in clients.iter().enumerate() {
        insert(&mut net, client, IsShort(index % 2 == 0));
    }
    let hide = |net: &mut TestNet, bodies: &[Entity]| {
        bodies[..5].iter().for_each(|&body| insert(net, body, Fog(true)));
    };
    hide(&mut net, &bodies);
    assert_eq!(counted(&mut net, &mut bodies), (600, 200));
    hide(&mut net, &bodies);
    net.ticks(10);
    // One client saw them later than the others, so its baseline differs for a while.
    insert(&mut net, clients[0], IsShort(false));
    net.ticks(10);
    insert(&mut net, clients[0], IsShort(true));
    assert_eq!(counted(&mut net, &mut bodies), (600, 300));
}
