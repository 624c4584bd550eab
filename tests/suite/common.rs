//! What several tests need.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubewire::game::headless::LaneGame;
use cubewire::recording::Script;
use cubewire::replication::LaneSettings;
use cubewire_codec::ladder;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How long anything may take, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until `poll` finds something, and returns it. A test that has to wait for a process, a file or a datagram does
/// it here, so that none depends on how fast that happens.
pub(crate) fn eventually<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        sleep(Duration::from_millis(10));
    }
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
