//! Packets of an uncompressed snapshot, and the replica that each half shows.

use cubewire::game::headless::LaneGame;
use cubewire::replication::{Accounting, LinkSettings, Totals};
use cubewire::simulation::CubeWorld;
use cubewire::view::{self, DisplayedTicks, PaneContent, Side};
use cubewire_codec::Snapshot;

use crate::common::{component, game, game_with_view, shown, steps};

#[test]
fn an_uncompressed_snapshot_goes_out_in_fragments() {
    let mut game = game("calm", "uncompressed");
    steps(&mut game, 10);
    let sample = game.meter().newest(1).next().unwrap().clone();
    assert_eq!(Totals::of([&sample]).payload_bytes, 36_157);
    assert_eq!(sample.traffic.packets, 31);
    assert!(
        sample.bytes(Accounting::OnTheWire) > sample.bytes(Accounting::PayloadAndUdp) + 30 * 28
    );
}

fn viewed() -> LaneGame {
    let mut game = game_with_view("katamari", "changed-flags");
    let lane = game.lane;
    game.app.world_mut().entity_mut(lane).insert(DisplayedTicks::default());
    game
}

fn displayed(game: &LaneGame) -> DisplayedTicks {
    *game.app.world().get(game.lane).unwrap()
}

#[test]
fn the_replica_shows_what_the_simulation_was_at_its_playout_time() {
    let mut game = viewed();
    let mut history: Vec<Snapshot> = vec![game.cubes().current().clone()];
    let mut worst = 0.0_f32;
    for _ in 0..600 {
        game.step();
        history.push(game.cubes().current().clone());
        let tick = displayed(&game).tick;
        let Some(tick) = tick.filter(|&tick| tick >= 1.0) else { continue };
        let (from, to) = (&history[tick.floor() as usize], &history[tick.ceil() as usize]);
        let replica = shown(&mut game, Side::Right);
        for (index, shown) in replica.iter().enumerate() {
            let (from, to) = (from.bodies[index].position, to.bodies[index].position);
            let wanted = from.lerp(to, tick.fract() as f32);
            worst = worst.max(shown.translation.distance(wanted));
        }
    }
    println!("farthest off: {:.2} mm", worst * 1000.0);
    // Half a step on each axis, plus rounding errors.
    assert!(worst <= 0.5 / 512.0 * 3.0_f32.sqrt() + 1e-5);
    let last = displayed(&game).tick.unwrap();
    let late_ms = (game.cubes().tick() as f64 - last) / 60.0 * 1000.0;
    assert!((134.0..137.0).contains(&late_ms), "50 ms under way, 85 ms of playout: {late_ms}");
}

#[test]
fn a_stopped_link_freezes_the_replica_while_the_simulation_goes_on() {
    let mut game = viewed();
    steps(&mut game, 300);
    component::<LinkSettings>(&mut game).conditions.cut = true;
    steps(&mut game, 30);
    let (left, right) = (shown(&mut game, Side::Left), shown(&mut game, Side::Right));
    steps(&mut game, 60);
    assert_ne!(shown(&mut game, Side::Left), left);
    assert_eq!(shown(&mut game, Side::Right), right);

    component::<LinkSettings>(&mut game).conditions.cut = false;
    steps(&mut game, 60);
    assert_ne!(shown(&mut game, Side::Right), right);
}

#[test]
fn a_lane_in_the_left_half_shows_its_own_replica_there() {
    let mut game = viewed();
    let left = "rung:smallest-three,link:perfect+cut".parse().unwrap();
    view::show(game.app.world_mut(), Side::Left, PaneContent::Lane(left)).unwrap();
    steps(&mut game, 240);
    let (cut, right) = (shown(&mut game, Side::Left), shown(&mut game, Side::Right));
    assert_ne!(cut, right);
    let whole = "rung:smallest-three,link:perfect".parse().unwrap();
    view::show(game.app.world_mut(), Side::Left, PaneContent::Lane(whole)).unwrap();
    steps(&mut game, 60);
    let left = shown(&mut game, Side::Left);
    assert_ne!(left, cut, "what is sent arrives");
    let states = &game.cubes().current().bodies;
    let is_behind = |cube: usize| left[cube].translation != states[cube].position;
    assert!(is_behind(0), "it is a replica, not the simulation");

    view::show(game.app.world_mut(), Side::Left, PaneContent::Simulation).unwrap();
    game.step();
    let left = shown(&mut game, Side::Left);
    let previous = game.app.world().resource::<CubeWorld>().previous();
    assert_eq!(left[0].translation, previous.bodies[0].position);
}
