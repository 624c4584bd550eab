//! Worlds are reproducible.

use cubewire_scene::{CUBES, MAX_ANGULAR_SPEED, MAX_LINEAR_SPEED, PLAYER};

use super::{hash, input, played};
use crate::World;

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
        fresh.step(input(tick).keys);
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
