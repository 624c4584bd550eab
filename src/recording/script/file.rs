//! Scripts and replays as RON files: reading, checking, writing.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::Deserialize;

use super::{Half, MAX_TICKS, Script, ScriptError, Step};
use crate::files::{NewFile, read_at_most};

/// Size of a file, at most: many hours of play.
pub(super) const MAX_FILE_BYTES: u64 = 16 << 20;

/// Format of replays. Incremented when older replays no longer reproduce the same states.
pub(in crate::recording) const FORMAT: u32 = 1;

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ScriptError`], with the file and the position in it.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let text = read_at_most(path, MAX_FILE_BYTES).map_err(|error| match error.kind() {
            // Not UTF-8.
            io::ErrorKind::InvalidData => ScriptError::NotAScript {
                path: path.to_owned(),
            },
            io::ErrorKind::FileTooLarge => ScriptError::TooLong {
                path: path.to_owned(),
            },
            _ => unreadable(error),
        })?;
        Self::parse(&text, path)
    }

    /// Parses the contents of a file; `path` is only used in error messages.
    ///
    /// # Errors
    /// [`ScriptError`], with the file and the position in it.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        if !begins_like_a_script(text) {
            let path = path.to_owned();
            return Err(ScriptError::NotAScript { path });
        }
        check_format(text, path)?;
        let script: Self = ron_options()
            .from_str(text)
            .map_err(|source| ScriptError::Syntax {
                path: path.to_owned(),
                source: Box::new(source),
            })?;
        script.check_sum(path)?;
        let path = || path.to_owned();
        let mut right = script.steps.iter().map(|step| &step.right);
        let is_lane = |half: &Option<Box<Half>>| half.as_deref() != Some(&Half::Simulation);
        if !is_lane(&script.right) || !right.all(is_lane) {
            return Err(ScriptError::NoLane { path: path() });
        }
        if script.ticks == 0 {
            return Err(ScriptError::Empty { path: path() });
        }
        if script.ticks > MAX_TICKS {
            let ticks = script.ticks;
            return Err(ScriptError::TooManyTicks {
                path: path(),
                ticks,
            });
        }
        let mut before = None;
        for (index, &Step { at, .. }) in script.steps.iter().enumerate() {
            let step = index + 1;
            if let Some(before) = before.filter(|&before| at <= before) {
                return Err(ScriptError::Order {
                    path: path(),
                    step,
                    at,
                    before,
                });
            }
            if at >= script.ticks {
                return Err(ScriptError::AfterEnd {
                    path: path(),
                    step,
                    at,
                    ticks: script.ticks,
                });
            }
            before = Some(at);
        }
        if script.lead_in >= script.ticks {
            return Err(ScriptError::LeadIn {
                path: path(),
                lead_in: script.lead_in,
                ticks: script.ticks,
            });
        }
        Ok(script)
    }
}

/// The RON dialect of scripts: `Some` may be omitted.
fn ron_options() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME)
}

/// Whether the first mark after spaces and comments is the parenthesis of a RON struct, which may follow
/// its name and attributes.
fn begins_like_a_script(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let end = match rest {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => break,
        };
        rest = rest[end..].trim_start();
    }
    let rest = rest.strip_prefix("Script").unwrap_or(rest).trim_start();
    rest.starts_with('(') || rest.starts_with("#![")
}

/// Rejects replays of another format, which may have other fields.
fn check_format(text: &str, path: &Path) -> Result<(), ScriptError> {
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
    // A syntax error is reported when the whole file is parsed.
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
    pub(in crate::recording) fn checksum(&self) -> u32 {
        let mut script = self.clone();
        if let Some(recorded) = &mut script.recorded {
            recorded.checksum = 0;
        }
        let text = ron_options().to_string(&script);
        crc32fast::hash(text.unwrap_or_default().as_bytes())
    }

    /// Verifies the checksum of a replay.
    fn check_sum(&self, path: &Path) -> Result<(), ScriptError> {
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

    /// Writes the script to a file.
    ///
    /// # Errors
    /// If the file cannot be written, or would be longer than [`load`](Self::load) accepts.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        self.write(NewFile::create(path)?).map(drop)
    }

    /// Writes the script as [`save`](Self::save) does, and returns where it is.
    pub(in crate::recording) fn write(&self, mut file: NewFile) -> io::Result<PathBuf> {
        let pretty = PrettyConfig::new()
            .depth_limit(2)
            .extensions(Extensions::empty());
        let text = ron_options()
            .to_string_pretty(self, pretty)
            .map_err(io::Error::other)?;
        let about = "// A replay of the cubes: `cubewire play FILE` shows it.\n";
        let text = format!("{about}{text}\n");
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        file.write_all(text.as_bytes())?;
        file.finish()
    }
}
