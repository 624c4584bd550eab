//! Temporary files, and what killed programs have left of them.
//!
//! Whoever writes a temporary file holds a lock on it, which ends with its process. So an unlocked one is a
//! leftover.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, TempPath};

/// The names of temporary files: `.cubewire-XXXXXX.part`, with letters and digits.
const PREFIX: &str = ".cubewire-";
const SUFFIX: &str = ".part";
const RANDOM_BYTES: usize = 6;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Those who may read other files of this user: see `umask`.
    All,
    /// Its owner, where there are permissions.
    Owner,
}

/// Creates a temporary file in a folder, and locks it. Removes the leftovers in the folder if this is the first one
/// there.
pub(crate) fn create(folder: &Path, readers: Readers) -> io::Result<(File, TempPath)> {
    // An error below names the temporary file: a missing folder has the system's own words.
    fs::metadata(folder)?;
    remove_once(folder);
    let mut builder = Builder::new();
    builder
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .rand_bytes(RANDOM_BYTES);
    if let Some(permissions) = permissions(readers) {
        builder.permissions(permissions);
    }
    loop {
        let file = builder.tempfile_in(folder);
        let (file, path) = file.map_err(|error| error.kind())?.into_parts();
        match file.try_lock() {
            // Before it was locked, another process may have taken it for a leftover.
            Ok(()) if !path.exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // Where no file can be locked, no leftover is removed.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
}

/// Removes the leftovers in a folder, the first time.
fn remove_once(folder: &Path) {
    static CLEAN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut clean = CLEAN.lock().unwrap_or_else(PoisonError::into_inner);
    if clean.insert(folder.to_owned()) {
        // They disturb nobody: what cannot be removed stays.
        let _ = remove(folder);
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(is_temporary);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = remove_leftover(&entry.path());
        }
    }
    Ok(())
}

/// Removes a temporary file if nobody writes it.
fn remove_leftover(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.try_lock()?;
    // If it has been finished since, there is no such file any more.
    fs::remove_file(path)
}

fn is_temporary(name: &str) -> bool {
    let random = name
        .strip_prefix(PREFIX)
        .and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_BYTES && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A temporary file is its owner's alone, unless told otherwise.
#[cfg(unix)]
fn permissions(readers: Readers) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    (readers == Readers::All).then(|| Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn permissions(_: Readers) -> Option<Permissions> {
    None
}
