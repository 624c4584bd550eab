//! The file of a recording that is being written.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use cubewire_files::NewFile;

use crate::has_zstd_name;

/// Small, and still quick.
const ZSTD_LEVEL: i32 = 9;

/// A file that is compressed if its name ends in `.zst`. It gets its name once it is finished.
pub struct RecordingFile(Output);

enum Output {
    Plain(NewFile),
    Zstd(zstd::Encoder<'static, NewFile>),
}

impl RecordingFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of [`NewFile::create`].
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = NewFile::create(path)?;
        Ok(Self(match has_zstd_name(path) {
            true => Output::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?),
            false => Output::Plain(file),
        }))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If what is left cannot be written.
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
