//! Output file of a recording.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use cubewire_files::NewFile;

use crate::has_zstd_name;

/// A compromise of size and speed.
const ZSTD_LEVEL: i32 = 9;

/// An output file, compressed if its name ends in `.zst`. It gets its name when it is finished.
pub struct RecordingFile(Output);

enum Output {
    Plain(NewFile),
    Zstd(zstd::Encoder<'static, NewFile>),
}

impl RecordingFile {
    /// Starts a file.
    ///
    /// # Errors
    /// Any error of [`NewFile::create`].
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = NewFile::create(path)?;
        Ok(Self(match has_zstd_name(path) {
            true => Output::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?),
            false => Output::Plain(file),
        }))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If writing the remaining bytes fails.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Output::Plain(file) => file.finish(),
            Output::Zstd(file) => file.finish().and_then(NewFile::finish),
        }
        .map(drop)
    }
}

impl Write for RecordingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Output::Plain(file) => file.write(bytes),
            Output::Zstd(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Output::Plain(file) => file.flush(),
            Output::Zstd(file) => file.flush(),
        }
    }
}

impl fmt::Debug for RecordingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingFile").finish_non_exhaustive()
    }
}
