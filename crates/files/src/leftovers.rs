//! Creates temporary files, and removes those left by killed programs.
//!
//! The writer of a temporary file holds a lock on it until its process ends. An unlocked temporary file is therefore a
//! leftover.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{Builder, TempPath};

/// Names of temporary files: `.cubewire-XXXXXX.part`, with six letters or digits.
const PREFIX: &str = ".cubewire-";
const SUFFIX: &str = ".part";

/// Creates and locks a temporary file in a folder. `mode` sets its permissions on Unix. The first call for a folder
/// removes its leftovers.
pub(crate) fn create(folder: &Path, mode: u32) -> io::Result<(File, TempPath)> {
    // Check the folder first, because a later error would name the temporary file.
    fs::metadata(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(error.kind(), format!("there is no folder {}", folder.display()))
        }
        _ => error,
    })?;
    static CLEAN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let mut clean = CLEAN.lock().unwrap_or_else(PoisonError::into_inner);
    if clean.insert(folder.to_owned()) {
        remove_all(folder);
    }
    drop(clean);
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    set_mode(&mut builder, mode);
    loop {
        let file = builder.tempfile_in(folder);
        let (file, path) = file.map_err(|error| error.kind())?.into_parts();
        match file.try_lock() {
            // Before this process locked the file, another one may have removed it as a leftover.
            Ok(()) if !path.exists() => {}
            Err(TryLockError::WouldBlock) => {}
            // If the file system has no locks, no leftovers are removed.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok((file, path)),
        }
    }
}

/// Removes the leftovers in a folder. Errors are ignored, because leftovers are harmless.
fn remove_all(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let random = name.and_then(|name| name.strip_suffix(SUFFIX));
        let is_ours = random.is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let _ = remove_unlocked(&entry.path());
        }
    }
}

fn remove_unlocked(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.try_lock()?;
    // Fails harmlessly if the file was finished and renamed in the meantime.
    fs::remove_file(path)
}

#[cfg(unix)]
fn set_mode(builder: &mut Builder<'_, '_>, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn set_mode(_: &mut Builder<'_, '_>, _: u32) {}
