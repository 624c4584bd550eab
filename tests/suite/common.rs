//! Shared by several tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use bevy::ecs::component::Mutable;
use bevy::prelude::*;
use cubewire::game::headless::{HeadlessGame, LaneGame};
use cubewire::recording::Script;
use cubewire::replication::{ChangeLane, LaneSettings};
use cubewire::view::{Side, ViewCube, ViewPlugin};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Polls until `poll` returns a value, and returns it. Tests wait for processes, files and datagrams with it, so that
/// they do not depend on speed. It tries for at least three minutes, and counts tries instead of time because a
/// machine may be suspended.
pub(crate) fn eventually<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    for _ in 0..18_000 {
        if let Some(found) = poll() {
            return found;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("waited for {what}");
}

/// Returns the names of the files in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all files with an extension below a folder. Skips folders that builds and package managers write, and hidden
/// folders other than `.ci`.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in names(folder) {
        let path = folder.join(&name);
        let is_hidden = name.starts_with('.') && name != ".ci";
        if path.is_symlink() || is_hidden || ["target", "node_modules"].contains(&&*name) {
            continue;
        } else if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
    found
}

pub(crate) fn script_path(name: &str) -> PathBuf {
    root().join("assets/scripts").join(name).with_extension("ron")
}

pub(crate) fn script(name: &str) -> Script {
    Script::load(&script_path(name)).unwrap()
}

/// Returns a generator with a random seed, or with the seed in `CUBEWIRE_SEED`. Prints the seed.
pub(crate) fn random() -> ChaCha8Rng {
    let seed = std::env::var("CUBEWIRE_SEED")
        .map_or_else(|_| rand::random(), |seed| seed.parse().expect("CUBEWIRE_SEED is a number"));
    println!("CUBEWIRE_SEED={seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// Returns how long to run in seconds: `CUBEWIRE_SECONDS`, by default a minute.
pub(crate) fn seconds() -> u64 {
    std::env::var("CUBEWIRE_SECONDS").map_or(60, |seconds| seconds.parse().unwrap())
}

/// Returns the resident memory of a process, by its id or `self`. `None` if it has ended.
pub(crate) fn resident_megabytes(process: &str) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let (_, resident) = status.split_once("VmRSS:")?;
    let kilobytes: f64 = resident.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Returns the default lane with a rung and optional further settings, as in `delta,rate:20`.
pub(crate) fn lane(rung: &str) -> LaneSettings {
    format!("rung:{rung}").parse().unwrap()
}

pub(crate) fn game(script_name: &str, rung: &str) -> LaneGame {
    LaneGame::new(Some(script(script_name)), lane(rung)).unwrap()
}

/// Creates the same game with the view's cubes, but without rendering.
pub(crate) fn game_with_view(script_name: &str, rung: &str) -> LaneGame {
    LaneGame::with_plugins(Some(script(script_name)), lane(rung), ViewPlugin).unwrap()
}

pub(crate) fn steps(game: &mut HeadlessGame, ticks: usize) {
    for _ in 0..ticks {
        game.step();
    }
}

pub(crate) fn change(game: &mut LaneGame, settings: LaneSettings) {
    let entity = game.lane;
    game.app.world_mut().trigger(ChangeLane { entity, settings });
}

pub(crate) fn pause(app: &mut App, paused: bool) {
    let mut clock = app.world_mut().resource_mut::<Time<Virtual>>();
    if paused { clock.pause() } else { clock.unpause() }
}

pub(crate) fn component<T: Component<Mutability = Mutable>>(game: &mut LaneGame) -> Mut<'_, T> {
    let lane = game.lane;
    game.app.world_mut().get_mut(lane).unwrap()
}

pub(crate) fn shown(game: &mut LaneGame, half: Side) -> Vec<Transform> {
    let world = game.app.world_mut();
    let mut cubes = world.query::<(&Side, &ViewCube, &Transform)>();
    let cubes = cubes.iter(world).filter(|(side, ..)| **side == half);
    let mut found: Vec<_> = cubes.map(|(_, cube, at)| (cube.index, *at)).collect();
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, at)| at).collect()
}
