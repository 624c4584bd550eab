//! Integration tests of the codec's public API.

mod allocation;
mod conformance;
mod entropy;
mod forms;
mod golden;
mod hostile;
mod lane;
mod misuse;
mod plays;
mod random;
mod recording;
mod replay;
mod round_trip;
mod scenes;
mod second;
mod simulated;
mod sizes;
mod wire_document;
mod world;

/// Seed of tests with random input. It is printed. Set `CUBEWIRE_SEED` to repeat a run.
fn seed() -> u64 {
    let seed = std::env::var("CUBEWIRE_SEED")
        .map_or_else(|_| rand::random(), |seed| seed.parse().expect("CUBEWIRE_SEED is a number"));
    println!("CUBEWIRE_SEED={seed}");
    seed
}
