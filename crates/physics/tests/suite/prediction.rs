//! Worlds from quantized snapshots, and their correction.

use cubewire_codec::{QuantizedSnapshot, ladder};
use cubewire_physics::World;
use cubewire_scene::{CUBES, Interaction, PLAYER};

use crate::{hash, input};

/// Ticks between a snapshot and the one that it is predicted from.
const TICKS: u16 = 6;

fn quantized(world: &World) -> QuantizedSnapshot {
    let mut snapshot = QuantizedSnapshot::new(ladder::PREDICTED.stages.precision());
    world.quantize_into(&mut snapshot).unwrap();
    snapshot
}

fn differing(a: &QuantizedSnapshot, b: &QuantizedSnapshot) -> usize {
    let mut changed = Vec::new();
    a.compare(b, &mut changed);
    changed.iter().filter(|&&differs| differs).count()
}

/// Plays, and calls with the tick, the snapshot of some ticks before and the world.
fn play(ticks: u64, mut each: impl FnMut(u64, &QuantizedSnapshot, &World)) {
    let mut world = World::new();
    let mut snapshots = vec![quantized(&world)];
    for tick in 0..ticks {
        world.advance(input(tick));
        snapshots.push(quantized(&world));
        let earlier = snapshots.len().saturating_sub(usize::from(TICKS) + 1);
        each(tick + 1, &snapshots[earlier], &world);
    }
}

#[test]
fn a_world_from_snapshots_is_where_they_are() {
    play(500, |tick, earlier, world| {
        if tick % 100 != 0 {
            return;
        }
        let snapshot = quantized(world);
        let cold = World::cold(&snapshot, Some((earlier, TICKS)), world.ticks());
        assert_eq!(differing(&quantized(&cold), &snapshot), 0, "tick {tick}");
        assert_eq!(cold.ticks(), world.ticks());
        let mut agree = 0;
        for cube in 0..CUBES {
            let moved = snapshot.position(cube) != earlier.position(cube)
                || snapshot.smallest_three(cube) != earlier.smallest_three(cube);
            assert_eq!(cold.at_rest()[cube], !moved);
            agree += usize::from(cold.at_rest()[cube] == world.at_rest()[cube]);
        }
        assert!(agree > CUBES * 9 / 10, "tick {tick}: {agree}");
        // The player's velocity is near the true one, unless it just hit something.
        let [near, exact] =
            [&cold, world].map(|world| world.bodies()[world.handles()[PLAYER]].linvel());
        assert!((near - exact).length() < 4.0, "tick {tick}: {near} {exact}");
    });
}

#[test]
fn without_an_earlier_snapshot_those_that_were_not_touched_sleep() {
    play(200, |tick, _, world| {
        if tick == 200 {
            let cold = World::cold(&quantized(world), None, world.ticks());
            let snapshot = world.snapshot();
            for (cube, &rests) in snapshot.cubes.iter().zip(cold.at_rest()) {
                assert_eq!(rests, !cube.interacting);
            }
        }
    });
}

#[test]
fn worlds_from_the_same_snapshots_and_corrections_are_the_same() {
    let mut ends: Vec<World> = Vec::new();
    play(400, |tick, earlier, world| {
        let snapshot = quantized(world);
        if tick == 100 {
            let cold = || World::cold(&snapshot, Some((earlier, TICKS)), world.ticks());
            ends = vec![cold(), cold()];
        } else if tick > 100 {
            for end in &mut ends {
                end.advance(input(tick - 1));
                if tick % u64::from(TICKS) == 0 {
                    end.correct(&snapshot, TICKS);
                    assert_eq!(differing(&quantized(end), &snapshot), 0, "tick {tick}");
                }
            }
            assert_eq!(hash(&ends[0]), hash(&ends[1]), "tick {tick}");
        }
    });
    assert_eq!(ends[0].state().to_bytes(), ends[1].state().to_bytes());
}

#[test]
fn cubes_that_agree_are_left_as_they_are() {
    play(300, |tick, _, world| {
        if tick % 100 != 0 {
            return;
        }
        let snapshot = quantized(world);
        let mut corrected = world.clone();
        corrected.correct(&snapshot, TICKS);
        assert_eq!(corrected.state(), world.state());
        let mut world = world.clone();
        for tick in tick..tick + 60 {
            corrected.advance(input(tick));
            world.advance(input(tick));
            assert_eq!(hash(&corrected), hash(&world), "tick {tick}");
        }
    });
}

#[test]
fn a_correction_wakes_and_changes_only_cubes_that_differ() {
    let mut world = World::new();
    for tick in 0..60 {
        world.advance(input(tick));
    }
    let mut snapshot = world.snapshot();
    let [resting, other] = [900, 899];
    assert!(world.at_rest()[resting] && world.at_rest()[other]);
    snapshot.cubes[resting].position.z += 0.5;
    snapshot.cubes[other].interacting = true;
    let mut actual = QuantizedSnapshot::new(ladder::PREDICTED.stages.precision());
    actual.quantize(&snapshot, actual.precision()).unwrap();

    let before = world.snapshot();
    world.correct(&actual, TICKS);
    let after = world.snapshot();
    assert!(!world.at_rest()[resting] && world.at_rest()[other]);
    let speed = after.cubes[resting].linear_velocity;
    assert!(
        (speed.z - 0.5 * 60.0 / f32::from(TICKS)).abs() < 0.02,
        "{speed}"
    );
    assert!(after.cubes[other].interacting && !before.cubes[other].interacting);
    for cube in (0..CUBES).filter(|&cube| cube != resting && cube != other) {
        assert_eq!(after.cubes[cube], before.cubes[cube]);
    }
    assert_eq!(after.cubes[other].position, before.cubes[other].position);
    world.step(input(60).keys);
    assert!(world.snapshot().cubes[other].interacting);
}

#[test]
fn a_correction_of_the_players_flag_is_ignored() {
    let mut world = World::new();
    let mut snapshot = world.snapshot();
    snapshot.cubes[PLAYER].interacting = false;
    let mut actual = QuantizedSnapshot::new(ladder::PREDICTED.stages.precision());
    actual.quantize(&snapshot, actual.precision()).unwrap();
    world.correct(&actual, 1);
    let rule = Interaction::new(CUBES);
    let flags = world
        .snapshot()
        .cubes
        .into_iter()
        .map(|cube| cube.interacting);
    assert!(flags.eq(rule.interacting().iter().copied()));
}
