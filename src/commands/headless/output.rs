//! Files of a run, which get their names when they are finished: the simulated states as a recording, which starts with six
//! frames of the initial state, and the measurements as a table.

use std::path::{Path, PathBuf};

use cubewire_codec::{Plan, QuantizedSnapshot, Snapshot, ladder};
use cubewire_protocol::RECEIVER_RING;
use cubewire_recording::{BASELINE_FRAMES, RecordingFile, Writer};

use crate::files::{FileError, NewFile};
use crate::game::Failure;
use crate::recording::export::CsvRows;
use crate::replication::LaneMeter;
use crate::simulation::CubeWorld;

pub(super) struct Capture {
    path: PathBuf,
    writer: Writer<RecordingFile>,
    quantized: QuantizedSnapshot,
}

impl Capture {
    pub(super) fn create(path: &Path, initial: &CubeWorld) -> Result<Self, Failure> {
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

pub(super) struct Table {
    path: PathBuf,
    rows: CsvRows<NewFile>,
    /// Number of newest ticks in the meter that are not yet written, because their snapshots may still arrive.
    waiting: usize,
}

/// Age in ticks at which the receiver refuses a snapshot. The meter keeps more ticks than this.
const MAX_WAITING: usize = RECEIVER_RING;

impl Table {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let rows = NewFile::create(path).and_then(CsvRows::begin);
        Ok(Self { path: path.to_owned(), rows: rows.map_err(FileError::at(path))?, waiting: 0 })
    }

    pub(super) fn add(&mut self, meter: &LaneMeter) -> Result<(), Failure> {
        self.waiting += 1;
        self.write_down_to(MAX_WAITING, meter)
    }

    /// Writes the remaining ticks, completes the file and gives it its name.
    pub(super) fn finish(mut self, meter: &LaneMeter) -> Result<(), Failure> {
        self.write_down_to(0, meter)?;
        let finished = self.rows.finish().and_then(NewFile::finish);
        finished.map_err(FileError::at(&self.path))?;
        Ok(())
    }

    fn write_down_to(&mut self, waiting: usize, meter: &LaneMeter) -> Result<(), Failure> {
        let due = self.waiting.saturating_sub(waiting);
        for sample in meter.newest(self.waiting).take(due) {
            let added = self.rows.add(sample);
            added.map_err(FileError::at(&self.path))?;
        }
        self.waiting -= due;
        Ok(())
    }
}
