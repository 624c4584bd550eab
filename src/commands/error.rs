//! Why a command failed, as a one-line message.

use std::io;
use std::path::{Path, PathBuf};

use cubewire_link::TraceError;

use super::headless::capture::CaptureError;
use super::security::NoKey;
use crate::game::GameError;
use crate::game::desktop::record::RecordError;
use crate::game::desktop::screenshots::ScreenshotError;
use crate::game::desktop::series::SeriesError;
use crate::game::desktop::stop;
use crate::game::window::WindowError;
use crate::recording::{Difference, ScriptError};
use crate::transport::udp::{ServeError, ViewError};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// Settings of a lane cannot be written.
    #[error(transparent)]
    Settings(#[from] cubewire_text::TextError),
    /// A trace of delays cannot be read.
    #[error("{}: {source}", path.display())]
    Trace {
        /// The file.
        path: PathBuf,
        /// Why.
        source: TraceError,
    },
    /// The skipped time does not fit the play.
    #[error("--skip: {value} is not {legal}")]
    Skip {
        /// Seconds.
        value: f64,
        /// What is legal.
        legal: &'static str,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The play cannot be captured.
    #[error(transparent)]
    Capture(#[from] CaptureError),
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
    /// A script was given as a replay.
    #[error("{}: this is a script, not a replay; play it with --script", path.display())]
    NotAReplay {
        /// The file.
        path: PathBuf,
    },
    /// The states of a replay differ from the recorded ones.
    #[error(transparent)]
    Replay(#[from] Difference),
    /// Nothing was recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No pictures, or not all.
    #[error(transparent)]
    Screenshots(#[from] ScreenshotError),
    /// A series was not recorded, or not all of it.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// There is no key.
    #[error(transparent)]
    Key(#[from] NoKey),
    /// An address cannot be resolved.
    #[error("--connect: {given}: {reason}")]
    Address {
        /// What was given.
        given: String,
        /// Why.
        reason: String,
    },
    /// Viewers cannot be admitted.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The server cannot be viewed.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The viewer was not admitted until it ended.
    #[error("never connected: {0}")]
    NeverConnected(String),
    /// The connection to the server was lost.
    #[error("{0}")]
    ConnectionLost(String),
    /// The game failed.
    #[error(transparent)]
    Game(#[from] GameError),
    /// The window failed.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// Snapshots did not arrive as they were sent.
    #[error(
        "{wrong} snapshots were decoded to something other than what was sent, {refused} were refused"
    )]
    Faulty {
        /// Snapshots.
        wrong: u64,
        /// Packets.
        refused: u64,
    },
    /// A budget for a rung of which every packet carries every cube, or none.
    #[error("`--budget` needs a rung that lists changed cubes, which `{0}` does not")]
    NoBudget(&'static str),
    /// The program was told to end.
    #[error("it was stopped before anything was measured")]
    Stopped,
    /// Standard output is closed or full.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl CommandError {
    /// An error in writing this file.
    pub(super) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Unwritable { path, source }
    }

    /// Fails if snapshots were decoded to something else, or refused, where no sender is hostile.
    pub(super) fn check_faultless(wrong: u64, refused: u64) -> Result<(), Self> {
        match wrong + refused {
            0 => Ok(()),
            _ => Err(Self::Faulty { wrong, refused }),
        }
    }

    /// Whether nobody reads standard output any more: its reader has closed it, or the program was told to end,
    /// perhaps because its terminal was closed.
    #[must_use]
    pub fn is_closed_output(&self) -> bool {
        let (Self::Output(error) | Self::Series(SeriesError::Output(error))) = self else {
            return false;
        };
        error.kind() == io::ErrorKind::BrokenPipe || stop::is_told()
    }

    /// Whether there is no result because the program was told to end.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Stopped
                | Self::Record(RecordError::Stopped)
                | Self::Series(SeriesError::Record(RecordError::Stopped))
                | Self::Screenshots(ScreenshotError::Stopped)
        )
    }
}
