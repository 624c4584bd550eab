//! Offers files as downloads of the page.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::page;

/// A file in memory. [`finish`](Self::finish) downloads it under the last part of its path. If it is dropped before, it
/// is discarded.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    bytes: Cursor<Vec<u8>>,
}

impl NewFile {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), bytes: Cursor::default() })
    }

    /// Creates a file with the next name of the form `cubewire-1.ron`. The browser changes the name if it exists.
    pub(crate) fn create_numbered(_: &Path, extension: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::create(Path::new(&format!("cubewire-{number}.{extension}")))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn finish(self) -> io::Result<PathBuf> {
        let name = self.path.file_name();
        let name = name.ok_or(io::ErrorKind::InvalidFilename)?;
        page::download(&name.to_string_lossy(), self.bytes.get_ref());
        Ok(self.path)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// Returns the text unchanged, because a browser has no error codes of an operating system.
pub(super) fn without_codes(text: &str) -> String {
    text.to_owned()
}

pub(crate) fn recall(path: &Path) -> io::Result<String> {
    let text = page::recall(&path.to_string_lossy());
    text.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Stores settings for this page in the browser, if it allows that.
pub(crate) fn remember(path: &Path, text: &str) -> io::Result<()> {
    page::remember(&path.to_string_lossy(), text);
    Ok(())
}
