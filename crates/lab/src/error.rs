//! Errors of the commands, each with a one-line message.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use cubewire_codec::IllegalStages;
use cubewire_recording::RecordingError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum LabError {
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("{path}: cannot be read: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("{path}: cannot be read as a model: {reason}")]
    Model { path: PathBuf, reason: String },
    #[error("{path}: the model was trained on this recording; choose another one with --model")]
    Trained { path: PathBuf },
    #[error("{codec} cannot encode a recording of the scene {scene}: {reason}")]
    NotInScene { codec: &'static str, scene: String, reason: IllegalStages },
    #[error(
        "{first} and {other} are recordings of different scenes; a model is trained for one scene"
    )]
    DifferentScenes { first: PathBuf, other: PathBuf },
    #[error("{path}: the recording to measure must not be one of the training recordings")]
    TrainedAndMeasured { path: PathBuf },
    #[error("{document}: no {what}")]
    Lacking { document: &'static str, what: String },
    #[error("{title}: the command failed ({status}): {reason}")]
    Command { title: String, status: ExitStatus, reason: String },
    #[error("outdated figures: {differing}; update them with `cubewire-lab figures`")]
    OldFigures { differing: String },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("{codec}: a received packet did not decode to its frame")]
    Lossy { codec: &'static str },
}

/// Returns a function that wraps the error of a file that cannot be read.
pub(crate) fn unreadable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> LabError {
    let path = path.into();
    move |source| LabError::Unreadable { path, source }
}

/// Returns a function that wraps the error of a file that cannot be written.
pub(crate) fn unwritable(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> LabError {
    let path = path.into();
    move |source| LabError::Unwritable { path, source }
}

impl LabError {
    /// Whether the reader of standard output closed it. This is not a failure.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
