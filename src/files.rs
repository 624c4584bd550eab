//! Output files and settings: written atomically to disk, or in a browser offered as downloads.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use cubewire_text::file;

#[cfg(not(target_family = "wasm"))]
mod disk;
#[cfg(not(target_family = "wasm"))]
use disk::without_codes;
#[cfg(not(target_family = "wasm"))]
pub(crate) use disk::{NewFile, is_for_others, recall, remember, write_private, write_whole};

#[cfg(target_family = "wasm")]
mod downloads;
#[cfg(target_family = "wasm")]
use downloads::without_codes;
#[cfg(target_family = "wasm")]
pub(crate) use downloads::{NewFile, recall, remember};

#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct FileError {
    path: PathBuf,
    reason: String,
}

impl FileError {
    /// Returns a closure for `map_err` that adds the path.
    pub(crate) fn at<E: Display>(path: &Path) -> impl FnOnce(E) -> Self + use<E> {
        let path = path.to_owned();
        move |reason| Self { path, reason: without_codes(&reason.to_string()) }
    }
}

/// Reads the [text](file::read) of a file. Fails if it is longer than `bytes`. No more bytes are read, because the path may be a
/// device.
pub(crate) fn read_at_most(path: &Path, bytes: u64) -> io::Result<String> {
    read_open(File::open(path)?, bytes)
}

/// Reads an open file as [`read_at_most`] does.
pub(crate) fn read_open(file: File, bytes: u64) -> io::Result<String> {
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > bytes {
        return Err(file::too_long(bytes));
    }
    file::read(file, bytes)
}
