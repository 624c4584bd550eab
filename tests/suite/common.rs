//! What several tests need.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use bevy::ecs::component::Mutable;
use bevy::prelude::*;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::recording::Script;
use cubewire::replication::LaneSettings;
use cubewire::view::{Side, ViewCube};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Waits until `poll` finds something, and returns it. A test that has to wait for a process, a file or a datagram does
/// it here, so that none depends on how fast that happens: it goes on for three minutes and more, and what is counted is
/// tries, which a machine that stands still does not use up.
pub(crate) fn eventually<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    for _ in 0..18_000 {
        if let Some(found) = poll() {
            return found;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("waited for {what}");
}

pub(crate) fn script_path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("assets/scripts").join(name).with_extension("ron")
}

pub(crate) fn script(name: &str) -> Script {
    Script::load(&script_path(name)).unwrap()
}

/// Another one every run, or that of the seed in `CUBEWIRE_SEED`. The seed is printed.
pub(crate) fn random() -> ChaCha8Rng {
    let seed = std::env::var("CUBEWIRE_SEED").map_or_else(
        |_| rand::random(),
        |seed| seed.parse().expect("CUBEWIRE_SEED is a number"),
    );
    println!("CUBEWIRE_SEED={seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// The default lane, over one rung. Other settings may follow that, as in `delta,rate:20`.
pub(crate) fn lane(rung: &str) -> LaneSettings {
    format!("rung:{rung}").parse().unwrap()
}

/// A game that plays one of our scripts over one rung.
pub(crate) fn game(script_name: &str, rung: &str) -> LaneGame {
    LaneGame::new(Some(script(script_name)), lane(rung)).unwrap()
}

pub(crate) fn steps(game: &mut HeadlessGame, ticks: usize) {
    for _ in 0..ticks {
        game.step();
    }
}

/// Pauses a game, or lets it go on.
pub(crate) fn pause(app: &mut App, paused: bool) {
    let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
    match paused {
        true => clock.pause(),
        false => clock.unpause(),
    }
}

/// A component of the game's lane.
pub(crate) fn component<T: Component<Mutability = Mutable>>(game: &mut LaneGame) -> Mut<'_, T> {
    let lane = game.lane;
    game.app.world_mut().get_mut(lane).unwrap()
}

/// Where a half shows the cubes.
pub(crate) fn shown(game: &mut LaneGame, half: Side) -> Vec<Transform> {
    let world = game.app.world_mut();
    let mut cubes = world.query::<(&Side, &ViewCube, &Transform)>();
    let cubes = cubes.iter(world).filter(|(side, ..)| **side == half);
    let mut found: Vec<_> = cubes.map(|(_, cube, at)| (cube.index, *at)).collect();
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, at)| at).collect()
}
