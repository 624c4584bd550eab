//! Tests of worlds, and of a sender and a receiver that simulate.

mod bytes;
mod lane;
mod predictor;
mod rebuild;
mod state;
mod world;

use cubewire_scene::{Keys, MAX_PLAYERS};

use crate::{Input, World, state_hash};

/// Input that rolls, gathers a ball, lets go, blows, and resets every nine seconds. Further players do the same at other times.
fn input(tick: u64) -> Input {
    let mut keys = [Keys::default(); MAX_PLAYERS];
    for (later, keys) in (0..).step_by(97).zip(&mut keys) {
        *keys = held(tick + later);
    }
    Input { resets: tick > 0 && tick.is_multiple_of(540), keys, ..Input::default() }
}

fn held(tick: u64) -> Keys {
    let within = tick % 540;
    Keys {
        right: (40..90).contains(&within),
        up: (90..200).contains(&within),
        left: (200..260).contains(&within),
        gather: (60..330).contains(&within),
        blow: within >= 400,
        ..Keys::default()
    }
}

/// A world of some players after some ticks of [`input`].
fn played_by(players: usize, ticks: u64) -> World {
    let mut world = World::with_players(players);
    (0..ticks).for_each(|tick| world.advance(input(tick)));
    world
}

fn played(ticks: u64) -> World {
    played_by(1, ticks)
}

fn hash(world: &World) -> u64 {
    state_hash(0, &world.snapshot())
}
