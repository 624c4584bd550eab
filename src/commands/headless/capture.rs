//! Writes the simulated states as a recording, which starts with six frames of the initial state.

use std::path::{Path, PathBuf};

use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_recording::{BASELINE_FRAMES, RecordingFile, Writer};

use crate::files::FileError;
use crate::game::Failure;
use crate::simulation::CubeWorld;

/// A recording in progress. The file gets its name when it is finished.
pub(super) struct Capture {
    path: PathBuf,
    writer: Writer<RecordingFile>,
    quantized: QuantizedSnapshot,
}

impl Capture {
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

    pub(super) fn add(&mut self, snapshot: &Snapshot) -> Result<(), Failure> {
        self.quantized.quantize(snapshot, ladder::POSITION.stages.precision())?;
        let written = self.writer.frame(&self.quantized);
        Ok(written.map_err(FileError::at(&self.path))?)
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        let finished = self.writer.into_inner().finish();
        Ok(finished.map_err(FileError::at(&self.path))?)
    }
}
