//! Entities that Bevy's default query filters hide.

use super::*;
use crate::visibility::Team;
use bevy_ecs::entity_disabling::Disabled;

/// Registered as a default filter by some of the tests.
#[derive(Component, Default)]
struct Asleep;

fn enable<C: Component>(net: &mut TestNet, body: Entity) {
    server(net).entity_mut(body).remove::<C>();
}

fn vanishes_and_returns<C: Component + Default>(net: &mut TestNet) {
    net.add_client_with(watched);
    let ada = (PlayerName("Ada".into()), Health(10));
    let body = spawn(net, "hero", Vec3::X, ada);
    let other = spawn(net, "crate", Vec3::ZERO, Follows(body));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    let slot = *at_server::<InSlot>(net, body);
    insert(net, body, C::default());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    assert_eq!((stats(net).bodies, stats(net).waiting), (1, 0));
    insert(net, body, (PlayerName("Grace".into()), Health(20)));
    put(net, body, Vec3::X * 3.0);
    net.ticks(30);
    assert_eq!(net.count::<Remote>(0), 1);
    enable::<C>(net, body);
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    net.ticks(20);
    assert_eq!(*at_server::<InSlot>(net, body), slot);
    let remote = only::<PlayerName>(net, 0);
    assert_eq!(at_client::<PlayerName>(net, remote).0, "Grace");
    assert_eq!(*at_client::<Health>(net, remote), Health(20));
    assert_eq!(at_client::<Transform>(net, remote).translation, Vec3::X * 3.0);
    assert_eq!(*only_value::<Follows>(net), Follows(remote));
    assert_eq!(noted::<VanishReason>(&mut net.clients[0]), [VanishReason::Hidden]);
    server(net).despawn(body);
    server(net).despawn(other);
    net.run_until(|net| net.count::<Remote>(0) == 0);
    assert_eq!(noted::<VanishReason>(&mut net.clients[0]), [VanishReason::Despawned; 2]);
}

#[test]
fn a_disabled_body_vanishes_and_returns_with_what_changed_meanwhile() {
    vanishes_and_returns::<Disabled>(&mut TestNet::new(protocol));
    // A default query filter of the game has the same effect.
    let mut net = TestNet::new(protocol);
    server(&mut net).register_disabling_component::<Asleep>();
    vanishes_and_returns::<Asleep>(&mut net);
}

#[test]
fn bodies_that_end_while_they_are_disabled_leave_nothing_behind() {
    let mut net = TestNet::new(protocol);
    server(&mut net).register_disabling_component::<Asleep>();
    net.add_client();
    let mut withdrawn = Vec::new();
    for round in 0..400 {
        let body = spawn(&mut net, "crate", Vec3::Y, ());
        net.tick();
        match round % 2 {
            0 => insert(&mut net, body, Disabled),
            _ => insert(&mut net, body, Asleep),
        }
        net.ticks(round % 2);
        match round % 8 {
            0..4 => drop(server(&mut net).despawn(body)),
            4 => drop(server(&mut net).entity_mut(body).remove::<Replicated>()),
            5 => drop(server(&mut net).entity_mut(body).remove::<BodyKind>()),
            6 => drop(server(&mut net).entity_mut(body).remove::<Transform>()),
            _ => {
                insert(&mut net, body, BodyKind::named("hero"));
                net.tick();
                server(&mut net).despawn(body);
            }
        }
        withdrawn.push(body);
    }
    // They were despawned or lost a required component, so enabling them does not bring them back.
    for body in withdrawn {
        if let Ok(mut body) = server(&mut net).get_entity_mut(body) {
            body.remove::<(Disabled, Asleep)>();
        }
    }
    net.ticks(120);
    net.add_client();
    net.ticks(60);
    assert_eq!([0, 1].map(|client| net.count::<Remote>(client)), [0, 0]);
    spawn_row(&mut net, 200, 0.4);
    net.tick();
    // The 50 waiting bodies have lost their `BodyKind`.
    assert_eq!((stats(&net).bodies, stats(&net).waiting), (200, 50));
    net.run_until(|net| net.count::<Remote>(0) == 200 && net.count::<Remote>(1) == 200);
}

#[test]
fn a_filter_hides_a_body_before_and_after_it_was_disabled() {
    let (mut net, client) = filtered::<Team>();
    insert(&mut net, client, Team(1));
    let bodies = [(), ()].map(|()| spawn(&mut net, "crate", Vec3::X, Team(2)));
    let own = spawn(&mut net, "hero", Vec3::Y, Team(1));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    // One body of the other team is disabled at any time.
    for round in 0..6 {
        insert(&mut net, bodies[round % 2], Disabled);
        enable::<Disabled>(&mut net, bodies[(round + 1) % 2]);
        for _ in 0..15 {
            net.tick();
            assert_eq!(net.count::<Remote>(0), 1, "round {round}");
        }
    }
    // Changes while disabled take effect when the body is enabled.
    insert(&mut net, own, (Disabled, Team(2)));
    insert(&mut net, bodies[0], Team(1));
    net.run_until(|net| positions(net, 0) == [Vec3::X]);
    enable::<Disabled>(&mut net, own);
    net.ticks(30);
    assert_eq!(positions(&mut net, 0), [Vec3::X]);
}

#[test]
fn a_disabled_connection_goes_on_and_ends() {
    let (mut net, client) = filtered::<Team>();
    insert(&mut net, client, Disabled);
    insert(&mut net, client, Team(1));
    let connection = all::<Server>(&mut net.clients[0])[0];
    net.clients[0].world_mut().entity_mut(connection).insert(Disabled);
    spawn(&mut net, "crate", Vec3::X, Team(1));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    insert(&mut net, client, Team(2));
    net.run_until(|net| net.count::<Remote>(0) == 0);
    insert(&mut net, client, Team(1));
    server(&mut net).write_message(ToClient::all(Chat("hello".into())));
    net.run_until(|net| !taken::<FromServer<Chat>>(&mut net.clients[0]).is_empty());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.clients[0].world_mut().despawn(connection);
    net.tick();
    assert_eq!(net.count::<Remote>(0), 0);
    net.tick();
    assert!(server(&mut net).get_entity(client).is_err());
}
