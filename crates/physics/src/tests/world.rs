//! Worlds are reproducible.

use cubewire_scene::{
    self as scene, CUBES, Keys, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, MAX_PLAYERS, PLAYER,
};

use super::{hash, input, played, played_by};
use crate::{Input, World};

#[test]
fn a_clone_goes_on_as_the_original_does() {
    let mut world = World::new();
    let mut clones = Vec::new();
    for tick in 0..700 {
        // Clones of clones, of various ages.
        if tick % 50 == 7 {
            clones.push((tick, world.clone()));
        }
        world.advance(input(tick));
        let wanted = hash(&world);
        for (since, clone) in &mut clones {
            clone.advance(input(tick));
            assert_eq!(hash(clone), wanted, "tick {tick}, cloned at {since}");
        }
        clones.retain(|&(since, _)| tick - since < 60);
        if tick % 50 == 30
            && let Some((_, clone)) = clones.last_mut()
        {
            *clone = clone.clone();
        }
    }
}

#[test]
fn a_reset_starts_the_scene_again() {
    let mut used = played(300);
    let mut fresh = World::new();
    for tick in 540..700 {
        used.advance(input(tick));
        fresh.step(input(tick).keys[0]);
        assert_eq!(hash(&used), hash(&fresh), "tick {tick}");
    }
    assert_eq!(used.ticks(), 160);
}

#[test]
fn cubes_stay_within_their_speeds_and_those_that_rest_have_none() {
    let mut world = World::new();
    let mut most_touched = 0;
    for tick in 0..540 {
        world.advance(input(tick));
        let snapshot = world.snapshot();
        assert_eq!(snapshot.bodies.len(), CUBES);
        for cube in &snapshot.bodies {
            assert!(cube.linear_velocity.length() < MAX_LINEAR_SPEED * 1.001);
        }
        for body in world.state().bodies {
            assert!(body.angular_velocity.length() < MAX_ANGULAR_SPEED * 1.001);
        }
        for (cube, &rests) in snapshot.bodies.iter().zip(&world.scene.at_rest) {
            assert!(!rests || cube.linear_velocity.length() == 0.0);
        }
        assert!(snapshot.bodies[PLAYER].interacting);
        let touched = snapshot.bodies.iter().filter(|cube| cube.interacting);
        most_touched = most_touched.max(touched.count());
    }
    assert!(most_touched > 30, "{most_touched} cubes were touched");
}

#[test]
fn keys_move_the_cube_of_their_player_only() {
    let right = Keys { right: true, ..Keys::default() };
    for player in 0..MAX_PLAYERS {
        let [mut world, mut without] = [(); 2].map(|()| World::with_players(MAX_PLAYERS));
        for _ in 0..60 {
            world.advance(Input::of(player, right));
            without.advance(Input::default());
        }
        let [moved, others] = [&world, &without].map(|world| world.snapshot().bodies);
        for seat in 0..MAX_PLAYERS {
            let cube = scene::player(seat);
            let way = moved[cube].position.x - others[cube].position.x;
            assert_eq!(way > 0.5, seat == player, "{player} moves {seat}: {way}");
        }
    }
}

#[test]
fn every_player_gathers_and_blows_small_cubes_only() {
    let near = |world: &World, player: usize| {
        let bodies = world.snapshot().bodies;
        let from = bodies[scene::player(player)].position;
        (1..CUBES).filter(|&cube| bodies[cube].position.distance(from) < 1.6).count()
    };
    for player in 0..MAX_PLAYERS {
        let mut world = World::with_players(MAX_PLAYERS);
        for (ticks, keys) in [
            (200, Keys { gather: true, ..Keys::default() }),
            (100, Keys { gather: true, up: true, ..Keys::default() }),
        ] {
            (0..ticks).for_each(|_| world.advance(Input::of(player, keys)));
        }
        let gathered = near(&world, player);
        assert!(gathered > 8, "{player}: {gathered}");
        let blow = Keys { blow: true, ..Keys::default() };
        (0..60).for_each(|_| world.advance(Input::of(player, blow)));
        let left = near(&world, player);
        assert!(left < gathered / 2, "{player}: {left} of {gathered}");
    }
}

#[test]
fn a_scene_of_several_players_is_reset_rebuilt_and_restored_with_all_of_them() {
    for players in 2..=MAX_PLAYERS {
        let mut used = played_by(players, 300);
        let snapshot = used.quantized().unwrap();
        let state = crate::WorldState::from_bytes(&snapshot, &used.state().to_bytes()).unwrap();
        let mut restored = World::restored(&state);
        used.rebuild();
        for tick in 300..400 {
            used.advance(input(tick));
            restored.advance(input(tick));
            assert_eq!(hash(&used), hash(&restored), "tick {tick}");
        }
        let mut fresh = World::with_players(players);
        used.advance(input(540));
        fresh.advance(input(540));
        assert_eq!(hash(&used), hash(&fresh));
        assert_eq!(used.snapshot().bodies.len(), scene::cubes(players));
    }
}
