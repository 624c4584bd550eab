//! Why a command failed, in one line that names the thing and the place.

use std::io;
use std::path::PathBuf;

use cubewire_link::{PRESETS, TraceError};

use super::serve;
use crate::recording::series::SeriesError;
use crate::recording::{Difference, RecordError, ScriptError, SwitchError};
use crate::replication::{LaneTextError, ServeError, ViewError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The script is not one.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// There is no such network.
    #[error("no network is called `{name}`; there are {}", network_names())]
    UnknownNetwork {
        /// The name that was given.
        name: String,
    },
    /// A trace of delays is none.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// A number is of no use.
    #[error("--{option}: {value} is not {wanted}")]
    Number {
        /// Which option.
        option: &'static str,
        /// What was given.
        value: f64,
        /// What it should be.
        wanted: &'static str,
    },
    /// A size is none.
    #[error("--size: {given} is not a width and a height from 64 to 16384, as in 1280x720")]
    Size {
        /// What was given.
        given: String,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A picture cannot be drawn.
    #[error("{}: {reason}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A text is no lane.
    #[error("--{option}: {source}")]
    Lane {
        /// Which option.
        option: &'static str,
        /// Why.
        source: LaneTextError,
    },
    /// A text is no switch.
    #[error("--at: {0}")]
    Switch(#[from] SwitchError),
    /// A switch would never happen.
    #[error("--at: {text}: the film is over after {seconds} s")]
    LateSwitch {
        /// The switch.
        text: String,
        /// Length of the film.
        seconds: f64,
    },
    /// There is no lane to switch.
    #[error("--at: {text}: the left half shows the simulation, which has nothing to switch")]
    NoLeftLane {
        /// The switch.
        text: String,
    },
    /// The right half is to show the simulation.
    #[error("--right: the right half shows a lane; the simulation is for the left one")]
    RightIsNoLane,
    /// A script is no replay.
    #[error("{}: this is a script, which nobody recorded; play it with --script", path.display())]
    NoReplay {
        /// The file.
        path: PathBuf,
    },
    /// A replay was played, and other states came of it.
    #[error(transparent)]
    Replay(#[from] Difference),
    /// Nothing was recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A series was not, or not all of it.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// A key is missing or none.
    #[error(transparent)]
    Key(#[from] serve::NoKey),
    /// An address is none.
    #[error("--{option}: {given}: {reason}")]
    Address {
        /// Which option.
        option: &'static str,
        /// What was given.
        given: String,
        /// Why.
        reason: String,
    },
    /// Viewers cannot be admitted.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// There is nothing to view.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The game could not be set up.
    #[error("{0}")]
    Game(String),
    /// Standard output is closed or full.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

fn network_names() -> String {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    names.join(", ")
}

impl CommandError {
    /// Whether whoever read standard output has had enough.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        let (Self::Output(error) | Self::Series(SeriesError::Output(error))) = self else {
            return false;
        };
        error.kind() == io::ErrorKind::BrokenPipe
    }
}
