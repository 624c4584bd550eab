//! How a rebuild changes the game.

use cubewire_scene::{self as scene, CUBES, Keys};

use crate::World;

/// Kinetic energy of the linear motion, joules.
fn energy(world: &World) -> f64 {
    let cubes = world.snapshot().bodies.into_iter().enumerate();
    cubes
        .map(|(cube, state)| {
            let squared = state.linear_velocity.length_squared();
            f64::from(scene::mass(cube) * squared) / 2.0
        })
        .sum()
}

/// Largest distance between the positions of a cube in both worlds, metres.
fn largest_distance(a: &World, b: &World) -> f32 {
    let [a, b] = [a, b].map(World::snapshot);
    let distance = |cube: usize| a.bodies[cube].position.distance(b.bodies[cube].position);
    (0..CUBES).map(distance).fold(0.0, f32::max)
}

fn check_rebuild(world: &World, keys: Keys) {
    let [mut undisturbed, mut rebuilt] = [world.clone(), world.clone()];
    rebuilt.rebuild();
    undisturbed.step(keys);
    rebuilt.step(keys);
    let metres = largest_distance(&undisturbed, &rebuilt);
    let ratio = energy(&rebuilt) / energy(&undisturbed);
    println!("{} awake: {metres} m, energy x {ratio}", world.awake());
    // A third of a cube's edge.
    assert!(metres < 0.13, "{metres} m");
    // A rebuild loses the impulses that the solver starts from.
    assert!((0.85..1.15).contains(&ratio), "energy x {ratio}");
    assert_eq!(rebuilt.awake(), undisturbed.awake(), "cubes woke");
}

#[test]
fn what_a_rebuild_changes_in_a_tick_is_small_and_wakes_nothing() {
    let mut world = World::new();
    for tick in 0..1_600 {
        world.step(Keys::rolling(tick, true));
        if tick >= 600 && tick % 90 == 0 {
            check_rebuild(&world, Keys::rolling(tick + 1, true));
            // The ball falls apart.
            let mut falling = world.clone();
            (tick + 1..tick + 11).for_each(|tick| falling.step(Keys::rolling(tick, false)));
            check_rebuild(&falling, Keys::rolling(tick + 11, false));
        }
    }
}
