//! Where files go: to disk, where each appears whole or not at all; in a browser, to its downloads.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

#[cfg(not(target_family = "wasm"))]
mod disk;
#[cfg(not(target_family = "wasm"))]
pub use disk::FileError;
#[cfg(not(target_family = "wasm"))]
pub(crate) use disk::{NewFile, is_for_others, recall, remember, write_private, write_whole};

#[cfg(target_family = "wasm")]
mod downloads;
#[cfg(target_family = "wasm")]
pub(crate) use downloads::{NewFile, recall, remember};

/// Reads a text.
///
/// # Errors
/// Also if it is longer than `bytes`. No more than that is read: the path may be a device.
pub(crate) fn read_at_most(path: &Path, bytes: u64) -> io::Result<String> {
    read_open(File::open(path)?, bytes)
}

/// As [`read_at_most`], of a file that is open.
pub(crate) fn read_open(file: File, bytes: u64) -> io::Result<String> {
    let mut text = String::new();
    file.take(bytes.saturating_add(1))
        .read_to_string(&mut text)?;
    if text.len() as u64 > bytes {
        let reason = format!("longer than {bytes} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(text)
}
