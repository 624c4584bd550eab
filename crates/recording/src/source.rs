//! Reads bytes and tracks the offset, which errors name.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

/// Error about a file that is not a valid recording. The message has the path, the fault, and its offset in bytes of the
/// decompressed file.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {fault}")]
pub struct RecordingError {
    path: PathBuf,
    fault: String,
}

impl RecordingError {
    pub(crate) fn new(path: &Path, fault: impl Into<String>) -> Self {
        Self { path: path.to_owned(), fault: fault.into() }
    }

    pub(crate) fn unopenable(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::new(path, format!("cannot be opened: {error}"))
    }
}

/// Contents of a file that are not yet read.
pub(crate) struct Source<'a, R> {
    reader: R,
    path: &'a Path,
    /// Number of bytes read so far.
    pub(crate) offset: usize,
}

impl<'a, R: BufRead> Source<'a, R> {
    pub(crate) const fn new(reader: R, path: &'a Path) -> Self {
        Self { reader, path, offset: 0 }
    }

    pub(crate) fn fault(&self, fault: impl Into<String>) -> RecordingError {
        RecordingError::new(self.path, fault)
    }

    pub(crate) fn is_at_end(&mut self) -> Result<bool, RecordingError> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(bytes.is_empty()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(error)),
            }
        }
    }

    /// Fills `bytes`. Returns false if the file ends before.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, RecordingError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => return Ok(false),
                Ok(read) => {
                    filled += read;
                    self.offset += read;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(error)),
            }
        }
        Ok(true)
    }

    fn unreadable(&self, error: io::Error) -> RecordingError {
        self.fault(format!("cannot be read at offset {} of its contents: {error}", self.offset))
    }
}
