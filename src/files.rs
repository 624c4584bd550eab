//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

/// A file that is being written. It gets its name when it is [finished](Self::finish); until then,
/// whatever stood there before stays, and if it is dropped nothing is left of it.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    // Not a `NamedTempFile`, whose errors name the temporary file. Closed before `temporary` is removed.
    file: BufWriter<File>,
    temporary: TempPath,
}

impl NewFile {
    /// Begins a file, in the folder where it will be.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // In the words of the system, as far as it goes: the error of what follows names the temporary
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

    /// Puts the file in its place.
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

/// Writes a file at once.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Takes the first free name of the kind `cubewire-1.mp4` in a folder, by an empty file: whoever else
/// looks for one takes the next. To be replaced, or removed again.
pub(crate) fn claim(folder: &Path, extension: &str) -> io::Result<PathBuf> {
    // `./cubewire-1.mp4` is read as well without the first half.
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

/// Temporary files are their owner's alone.
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
    fn a_file_is_replaced_when_it_is_finished_and_nothing_else_is_left() {
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

    #[test]
    fn nobody_gets_a_name_twice() {
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
