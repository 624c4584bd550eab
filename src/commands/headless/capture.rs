//! Writes the simulated states as a recording. The first six frames are the initial state.

use std::io;
use std::path::{Path, PathBuf};

use cubewire_codec::{Plan, QuantizeError, QuantizedSnapshot, Snapshot, ladder};
use cubewire_recording::{BASELINE_FRAMES, RecordingFile, Writer};

use crate::simulation::CubeWorld;

/// Why a play cannot be captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A state cannot be quantized.
    #[error(transparent)]
    Quantize(#[from] QuantizeError),
}

/// A recording that is being written; the file gets its name once it is finished.
pub(super) struct Capture {
    path: PathBuf,
    writer: Writer<RecordingFile>,
    quantized: QuantizedSnapshot,
}

impl Capture {
    /// Begins a recording with the initial state.
    pub(super) fn create(path: &Path) -> Result<Self, CaptureError> {
        let initial = CubeWorld::default();
        let cubes = initial.current().bodies.len();
        let writer = RecordingFile::create(path)
            .and_then(|file| Writer::begin(file, Plan::cubes(), cubes))
            .map_err(|source| unwritable(path, source))?;
        let mut capture = Self {
            path: path.to_owned(),
            writer,
            quantized: QuantizedSnapshot::new(Plan::cubes(), ladder::POSITION.stages.precision()),
        };
        for _ in 0..BASELINE_FRAMES {
            capture.add(initial.current())?;
        }
        Ok(capture)
    }

    /// Appends the state of a tick.
    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), CaptureError> {
        self.quantized
            .quantize(snapshot, ladder::POSITION.stages.precision())?;
        let written = self.writer.frame(&self.quantized);
        written.map_err(|source| unwritable(&self.path, source))
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), CaptureError> {
        let finished = self.writer.into_inner().finish();
        finished.map_err(|source| unwritable(&self.path, source))
    }
}

fn unwritable(path: &Path, source: io::Error) -> CaptureError {
    CaptureError::Unwritable {
        path: path.to_owned(),
        source,
    }
}
