//! Minutes of the same traffic, most of it in one direction.

use bevy_app::FixedUpdate;

use super::*;

/// One minute.
const TICKS: usize = 3_600;

fn follow(body: Entity, tick: usize) -> impl FnOnce(&mut World) {
    move |world| {
        let name = PlayerName(tick.to_string());
        let at = Transform::from_xyz((tick % 50) as f32, 1.0, 0.0);
        world.entity_mut(body).insert((name, at));
    }
}

#[test]
fn a_component_that_changes_each_tick_ends_no_connection() {
    let mut net = lossy(0.0, 1);
    let client = connect(&mut net);
    let body = spawn(&mut net, "crate", Vec3::X, PlayerName(String::new()));
    net.run_until(|net| net.count::<Remote>(0) == 1);
    for tick in 0..TICKS {
        follow(body, tick)(server(&mut net));
        net.tick();
    }
    assert_eq!(net.count::<Connected>(0), 1);
    assert!(at_server::<MessageBuffer>(&net, client).backlog_bytes < 1_000);
    let last = (TICKS - 1).to_string();
    net.run_until(|net| only_value::<PlayerName>(net).0 == last);
}

/// The server relays the messages of one player. The others send only acks.
#[test]
fn a_player_who_talks_each_tick_ends_no_connection() {
    let mut net = lossy(0.0, 1);
    net.server.add_systems(
        FixedUpdate,
        |mut from: MessageReader<FromClient<Chat>>, mut to: MessageWriter<ToClient<Chat>>| {
            for FromClient { message, .. } in from.read() {
                to.write(ToClient::all(message.clone()));
            }
        },
    );
    connect_all(&mut net, 3);
    spawn(&mut net, "crate", Vec3::X, ());
    let mut heard = [0; 3];
    for _ in 0..TICKS {
        net.clients[0].world_mut().write_message(ToServer(Chat("a".into())));
        net.tick();
        for (heard, client) in heard.iter_mut().zip(&mut net.clients) {
            *heard += taken::<FromServer<Chat>>(client).len();
        }
    }
    assert_eq!([0, 1, 2].map(|client| net.count::<Connected>(client)), [1; 3]);
    assert!(heard.iter().all(|&heard| heard > TICKS - 20), "{heard:?}");
}

#[test]
fn over_udp_a_component_that_changes_each_tick_ends_no_connection() {
    let (listener, address) = udp::listen(Key::LOOPBACK);
    let mut apps = [udp::serving(listener), udp::client(Key::LOOPBACK, address, 1)];
    let body = spawn_in(apps[0].world_mut(), "crate", Vec3::X, ());
    udp::run(&mut apps, |apps| count::<Remote>(&mut apps[1]) == 1);
    for tick in 0..1_500 {
        follow(body, tick)(apps[0].world_mut());
        apps.iter_mut().for_each(App::update);
    }
    udp::run(&mut apps, |apps| {
        let world = apps[1].world_mut();
        let mut names = world.query::<&PlayerName>();
        names.single(world).is_ok_and(|name| name.0 == "1499")
    });
}
