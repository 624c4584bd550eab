//! What can go wrong, in one line each.

use std::io;
use std::path::PathBuf;

use crate::recording::RecordingError;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabError {
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("{path}: cannot be drawn: {reason}")]
    Plot { path: PathBuf, reason: String },
    #[error("{path}: {reason}")]
    Prior { path: PathBuf, reason: String },
    #[error(
        "{path}: the prior was trained on this recording: measure it with another --prior, or say \
         --allow-trained"
    )]
    Trained { path: PathBuf },
    #[error("{path}: the same recording cannot be learned from and measured")]
    TrainedAndMeasured { path: PathBuf },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("standard output: {0}")]
    Json(#[from] serde_json::Error),
    #[error("{codec}: a delivered packet did not decode to its frame")]
    Lossy { codec: &'static str },
}

impl LabError {
    /// Whether the reader of standard output has simply had enough.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        let kind = match self {
            Self::Output(error) => Some(error.kind()),
            Self::Json(error) => error.io_error_kind(),
            _ => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }
}
