//! State of lanes on the rung `simulated`: whether both ends are in sync, and how they get back in sync.

use cubewire::game::desktop::viewer::HeadlessViewer;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::replication::{LaneSync, LinkSettings, Rebuilds};
use cubewire::simulation::{ResetSimulation, state_hash};
use cubewire_codec::ladder;

use crate::common::{component, game, script, steps};
use crate::udp;

fn sync(game: &LaneGame) -> &LaneSync {
    game.app.world().get(game.lane).unwrap()
}

fn seen(viewer: &HeadlessViewer) -> LaneSync {
    viewer.app.world().get::<LaneSync>(viewer.lane).unwrap().clone()
}

/// Returns the state of the only lane at a server.
fn sent(game: &mut HeadlessGame) -> &LaneSync {
    let mut lanes = game.app.world_mut().query::<&LaneSync>();
    lanes.single(game.app.world()).unwrap()
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
    let (seen, sent) = (seen(&viewer), sent(&mut game));
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

#[test]
fn a_late_viewer_leaves_a_scene_alone_that_is_never_rebuilt() {
    let (mut game, mut alone) = (udp::server(1), HeadlessGame::new(Some(script("katamari"))));
    game.app.world_mut().resource_mut::<Rebuilds>().never = true;
    udp::step(&mut game, &mut [], 400);
    let mut viewer = udp::viewer_at(udp::address(&game), "simulated");
    let mut tick = 400;
    let mut play = |viewer: &mut HeadlessViewer, game: &mut HeadlessGame| {
        udp::step(game, &mut [viewer], 300);
        steps(&mut alone, std::mem::take(&mut tick) + 300);
        let hashes = [&alone, game].map(|game| state_hash(0, game.cubes().current()));
        assert_eq!(hashes[0], hashes[1]);
        assert_eq!(game.app.world().resource::<Rebuilds>().total, 0);
        alone.app.world_mut().write_message(ResetSimulation);
        game.app.world_mut().write_message(ResetSimulation);
        let granted = viewer.connection().granted.map(|granted| granted.stages);
        (granted, [seen(viewer), sent(game).clone()])
    };
    let (granted, ends) = play(&mut viewer, &mut game);
    assert_eq!(granted, Some(ladder::PREDICTED.stages));
    assert!(ends.iter().all(|sync| sync.awaits_reset && sync.synced_ticks().is_none()), "{ends:?}");
    let (granted, ends) = play(&mut viewer, &mut game);
    assert_eq!(granted, None, "nothing less than asked for");
    assert!(
        ends.iter().all(|sync| !sync.awaits_reset && sync.synced_ticks() > Some(200)),
        "{ends:?}"
    );
    assert!(udp::agreeing(&game, &viewer) > 500);
}
