//! Files on disk, written atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bevy::log::warn;
use tempfile::{NamedTempFile, TempPath};

use super::read_at_most;

/// A file that is being written under a temporary name. [`finish`](Self::finish) renames it; until then an
/// existing file of its name is unchanged. If it is dropped before, the temporary file is removed.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    // Not a `NamedTempFile`: its errors name the temporary file. This field is dropped, and thus closed,
    // before `temporary` is removed.
    file: BufWriter<File>,
    temporary: TempPath,
}

impl NewFile {
    /// Creates the temporary file in the folder of `path`.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let folder = folder_of(path);
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A missing folder is reported with the system's message: the errors below name the temporary
        // file.
        fs::metadata(folder)?;
        let file = NamedTempFile::new_in(folder).map_err(|error| error.kind())?;
        let (file, temporary) = file.into_parts();
        make_readable(&file)?;
        Ok(Self {
            path: path.to_owned(),
            file: BufWriter::new(file),
            temporary,
        })
    }

    /// Renames the file to its final name.
    pub(crate) fn finish(self) -> io::Result<()> {
        drop(self.file.into_inner().map_err(|error| error.into_error())?);
        self.temporary
            .persist(self.path)
            .map_err(|error| error.error)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NewFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a complete file.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Writes a complete new file that only its owner can read.
///
/// # Errors
/// Also if there is a file of this name.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    fs::metadata(folder)?;
    // Temporary files are readable by their owner only.
    let mut file = NamedTempFile::new_in(folder).map_err(|error| error.kind())?;
    file.write_all(bytes)?;
    let persisted = file.persist_noclobber(path);
    persisted.map(drop).map_err(|error| error.error)
}

/// Whether this is an ordinary file that other users of the machine can read.
#[cfg(unix)]
pub(crate) fn is_for_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.is_file() && metadata.permissions().mode() & 0o077 != 0
}

/// Whether this is an ordinary file that other users of the machine can read: not known here.
#[cfg(not(unix))]
pub(crate) fn is_for_others(_: &fs::Metadata) -> bool {
    false
}

/// More than any settings are long.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Reads settings of an earlier run.
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

/// Writes a file that others read again and again while the program runs. They never see a part of it.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, bytes)
}

/// Creates an empty file under the first free name of the form `cubewire-1.mp4` in a folder, so that no
/// other process takes the same name. The caller replaces or removes the file.
pub(crate) fn claim(folder: &Path, extension: &str) -> io::Result<PathBuf> {
    // `cubewire-1.mp4` is easier to read than `./cubewire-1.mp4`.
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    let mut number = 1_u32;
    loop {
        let path = folder.join(format!("cubewire-{number}.{extension}"));
        match File::create_new(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes the placeholder of a claimed name.
pub(crate) fn release(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        warn!("{}: {error}", path.display());
    }
}

/// Sets the permissions of an ordinary file: temporary files are readable by their owner only.
#[cfg(unix)]
fn make_readable(file: &File) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finishing_replaces_the_file_and_leaves_no_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_whole(&path, b"old").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        drop(NewFile::create(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(&folder.path().join("no/folder"), b"").is_err());
        let error = write_whole(folder.path(), b"").unwrap_err();
        assert_eq!(error.to_string(), "is a directory");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_its_owners_and_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write_private(&path, b"secret").unwrap();
        assert!(!is_for_others(&fs::metadata(&path).unwrap()));
        let error = write_private(&path, b"other").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"secret");
        let public = folder.path().join("public");
        write_whole(&public, b"").unwrap();
        assert!(is_for_others(&fs::metadata(public).unwrap()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

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

    #[test]
    fn each_name_is_claimed_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cubewire-2.ron"), "").unwrap();
        let names = [(); 3].map(|()| claim(folder.path(), "ron").unwrap());
        let names = names.map(|path| path.file_name().unwrap().to_owned());
        assert_eq!(
            names,
            ["cubewire-1.ron", "cubewire-3.ron", "cubewire-4.ron"]
        );
        assert!(claim(&folder.path().join("no"), "ron").is_err());
    }
}
