//! Times of ticks and other operations on worlds: with most cubes at rest, and with a ball of cubes.
//!
//! ```sh
//! cargo bench -p cubewire-physics
//! ```
//!
//! The results are in the lab's FIGURES.md.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use cubewire_physics::{Input, PredictionBase, Predictor, World, WorldState};
use cubewire_scene::{Keys, PLAYER};

/// Keys that roll the player to and fro, gathering or not.
fn input(tick: u64, gather: bool) -> Input {
    Input::of(0, Keys::rolling(tick, gather))
}

/// Memory of this process, on systems with `/proc`.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = pages.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// A prediction of the cubes near the player from two ticks later on.
fn predictor(world: &World, gather: bool) -> Predictor {
    let (mut world, earlier) = (world.clone(), world.snapshot());
    (600..602).for_each(|tick| world.advance(input(tick, gather)));
    let (snapshot, own) = (&world.snapshot(), world.own(0));
    let base = PredictionBase { tick: 602, snapshot, earlier: (600, &earlier), own };
    let mut predictor = Predictor::new(PLAYER);
    predictor.confirm(&base, [].into_iter());
    predictor.restart(None);
    println!("{} cubes are predicted", predictor.cubes().count());
    predictor
}

fn benches(criterion: &mut Criterion) {
    for (name, gather) in [("rolling", false), ("ball", true)] {
        let mut world = World::new();
        for tick in 0..600 {
            world.advance(input(tick, gather));
        }
        let snapshot = world.quantized().expect("every number is finite");
        let state = world.state();
        let bytes = state.to_bytes();
        let rounded = WorldState::from_bytes(&snapshot, &bytes);
        assert_eq!(rounded, Ok(state.rounded().expect("every number is finite")));
        let awake = world.awake();
        println!("{name}: {awake} cubes are awake, the state takes {} bytes", bytes.len());

        if let Some(before) = resident_bytes() {
            let clones = vec![world.clone(); 20];
            let after = resident_bytes().unwrap_or(before);
            println!("{name}: a clone takes {} KB", (after - before) / 20_000);
            drop(clones);
        }

        let mut group = criterion.benchmark_group(name);
        let mut step = |what: &str, world: &World, warms: bool| {
            group.bench_function(what, |bencher| {
                bencher.iter_batched_ref(
                    || {
                        // The first tick of a clone also allocates its working memory.
                        let mut world = world.clone();
                        if warms {
                            world.advance(input(600, gather));
                        }
                        world
                    },
                    |world| world.advance(input(601, gather)),
                    BatchSize::LargeInput,
                );
            });
        };
        step("tick", &world, true);
        step("first tick of a clone", &world, false);
        step("first tick after a rebuild", &World::restored(&state), false);
        let mut predictor = predictor(&world, gather);
        group.bench_function("17 predicted ticks", |bencher| {
            bencher.iter(|| {
                predictor.restart(None);
                (602..619).for_each(|tick| predictor.advance(Keys::rolling(tick, gather)));
            });
        });
        group.bench_function("clone", |bencher| bencher.iter(|| black_box(world.clone())));
        group.bench_function("rebuild", |bencher| {
            bencher.iter_batched_ref(|| world.clone(), World::rebuild, BatchSize::LargeInput);
        });
        group.bench_function("state", |bencher| bencher.iter(|| black_box(world.state())));
        group.bench_function("to_bytes", |bencher| {
            bencher.iter(|| black_box(state.to_bytes()));
        });
        group.bench_function("from_bytes", |bencher| {
            bencher.iter(|| black_box(WorldState::from_bytes(&snapshot, &bytes)));
        });
        group.bench_function("restored", |bencher| {
            bencher.iter(|| black_box(World::restored(&state)));
        });
        let mut into = world.quantized().expect("every number is finite");
        group.bench_function("quantize_into", |bencher| {
            bencher.iter(|| world.quantize_into(&mut into));
        });
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);
