//! Files on disk, written atomically.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

pub(super) use cubewire_cli::without_codes;
pub(crate) use cubewire_files::NewFile;

use super::read_at_most;

pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    cubewire_files::write_whole(path, |file| file.write_all(bytes))
}

/// Writes a complete new file that only its owner can read. Fails if a file with this name exists.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create_private(path)?;
    file.write_all(bytes)?;
    file.finish().map(drop)
}

/// Whether this is an ordinary file that other users of the machine can read.
#[cfg(unix)]
pub(crate) fn is_for_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.is_file() && metadata.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
pub(crate) fn is_for_others(_: &fs::Metadata) -> bool {
    false
}

const MAX_SETTINGS_BYTES: u64 = 1 << 20;

pub(crate) fn recall(path: &Path) -> io::Result<String> {
    read_at_most(path, MAX_SETTINGS_BYTES)
}

/// Writes settings for the next run. Creates the folder if it does not exist.
pub(crate) fn remember(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write_whole(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "0123").unwrap();
        assert_eq!(read_at_most(&path, 4).unwrap(), "0123");
        let error = read_at_most(&path, 3).unwrap_err();
        assert_eq!(error.to_string(), "longer than 3 bytes");
        #[cfg(unix)]
        assert!(recall(Path::new("/dev/zero")).is_err());
    }
}
