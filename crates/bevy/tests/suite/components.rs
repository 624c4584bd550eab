//! Fields, and components that are sent reliably.

use log::Level;

use super::log_records::{assert_record, collect};
use super::*;

#[test]
fn fields_arrive_as_they_are_and_change() {
    let (mut net, body) = with_body(protocol, (Health(250), OnFire(true)));
    let remote = only::<Health>(&mut net, 0);
    let values =
        |net: &TestNet| (at_client::<Health>(net, remote).0, at_client::<OnFire>(net, remote).0);
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

#[test]
fn a_birth_has_its_components_however_much_is_lost() {
    for loss in [0.0, 0.3] {
        let mut net = lossy(loss, 4);
        net.add_client_with(|app| {
            watched(app);
            app.add_observer(|born: On<Add, BodyKind>, names: Query<&PlayerName>| {
                assert!(names.contains(born.entity), "it is named when it appears");
            });
        });
        for number in 0..20 {
            let name = PlayerName(format!("player {number}"));
            spawn(&mut net, "hero", Vec3::X * number as f32, name);
            net.ticks(3);
        }
        net.run_until(|net| net.count::<PlayerName>(0) == 20);
        assert!(noted::<VanishReason>(&mut net.clients[0]).is_empty(), "each is born once");
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
    for (name, health, is_on_fire, expected) in [
        ("Ada", 1, false, Changes(1, 1)),
        ("Ada", 2, false, Changes(2, 1)),
        ("Ada", 2, true, Changes(2, 2)),
        ("Grace", 2, true, Changes(2, 2)),
    ] {
        insert(&mut net, body, (Health(health), OnFire(is_on_fire), PlayerName(name.to_owned())));
        net.ticks(30);
        assert_eq!(*net.clients[0].world().resource::<Changes>(), expected);
    }
}

/// postcard can serialize untagged enums but not deserialize them.
#[derive(Component, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(u32),
}

/// Serde refuses to serialize an even number.
#[derive(Component, Clone, PartialEq, Debug, Deserialize)]
struct Odd(u32);

impl Serialize for Odd {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 % 2 {
            0 => Err(serde::ser::Error::custom("even")),
            _ => to.serialize_u32(self.0),
        }
    }
}

#[test]
fn components_that_cannot_be_sent_harm_no_others() {
    collect();
    let register = |app: &mut App| {
        protocol(app);
        app.replicate::<Untagged>().replicate::<Odd>();
    };
    let more = (Untagged::Number(7), Odd(1), PlayerName("Ada".into()));
    let (mut net, body) = with_body(register, more);
    insert(&mut net, body, (Odd(2), PlayerName("Grace".into())));
    net.run_until(|net| only_value::<PlayerName>(net).0 == "Grace");
    assert_eq!(*only_value::<Odd>(&mut net), Odd(1), "the last one that could be sent");
    insert(&mut net, body, Odd(3));
    net.run_until(|net| *only_value::<Odd>(net) == Odd(3));
    assert_eq!((net.count::<Untagged>(0), net.count::<Connected>(0)), (0, 1));
    assert_eq!(of_connection::<ReplicationReceiver>(&mut net, 0).undecodable(), 0);
    for (name, why) in [("Untagged", "unreadable"), ("Odd", "cannot be serialized")] {
        let start = format!("cubewire_bevy::wire: component {why}");
        assert_record(
            Level::Warn,
            &start,
            &format!(
                "(`{name}` of entity {body}): clients keep the previous value; others like it are not logged"
            ),
        );
    }
}

#[test]
fn a_component_changes_goes_and_comes_later() {
    let (mut net, body) = with_body(protocol, ());
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

#[derive(Component, Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Biography(String);

fn with_biographies(app: &mut App) {
    protocol(app);
    app.replicate::<Biography>();
}

#[test]
fn a_component_that_is_too_long_is_left_out_and_locks_nobody_out() {
    let long = PlayerName("x".repeat(70_000));
    let (mut net, body) = with_body(with_biographies, (long.clone(), Biography("short".into())));
    assert_eq!((net.count::<Biography>(0), net.count::<PlayerName>(0)), (1, 0));
    insert(&mut net, body, PlayerName("Ada".into()));
    net.run_until(|net| net.count::<PlayerName>(0) == 1);
    insert(&mut net, body, (long, Biography("other".into())));
    let newcomer = net.add_client();
    for client in [0, newcomer] {
        net.run_until(|net| {
            let world = net.clients[client].world_mut();
            let mut bodies = world.query::<(&PlayerName, &Biography)>();
            let mut bodies = bodies.iter(world);
            bodies.any(|(name, biography)| name.0 == "Ada" && biography.0 == "other")
        });
        assert_eq!(net.count::<Connected>(client), 1);
    }
}

#[test]
fn components_that_are_long_together_are_all_there_at_the_birth() {
    let mut net = TestNet::new(with_biographies);
    net.add_client_with(|app| {
        with_biographies(app);
        app.add_observer(|born: On<Add, BodyKind>, bodies: Query<(&PlayerName, &Biography)>| {
            let (name, biography) = bodies.get(born.entity).expect("it has both");
            assert_eq!((name.0.len(), biography.0.len()), (60_000, 50_000));
        });
    });
    let name = PlayerName("x".repeat(60_000));
    let biography = Biography("y".repeat(50_000));
    spawn(&mut net, "hero", Vec3::Y, (name, biography));
    net.run_until(|net| net.count::<Remote>(0) == 1);
}

#[test]
fn what_changes_all_the_time_is_never_old_within_a_budget() {
    let mut net = TestNet::new(with_biographies);
    let client = connect(&mut net);
    insert(&mut net, client, ByteBudget::kbps(256));
    let body = spawn(&mut net, "hero", Vec3::Y, ());
    let other = spawn(&mut net, "hero", Vec3::X, PlayerName("0".into()));
    let value = |tick: usize| Biography(format!("{tick} {}", "x".repeat(2_000)));
    insert(&mut net, body, value(0));
    net.run_until(|net| net.count::<Biography>(0) == 1);
    let shown = |net: &mut TestNet| -> [usize; 2] {
        let biography = only_value::<Biography>(net).0.clone();
        [&biography, &only_value::<PlayerName>(net).0]
            .map(|text| text.split(' ').next().unwrap().parse().unwrap())
    };
    let mut oldest = [0; 2];
    let ticks = 1_800;
    for tick in 1..=ticks {
        insert(&mut net, body, value(tick));
        insert(&mut net, other, PlayerName(tick.to_string()));
        net.tick();
        if tick > 60 {
            let now = shown(&mut net);
            for (oldest, now) in oldest.iter_mut().zip(now) {
                *oldest = (tick - now).max(*oldest);
            }
        }
    }
    // Half of the budget transfers 8 values per second. One value is queued until a newer one replaces it, one or two are in
    // flight.
    assert!(oldest.iter().all(|&ticks| ticks < 60), "{oldest:?} ticks");
    assert_eq!(net.count::<Connected>(0), 1);
    net.run_until(|net| shown(net) == [ticks; 2]);
}

#[test]
fn a_body_that_comes_back_is_born_with_its_new_components() {
    let mut net = lossy(0.1, 1);
    net.server.add_visibility_filter::<Hidden>();
    net.add_client_with(|app| {
        protocol(app);
        app.add_observer(
            |born: On<Add, BodyKind>,
             bodies: Query<(&Health, Option<&PlayerName>), With<Remote>>| {
                let (round, name) = bodies.get(born.entity).unwrap();
                // In every third round the body has no name.
                let expected = (round.0 % 3 > 0).then(|| round.0.to_string());
                assert_eq!(name.map(|name| name.0.clone()), expected);
            },
        );
    });
    let body = spawn(&mut net, "crate", Vec3::X, (Health(0), Hidden(false)));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    for round in 1..=100_u8 {
        insert(&mut net, body, Hidden(true));
        net.run_until(|net| net.count::<Remote>(0) == 0);
        insert(&mut net, body, (Health(round), PlayerName(round.to_string())));
        if round % 3 == 0 {
            server(&mut net).entity_mut(body).remove::<PlayerName>();
        }
        net.ticks(5);
        insert(&mut net, body, Hidden(false));
        net.run_until(|net| net.count::<Remote>(0) == 1);
    }
}
