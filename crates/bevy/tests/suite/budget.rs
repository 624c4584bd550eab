//! Clients with a byte budget.

use bevy_time::TimeUpdateStrategy;
use cubewire_bevy::cubewire_protocol::SendState;

use super::*;

fn crowd(net: &mut TestNet) -> Vec<Entity> {
    (0..150)
        .map(|index| {
            let at = Vec3::new(index as f32 % 12.0 * 2.0, 1.0, index as f32 / 12.0);
            let name = PlayerName(format!("crate {index}"));
            let body = spawn(net, "crate", at, (Health(50), name));
            match index {
                0..10 => insert(net, body, SendPriority(20.0)),
                10..20 => insert(net, body, SendGroup(1)),
                _ => {}
            }
            body
        })
        .collect()
}

/// Adds a client with a budget and returns its entity at the server.
fn limited(net: &mut TestNet, kbps: u32) -> Entity {
    let client = connect(net);
    insert(net, client, ByteBudget::kbps(kbps));
    client
}

fn send_states(net: &TestNet, client: Entity) -> Vec<SendState> {
    let mut send_states = Vec::new();
    snapshot_sender(net, client).send_states(stats(net).tick, &mut send_states);
    send_states
}

fn slot(net: &TestNet, body: Entity) -> usize {
    at_server::<InSlot>(net, body).slot()
}

#[test]
fn a_scene_that_no_packet_holds_arrives_where_datagrams_are_lost() {
    const BODIES: usize = 30_000;
    fn many(app: &mut App) {
        app.add_plugins(CubewirePlugin::new("many").max_bodies(BODIES as u32))
            .body_kind("ball", Shape::ball(0.2));
    }
    let mut net = lossy_with(many, 0.05, 3);
    for number in 0..BODIES {
        let [column, row] = [number % 200, number / 200].map(|number| number as f32 / 4.0);
        spawn(&mut net, "ball", Vec3::new(column, 0.0, row), ());
    }
    let client = connect(&mut net);
    let mut ticks = 0;
    net.run_until(|net| {
        ticks += 1;
        net.count::<Remote>(0) == BODIES
    });
    assert!(ticks < 300, "{ticks}");
    // Once all bodies have arrived, packets are complete and the schedule is dropped.
    net.ticks(90);
    assert!(!snapshot_sender(&net, client).is_scheduling());
}

#[test]
fn no_second_has_more_than_the_budget_and_all_ends_equal() {
    for (loss, kbps) in [(0.0, 64), (0.1, 32), (0.3, 128)] {
        let mut net = lossy(loss, 21);
        let client = limited(&mut net, kbps);
        net.ticks(70);
        let bodies = crowd(&mut net);
        let mut wire = Vec::new();
        let mut chats = 0;
        for tick in 0..900_usize {
            shake(server(&mut net), &bodies, tick);
            if tick % 50 == 0 {
                server(&mut net).write_message(ToClient::all(Chat("x".repeat(300))));
            }
            net.tick();
            chats += taken::<FromServer<Chat>>(&mut net.clients[0]).len();
            wire.push(sent_bytes(&net, client));
        }
        let most = most_within(&wire, 60);
        let budget = u64::from(kbps) * 125;
        assert!(most <= budget, "{most} of {budget} bytes, {loss}");
        let used = wire[wire.len() - 1] - wire[300];
        // With heavy loss, the adaptive rate grants less than the budget.
        let part = if loss < 0.2 { 8 } else { 3 };
        assert!(used > budget * part, "{used} bytes in ten seconds of {budget}");
        assert!(chats >= 15, "{chats} messages");
        net.ticks(1_200);
        assert!(are_equal(&mut net));
        assert_eq!(net.count::<PlayerName>(0), 150);
        let (send_states, tick) = (send_states(&net, client), stats(&net).tick);
        assert_eq!(send_states.len(), 200);
        let mut waiting = send_states.iter().map(|send_state| send_state.waiting_ticks(tick));
        assert!(waiting.all(|waits| waits.is_none()));
    }
}

#[test]
fn a_budget_holds_in_any_second_where_a_frame_has_several_ticks() {
    const TICKS: u32 = 4;
    let mut net = lossy(0.0, 21);
    let client = limited(&mut net, 64);
    let bodies = crowd(&mut net);
    for app in [&mut net.server, &mut net.clients[0]] {
        app.insert_resource(TimeUpdateStrategy::FixedTimesteps(TICKS));
    }
    let mut wire = Vec::new();
    for frame in 0..240_usize {
        shake(server(&mut net), &bodies, frame);
        net.tick();
        wire.push(sent_bytes(&net, client));
    }
    let most = most_within(&wire, 60 / TICKS as usize);
    assert!((5_000..=8_000).contains(&most), "{most} of 8000 bytes");
}

#[test]
fn urgent_bodies_are_sent_more_often_and_groups_in_one_packet() {
    let mut net = TestNet::new(protocol);
    let client = limited(&mut net, 24);
    let bodies = crowd(&mut net);
    let mut sent = [0_usize; 2];
    let mut before = vec![None; 200];
    let mut grouped = 0;
    for tick in 0..600_usize {
        shake(server(&mut net), &bodies, tick);
        net.tick();
        let send_states = send_states(&net, client);
        grouped += usize::from(is_in_one_packet(&net, &send_states, &bodies[10..20]));
        for (index, &body) in bodies.iter().enumerate() {
            if let SendState::InFlight { sent: at } = send_states[slot(&net, body)]
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

/// Whether the bodies of a group are in flight. Asserts that they were sent in the same packet.
fn is_in_one_packet(net: &TestNet, send_states: &[SendState], group: &[Entity]) -> bool {
    let sent = group.iter().map(|&body| match send_states[slot(net, body)] {
        SendState::InFlight { sent } => Some(sent),
        _ => None,
    });
    let sent: Vec<_> = sent.collect();
    assert!(sent.iter().all(|at| *at == sent[0]), "{sent:?}");
    sent[0].is_some()
}

/// Number of remote bodies of a kind.
fn of_kind(net: &mut TestNet, kind: &str) -> usize {
    let world = net.clients[0].world_mut();
    let mut bodies = world.query_filtered::<&BodyKind, With<Remote>>();
    bodies.iter(world).filter(|of| of.name() == kind).count()
}

#[test]
fn a_body_of_no_priority_vanishes_while_the_budget_is_busy() {
    use bevy_ecs::entity_disabling::Disabled;

    for (loss, seed) in [(0.0, 7), (0.3, 8)] {
        let mut net = lossy(loss, seed);
        let client = limited(&mut net, 24);
        let heroes = [1.0, 2.0].map(|x| spawn(&mut net, "hero", Vec3::X * x, ()));
        net.run_until(|net| of_kind(net, "hero") == 2);
        let bodies = crowd(&mut net);
        for hero in heroes {
            insert(&mut net, hero, SendPriority(0.0));
        }
        for tick in 0..300 {
            shake(server(&mut net), &bodies, tick);
            net.tick();
        }
        assert_eq!(of_kind(&mut net, "hero"), 2);
        server(&mut net).despawn(heroes[0]);
        insert(&mut net, heroes[1], Disabled);
        for tick in 300..480 {
            shake(server(&mut net), &bodies, tick);
            net.tick();
            assert!(snapshot_sender(&net, client).is_scheduling());
        }
        assert_eq!(of_kind(&mut net, "hero"), 0, "with a loss of {loss}");
    }
}
