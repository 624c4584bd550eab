//! What a rebuild does to play. `cargo test -p cubewire-physics --lib rebuild -- --nocapture` prints it.

use std::collections::BTreeMap;

use cubewire_codec::{QuantizedSnapshot, ladder};
use cubewire_scene::{self as scene, CUBES, Keys, PLAYER};

use crate::{World, WorldState};

/// Ticks after which worlds are compared.
const AFTER: [u64; 3] = [1, 6, 60];

/// Rolls to and fro.
fn rolling(tick: u64, gather: bool) -> Keys {
    Keys {
        right: tick % 100 < 50,
        left: tick % 100 >= 50,
        up: tick % 160 < 80,
        down: tick % 160 >= 80,
        gather,
        ..Keys::default()
    }
}

fn awake(world: &World) -> usize {
    world.at_rest().iter().filter(|&&rests| !rests).count()
}

/// Kinetic energy of the linear motion, joules.
fn energy(world: &World) -> f64 {
    let cubes = world.snapshot().cubes.into_iter().enumerate();
    cubes
        .map(|(cube, state)| {
            let squared = state.linear_velocity.length_squared();
            f64::from(scene::mass(cube) * squared) / 2.0
        })
        .sum()
}

/// The largest distance between the two positions of a cube, metres.
fn largest_distance(a: &World, b: &World) -> f32 {
    let [a, b] = [a, b].map(World::snapshot);
    let distance = |cube: usize| a.cubes[cube].position.distance(b.cubes[cube].position);
    (0..CUBES).map(distance).fold(0.0, f32::max)
}

/// A copy of the world in which the player is faster by one unit in the last place.
fn nudged(world: &World) -> World {
    let mut world = world.clone();
    let body = &mut world.bodies[world.scene.handles()[PLAYER]];
    let mut velocity = body.linvel();
    velocity.x = velocity.x.next_up();
    body.set_linvel(velocity, false);
    world
}

fn exact(world: &World) -> World {
    World::restored(&world.state())
}

fn rebuilt(world: &World) -> World {
    let mut world = world.clone();
    world.rebuild();
    world
}

/// The median and the largest of what was measured at many moments.
fn summary(mut values: Vec<f64>) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    [values[values.len() / 2], values[values.len() - 1]]
}

/// What differs between a world and the one that goes on undisturbed.
#[derive(Default)]
struct Differences {
    metres: Vec<f64>,
    energy_ratios: Vec<f64>,
    more_awake: Vec<f64>,
}

#[test]
fn what_a_rebuild_changes_in_a_tick_is_small_and_wakes_nothing() {
    for (scene, gathers) in [("ball", true), ("falling pile", false)] {
        let mut world = World::new();
        let mut tick = 0;
        let mut differences: BTreeMap<(&str, u64), Differences> = BTreeMap::new();
        for moment in 0..12 {
            for _ in 0..if moment == 0 { 600 } else { 90 } {
                world.step(rolling(tick, true));
                tick += 1;
            }
            let mut before = world.clone();
            if !gathers {
                // The ball was let go.
                (tick..tick + 10).for_each(|tick| before.step(rolling(tick, false)));
            }
            println!("{scene}: {} cubes are awake", awake(&before));
            for (name, mut other) in [
                ("rebuilt", rebuilt(&before)),
                ("exact", exact(&before)),
                ("nudged", nudged(&before)),
            ] {
                let mut undisturbed = before.clone();
                for after in 1..=60 {
                    let keys = rolling(tick + after, gathers);
                    undisturbed.step(keys);
                    other.step(keys);
                    if AFTER.contains(&after) {
                        let to = differences.entry((name, after)).or_default();
                        let metres = largest_distance(&undisturbed, &other);
                        to.metres.push(metres.into());
                        to.energy_ratios.push(energy(&other) / energy(&undisturbed));
                        let more = awake(&other) as f64 - awake(&undisturbed) as f64;
                        to.more_awake.push(more);
                    }
                }
            }
        }
        println!("{scene}: median and largest");
        for ((name, after), found) in differences {
            let metres = summary(found.metres);
            let ratios = summary(found.energy_ratios);
            let more = summary(found.more_awake);
            println!(
                "{name}, {after} ticks: {metres:.3?} m, energy x {ratios:.2?}, {more:?} more awake"
            );
            if after == 1 {
                // A third of a cube's edge.
                assert!(metres[1] < 0.13, "{metres:?} m");
                assert!((0.9..1.15).contains(&ratios[1]), "{ratios:?}");
                assert_eq!(more[1], 0.0, "cubes woke");
            }
        }
    }
}

#[test]
fn sizes_of_states() {
    let mut world = World::new();
    let mut sizes = Vec::new();
    for tick in 0..1260 {
        let keys = match tick {
            0..600 => Keys::default(),
            1200.. => Keys {
                blow: true,
                ..rolling(tick, false)
            },
            _ => rolling(tick, true),
        };
        world.step(keys);
        if let 599 | 899 | 1199 | 1259 = tick {
            let state = world.state();
            let bytes = state.to_bytes();
            println!(
                "tick {}: {} awake, {} bytes",
                tick + 1,
                awake(&world),
                bytes.len()
            );
            let mut snapshot = QuantizedSnapshot::new(ladder::SIMULATED.stages.precision());
            world.quantize_into(&mut snapshot).unwrap();
            let back = WorldState::from_bytes(&snapshot, &bytes);
            assert_eq!(back, Ok(state.rounded().unwrap()));
            sizes.push(bytes.len());
        }
    }
    assert!(sizes[0] < 3_000 && sizes[3] < 20_000, "{sizes:?}");
}
