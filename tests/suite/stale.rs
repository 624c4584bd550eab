//! Stale halves, which stopped receiving snapshots.

use std::time::Duration;

use bevy::prelude::*;
use cubewire::game::headless::LaneGame;
use cubewire::replication::{LaneMeter, LinkSettings, SenderSettings};
use cubewire::view::{Side, ViewPlugin, lane_in};
use cubewire_scene::TICK;

use crate::common::{lane, pause, steps};

fn game(rung: &str) -> LaneGame {
    LaneGame::with_plugins(None, lane(rung), ViewPlugin).unwrap()
}

fn cut(game: &mut LaneGame, cut: bool) {
    let world = game.app.world_mut();
    let lane = lane_in(world, Side::Right).unwrap();
    let mut link = world.get_mut::<LinkSettings>(lane).unwrap();
    link.conditions.cut = cut;
}

/// Returns the age of the newest snapshot if the half is stale.
fn age(game: &mut LaneGame, side: Side) -> Option<Duration> {
    let world = game.app.world_mut();
    let lane = lane_in(world, side)?;
    let frame = world.resource::<Time<Virtual>>().delta();
    let meter = world.get::<LaneMeter>(lane).unwrap();
    let sender = world.get::<SenderSettings>(lane).unwrap();
    meter.stale(sender.send_interval_ticks, frame)
}

#[test]
fn a_half_is_stale_while_its_link_is_cut_and_no_longer() {
    let mut game = game("changed-flags");
    for _ in 0..120 {
        game.step();
        assert_eq!(age(&mut game, Side::Right), None);
    }
    cut(&mut game, true);
    // Packets in flight still arrive for 50 ms.
    steps(&mut game, 15);
    assert_eq!(age(&mut game, Side::Right), None);
    steps(&mut game, 60);
    let at_first = age(&mut game, Side::Right).unwrap();
    assert!(at_first > Duration::from_secs(1), "{at_first:?}");
    steps(&mut game, 60);
    let later = age(&mut game, Side::Right).unwrap();
    assert_eq!(later - at_first, TICK * 60);
    assert_eq!(age(&mut game, Side::Left), None, "the simulation");

    cut(&mut game, false);
    steps(&mut game, 10);
    assert_eq!(age(&mut game, Side::Right), None);
}

#[test]
fn a_pause_makes_nothing_stale() {
    let mut game = game("changed-flags");
    steps(&mut game, 60);
    pause(&mut game.app, true);
    steps(&mut game, 600);
    assert_eq!(age(&mut game, Side::Right), None);

    // The age of a stale half does not grow during a pause.
    pause(&mut game.app, false);
    cut(&mut game, true);
    steps(&mut game, 60);
    pause(&mut game.app, true);
    game.step();
    let paused = age(&mut game, Side::Right);
    steps(&mut game, 60);
    assert!(paused.is_some());
    assert_eq!(age(&mut game, Side::Right), paused);
}

#[test]
fn a_lane_that_never_got_a_snapshot_is_stale() {
    let mut game = game("delta,link:latency=50ms+cut");
    steps(&mut game, 60);
    let stale = age(&mut game, Side::Right).unwrap();
    assert_eq!(game.meter().received, 0);
    assert!(stale > Duration::from_millis(900), "{stale:?}");
}
