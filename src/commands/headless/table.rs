//! Writes what is measured as a table.

use std::path::{Path, PathBuf};

use cubewire_protocol::RECEIVER_RING;

use crate::files::{FileError, NewFile};
use crate::game::Failure;
use crate::recording::export::CsvRows;
use crate::replication::LaneMeter;

/// A table that is being written; the file gets its name once it is finished.
pub(super) struct Table {
    path: PathBuf,
    rows: CsvRows<NewFile>,
    /// Ticks at the end of the meter that are not yet written, as their snapshots may still arrive.
    waiting: usize,
}

/// Ticks after which a snapshot is refused, if it arrives at all. The meter keeps more.
const MAX_WAITING: usize = RECEIVER_RING;

impl Table {
    /// Begins a table.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let rows = NewFile::create(path).and_then(CsvRows::begin);
        Ok(Self {
            path: path.to_owned(),
            rows: rows.map_err(FileError::at(path))?,
            waiting: 0,
        })
    }

    /// Adds the newest tick.
    pub(super) fn add(&mut self, meter: &LaneMeter) -> Result<(), Failure> {
        self.waiting += 1;
        self.write_down_to(MAX_WAITING, meter)
    }

    /// Puts the file in its place.
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
