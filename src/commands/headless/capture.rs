//! Writes the simulated states as a recording. The first six frames are the initial state.

use std::path::{Path, PathBuf};

use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_recording::{BASELINE_FRAMES, RecordingFile, Writer};

use crate::files::FileError;
use crate::game::Failure;
use crate::simulation::CubeWorld;

/// A recording that is being written; the file gets its name once it is finished.
pub(super) struct Capture {
    path: PathBuf,
    writer: Writer<RecordingFile>,
    quantized: QuantizedSnapshot,
}

impl Capture {
    /// Begins a recording with the initial state.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let initial = CubeWorld::default();
        let cubes = initial.current().bodies.len();
        let writer = RecordingFile::create(path)
            .and_then(|file| Writer::begin(file, Plan::cubes(), cubes))
            .map_err(FileError::at(path))?;
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
    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        self.quantized
            .quantize(snapshot, ladder::POSITION.stages.precision())?;
        let written = self.writer.frame(&self.quantized);
        Ok(written.map_err(FileError::at(&self.path))?)
    }

    /// Puts the file in its place.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let finished = self.writer.into_inner().finish();
        Ok(finished.map_err(FileError::at(&self.path))?)
    }
}
