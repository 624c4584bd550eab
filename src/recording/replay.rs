//! Replays: scripts that are written down during play.
//!
//! Physics is deterministic on one machine and in one build: the same keys at the same ticks, from a
//! world built anew, give the same states bit for bit. So the keys are all that a replay needs; the
//! simulation has no seed, and those of the links are in the lanes' texts. What is pressed is always
//! written down from the last reset on, in the [`InputLog`]; a recording that begins in the middle of
//! play has what went before as its lead-in. A hash over all states shows whether a replay did the
//! same: [`ReplayCheck`].

mod check;
mod log;

use std::io;
use std::path::Path;

use bevy_rapier3d::rapier;
use cubewire_scene::TICKS_PER_SECOND;
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};

use super::script::{LONGEST_FILE, Script, ScriptError};
use crate::files::write_whole;

pub use check::{Difference, Outcome, ReplayCheck};
pub use log::{InputLog, InputLogPlugin};

/// Goes up when replays of old could no longer be played as they were meant.
pub(super) const FORMAT: u32 = 1;

/// Ticks from one noted hash to the next.
const HASH_EVERY: u64 = 10 * TICKS_PER_SECOND as u64;

/// What a replay says of the play that it was written down from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Of the file.
    pub format: u32,
    /// The version that wrote it.
    pub cubewire: String,
    /// The physics engine, how all of it was built, and what it ran on.
    pub build: String,
    /// Hash of all states so far, after every 600 ticks and after the last.
    pub states: Vec<u64>,
    /// CRC-32 of the replay, written without spaces, as if this were 0.
    pub checksum: u32,
}

impl Recorded {
    /// What this program would write of itself.
    fn by_this_program(states: Vec<u64>) -> Self {
        let profile = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        let (machine, system) = (std::env::consts::ARCH, std::env::consts::OS);
        Self {
            format: FORMAT,
            cubewire: env!("CARGO_PKG_VERSION").to_owned(),
            build: format!("rapier {}, {profile}, {machine} {system}", rapier::VERSION),
            states,
            checksum: 0,
        }
    }
}

/// RON as it is in scripts: `Some` may be left out.
pub(super) fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// Refuses replays of another format, which may have other fields.
pub(super) fn check_format(text: &str, path: &Path) -> Result<(), ScriptError> {
    #[derive(Deserialize)]
    struct Versions {
        recorded: Option<Version>,
    }
    #[derive(Deserialize)]
    struct Version {
        format: u32,
        #[serde(default)]
        cubewire: String,
    }
    // What is no RON at all is named by whoever reads the rest.
    let Ok(versions) = ron_options().from_str::<Versions>(text) else {
        return Ok(());
    };
    match versions.recorded {
        Some(Version { format, cubewire }) if format != FORMAT => Err(ScriptError::OtherFormat {
            path: path.to_owned(),
            cubewire,
            format,
        }),
        _ => Ok(()),
    }
}

impl Script {
    /// CRC-32 of everything but the checksum.
    fn checksum(&self) -> u32 {
        let mut script = self.clone();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = 0;
        }
        let text = ron_options().to_string(&script);
        crc32fast::hash(text.unwrap_or_default().as_bytes())
    }

    /// Whether a replay is as it was written.
    pub(super) fn check_sum(&self, path: &Path) -> Result<(), ScriptError> {
        let Some(recorded) = &self.recorded else {
            return Ok(());
        };
        let (wanted, found) = (recorded.checksum, self.checksum());
        if wanted == found {
            return Ok(());
        }
        Err(ScriptError::Damaged {
            path: path.to_owned(),
            found,
            wanted,
        })
    }

    /// Writes the script to a file, which appears whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written, or is longer than what is read again.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let pretty = PrettyConfig::new()
            .depth_limit(2)
            .extensions(Extensions::empty());
        let text = ron_options()
            .to_string_pretty(self, pretty)
            .map_err(io::Error::other)?;
        let about = "// A replay of the cubes: `cubewire play FILE` shows it.\n";
        let text = format!("{about}{text}\n");
        if text.len() as u64 > LONGEST_FILE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        write_whole(path, text.as_bytes())
    }
}
