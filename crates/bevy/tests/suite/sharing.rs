//! Clients that see the same share the work.

use cubewire_bevy::{ByteBudget, Connected, ReplicationStats};

use super::*;

fn stats(net: &TestNet) -> ReplicationStats {
    *net.server.world().resource()
}

/// Packets and encodes of a hundred ticks.
fn counted(net: &mut TestNet, bodies: &mut Vec<Entity>) -> (u64, u64) {
    let before = stats(net);
    for tick in 0..100 {
        play(net, bodies, tick);
        net.tick();
    }
    let after = stats(net);
    (
        after.packets - before.packets,
        after.encodes - before.encodes,
    )
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
    let world = net.server.world_mut();
    let first = world
        .query_filtered::<Entity, With<Connected>>()
        .iter(world)
        .next()
        .unwrap();
    // What one has that comes later is as good, but was coded on its own; so is that of one with a budget.
    net.add_client();
    net.ticks(400);
    assert_eq!(counted(&mut net, &mut bodies), (500, 200));
    net.server
        .world_mut()
        .entity_mut(first)
        .insert(ByteBudget::kbps(500));
    let (packets, encodes) = counted(&mut net, &mut bodies);
    assert_eq!(packets - encodes, 200);
    net.ticks(60);
    let server = states(net.server.world_mut(), false);
    for client in 0..5 {
        assert_eq!(
            server,
            states(net.clients[client].world_mut(), true),
            "client {client}"
        );
    }
}
