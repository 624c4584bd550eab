//! A random walk over all features: bodies, reliable components, filters, interests, budgets, loss and reconnections. At the
//! end each client must have exactly the state that it should see.

use cubewire_bevy::cubewire_codec::ladder;
use cubewire_bevy::cubewire_protocol::{BaselineChoice, Interpolation};

use super::*;

/// Changes one random body, and sometimes one connection.
fn step(net: &mut TestNet, bodies: &mut Vec<Entity>, chance: &mut Chance, number: usize) {
    let at = |chance: &mut Chance| {
        let [x, y, z] = [180, 40, 180].map(|end| chance.below(end) as f32);
        Vec3::new(x - 90.0, y, z - 90.0)
    };
    if bodies.len() < 20 || chance.below(12) == 0 && bodies.len() < 150 {
        let kind = ["crate", "hero"][chance.below(2)];
        let body = spawn(net, kind, at(chance), Health(chance.below(101) as u8));
        bodies.push(body);
    }
    let index = chance.below(bodies.len());
    let body = bodies[index];
    let other = bodies[chance.below(bodies.len())];
    let choice = chance.below(14);
    let mut entity = net.server.world_mut().entity_mut(body);
    match choice {
        0 => {
            entity.despawn();
            bodies.swap_remove(index);
        }
        1 | 2 => drop(entity.insert(PlayerName(format!("name {number}"))).id()),
        3 => drop(entity.remove::<PlayerName>().id()),
        4 => drop(entity.insert(Hidden(chance.below(2) == 0)).id()),
        5 => drop(entity.remove::<Hidden>().id()),
        6 => drop(entity.insert(Follows(other)).id()),
        7 => drop(entity.insert(Health(chance.below(101) as u8)).id()),
        8 => drop(entity.insert(Transform::from_translation(at(chance))).id()),
        _ => {
            let mut transform = entity.get_mut::<Transform>().unwrap();
            transform.translation += at(chance) * 0.002;
        }
    }
    if chance.below(150) == 0 {
        let client = chance.below(net.clients.len());
        net.reconnect(client);
    }
    if chance.below(60) == 0 {
        let clients = all::<Connected>(&mut net.server);
        if !clients.is_empty() {
            let mut client = server(net).entity_mut(clients[chance.below(clients.len())]);
            match chance.below(5) {
                0 => drop(client.insert(ByteBudget::kbps(32 + 40 * chance.below(4) as u32)).id()),
                1 => drop(client.insert(Interest::around(other, 60.0, 80.0)).id()),
                2 => drop(client.remove::<Interest>().id()),
                3 => {
                    let rung = ladder::LADDER[chance.below(ladder::LADDER.len())];
                    let baselines = [BaselineChoice::Newest, BaselineChoice::Smallest];
                    client.insert(ConnectionSettings {
                        stages: *rung.stages,
                        send_interval_ticks: chance.below(5) as u8,
                        baseline: baselines[chance.below(2)],
                        interpolation: Interpolation::ALL[chance.below(2)],
                    });
                }
                _ => drop(client.remove::<ByteBudget>().id()),
            }
        }
    }
}

#[test]
fn whatever_happens_every_client_has_what_it_is_to_see_in_the_end() {
    for (seed, loss) in [(1, 0.1), (4, 0.4), (12, 0.2), (13, 0.3), (20, 0.0)] {
        let conditions = Conditions {
            latency: Duration::from_millis(40),
            jitter: Jitter::Uniform { spread: Duration::from_millis(30) },
            loss: Loss::bursts(loss, 1.5),
            duplicate_probability: 0.05,
            ..Conditions::PERFECT
        };
        let mut net = TestNet::with_conditions(protocol, conditions, seed);
        net.server.add_visibility_filter::<Hidden>();
        (0..3).for_each(|_| _ = net.add_client());
        let (mut bodies, mut chance) = (Vec::new(), Chance(seed * 7_919));
        for number in 0..3_000 {
            step(&mut net, &mut bodies, &mut chance, number);
            if number % 2 == 0 {
                net.tick();
            }
        }
        for client in all::<Connected>(&mut net.server) {
            server(&mut net).entity_mut(client).remove::<Interest>();
        }
        let expected = states(server(&mut net), false);
        assert!(expected.len() > 10);
        // A low budget takes a while to send all bodies.
        for waited in 0.. {
            net.ticks(60);
            let clients = [0, 1, 2].map(|client| states(net.clients[client].world_mut(), true));
            if clients.iter().all(|client| *client == expected) {
                break;
            }
            assert!(waited < 60, "{seed}: {expected:?} is not {clients:?}");
        }
        server(&mut net).write_message(ToClient::all(Chat("over".into())));
        for _ in 0..200 {
            net.tick();
            net.clients.retain_mut(|client| taken::<FromServer<Chat>>(client).is_empty());
        }
        assert!(net.clients.is_empty(), "all have had the last message");
    }
}
