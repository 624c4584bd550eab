//! Times of a tick, of a clone and of a look back: while most cubes rest, and with a ball of cubes.
//!
//! ```sh
//! cargo bench -p cubewire-physics
//! ```
//!
//! On one of two virtual processors, medians:
//!
//! | | 7 cubes awake | 65 cubes awake |
//! |---|---:|---:|
//! | a tick | 0.09 ms | 1.07 ms |
//! | a clone | 0.55 ms | 0.80 ms |
//! | the world of six ticks ago, from the checkpoint before it | 0.75 ms | 2.72 ms |

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use cubewire_physics::{Input, Timeline, World};
use cubewire_scene::Keys;

/// Rolls to and fro, gathering or not.
fn input(tick: u64, gather: bool) -> Input {
    let keys = Keys {
        right: tick % 100 < 50,
        left: tick % 100 >= 50,
        up: tick % 160 < 80,
        down: tick % 160 >= 80,
        gather,
        ..Keys::default()
    };
    Input {
        resets: false,
        keys,
    }
}

fn ticks(criterion: &mut Criterion) {
    for (name, gather) in [("rolling", false), ("ball", true)] {
        let mut timeline = Timeline::new(0, World::new());
        for tick in 0..600 {
            timeline.advance(input(tick, gather));
            timeline.forget_before(timeline.tick().saturating_sub(8));
        }
        let world = timeline.newest();
        let awake = world.at_rest().iter().filter(|&&rests| !rests).count();
        println!("{name}: {awake} cubes are awake");
        let mut group = criterion.benchmark_group(name);
        group.bench_function("tick", |bencher| {
            bencher.iter_batched_ref(
                || {
                    // The first tick of a clone also allocates its working memory.
                    let mut world = world.clone();
                    world.advance(input(600, gather));
                    world
                },
                |world| world.advance(input(601, gather)),
                BatchSize::LargeInput,
            );
        });
        group.bench_function("clone", |bencher| bencher.iter(|| black_box(world.clone())));
        group.bench_function("world of six ticks ago", |bencher| {
            bencher.iter(|| black_box(timeline.at(594)));
        });
        group.finish();
    }
}

criterion_group!(benches, ticks);
criterion_main!(benches);
