//! Several players of one scene: in one process, by scripts, and as viewers of a server.

use bevy::prelude::*;
use cubewire::commands::play::play;
use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::recording::{InputLog, InputLogPlugin, Outcome, Script};
use cubewire::replication::{
    ConnectionStatus, LaneSettings, LinkSettings, Prediction, Reconnect, Seats, ServerLink,
};
use cubewire::simulation::{HeldKeys, PlayerKeys};
use cubewire::transport::udp::UdpServerPlugin;
use cubewire_codec::ladder;
use cubewire_scene::{self as scene, CUBES, Keys, initial_position};

use crate::common::{lane, script, steps};
use crate::replays::hash_without_bevy;
use crate::udp::{address, dial, listen, step, viewer_with};

const LEFT: Keys = Keys { left: true, ..NONE };
const RIGHT: Keys = Keys { right: true, ..NONE };
const NONE: Keys =
    Keys { left: false, right: false, up: false, down: false, blow: false, gather: false };

/// Four scripts in one, of which the last is shorter.
fn four() -> Script {
    let [ball, rolling, mix] = ["ball", "rolling", "mix"].map(script);
    let short = Script { ticks: 300, ..rolling.clone() };
    let short = Script { steps: rolling.steps.iter().take(2).cloned().collect(), ..short };
    ball.and(&rolling).and(&mix).and(&short)
}

#[test]
fn every_rung_carries_the_scene_of_four_players() {
    for rung in ladder::all() {
        let mut game = LaneGame::new(Some(four()), lane(rung.name)).unwrap();
        game.add_shadow();
        steps(&mut game, 240);
        let ladder = game.shadow().unwrap().unwrap();
        assert!(ladder.rows().iter().all(|row| row.mean_kbps() > 0.0));
        assert_eq!(game.cubes().current().bodies.len(), CUBES + 3);
        assert!(game.check().compared > 200, "{}", rung.name);
        assert_eq!((game.check().wrong, game.meter().refused), (0, 0), "{}", rung.name);
    }
}

#[test]
fn a_replay_has_the_keys_of_all_players() {
    let lane = LaneSettings::default();
    let mut game = LaneGame::with_plugins(Some(four()), lane, InputLogPlugin).unwrap();
    game.app.world_mut().resource_mut::<InputLog>().begin();
    steps(&mut game, 900);
    let log = game.app.world().resource::<InputLog>();
    let (replay, hash) = (log.replay().unwrap(), log.hash);
    assert_eq!(replay.players(), 4);
    assert!((1..4).all(|player| (0..900).any(|tick| replay.keys_at(tick)[player] != NONE)));
    let played = play(replay.clone(), 900).unwrap();
    assert_eq!((played.hash, played.outcome), (hash, Some(Outcome::Same)));
    assert_eq!(hash_without_bevy(&replay, 900), hash);
}

/// A server without a player of its own.
fn server(players: usize) -> HeadlessGame {
    let plugin = UdpServerPlugin(listen(8));
    let mut game = HeadlessGame::with_players(players, None, plugin);
    game.app.insert_resource(Seats::new(players, 0));
    game
}

fn player(game: &HeadlessGame, rung: &str, keys: Keys) -> HeadlessViewer {
    let mut viewer = viewer_with(dial(address(game)), &format!("{rung},play-at:client"));
    viewer.app.insert_resource(HeldKeys::from(keys));
    viewer
}

fn seat(viewer: &HeadlessViewer) -> Option<usize> {
    viewer.connection().player
}

/// How far the cube of each player is from its start along x, metres.
fn moved(game: &HeadlessGame) -> Vec<f32> {
    let bodies = &game.cubes().current().bodies;
    let moved = (0..scene::players(bodies.len())).map(|seat| {
        let cube = scene::player(seat);
        bodies[cube].position.x - initial_position(cube).x
    });
    moved.collect()
}

#[test]
fn viewers_play_each_with_their_own_cube_and_the_others_watch() {
    let mut game = server(2);
    let mut first = player(&game, "predicted,predict:own", LEFT);
    step(&mut game, &mut [&mut first], 60);
    let mut second = player(&game, "simulated,predict:own", RIGHT);
    step(&mut game, &mut [&mut first, &mut second], 60);
    let mut third = player(&game, "delta", LEFT);
    let mut watching = viewer_with(dial(address(&game)), "delta");
    let mut all = [&mut first, &mut second, &mut third, &mut watching];
    step(&mut game, &mut all, 120);
    let [first, second, third, watching] = all;
    assert_eq!([&*first, second, third, watching].map(seat), [Some(0), Some(1), None, None]);
    let way = moved(&game);
    assert!(way[0] < -5.0 && way[1] > 3.0, "{way:?}");
    for viewer in [&*first, second] {
        let meter = viewer.meter();
        assert_eq!((meter.refused, meter.duplicates), (0, 0));
        let predicted = viewer.app.world().get::<Prediction>(viewer.lane).unwrap();
        assert!(predicted.cubes() > 0);
    }
    let corrections = |viewer: &HeadlessViewer| {
        let samples = viewer.meter().samples().iter().rev().take(60);
        samples.filter_map(|sample| sample.correction_m).fold(0.0, f32::max)
    };
    assert!(corrections(first) < 0.5 && corrections(second) < 0.5);
    let ages = |viewer: &HeadlessViewer| {
        let samples = viewer.meter().samples().iter().rev().take(60);
        samples.filter(|sample| sample.input_age.is_some()).count()
    };
    assert!(ages(first) > 50 && ages(second) > 50);
}

#[test]
fn a_player_that_connects_again_gets_its_seat_back_and_its_cube_rests_meanwhile() {
    let mut game = server(2);
    let mut viewers = [LEFT, RIGHT].map(|keys| player(&game, "predicted", keys));
    step(&mut game, &mut viewers.each_mut(), 60);
    assert_eq!(viewers.each_ref().map(seat), [Some(0), Some(1)]);
    let mut other = player(&game, "predicted", LEFT);
    // The first one stops without a word.
    let [mut first, mut second] = viewers;
    step(&mut game, &mut [&mut second, &mut other], 420);
    assert_eq!(game.app.world().resource::<PlayerKeys>().0[..2], [NONE, RIGHT]);
    assert_eq!(seat(&other), None, "the seat is kept");
    for _ in 0..600 {
        if matches!(first.connection().status, ConnectionStatus::Lost(_)) {
            first.app.world_mut().trigger(Reconnect);
        }
        step(&mut game, &mut [&mut first, &mut second, &mut other], 1);
    }
    assert_eq!([&first, &second, &other].map(seat), [Some(0), Some(1), None]);
    assert_eq!(game.app.world().resource::<PlayerKeys>().0[..2], [LEFT, RIGHT]);
    // It stops to play, and another one gets its seat a minute later.
    let mut settings = lane("predicted");
    settings.link = LinkSettings::PERFECT;
    let entity = first.lane;
    first.app.world_mut().trigger(cubewire::replication::ChangeLane { entity, settings });
    step(&mut game, &mut [&mut first, &mut second, &mut other], 61 * 60);
    assert_eq!([&first, &second, &other].map(seat), [None, Some(1), Some(0)]);
}

#[test]
fn a_message_that_is_no_wish_ends_the_connection() {
    for bytes in [&[7][..], &[1, 2, 3], &[0, 0]] {
        let mut game = server(1);
        let mut viewer = player(&game, "delta", LEFT);
        step(&mut game, &mut [&mut viewer], 60);
        let world = viewer.app.world_mut();
        let mut buffers =
            world.query_filtered::<&mut cubewire_bevy::MessageBuffer, Without<LinkSettings>>();
        let mut buffer = buffers.single_mut(world).unwrap();
        buffer.outgoing.messages.push(bytes.to_vec());
        step(&mut game, &mut [&mut viewer], 60);
        let status = &viewer.app.world().resource::<ServerLink>().status;
        assert!(
            matches!(status, ConnectionStatus::Lost(why) if why.contains("unexpected message")),
            "{status:?}"
        );
    }
}
