//! Integration tests of the physics' public API.

mod borrowed;
mod lane;
mod state;
mod world;

use cubewire_physics::{Input, World, state_hash};
use cubewire_scene::Keys;

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

fn hash(world: &World) -> u64 {
    state_hash(0, &world.snapshot())
}
