//! Scripts of keys by tick, as RON files.
//!
//! ```ron
//! (
//!     ticks: 240, // four seconds, then it starts again
//!     steps: [
//!         (at: 60, hold: [Right]),
//!         (at: 120, hold: [Right, Gather]),
//!         (at: 180, hold: []),
//!     ],
//! )
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cubewire_scene::Keys;
use serde::{Deserialize, Serialize};

/// What is held from when on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Length in ticks; after that it starts again. At least 1.
    pub ticks: u64,
    /// In the order of their ticks.
    pub steps: Vec<Step>,
}

/// A change of what is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The tick, counted from 0, at which it happens.
    pub at: u64,
    /// Held from then on until the next step.
    pub hold: Vec<Key>,
    /// Whether R is pressed.
    #[serde(default)]
    pub reset: bool,
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
        let text = fs::read_to_string(path).map_err(|source| ScriptError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Reads the contents of a file; `path` is for the messages.
    ///
    /// # Errors
    /// [`ScriptError`], naming the file and the place.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        let script: Self = ron::from_str(text).map_err(|source| ScriptError::Syntax {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        let path = || path.to_owned();
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
        Ok(script)
    }

    /// What is held during a tick; nothing before the first step.
    #[must_use]
    pub fn keys_at(&self, tick: u64) -> Keys {
        let after = self.steps.partition_point(|step| step.at <= tick);
        let held: &[Key] = match after.checked_sub(1) {
            Some(step) => &self.steps[step].hold,
            None => &[],
        };
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
        let step = self.steps.binary_search_by_key(&tick, |step| step.at);
        step.is_ok_and(|step| self.steps[step].reset)
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
