//! Scripts of keys by tick, as RON files; a replay is a script that was written down while somebody
//! played.
//!
//! ```ron
//! (
//!     ticks: 240, // four seconds, then it starts again
//!     right: "rung:uncompressed", // what the halves show; may be left out
//!     steps: [
//!         (at: 60, hold: [Right]),
//!         (at: 120, hold: [Right, Gather], right: "rung:delta"),
//!         (at: 180, hold: []),
//!     ],
//! )
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cubewire_scene::Keys;
use serde::{Deserialize, Serialize};

use super::replay::{self, FORMAT, Recorded, ron_options};
use crate::replication::{Half, Side};

/// Bytes: many hours of play.
pub(super) const LONGEST_FILE: u64 = 16 << 20;

/// What is held from when on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Length in ticks; after that it starts again. At least 1 in a file; nobody presses anything in
    /// the default, which has none.
    pub ticks: u64,
    /// Ticks at the start that lead up to what is to be seen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lead_in: u64,
    /// What the left half shows at the start.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: Option<Box<Half>>,
    /// What the right half shows at the start: a lane.
    #[serde(default, skip_serializing_if = "is_default")]
    pub right: Option<Box<Half>>,
    /// In the order of their ticks.
    pub steps: Vec<Step>,
    /// What a replay says of the play that it was written down from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub recorded: Option<Recorded>,
}

/// A change of what is held, or of what is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The tick, counted from 0, at which it happens.
    pub at: u64,
    /// Held from then on until another step says otherwise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hold: Option<Vec<Key>>,
    /// Whether R is pressed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reset: bool,
    /// What the left half shows from then on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub left: Option<Box<Half>>,
    /// What the right half shows from then on: a lane.
    #[serde(default, skip_serializing_if = "is_default")]
    pub right: Option<Box<Half>>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A key that can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Key {
    /// The left arrow.
    Left,
    /// The right arrow.
    Right,
    /// The up arrow.
    Up,
    /// The down arrow.
    Down,
    /// Space.
    Blow,
    /// Z: katamari.
    Gather,
}

impl Key {
    /// Those that are held.
    pub(super) fn of(held: Keys) -> Vec<Self> {
        let keys = [
            (held.left, Self::Left),
            (held.right, Self::Right),
            (held.up, Self::Up),
            (held.down, Self::Down),
            (held.blow, Self::Blow),
            (held.gather, Self::Gather),
        ];
        let held = keys.into_iter().filter(|(is_held, _)| *is_held);
        held.map(|(_, key)| key).collect()
    }
}

/// Why a file is no script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not RON, or has a key or a field that scripts do not have.
    #[error("{}:{source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Why and where: `line:column: what`.
        source: Box<ron::error::SpannedError>,
    },
    /// A step is not later than the one before it.
    #[error("{}: step {step}: tick {at} does not come after tick {before}", path.display())]
    Order {
        /// The file.
        path: PathBuf,
        /// Which step, counted from 1.
        step: usize,
        /// Its tick.
        at: u64,
        /// The tick of the step before it.
        before: u64,
    },
    /// A step would never happen.
    #[error("{}: step {step}: tick {at} is not before the end, tick {ticks}", path.display())]
    AfterEnd {
        /// The file.
        path: PathBuf,
        /// Which step, counted from 1.
        step: usize,
        /// Its tick.
        at: u64,
        /// Length of the script.
        ticks: u64,
    },
    /// The right half shows no lane.
    #[error("{}: the right half shows a lane, not the simulation", path.display())]
    NoLane {
        /// The file.
        path: PathBuf,
    },
    /// More than a script ever is.
    #[error("{}: a script has {LONGEST_FILE} bytes at most, and this is longer", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// A replay is not what was written down.
    #[error("{}: the replay is damaged: its checksum is {found:08x} and should be {wanted:08x}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Of the contents.
        found: u32,
        /// As the file says.
        wanted: u32,
    },
    /// A replay was written down by another version, in another way.
    #[error(
        "{}: the replay was recorded by cubewire {cubewire}, in format {format}; this is \
         cubewire {} and plays format {FORMAT}",
        path.display(),
        env!("CARGO_PKG_VERSION")
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Which version.
        cubewire: String,
        /// Which format.
        format: u32,
    },
    /// There is nothing to be seen.
    #[error("{}: lead_in: {lead_in} ticks of {ticks} leave none", path.display())]
    LeadIn {
        /// The file.
        path: PathBuf,
        /// Ticks.
        lead_in: u64,
        /// Length of the script.
        ticks: u64,
    },
    /// It has no length.
    #[error("{}: ticks must be at least 1", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ScriptError`], naming the file and the place.
    pub fn load(path: &Path) -> Result<Self, ScriptError> {
        let unreadable = |source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        };
        // Whatever a file says of its length, it may be a device.
        let mut file = File::open(path).map_err(unreadable)?.take(LONGEST_FILE + 1);
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > LONGEST_FILE {
            return Err(ScriptError::TooLong {
                path: path.to_owned(),
            });
        }
        Self::parse(&text, path)
    }

    /// Reads the contents of a file; `path` is for the messages.
    ///
    /// # Errors
    /// [`ScriptError`], naming the file and the place.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        replay::check_format(text, path)?;
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

    /// What is held during a tick; nothing before the first step.
    #[must_use]
    pub fn keys_at(&self, tick: u64) -> Keys {
        let after = self.steps.partition_point(|step| step.at <= tick);
        let mut before = self.steps[..after].iter().rev();
        let held: &[Key] = before.find_map(|step| step.hold.as_deref()).unwrap_or(&[]);
        Keys {
            left: held.contains(&Key::Left),
            right: held.contains(&Key::Right),
            up: held.contains(&Key::Up),
            down: held.contains(&Key::Down),
            blow: held.contains(&Key::Blow),
            gather: held.contains(&Key::Gather),
        }
    }

    /// Whether R is pressed at this tick.
    #[must_use]
    pub fn resets_at(&self, tick: u64) -> bool {
        self.step_at(tick).is_some_and(|step| step.reset)
    }

    /// What a half changes to at this tick.
    #[must_use]
    pub fn half_at(&self, tick: u64, side: Side) -> Option<&Half> {
        let step = self.step_at(tick)?;
        match side {
            Side::Left => step.left.as_deref(),
            Side::Right => step.right.as_deref(),
        }
    }

    /// What a half shows at the start, if the script says.
    #[must_use]
    pub fn half_at_start(&self, side: Side) -> Option<&Half> {
        match side {
            Side::Left => self.left.as_deref(),
            Side::Right => self.right.as_deref(),
        }
    }

    fn step_at(&self, tick: u64) -> Option<&Step> {
        let step = self.steps.binary_search_by_key(&tick, |step| step.at);
        Some(&self.steps[step.ok()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Script, String> {
        Script::parse(text, Path::new("a.ron")).map_err(|error| error.to_string())
    }

    #[test]
    fn keys_are_held_from_their_step_until_the_next() {
        let script = parse("(ticks: 9, steps: [(at: 2, hold: [Right, Blow]), (at: 5, hold: [])])");
        let script = script.unwrap();
        assert_eq!(script.keys_at(1), Keys::default());
        let keys = Keys {
            right: true,
            blow: true,
            ..Keys::default()
        };
        assert_eq!(script.keys_at(2), keys);
        assert_eq!(script.keys_at(4), keys);
        assert_eq!(script.keys_at(5), Keys::default());
    }

    #[test]
    fn a_reset_happens_at_its_tick_alone() {
        let script = parse("(ticks: 9, steps: [(at: 2, hold: [], reset: true)])").unwrap();
        assert_eq!(
            [1, 2, 3].map(|tick| script.resets_at(tick)),
            [false, true, false]
        );
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let error = parse("(ticks: 9, steps: [\n  (at: 2, hold: [Rihgt]),\n])").unwrap_err();
        assert!(
            error.starts_with("a.ron:2:") && error.contains("Rihgt"),
            "{error}"
        );
        let error = parse("(ticks: 9, steps: [(at: 5, hold: []), (at: 5, hold: [])])");
        assert_eq!(
            error.unwrap_err(),
            "a.ron: step 2: tick 5 does not come after tick 5"
        );
        let error = parse("(ticks: 9, steps: [(at: 9, hold: [])])").unwrap_err();
        assert_eq!(error, "a.ron: step 1: tick 9 is not before the end, tick 9");
        assert_eq!(
            parse("(ticks: 0, steps: [])").unwrap_err(),
            "a.ron: ticks must be at least 1"
        );
    }
}
