//! References to bodies in fields and messages.

use bevy_ecs::entity::MapEntities;

use super::visibility::{Fog, IsShort, Team};
use super::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Target(Option<Entity>);

/// A message that refers to two bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, MapEntities)]
struct Hit {
    #[entities]
    #[serde(with = "as_bits")]
    by: Entity,
    #[entities]
    #[serde(with = "as_bits")]
    whom: Entity,
}

fn register(app: &mut App) {
    protocol(app);
    app.replicate_reference("target", |target: &Target| target.0, Target)
        .field_kinds("target", &["hero"])
        .field_kinds("health", &["hero"])
        // `map_entities` may be called before or after the registration of the message.
        .map_entities::<Hit>()
        .add_input::<Hit>()
        .add_message_to_client::<Hit>();
}

/// A client's body with this health.
fn remote(net: &mut TestNet, health: u8) -> Entity {
    let world = net.clients[0].world_mut();
    let mut bodies = world.query_filtered::<(Entity, &Health), With<Remote>>();
    let mut bodies = bodies.iter(world);
    let found = bodies.find(|(_, known)| known.0 == health);
    found.expect("it is there").0
}

fn target(net: &TestNet, body: Entity) -> Option<Entity> {
    at_client::<Target>(net, body).0
}

#[test]
fn a_field_refers_to_the_body_while_the_client_sees_it() {
    let mut net = TestNet::new(register);
    net.server.add_visibility_filter::<Team>();
    net.add_client();
    // Both spawn in the same tick, and the target has the higher slot.
    let turret = spawn(&mut net, "hero", Vec3::X, Health(1));
    let first = spawn(&mut net, "hero", Vec3::Z, (Health(2), Team(1)));
    let aim = |net: &mut TestNet, at: Option<Entity>| insert(net, turret, Target(at));
    aim(&mut net, Some(first));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let own = remote(&mut net, 1);
    net.ticks(30);
    assert_eq!(target(&net, own), None, "the client does not see it");
    let client = client_entity(&mut net);
    insert(&mut net, client, Team(1));
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let seen = remote(&mut net, 2);
    assert_eq!(target(&net, own), Some(seen));
    insert(&mut net, client, Team(2));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    assert_eq!(target(&net, own), None, "it is hidden");
    aim(&mut net, Some(turret));
    net.run_until(|net| target(net, own) == Some(own));
    aim(&mut net, None);
    net.run_until(|net| target(net, own).is_none());
    let second = spawn(&mut net, "hero", Vec3::Y, Health(3));
    aim(&mut net, Some(second));
    net.run_until(|net| net.count::<Remote>(0) == 2);
    assert_eq!(target(&net, own), Some(remote(&mut net, 3)), "in the frame of its birth");
    server(&mut net).despawn(second);
    net.run_until(|net| target(net, own).is_none());
    // A new body in the same slot is not the old target.
    spawn(&mut net, "hero", Vec3::Y, Health(4));
    net.ticks(400);
    assert_eq!(target(&net, own), None);
}

#[test]
fn a_component_refers_to_a_body_while_the_client_sees_it() {
    let (mut net, client) = filtered::<Team>();
    let leader = net.server.world_mut().spawn_empty().id();
    let follower = spawn(&mut net, "hero", Vec3::X, Follows(leader));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let remote = only::<Follows>(&mut net, 0);
    let follows = |net: &TestNet| at_client::<Follows>(net, remote).0;
    assert_eq!(follows(&net), Entity::PLACEHOLDER, "it is no body");
    insert(&mut net, leader, (Replicated, BodyKind::named("crate"), Health(5), Team(1)));
    net.ticks(30);
    assert_eq!(follows(&net), Entity::PLACEHOLDER, "it is hidden");
    for _ in 0..2 {
        insert(&mut net, client, Team(1));
        net.run_until(|net| follows(net) != Entity::PLACEHOLDER);
        assert_eq!(*at_client::<Health>(&net, follows(&net)), Health(5));
        insert(&mut net, client, Team(2));
        net.run_until(|net| net.count::<Remote>(0) == 1);
        assert_eq!(follows(&net), Entity::PLACEHOLDER);
    }
    // A body can refer to itself.
    insert(&mut net, follower, Follows(follower));
    net.run_until(|net| follows(net) == remote);
}

/// A client that shows a hero, with health 1, which aims at a crate, with health 2. Returns the server's entities, and the
/// client's hero.
fn aiming(more: impl Bundle) -> (TestNet, [Entity; 2], Entity) {
    let mut net = TestNet::new(register);
    net.server.add_visibility_filter::<Fog>();
    net.server.add_visibility_filter::<Hidden>();
    let client = connect(&mut net);
    insert(&mut net, client, IsShort(true));
    let first = spawn(&mut net, "hero", Vec3::Z, Health(2));
    let turret = spawn(&mut net, "hero", Vec3::X, (Health(1), Target(Some(first)), more));
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let own = remote(&mut net, 1);
    let seen = remote(&mut net, 2);
    net.run_until(|net| target(net, own) == Some(seen));
    (net, [first, turret], own)
}

#[test]
fn a_frozen_body_aims_at_no_stranger() {
    let (mut net, [first, turret], own) = aiming(Fog(false));
    let slot = at_server::<InSlot>(&net, first).slot();
    insert(&mut net, turret, Fog(true));
    net.ticks(10);
    server(&mut net).despawn(first);
    insert(&mut net, turret, Target(None));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.ticks(90);
    let second = spawn(&mut net, "hero", Vec3::Y, Health(3));
    net.run_until(|net| net.count::<Remote>(0) == 2);
    assert_eq!(at_server::<InSlot>(&net, second).slot(), slot);
    net.ticks(20);
    assert_eq!(target(&net, own), None);
}

/// The turret is hidden for eight ticks, and the message of that is lost. Its target appears at the same time.
#[test]
fn a_reference_is_found_after_a_lost_message() {
    let conditions = Conditions { latency: Duration::from_millis(30), ..Conditions::PERFECT };
    let mut net = TestNet::with_conditions(register, conditions.clone(), 1);
    net.server.add_visibility_filter::<Hidden>();
    net.add_client();
    let goal = spawn(&mut net, "hero", Vec3::Z, (Health(2), Hidden(true)));
    let turret = spawn(&mut net, "hero", Vec3::X, (Health(1), Target(Some(goal)), Hidden(false)));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    net.ticks(60);
    insert(&mut net, turret, Hidden(true));
    net.set_conditions(&Conditions { loss: Loss::bursts(1.0, 1.0), ..conditions.clone() });
    net.tick();
    net.set_conditions(&conditions);
    net.ticks(2);
    insert(&mut net, goal, Hidden(false));
    net.ticks(5);
    insert(&mut net, turret, Hidden(false));
    net.ticks(120);
    let (own, seen) = (remote(&mut net, 1), remote(&mut net, 2));
    assert_eq!(target(&net, own), Some(seen));
}

#[test]
fn a_reference_to_a_body_that_the_client_despawned_is_none() {
    let (mut net, [first, turret], own) = aiming(());
    insert(&mut net, turret, Follows(first));
    let follows = |net: &TestNet| {
        let follows = net.clients[0].world().get::<Follows>(own);
        follows.map_or(Entity::PLACEHOLDER, |follows| follows.0)
    };
    let seen = remote(&mut net, 2);
    net.run_until(|net| follows(net) == seen);
    net.clients[0].world_mut().despawn(seen);
    net.tick();
    assert_eq!((target(&net, own), follows(&net)), (None, Entity::PLACEHOLDER));
    server(&mut net).write_message(ToClient::all(Hit { by: turret, whom: first }));
    let hit = received(&mut net, |net| taken::<FromServer<Hit>>(&mut net.clients[0])).0;
    assert_eq!(hit, Hit { by: own, whom: Entity::PLACEHOLDER });
}

#[test]
fn fields_of_one_kind_are_not_of_others() {
    let mut net = with_client(register);
    spawn(&mut net, "hero", Vec3::X, Health(7));
    spawn(&mut net, "crate", Vec3::Z, Health(9));
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let hero = only::<Health>(&mut net, 0);
    assert_eq!(only::<Target>(&mut net, 0), hero);
    assert_eq!(net.count::<OnFire>(0), 2, "it is a field of all kinds");
    assert_eq!(at_client::<BodyKind>(&net, hero).name(), "hero");
}

/// Runs until a message arrives, and returns it.
fn received<M>(net: &mut TestNet, take: impl Fn(&mut TestNet) -> Vec<M>) -> M {
    let mut next = || {
        net.tick();
        take(net).pop()
    };
    (0..5).find_map(|_| next()).expect("it has arrived")
}

#[test]
fn messages_name_bodies_of_the_other_end() {
    let mut net = with_client(register);
    let [a, b] = [1, 2].map(|health| spawn(&mut net, "hero", Vec3::X, Health(health)));
    let nobody = net.server.world_mut().spawn_empty().id();
    net.run_until(|net| net.count::<Remote>(0) == 2);
    let [near, far] = [1, 2].map(|health| remote(&mut net, health));

    let input = |net: &mut TestNet, by: Entity, whom: Entity| {
        let hit = ToServer(Hit { by, whom });
        net.clients[0].world_mut().write_message(hit);
        received(net, |net| taken::<FromClient<Hit>>(&mut net.server)).message
    };
    assert_eq!(input(&mut net, near, far), Hit { by: a, whom: b });
    let own = net.clients[0].world_mut().spawn_empty().id();
    let whom = Entity::PLACEHOLDER;
    assert_eq!(input(&mut net, near, own), Hit { by: a, whom });

    let message = |net: &mut TestNet, by: Entity, whom: Entity| {
        let hit = ToClient::all(Hit { by, whom });
        server(net).write_message(hit);
        if whom == b {
            // The message and the despawn happen in the same tick.
            server(net).despawn(whom);
        }
        received(net, |net| taken::<FromServer<Hit>>(&mut net.clients[0])).0
    };
    assert_eq!(message(&mut net, a, nobody), Hit { by: near, whom });
    assert_eq!(message(&mut net, a, b), Hit { by: near, whom: far });
    net.run_until(|net| net.count::<Remote>(0) == 1);
    assert_eq!(input(&mut net, near, far), Hit { by: a, whom });
}

/// A hostile client refers to bodies by invented numbers.
#[test]
fn entities_that_were_made_up_are_none() {
    let mut net = TestNet::new(register);
    net.add_client_with(|app| {
        protocol(app);
        app.replicate_reference("target", |target: &Target| target.0, Target)
            .add_input::<Hit>()
            .add_message_to_client::<Hit>();
    });
    spawn(&mut net, "hero", Vec3::X, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let mut chance = Chance(5);
    for index in [0, 1, 199, 200, 70_000, u32::MAX - 1] {
        let [by, whom] = [0, 1].map(|_| {
            let bits = u64::from(!index) | (1 + chance.below(1 << 20) as u64) << 32;
            Entity::from_bits(bits)
        });
        net.clients[0].world_mut().write_message(ToServer(Hit { by, whom }));
        let hit = received(&mut net, |net| taken::<FromClient<Hit>>(&mut net.server)).message;
        let nobody = Entity::PLACEHOLDER;
        assert_eq!(hit, Hit { by: nobody, whom: nobody });
    }
}
