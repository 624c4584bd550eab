//! What several tests need.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use cubewire::game::headless::LaneGame;
use cubewire::recording::Script;
use cubewire::replication::LaneSettings;
use cubewire_codec::ladder;
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

/// The default lane, over one rung.
pub(crate) fn lane(rung: &str) -> LaneSettings {
    LaneSettings::with_stages(ladder::rung(rung).unwrap().stages)
}

/// A game that plays one of our scripts over one rung.
pub(crate) fn game(script_name: &str, rung: &str) -> LaneGame {
    LaneGame::new(Some(script(script_name)), lane(rung)).unwrap()
}
