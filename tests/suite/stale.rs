//! Stale lanes, which stopped receiving snapshots.

use std::time::Duration;

use bevy::prelude::*;
use cubewire::game::headless::LaneGame;
use cubewire::replication::{LinkSettings, SenderSettings};
use cubewire_scene::TICK;

use crate::common::{component, lane, pause, steps};

fn game(rung: &str) -> LaneGame {
    LaneGame::new(None, lane(rung)).unwrap()
}

fn cut(game: &mut LaneGame, cut: bool) {
    component::<LinkSettings>(game).conditions.cut = cut;
}

/// Returns the age of the newest snapshot if the lane is stale.
fn age(game: &LaneGame) -> Option<Duration> {
    let world = game.app.world();
    let frame = world.resource::<Time<Virtual>>().delta();
    let sender = world.get::<SenderSettings>(game.lane).unwrap();
    game.meter().stale(sender.send_interval_ticks, frame)
}

#[test]
fn a_lane_is_stale_while_its_link_is_cut_and_no_longer() {
    let mut game = game("changed-flags");
    for _ in 0..120 {
        game.step();
        assert_eq!(age(&game), None);
    }
    cut(&mut game, true);
    // Packets in flight still arrive for 50 ms.
    steps(&mut game, 15);
    assert_eq!(age(&game), None);
    steps(&mut game, 60);
    let at_first = age(&game).unwrap();
    assert!(at_first > Duration::from_secs(1), "{at_first:?}");
    steps(&mut game, 60);
    let later = age(&game).unwrap();
    assert_eq!(later - at_first, TICK * 60);

    cut(&mut game, false);
    steps(&mut game, 10);
    assert_eq!(age(&game), None);
}

#[test]
fn a_pause_makes_nothing_stale() {
    let mut game = game("changed-flags");
    steps(&mut game, 60);
    pause(&mut game.app, true);
    steps(&mut game, 600);
    assert_eq!(age(&game), None);

    // The age of a stale lane does not grow during a pause.
    pause(&mut game.app, false);
    cut(&mut game, true);
    steps(&mut game, 60);
    pause(&mut game.app, true);
    game.step();
    let paused = age(&game);
    steps(&mut game, 60);
    assert!(paused.is_some());
    assert_eq!(age(&game), paused);
}

#[test]
fn a_lane_that_never_got_a_snapshot_is_stale() {
    let mut game = game("delta,link:latency=50ms+cut");
    steps(&mut game, 60);
    let stale = age(&game).unwrap();
    assert_eq!(game.meter().received, 0);
    assert!(stale > Duration::from_millis(900), "{stale:?}");
}
