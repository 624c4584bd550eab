//! Stages, interval, baselines and interpolation of a connection change while bodies move, and clients ask for others.

use bevy_app::Update;
use cubewire_bevy::cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_bevy::cubewire_codec::{Plan, Stages};
use cubewire_bevy::cubewire_protocol::{BaselineChoice, ClientMessage, Interpolation, Settings};

use super::*;

fn plan(net: &TestNet) -> &Plan {
    net.server.world().resource::<Protocol>().plan()
}

fn stages(net: &TestNet, rung: Rung) -> Stages {
    plan(net).legal(*rung.stages).unwrap()
}

/// A net with a client that is connected and measured, and the server's entity of it.
fn connected(mut net: TestNet) -> (TestNet, Entity) {
    let client = connect(&mut net);
    insert(&mut net, client, Measure::default());
    (net, client)
}

fn change(net: &mut TestNet, client: Entity, change: impl FnOnce(&mut ConnectionSettings)) {
    change(&mut server(net).get_mut(client).unwrap());
}

fn sender(net: &TestNet, client: Entity) -> &ReplicationSender {
    at_server(net, client)
}

fn in_use(net: &TestNet, client: Entity) -> Settings {
    sender(net, client).settings().unwrap()
}

/// Stages of the newest snapshot that was sent.
fn sent(net: &TestNet, client: Entity) -> Stages {
    at_server::<Measure>(net, client).record.packets().next_back().unwrap().stages
}

fn receiver(net: &mut TestNet) -> &ReplicationReceiver {
    of_connection(net, 0)
}

#[test]
fn every_legal_rung_can_be_switched_to_over_a_lossy_link() {
    let (mut net, client) = connected(lossy(0.2, 5));
    let legal = LADDER.into_iter();
    let legal: Vec<_> = legal.filter(|rung| plan(&net).legal(*rung.stages).is_ok()).collect();
    assert_eq!((legal.len(), legal[0]), (11, ladder::NO_VELOCITY));
    assert_eq!(legal[10], ladder::PREDICTED);
    let (mut bodies, mut tick) = (Vec::new(), 0);
    for &rung in legal.iter().chain(legal.iter().rev()) {
        change(&mut net, client, |it| it.stages = *rung.stages);
        for _ in 0..25 {
            play(&mut net, &mut bodies, tick);
            tick += 1;
            net.tick();
            assert_eq!(sent(&net, client), stages(&net, rung), "{}", rung.name);
        }
        net.run_until(are_equal);
    }
    assert!(bodies.len() > 10 && receiver(&mut net).undecodable() == 0);
}

#[test]
fn snapshots_follow_the_interval_and_the_choice_of_baselines() {
    let mut net = lossy(0.0, 2);
    let (mut bodies, mut tick) = (Vec::new(), 0);
    let clients = connect_all(&mut net, 2);
    insert(&mut net, clients[0], Measure::default());
    let mut sent_with = |net: &mut TestNet, with: fn(&mut ConnectionSettings)| {
        clients.iter().for_each(|&client| change(net, client, with));
        let before = stats(net);
        play_ticks(net, &mut bodies, tick..tick + 60);
        tick += 60;
        let after = stats(net);
        net.run_until(are_equal);
        (after.packets - before.packets, after.encodes - before.encodes)
    };
    let (packets, encodes) = sent_with(&mut net, |it| it.send_interval_ticks = 6);
    assert!(packets == 20 && encodes < 20, "{packets} {encodes}");
    assert_eq!(in_use(&net, clients[0]).send_interval_ticks, 6);
    let newest = at_server::<Measure>(&net, clients[0]).record.samples().back();
    assert_eq!(newest.unwrap().send_interval_ticks, 6);
    // With other baselines than the newest, no encode is shared.
    let smallest = sent_with(&mut net, |it| {
        it.send_interval_ticks = 1;
        it.baseline = BaselineChoice::Smallest;
    });
    assert_eq!(smallest, (120, 120));
    for client in 0..2 {
        assert_eq!(of_connection::<ReplicationReceiver>(&mut net, client).undecodable(), 0);
    }
}

#[test]
fn interpolation_is_the_servers_choice_and_bodies_never_go_back() {
    let (mut net, client) = connected(lossy(0.0, 1));
    let body = spawn(&mut net, "crate", Vec3::ZERO, Health(1));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    let (mut x, mut shown) = (0.0, 0.0);
    let mut lag_after = |net: &mut TestNet, interpolation| {
        change(net, client, |it| it.interpolation = interpolation);
        for _ in 0..90 {
            x += 0.25;
            put(net, body, Vec3::X * x);
            net.tick();
            let now = positions(net, 0)[0].x;
            assert!(now >= shown, "{now} after {shown}");
            shown = now;
        }
        (x - shown) / 0.25
    };
    let linear = lag_after(&mut net, Interpolation::Linear);
    let newest = lag_after(&mut net, Interpolation::None);
    assert!((2.0..3.5).contains(&newest) && newest + 1.0 < linear);
    assert!(newest + 1.0 < lag_after(&mut net, Interpolation::Linear));
}

#[test]
fn illegal_settings_are_refused_with_the_reason() {
    let (mut net, client) = connected(TestNet::new(protocol));
    spawn(&mut net, "crate", Vec3::ZERO, Health(1));
    change(&mut net, client, |it| it.stages = *ladder::DELTA.stages);
    net.tick();
    let before = in_use(&net, client);
    type Change = fn(&mut ConnectionSettings);
    let refusals: [(Change, &str); 5] = [
        (|it| it.stages = *ladder::UNCOMPRESSED.stages, "the schema has no velocities"),
        (|it| it.stages = *ladder::SIMULATED.stages, "the schema has no simulation"),
        (
            |it| it.stages.changed_flags = ladder::CHANGED_FLAGS.stages.changed_flags,
            "changed flags need delta",
        ),
        (|it| it.send_interval_ticks = 0, "the send interval is 0 ticks"),
        (|it| it.interpolation = Interpolation::Hermite, "the interpolation `hermite` needs"),
    ];
    for (with, reason) in refusals {
        change(&mut net, client, |it| {
            *it = ConnectionSettings::default();
            it.stages = *ladder::POSITION.stages;
            with(it);
        });
        net.tick();
        let refusal = sender(&net, client).refusal().unwrap();
        assert!(refusal.starts_with(reason), "{refusal}");
        assert_eq!(in_use(&net, client), before);
        assert_eq!(sent(&net, client), stages(&net, ladder::DELTA));
    }
    change(&mut net, client, |it| *it = ConnectionSettings::default());
    net.tick();
    assert_eq!(sender(&net, client).refusal(), None);
    assert_eq!(in_use(&net, client).stages, stages(&net, ladder::PREDICTED));
}

#[test]
fn rungs_without_delta_are_refused_within_a_budget() {
    let (mut net, client) = connected(TestNet::new(protocol));
    let reason = "within a budget, partial packets need stages that list changed bodies";
    insert(&mut net, client, ByteBudget::kbps(64));
    change(&mut net, client, |it| it.stages = *ladder::DELTA.stages);
    net.tick();
    change(&mut net, client, |it| it.stages = *ladder::POSITION.stages);
    for (budget_kbps, expected) in
        [(Some(64), ladder::DELTA), (None, ladder::POSITION), (Some(64), ladder::PREDICTED)]
    {
        match budget_kbps {
            Some(kbps) => insert(&mut net, client, ByteBudget::kbps(kbps)),
            None => drop(server(&mut net).entity_mut(client).remove::<ByteBudget>().id()),
        }
        net.tick();
        let refusal = sender(&net, client).refusal();
        assert_eq!(refusal.is_some(), budget_kbps.is_some());
        assert!(refusal.is_none_or(|refusal| refusal.starts_with(reason)));
        let settings = in_use(&net, client);
        assert_eq!((settings.budget_kbps, settings.stages), (budget_kbps, stages(&net, expected)));
    }
}

/// Asks for settings, and returns the answer once there is one.
fn ask(net: &mut TestNet, settings: Settings) -> Result<Settings, String> {
    let server = all::<Server>(&mut net.clients[0])[0];
    let mut server = net.clients[0].world_mut().entity_mut(server);
    server.insert(SettingsRequest(settings));
    net.tick();
    net.run_until(|net| receiver(net).answer().is_some());
    receiver(net).answer().unwrap().map_err(str::to_owned)
}

#[test]
fn clients_ask_for_settings_and_the_server_grants_or_declines() {
    let (mut net, client) = connected(lossy(0.1, 8));
    let settings = Settings {
        stages: stages(&net, ladder::CHANGED_FLAGS),
        send_interval_ticks: 2,
        baseline: BaselineChoice::Smallest,
        budget_kbps: Some(64),
    };
    let before = in_use(&net, client);
    let declined = Err("the server does not accept requests".to_owned());
    assert_eq!(ask(&mut net, settings), declined);
    assert_eq!(in_use(&net, client), before);
    server(&mut net).insert_resource(ClientRequests::Grant);
    assert_eq!(ask(&mut net, settings), Ok(settings));
    assert_eq!(in_use(&net, client), settings);
    assert_eq!(at_server::<ConnectionSettings>(&net, client).stages, *settings.stages);
    // The server's budget is an upper limit, and later changes are granted, too.
    for (limit, granted) in [(32, 32), (256, 64)] {
        insert(&mut net, client, ByteBudget::kbps(limit));
        let granted = Ok(Settings { budget_kbps: Some(granted), ..settings });
        net.run_until(|net| receiver(net).answer() == Some(granted));
    }
    // A rung that the budget does not allow, and stages that the protocol does not have.
    let position = Settings { stages: stages(&net, ladder::POSITION), ..settings };
    let reason = ask(&mut net, position).unwrap_err();
    assert!(reason.starts_with("within a budget, "), "{reason}");
    let uncompressed = Settings { stages: ladder::UNCOMPRESSED.stages, ..settings };
    let reason = ask(&mut net, uncompressed).unwrap_err();
    assert_eq!(reason, "the schema has no velocities");
    assert_eq!(in_use(&net, client), settings);
    assert_eq!(net.count::<Connected>(0), 1);
}

#[test]
fn a_client_that_asks_for_floats_gets_exact_poses() {
    let mut net = lossy(0.1, 4);
    server(&mut net).insert_resource(ClientRequests::Grant);
    connect_all(&mut net, 2);
    let exact =
        Transform::from_xyz(1.0 / 3.0, 0.5, -2.0 / 7.0).with_rotation(Quat::from_rotation_x(1.0));
    let body = spawn(&mut net, "crate", exact.translation, Health(1));
    insert(&mut net, body, exact);
    net.run_until(|net| (0..2).all(|client| net.count::<Remote>(client) == 1));
    let shown = |net: &mut TestNet, client| {
        let shown = only::<Health>(net, client);
        *net.clients[client].world().get::<Transform>(shown).unwrap()
    };
    let rounded = (exact.translation * 128.0).round() / 128.0;
    let is_turned = |shown: Transform| shown.rotation.abs_diff_eq(exact.rotation, 1e-6);
    // Without a delta, with one, and in partial packets.
    let floats = "velocity=omitted+delta=indices".parse().unwrap();
    for (stages, budget_kbps, position, has_rotation) in [
        (stages(&net, ladder::NO_VELOCITY), None, exact.translation, false),
        (floats, None, exact.translation, true),
        (stages(&net, ladder::DELTA), None, rounded, false),
        (floats, Some(64), exact.translation, true),
    ] {
        let settings = Settings {
            stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::Newest,
            budget_kbps,
        };
        assert_eq!(ask(&mut net, settings), Ok(settings));
        net.run_until(|net| shown(net, 0).translation == position);
        net.run_until(|net| is_turned(shown(net, 0)) == has_rotation);
        net.run_until(|net| shown(net, 1).translation == rounded);
        assert!(!is_turned(shown(&mut net, 1)));
    }
    assert_eq!(receiver(&mut net).undecodable(), 0);
}

/// Changes the fingerprint in the hello of a client, as if it were another machine.
fn be_another_machine(mut servers: Query<&mut MessageBuffer, With<Server>>) {
    for mut buffer in &mut servers {
        for bytes in &mut buffer.outgoing.messages {
            if let Some(ClientMessage::Hello(mut hello)) = ClientMessage::decode(bytes) {
                hello.fingerprint.arithmetic ^= 1;
                *bytes = ClientMessage::Hello(hello).encode();
            }
        }
    }
}

#[test]
fn another_machine_keeps_its_fallback() {
    let mut net = lossy(0.1, 3);
    let client = connect_with(&mut net, |app| {
        protocol(app);
        app.add_systems(Update, be_another_machine);
    });
    insert(&mut net, client, Measure::default());
    let mut bodies = Vec::new();
    let fallback = ladder::PREDICTED_POSITION;
    for (start, rung, expected) in [
        (0, ladder::PREDICTED, fallback),
        (30, ladder::DELTA, ladder::DELTA),
        (60, ladder::ARITHMETIC, fallback),
    ] {
        let expected = stages(&net, expected);
        change(&mut net, client, |it| it.stages = *rung.stages);
        for tick in start..start + 30 {
            play(&mut net, &mut bodies, tick);
            net.tick();
            assert_eq!(sent(&net, client), expected);
        }
        let sender = sender(&net, client);
        assert!(sender.fallback().is_some() && sender.refusal().is_none());
        assert_eq!(in_use(&net, client).stages, expected);
        net.run_until(are_equal);
    }
    assert_eq!(receiver(&mut net).undecodable(), 0);
}
