//! Reads, checks and writes scripts and replays as RON files.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cubewire_scene::MAX_PLAYERS;
use ron::error::{Error, SpannedError};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{HASH_EVERY, MAX_TICKS, PaneContent, Script, Step};
use crate::files::{FileError, NewFile, read_at_most};

/// Maximum file size in bytes, enough for many hours of play.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Format version of replays. Incremented when older replays no longer reproduce the same states.
pub(in crate::recording) const FORMAT: u32 = 1;

/// A script cannot be loaded. Has the file, the position in it, and the reason.
#[derive(Debug, thiserror::Error)]
#[error("{}:{reason}", path.display())]
pub struct ScriptError {
    path: PathBuf,
    /// Starts with the line and column, or with a space.
    reason: String,
}

const NO_SCRIPT: &str = " not a script or a replay, which are RON files, for example \
                         `(ticks: 240, steps: [(at: 60, hold: [Right])])`";

impl Script {
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let text = read_at_most(path, MAX_FILE_BYTES).map_err(|error| {
            let reason = match error.kind() {
                // The file is not UTF-8.
                io::ErrorKind::InvalidData => NO_SCRIPT.to_owned(),
                io::ErrorKind::FileTooLarge => {
                    format!(" the file is too long: a script has at most {MAX_FILE_BYTES} bytes")
                }
                _ => format!(" {error}"),
            };
            let path = path.to_owned();
            ScriptError { path, reason }
        });
        Self::parse(&text?, path)
    }

    /// Parses and checks the contents of a file. `path` is only used in error messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        let path = path.to_owned();
        Self::checked(text).map_err(|reason| ScriptError { path, reason })
    }

    fn checked(text: &str) -> Result<Self, String> {
        let read = ron_options().from_str::<Self>(text);
        let script = read.map_err(|error| why_refused(text, &error))?;
        if let Some(recorded) = &script.recorded {
            check_version(recorded.format, &recorded.cubewire)?;
            let (wanted, found) = (recorded.checksum, script.checksum());
            if wanted != found {
                return Err(format!(
                    " the replay is damaged: its checksum is {found:08x} and should be {wanted:08x}"
                ));
            }
        }
        let mut right = script.steps.iter().map(|step| &step.right);
        let is_lane = |content: &Option<Box<PaneContent>>| {
            content.as_deref() != Some(&PaneContent::Simulation)
        };
        if !is_lane(&script.right) || !right.all(is_lane) {
            return Err(" the right half must show a lane, not the simulation".to_owned());
        }
        let ticks = script.ticks;
        if ticks == 0 {
            return Err(" ticks must be at least 1".to_owned());
        }
        if ticks > MAX_TICKS {
            return Err(format!(" ticks must be at most {MAX_TICKS} (one day), not {ticks}"));
        }
        if let Some(recorded) = &script.recorded {
            let (found, wanted) = (recorded.states.len() as u64, ticks.div_ceil(HASH_EVERY));
            if found != wanted {
                return Err(format!(
                    " {STATES}{found} hashes, but a replay of {ticks} ticks has {wanted}"
                ));
            }
        }
        let players = script.players();
        if !(1..=MAX_PLAYERS).contains(&players) {
            return Err(format!(" players must be 1 to {MAX_PLAYERS}, not {players}"));
        }
        for (step, keys) in script.steps.iter().enumerate() {
            let mut others = keys.others.keys();
            let Some(player) = others.find(|&&it| !(2..=players).contains(&it.into())) else {
                continue;
            };
            return Err(match player {
                1 => format!(
                    " {STEP}{}: the keys of player 1 are not in `others` but in `hold`",
                    step + 1
                ),
                _ => format!(" {STEP}{}: player {player} of {players}", step + 1),
            });
        }
        let late = script.steps.partition_point(|step| step.at < ticks);
        if let Some(Step { at, .. }) = script.steps.get(late) {
            let step = late + 1;
            return Err(format!(" {STEP}{step}: tick {at} is not before the end at tick {ticks}"));
        }
        if script.lead_in >= ticks {
            return Err(format!(
                " lead_in must be less than the {ticks} ticks of the script, not {}",
                script.lead_in
            ));
        }
        Ok(script)
    }
}

/// Prefixes of errors in lists. They need no position, because they have the number of the item.
const STEP: &str = "step ";
const STATES: &str = "states: ";

/// Reads steps and checks that their ticks ascend.
pub(super) fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Step>, D::Error> {
    deserializer.deserialize_seq(Checked(|steps: &[Step], step| {
        let (number, at) = (steps.len() + 1, step.at);
        match steps.last().filter(|before| at <= before.at) {
            Some(Step { at: before, .. }) => {
                Err(format!("{STEP}{number}: tick {at} does not come after tick {before}"))
            }
            None => Ok(()),
        }
    }))
}

/// Reads the hashes of a replay and rejects more than the longest replay has.
pub(super) fn states<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    const MOST: u64 = MAX_TICKS.div_ceil(HASH_EVERY);
    deserializer.deserialize_seq(Checked(|states: &[u64], _| match (states.len() as u64) < MOST {
        true => Ok(()),
        false => Err(format!("{STATES}more than {MOST} hashes")),
    }))
}

/// Reads a list, and checks each item against the earlier ones.
struct Checked<T>(fn(&[T], &T) -> Result<(), String>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Checked<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            (self.0)(&items, &item).map_err(de::Error::custom)?;
            items.push(item);
        }
        Ok(items)
    }
}

/// Reason why a text cannot be read. A replay of another format version can have other fields, so the version is
/// checked first.
fn why_refused(text: &str, error: &SpannedError) -> String {
    if let Error::Message(reason) = &error.code
        && [STEP, STATES].iter().any(|start| reason.starts_with(start))
    {
        return format!(" {reason}");
    }
    match (check_format(text), &error.code) {
        (Err(reason), _) => reason,
        (
            Ok(()),
            Error::ExpectedAttribute
            | Error::ExpectedNamedStructLike(_)
            | Error::ExpectedDifferentStructName { .. },
        ) => format!("{}:{NO_SCRIPT}", error.span.start),
        _ => error.to_string(),
    }
}

fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

fn check_format(text: &str) -> Result<(), String> {
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
    // The caller has already found a syntax error.
    let Ok(versions) = ron_options().from_str::<Versions>(text) else { return Ok(()) };
    match versions.recorded {
        Some(Version { format, cubewire }) => check_version(format, &cubewire),
        None => Ok(()),
    }
}

fn check_version(format: u32, cubewire: &str) -> Result<(), String> {
    if format == FORMAT {
        return Ok(());
    }
    Err(format!(
        " the replay was recorded by cubewire {cubewire}, in format {format}; this is cubewire {} and plays format {FORMAT}",
        env!("CARGO_PKG_VERSION")
    ))
}

impl Script {
    /// CRC-32 of the script, with 0 as its checksum.
    pub(in crate::recording) fn checksum(&self) -> u32 {
        let mut script = self.clone();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = 0;
        }
        let text = ron_options().to_string(&script);
        crc32fast::hash(text.unwrap_or_default().as_bytes())
    }

    /// Writes the script to a file. Fails if the file would be longer than [`load`](Self::load) accepts.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.write(NewFile::create(path)?).map(drop)
    }

    /// Saves the script under the first free name of the form `cubewire-1.ron` in a folder. Returns its path.
    pub(in crate::recording) fn save_numbered(&self, folder: &Path) -> Result<PathBuf, FileError> {
        let file = NewFile::create_numbered(folder, "ron");
        file.and_then(|file| self.write(file)).map_err(FileError::at(folder))
    }

    fn write(&self, mut file: NewFile) -> io::Result<PathBuf> {
        let pretty = PrettyConfig::new().depth_limit(2).extensions(Extensions::empty());
        let text = ron_options().to_string_pretty(self, pretty).map_err(io::Error::other)?;
        let about = "// A replay of the cubes: `cubewire play FILE` shows it.\n";
        let text = format!("{about}{text}\n");
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.write_all(text.as_bytes())?;
        file.finish()
    }
}
