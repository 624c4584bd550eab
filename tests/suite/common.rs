//! What several tests need.

use std::path::PathBuf;

use cubewire::headless::HeadlessGame;
use cubewire::recording::Script;
use cubewire::replication::LaneSettings;
use cubewire_codec::ladder;

pub(crate) fn script_path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("assets/scripts").join(name).with_extension("ron")
}

pub(crate) fn script(name: &str) -> Script {
    Script::load(&script_path(name)).unwrap()
}

/// A game that plays one of our scripts over one rung.
pub(crate) fn game(script_name: &str, rung: &str) -> HeadlessGame {
    let settings = LaneSettings {
        stages: ladder::rung(rung).unwrap().stages,
        ..LaneSettings::default()
    };
    HeadlessGame::new(Some(script(script_name)), settings).unwrap()
}
