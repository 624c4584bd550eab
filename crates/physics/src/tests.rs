//! Tests of worlds, and of a sender and a receiver that simulate.

mod bytes;
mod lane;
mod predictor;
mod rebuild;
mod state;
mod world;

use cubewire_scene::Keys;

use crate::{Input, World, state_hash};

/// Input that rolls, gathers a ball, lets go, blows, and resets every nine seconds.
fn input(tick: u64) -> Input {
    let within = tick % 540;
    let keys = Keys {
        right: (40..90).contains(&within),
        up: (90..200).contains(&within),
        left: (200..260).contains(&within),
        gather: (60..330).contains(&within),
        blow: within >= 400,
        ..Keys::default()
    };
    Input { resets: tick > 0 && within == 0, keys, ..Input::default() }
}

/// A world after some ticks of [`input`].
fn played(ticks: u64) -> World {
    let mut world = World::new();
    (0..ticks).for_each(|tick| world.advance(input(tick)));
    world
}

fn hash(world: &World) -> u64 {
    state_hash(0, &world.snapshot())
}
