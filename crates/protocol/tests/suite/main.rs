//! A sender and a receiver with a simulated link between them and a virtual clock.

#![allow(clippy::disallowed_methods, reason = "no browser runs these tests")]

mod connection;
mod golden;
mod hostile;
mod jobs;
mod lives;
mod memory;
mod operations;
mod pair;
mod play;
#[path = "../../../codec/tests/suite/random.rs"]
mod random;
mod rate;
#[path = "../../../codec/tests/suite/recording.rs"]
mod recording;
mod renet_guard;
mod scene;
mod silence;
mod smallest;
mod tick_inputs;
mod time;
mod turns;
#[path = "../../../codec/tests/suite/world.rs"]
mod world;
