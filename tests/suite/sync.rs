//! State of lanes on the rung `simulated`: whether both ends are in sync, and how they get back in sync.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{LaneSync, LinkSettings};

use crate::common::{component, game, steps};
use crate::udp;

fn sync(game: &LaneGame) -> &LaneSync {
    game.app.world().get(game.lane).unwrap()
}

#[test]
fn through_a_cut_link_no_later_tick_is_known_to_be_in_sync() {
    let mut game = game("katamari", "simulated");
    steps(&mut game, 120);
    let before = sync(&game).synced_ticks();
    component::<LinkSettings>(&mut game).conditions.cut = true;
    steps(&mut game, 90);
    let sync = sync(&game);
    assert!(sync.silent_ticks > 80, "{sync:?}");
    // The acks in flight have arrived.
    let later = sync.synced_ticks().unwrap() - before.unwrap();
    assert!(later < 10, "{later} ticks");
}

#[test]
fn a_viewer_that_joins_later_is_sent_a_state_and_knows_that_it_is_in_sync() {
    let mut game = udp::server(1);
    udp::step(&mut game, &mut [], 400);
    let mut viewer = udp::viewer_at(udp::address(&game), "simulated");
    udp::step(&mut game, &mut [&mut viewer], 300);
    let seen = viewer.app.world().get::<LaneSync>(viewer.lane);
    let seen = seen.unwrap().clone();
    let mut lanes = game.app.world_mut().query::<&LaneSync>();
    let sent = lanes.single(game.app.world()).unwrap();
    assert!(seen.synced_ticks().unwrap() > 60, "{seen:?}");
    let later = sent.synced_ticks().unwrap().abs_diff(seen.synced_ticks().unwrap());
    assert!(later < 10, "{later} ticks");
    assert_eq!(seen.mean_ticks.get().round(), 1.0);
    assert_eq!(sent.desyncs, 0);
    println!("{} kilobits arrived of {} sent", seen.state_kilobits, sent.state_kilobits);
    // The sender may repeat a chunk before its ack arrives.
    assert!(seen.state_kilobits > 1.0);
    assert!(sent.state_kilobits >= 0.99 * seen.state_kilobits);
}
