//! Fields, and components that are sent reliably.

use super::*;

#[test]
fn fields_arrive_as_they_are_and_change() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let body = spawn(&mut net, "hero", Vec3::Y, (Health(250), OnFire(true)));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let remote = only::<Health>(&mut net, 0);
    let values = |net: &TestNet| {
        let body = net.clients[0].world().entity(remote);
        (
            body.get::<Health>().unwrap().0,
            body.get::<OnFire>().unwrap().0,
        )
    };
    assert_eq!(values(&net), (100, true), "clamped");
    for health in [3, 99, 0] {
        let new = (Health(health), OnFire(health == 99));
        insert(&mut net, body, new);
        net.run_until(|net| values(net) == (health, health == 99));
    }
    insert(&mut net, body, Health(7));
    server(&mut net).entity_mut(body).remove::<OnFire>();
    net.run_until(|net| values(net) == (7, false));
}

/// What is known of a body's name when it is born.
#[derive(Resource, Default)]
struct Born(Vec<Option<String>>);

fn watch(app: &mut App) {
    protocol(app);
    app.init_resource::<Born>().add_observer(
        |added: On<Add, BodyKind>, names: Query<&PlayerName>, mut born: ResMut<Born>| {
            born.0
                .push(names.get(added.entity).ok().map(|name| name.0.clone()));
        },
    );
}

#[test]
fn a_birth_has_its_cold_data_however_much_is_lost() {
    for loss in [0.0, 0.3] {
        let mut net = lossy(loss, 4);
        net.add_client_with(watch);
        for number in 0..20 {
            let name = PlayerName(format!("player {number}"));
            spawn(&mut net, "hero", Vec3::X * number as f32, name);
            net.ticks(3);
        }
        net.run_until(|net| net.count::<PlayerName>(0) == 20);
        let born = &net.clients[0].world().resource::<Born>().0;
        assert_eq!(born.len(), 20);
        assert!(born.iter().all(Option::is_some), "{born:?}");
    }
}

#[test]
fn only_the_field_that_has_changed_is_written() {
    #[derive(Resource, Default, PartialEq, Debug)]
    struct Changes(usize, usize);

    let mut net = TestNet::new(protocol);
    net.add_client_with(|app| {
        protocol(app);
        app.init_resource::<Changes>().add_systems(
            bevy_app::Update,
            |health: Query<(), Changed<Health>>,
             fire: Query<(), Changed<OnFire>>,
             mut changes: ResMut<Changes>| {
                changes.0 += health.iter().count();
                changes.1 += fire.iter().count();
            },
        );
    });
    let body = spawn(&mut net, "hero", Vec3::Y, (Health(1), OnFire(false)));
    let mut changes = |name: &str, bundle: (Health, OnFire), expected: (usize, usize)| {
        let name = PlayerName(name.to_owned());
        insert(&mut net, body, (bundle, name));
        net.ticks(30);
        let changes = net.clients[0].world().resource::<Changes>();
        assert_eq!(*changes, Changes(expected.0, expected.1));
    };
    changes("Ada", (Health(1), OnFire(false)), (1, 1));
    changes("Ada", (Health(2), OnFire(false)), (2, 1));
    changes("Ada", (Health(2), OnFire(true)), (2, 2));
    changes("Grace", (Health(2), OnFire(true)), (2, 2));
}

/// postcard can write such types, and not read them.
#[derive(Component, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
}

#[test]
fn components_that_cannot_be_read_are_counted() {
    fn register(app: &mut App) {
        protocol(app);
        app.replicate::<Untagged>();
    }
    let mut net = TestNet::new(register);
    net.add_client();
    let more = (Untagged::Number(7), PlayerName("Ada".into()));
    spawn(&mut net, "hero", Vec3::Y, more);
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    let world = net.clients[0].world_mut();
    let mut session = world.query::<&cubewire_bevy::Session>();
    assert_eq!(session.single(world).unwrap().undecodable(), 1);
}

#[derive(Component, Clone, Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

#[test]
#[should_panic(expected = "`Unwritable` cannot be sent")]
fn a_type_that_cannot_be_written_is_named() {
    let mut net = TestNet::new(|app| {
        protocol(app);
        app.replicate::<Unwritable>();
    });
    spawn(&mut net, "hero", Vec3::Y, Unwritable);
    net.ticks(3);
}

#[test]
fn cold_data_changes_goes_and_comes_later() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let body = spawn(&mut net, "hero", Vec3::Y, ());
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let remote = only::<Remote>(&mut net, 0);
    let name = |net: &TestNet| net.clients[0].world().get::<PlayerName>(remote).cloned();
    assert_eq!(name(&net), None);
    for new in ["Ada", "Grace", ""] {
        insert(&mut net, body, PlayerName(new.to_owned()));
        net.run_until(|net| name(net).is_some_and(|name| name.0 == new));
    }
    server(&mut net).entity_mut(body).remove::<PlayerName>();
    net.run_until(|net| name(net).is_none());
    assert_eq!(only::<Remote>(&mut net, 0), remote);
}

#[test]
fn references_become_the_clients_entities_when_both_are_there() {
    let mut net = TestNet::new(protocol);
    net.add_client();
    let leader = net.server.world_mut().spawn_empty().id();
    let follower = spawn(&mut net, "hero", Vec3::X, Follows(leader));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let remote = only::<Follows>(&mut net, 0);
    let follows = |net: &TestNet| net.clients[0].world().get::<Follows>(remote).unwrap().0;
    assert_eq!(follows(&net), Entity::PLACEHOLDER, "it is no body");
    let body = (Replicated, BodyKind::named("crate"), Health(5));
    insert(&mut net, leader, body);
    net.run_until(|net| follows(net) != Entity::PLACEHOLDER);
    let target = net.clients[0].world().get::<Health>(follows(&net));
    assert_eq!(target, Some(&Health(5)));
    // A body can refer to itself.
    insert(&mut net, follower, Follows(follower));
    net.run_until(|net| follows(net) == remote);
}
