//! Scripted simulations.

use std::fmt::Display;
use std::path::Path;

use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::recording::{Script, ScriptPlayback};
use cubewire::replication::{Accounting, Totals};
use cubewire::simulation::state_hash;
use cubewire_codec::BodyState;
use cubewire_scene::{CEILING, CUBES, PLAYER, WALL, side};

use crate::common::{game, lane, script, steps};

fn hash(game: &mut LaneGame, ticks: usize) -> u64 {
    (0..ticks).fold(0, |hash, _| {
        game.step();
        state_hash(hash, game.cubes().current())
    })
}

#[test]
fn the_same_keys_give_the_same_states_bit_for_bit() {
    let ticks = 450;
    let states = hash(&mut game("mix", "changed-flags"), ticks);
    println!("{states:016x}");
    // The simulation does not depend on the lane's settings, but on the keys.
    assert_eq!(hash(&mut game("mix", "uncompressed"), ticks), states);
    assert_ne!(hash(&mut game("katamari", "changed-flags"), ticks), states);
}

#[test]
fn a_script_that_begins_during_play_goes_as_from_a_cold_start() {
    let cold = hash(&mut game("katamari", "changed-flags"), 400);

    // Without a player at first. Another script disturbs the scene.
    let mut game = game("blow", "changed-flags");
    steps(&mut game, 300);
    let playing = ScriptPlayback::new(script("katamari"));
    game.app.insert_resource(playing);
    assert_eq!(hash(&mut game, 400), cold);
}

#[test]
fn every_pass_of_a_script_is_like_the_first() {
    let script = r#"(ticks: 240, steps: [(at: 0, hold: [Up, Gather]), (at: 200, hold: [])])"#;
    let script = Script::parse(script, Path::new("a.ron")).unwrap();
    let ticks = script.ticks as usize;
    let mut game = LaneGame::new(Some(script), lane("changed-flags")).unwrap();
    let first = hash(&mut game, ticks);
    for pass in [2, 3] {
        assert_eq!(hash(&mut game, ticks), first, "{pass}");
    }
    assert_eq!(game.check().wrong, 0);
}

/// Checks the mean number of cubes that change in six ticks, which is the age of the baselines.
fn check_liveliness(name: &str, totals: &Totals, min_changed: f64) {
    let mean = totals.per_snapshot(totals.changed_bodies as f64);
    println!("{name}: {mean:.1} cubes changed over six ticks");
    assert!(mean >= min_changed, "{name}: {mean:.1}");
}

/// The newest acked snapshot is six ticks old, because the round-trip time is 100 ms.
fn check_baseline(game: &LaneGame) {
    let sample = game.meter().samples().back().unwrap();
    assert!(sample.acked_age_ticks.is_none_or(|age| age == 6));
}

/// Checks that no cube sinks into the floor or flies away.
fn check_world(game: &HeadlessGame, moment: &dyn Display) {
    for (cube, state) in game.cubes().current().bodies.iter().enumerate() {
        let BodyState { position, .. } = state;
        // A cube may sink in by a third of its side when the player lands on it.
        let is_in_place = position.is_finite()
            && position.z > side(cube) / 6.0
            && position.z < CEILING
            && position.x.abs().max(position.y.abs()) < WALL
            && state.orientation.is_normalized()
            && state.linear_velocity.length() < 32.01;
        assert!(is_in_place, "{moment}, cube {cube}: {state:?}");
    }
}

#[test]
fn nothing_sinks_through_the_floor_or_flies_away() {
    // `mix` and `katamari` are checked in the tests that play them.
    for name in ["blow", "rolling", "calm"] {
        let mut game = game(name, "changed-flags");
        for tick in 0..980 {
            game.step();
            check_world(&game, &format_args!("{name}, tick {tick}"));
        }
    }
}

#[test]
fn a_katamari_ball_holds_together_while_it_rolls_and_lets_go_after() {
    const TICKS: u64 = 2105;
    let mut game = game("katamari", "changed-flags");
    let near = |game: &LaneGame| {
        let cubes = &game.cubes().current().bodies;
        let player = cubes[PLAYER].position;
        let distance = |cube: &&BodyState| cube.position.distance(player) < 2.0;
        cubes[1..].iter().filter(distance).count()
    };
    let mut fastest = 0.0_f32;
    let step = |game: &mut LaneGame, tick| {
        game.step();
        check_world(game, &format_args!("katamari, tick {tick}"));
        check_baseline(game);
    };
    for tick in 0..1830 {
        step(&mut game, tick);
        if tick > 900 {
            fastest = fastest.max(game.cubes().current().bodies[PLAYER].linear_velocity.length());
            assert!(near(&game) > 60, "{} cubes at tick {tick}", near(&game));
        }
    }
    assert!(fastest > 7.0, "it rolls at {fastest} m/s");
    for tick in 1830..TICKS {
        step(&mut game, tick);
    }
    assert!(near(&game) < 30, "{} cubes still there", near(&game));
    assert_eq!(script("katamari").ticks, TICKS);
    check_liveliness("katamari", &game.meter().totals(), 80.0);
}

#[test]
fn hovering_blows_cubes_away() {
    let mut game = game("blow", "changed-flags");
    steps(&mut game, 121);
    let (mut low, mut high) = (f32::MAX, 0.0_f32);
    for _ in 121..600 {
        game.step();
        let height = game.cubes().current().bodies[PLAYER].position.z;
        (low, high) = (low.min(height), high.max(height));
    }
    assert!(low > 2.0 && high < 3.2, "it hovers at {low} to {high} m");
    let cubes = &game.cubes().current().bodies;
    let start = cubewire_scene::initial_position;
    let moved = |&cube: &usize| cubes[cube].position.distance(start(cube)) > 0.5;
    let moved = (1..CUBES).filter(moved).count();
    assert!(moved > 60, "{moved} cubes were blown away");
}

#[test]
fn a_minute_of_play_is_lively_and_stays_below_the_target() {
    let mut game = game("mix", "changed-flags");
    for tick in 0..3_600 {
        game.step();
        check_baseline(&game);
        check_world(&game, &format_args!("mix, tick {tick}"));
    }
    assert_eq!(game.check().wrong, 0);
    let totals = game.meter().totals();
    check_liveliness("mix", &totals, 45.0);
    let kbps = totals.kbps(Accounting::PayloadAndUdp);
    println!("mix at changed-flags: {kbps:.1} kbps");
    assert!(kbps < 256.0, "{kbps}");
}
