//! Playing back the recent past: the display of each half, the contents of packets, and no effect on the game.

use bevy::prelude::*;
use cubewire::controls::Action;
use cubewire::game::headless::LaneGame;
use cubewire::history::{LaneHistory, Moment, Wanted, WorldHistory};
use cubewire::replication::{
    Compared, CubeErrors, DeltaCounts, DisplayedState, LaneMeter, SenderSettings,
};
use cubewire::simulation::{CubeWorld, state_hash};
use cubewire::view::{CubeColors, DisplayedTicks, Exaggeration, Side, ViewMode};
use cubewire_codec::{BitKind, BodyState};

use crate::common::{self, pause, steps};

fn game(rung: &str) -> LaneGame {
    common::game_with_view("katamari", rung)
}

fn want(game: &mut LaneGame, wants: bool) {
    game.app.insert_resource(Wanted { panel: wants, ..Wanted::default() });
}

/// Pauses the game and shows a tick of the past.
fn look_back(game: &mut LaneGame, tick: u64) {
    pause(&mut game.app, true);
    game.app.insert_resource(Moment(Some(tick)));
    game.step();
}

fn shown(game: &mut LaneGame, half: Side) -> Vec<(Vec3, Quat)> {
    common::shown(game, half).into_iter().map(|at| (at.translation, at.rotation)).collect()
}

fn poses(cubes: &[BodyState]) -> Vec<(Vec3, Quat)> {
    cubes.iter().map(|cube| (cube.position, cube.orientation)).collect()
}

#[test]
fn both_halves_go_back_to_what_they_showed() {
    let mut game = game("predicted");
    want(&mut game, true);
    let mut simulated = Vec::new();
    let mut displayed = Vec::new();
    for _ in 0..300 {
        game.step();
        let world = game.app.world();
        simulated.push(poses(&game.cubes().current().bodies));
        displayed.push(poses(&world.get::<DisplayedState>(game.lane).unwrap().cubes));
    }
    let newest = game.cubes().tick();
    for ago in [0, 1, 59, 60, 200, 130] {
        look_back(&mut game, newest - ago);
        let index = simulated.len() - 1 - ago as usize;
        assert!(shown(&mut game, Side::Left) == simulated[index], "{ago}");
        assert!(shown(&mut game, Side::Right) == displayed[index], "{ago}");
    }
    pause(&mut game.app, false);
    game.step();
    assert_eq!(*game.app.world().resource::<Moment>(), Moment(None));
    assert_eq!(game.cubes().tick(), newest + 1);
}

#[test]
fn a_tick_of_the_past_has_the_send_rate_of_then() {
    let mut game = game("delta");
    steps(&mut game, 30);
    common::component::<SenderSettings>(&mut game).send_interval_ticks = 6;
    steps(&mut game, 30);
    let samples = game.meter().samples();
    let [first, last] = [samples.front(), samples.back()].map(Option::unwrap);
    let intervals = [first.send_interval_ticks, last.send_interval_ticks];
    assert_eq!(intervals, [1, 6]);
}

/// Compares the lane with the simulation, as in a half of the window.
fn compare(game: &mut LaneGame) {
    let shown_ticks = (DisplayedTicks::default(), Compared);
    let lane = game.lane;
    game.app.world_mut().entity_mut(lane).insert(shown_ticks);
    want(game, true);
}

/// The difference is then the quantization error, not the playout delay.
#[test]
fn over_each_other_both_halves_show_the_same_tick_now_and_in_the_past() {
    let mut game = game("uncompressed");
    compare(&mut game);
    let error = |game: &mut LaneGame| {
        let [left, right] = Side::ALL.map(|side| shown(game, side));
        let cubes = left.iter().zip(&right);
        cubes.map(|((left, _), (right, _))| left.distance(*right)).fold(0.0, f32::max)
    };
    steps(&mut game, 240);
    let beside = error(&mut game);
    game.app.insert_resource(ViewMode::Difference);
    game.step();
    let now = error(&mut game);
    let past = game.cubes().tick() - 60;
    look_back(&mut game, past);
    let past = error(&mut game);
    for over in [now, past] {
        assert!(over < 0.001 && over * 20.0 < beside, "{over} m, {beside} m beside each other");
    }
}

#[test]
fn exaggerated_errors_are_as_many_times_as_large_now_and_in_the_past() {
    let mut game = game("changed-flags");
    compare(&mut game);
    game.app.insert_resource(ViewMode::Difference);
    steps(&mut game, 240);
    pause(&mut game.app, true);
    let past = game.cubes().tick() - 60;
    for moment in [None, Some(past)] {
        game.app.insert_resource(Moment(moment));
        let offsets = [1.0, 10.0, 50.0, 1.0].map(|factor| {
            game.step();
            game.step();
            let [left, right] = Side::ALL.map(|side| shown(&mut game, side));
            game.app.world_mut().trigger(Action::Exaggerate);
            let cubes = left.iter().zip(&right);
            (factor, cubes.map(|(left, right)| right.0 - left.0).collect::<Vec<_>>())
        });
        // Back from 10 times.
        game.app.insert_resource(Exaggeration::None);
        let (_, real) = &offsets[0];
        assert!(real.iter().filter(|off| off.length() > 2e-4).count() > 5, "{moment:?}");
        for (factor, drawn) in &offsets {
            for (real, drawn) in real.iter().zip(drawn) {
                assert!((*factor * real).distance(*drawn) < 1e-3, "{factor}: {real}, {drawn}");
            }
        }
    }
}

#[test]
fn the_history_is_recorded_only_while_something_wants_it() {
    let mut game = game("changed-flags");
    steps(&mut game, 30);
    let has_detail =
        |game: &LaneGame| game.meter().samples().back().unwrap().snapshots[0].detail.is_some();
    assert!(!has_detail(&game));
    assert!(game.app.world().get::<LaneHistory>(game.lane).is_none());
    want(&mut game, true);
    steps(&mut game, 30);
    assert!(has_detail(&game));
    assert!(game.meter().detail_bytes() > 0);
    let history = &game.app.world().resource::<WorldHistory>().0;
    assert_eq!(history.last_tick(), Some(game.cubes().tick()));
    want(&mut game, false);
    steps(&mut game, 30);
    assert!(!has_detail(&game));
    let history = &game.app.world().resource::<WorldHistory>().0;
    assert_eq!(history.memory_bytes(), 0);
}

#[test]
fn every_item_of_every_packet_adds_up_and_arrivals_are_noted() {
    for rung in ["uncompressed", "changed-flags", "predicted"] {
        let mut game = game(&format!("{rung},link:loss=0.1+latency=40ms"));
        want(&mut game, true);
        steps(&mut game, 240);
        let meter = game.meter();
        let mut arrived = 0;
        for sample in meter.samples() {
            for packet in &sample.snapshots {
                if let Some(detail) = &packet.detail {
                    let bits: f64 = detail.items().map(|item| item.bits).sum();
                    let all = packet.payload_bytes as f64 * 8.0;
                    assert!((bits - all).abs() < 0.05, "{rung}: {bits} of {all}");
                    assert_eq!(detail.bytes().len(), packet.payload_bytes);
                }
                arrived += u64::from(packet.arrival.is_some());
            }
        }
        assert_eq!(arrived, meter.received, "{rung}");
        let lost = meter.samples().len() as u64 - arrived;
        assert!(lost > 10, "{rung}: {lost}");
    }
}

/// Returns sizes and bits by kind of all packets, and a hash of the simulated and displayed states.
fn played(game: &mut LaneGame) -> (Vec<String>, u64) {
    let mut packets = Vec::new();
    let mut hash = 0;
    for _ in 0..240 {
        game.step();
        let world = game.app.world();
        hash = state_hash(hash, world.resource::<CubeWorld>().current());
        let meter = world.get::<LaneMeter>(game.lane).unwrap();
        for packet in &meter.samples().back().unwrap().snapshots {
            // Rounded, because sums of fractional bits depend on their order.
            let kinds = BitKind::DEMO.map(|kind| format!("{:.3}", packet.ledger.kind(kind)));
            packets.push(format!("{} {kinds:?}", packet.payload_bytes));
        }
    }
    (packets, hash)
}

#[test]
fn looking_changes_no_packet() {
    for rung in ["changed-flags", "predicted"] {
        let settings = format!("{rung},link:4g");
        let closed = played(&mut game(&settings));
        let mut open = game(&settings);
        want(&mut open, true);
        open.app.insert_resource(CubeColors::Distance);
        let lane = open.lane;
        open.app
            .world_mut()
            .entity_mut(lane)
            .insert((DeltaCounts::default(), CubeErrors::default()));
        open.add_shadow();
        let open = played(&mut open);
        assert!(open == closed, "{rung}");
    }
}
