//! Clients with a byte budget.

use bevy_ecs::message::Messages;
use cubewire_bevy::cubewire_protocol::Standing;
use cubewire_bevy::{
    ByteBudget, Connected, FromServer, InSlot, Mailbox, Peer, SendGroup, SendPriority, ToClient,
};
use cubewire_link::{Conditions, Loss};

use super::*;

fn crowd(net: &mut TestNet) -> Vec<Entity> {
    (0..150)
        .map(|index| {
            let at = Vec3::new(index as f32 % 12.0 * 2.0, 1.0, index as f32 / 12.0);
            let body = spawn(
                net,
                "crate",
                at,
                (Health(50), PlayerName(format!("crate {index}"))),
            );
            if index < 10 {
                server(net).entity_mut(body).insert(SendPriority(20.0));
            } else if index < 20 {
                server(net).entity_mut(body).insert(SendGroup(1));
            }
            body
        })
        .collect()
}

fn server(net: &mut TestNet) -> &mut World {
    net.server.world_mut()
}

#[test]
fn no_second_has_more_than_the_budget_and_all_ends_equal() {
    for (loss, kbps) in [(0.0, 64), (0.1, 32), (0.3, 128)] {
        let conditions = Conditions {
            loss: Loss::bursts(loss, 1.0),
            latency: std::time::Duration::from_millis(30),
            ..Conditions::PERFECT
        };
        let mut net = TestNet::with_conditions(protocol, conditions, 21);
        net.add_client();
        net.run_until(|net| net.count::<Connected>(0) == 1);
        let world = server(&mut net);
        let client = world
            .query_filtered::<Entity, With<Connected>>()
            .single(world)
            .unwrap();
        world.entity_mut(client).insert(ByteBudget::kbps(kbps));
        net.ticks(70);
        let bodies = crowd(&mut net);
        let mut wire = Vec::new();
        let mut chats = 0;
        for tick in 0..900_usize {
            shake(&mut net, &bodies, tick);
            if tick % 50 == 0 {
                server(&mut net).write_message(ToClient::all(Chat("x".repeat(300))));
            }
            net.tick();
            chats += {
                let world = net.clients[0].world_mut();
                let mut received = world.resource_mut::<Messages<FromServer<Chat>>>();
                received.drain().count()
            };
            wire.push(server(&mut net).get::<Mailbox>(client).unwrap().wire_bytes);
        }
        let most = wire
            .windows(61)
            .map(|second| second[60] - second[0])
            .max()
            .unwrap();
        let budget = u64::from(kbps) * 125;
        assert!(most <= budget, "{most} of {budget} bytes, {loss}");
        let used = wire[wire.len() - 1] - wire[300];
        // Of a lossy link it is learned how much gets through.
        let part = if loss < 0.2 { 8 } else { 3 };
        assert!(
            used > budget * part,
            "{used} bytes in ten seconds of {budget}"
        );
        assert!(chats >= 15, "{chats} messages");
        net.ticks(1_200);
        assert_eq!(
            states(server(&mut net), false),
            states(net.clients[0].world_mut(), true)
        );
        assert_eq!(net.count::<PlayerName>(0), 150);
        let mut standings = Vec::new();
        let tick = net
            .server
            .world()
            .resource::<cubewire_bevy::ReplicationStats>()
            .tick;
        let peer = net.server.world().get::<Peer>(client).unwrap();
        peer.standings(tick, &mut standings);
        assert_eq!(standings.len(), 200);
        assert!(
            standings
                .iter()
                .all(|standing| standing.waits(tick).is_none())
        );
    }
}

#[test]
fn urgent_bodies_are_sent_more_often_and_groups_in_one_packet() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    net.run_until(|net| net.count::<Connected>(0) == 1);
    let world = server(&mut net);
    let client = world
        .query_filtered::<Entity, With<Connected>>()
        .single(world)
        .unwrap();
    world.entity_mut(client).insert(ByteBudget::kbps(24));
    let bodies = crowd(&mut net);
    let mut sent = [0_usize; 2];
    let mut before = vec![None; 200];
    let mut grouped = 0;
    for tick in 0..600_usize {
        shake(&mut net, &bodies, tick);
        net.tick();
        let tick = net
            .server
            .world()
            .resource::<cubewire_bevy::ReplicationStats>()
            .tick;
        let peer = net.server.world().get::<Peer>(client).unwrap();
        let mut standings = Vec::new();
        peer.standings(tick, &mut standings);
        grouped += usize::from(is_in_one_packet(&net, &standings, &bodies[10..20]));
        for (index, &body) in bodies.iter().enumerate() {
            let slot = net.server.world().get::<InSlot>(body).unwrap().slot();
            if let Standing::InFlight { sent: at } = standings[slot]
                && before[index].replace(at) != Some(at)
            {
                sent[usize::from(index >= 10)] += 1;
            }
        }
    }
    assert!(grouped > 30, "{grouped} packets with the group");
    let [urgent, other] = [sent[0] as f64 / 10.0, sent[1] as f64 / 140.0];
    assert!(urgent > 2.0 * other, "{urgent} against {other}");
}

/// Whether bodies of a group are under way, which then are in the same packet.
fn is_in_one_packet(net: &TestNet, standings: &[Standing], group: &[Entity]) -> bool {
    let slots = group
        .iter()
        .map(|&body| net.server.world().get::<InSlot>(body).unwrap().slot());
    let sent = slots.map(|slot| match standings[slot] {
        Standing::InFlight { sent } => Some(sent),
        _ => None,
    });
    let sent: Vec<_> = sent.collect();
    assert!(sent.iter().all(|at| *at == sent[0]), "{sent:?}");
    sent[0].is_some()
}
