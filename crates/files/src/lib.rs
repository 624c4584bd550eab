//! Atomic output files: a complete file or no file.
//!
//! A [`NewFile`] is written as `.cubewire-XXXXXX.part` in the destination folder, and gets its final name when it is
//! complete. After any failure, even if the program is killed, there is no partial file with the final name, and an
//! existing file is unchanged. Devices, pipes and other special files are written directly. Temporary files of a killed
//! program are removed by the next program that writes to the folder.
//!
//! A replaced file is a different file afterwards, with the new contents:
//!
//! - On Unix it has the permissions of the old file (`chmod`) from the start, and its owner and group if the system
//!   allows it. If it cannot get the group, the group's permissions are reduced to those for other users. Access
//!   control lists and other extended attributes are lost.
//! - A symbolic link to the old file stays, and leads to the new one.
//! - A hard link to the old file keeps the old contents.
//!
//! Writes are not synchronized to the disk. After a loss of power, the newest files may be incomplete.

mod leftovers;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// A file in progress. It gets its name when it is [finished](Self::finish). If it is dropped before that, it is
/// removed.
#[derive(Debug)]
pub struct NewFile {
    // Declared first, so that the file is closed before the temporary file is removed.
    file: BufWriter<File>,
    path: PathBuf,
    place: Place,
}

/// Number of bytes that [`NewFile::insert`] moves at once.
const MOVED_BYTES: usize = 1 << 20;

/// Permissions: limited by the user's `umask`, or for the owner only.
const FOR_ALL: u32 = 0o666;
const FOR_OWNER: u32 = 0o600;

/// How the finished file gets its name.
#[derive(Debug)]
enum Place {
    /// A special file that is written directly.
    There,
    /// Replaces the existing file. The path is the target of a symbolic link, if there is one.
    Replace(TempPath, PathBuf),
    /// Fails if the file exists.
    New(TempPath),
    /// Tries numbers from `number` on until the name is free.
    Numbered { temporary: TempPath, stem: String, extension: String, number: u32 },
}

impl NewFile {
    /// Starts a file that replaces an existing ordinary file. A symbolic link is followed. A special file is written
    /// directly.
    ///
    /// # Errors
    /// If the path is a folder, or cannot be written to.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, place) = match fs::metadata(path) {
            Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => {
                (File::options().write(true).open(path)?, Place::There)
            }
            Ok(there) => {
                let replaced = match path.is_symlink() {
                    true => fs::canonicalize(path)?,
                    false => path.to_owned(),
                };
                let (file, temporary) = leftovers::create(folder_of(&replaced), FOR_OWNER)?;
                keep_permissions(&there, &file)?;
                (file, Place::Replace(temporary, replaced))
            }
            Err(_) => {
                let (file, temporary) = leftovers::create(folder_of(path), FOR_ALL)?;
                (file, Place::Replace(temporary, path.to_owned()))
            }
        };
        Ok(Self { file: BufWriter::new(file), path: path.to_owned(), place })
    }

    /// Starts a file that only its owner can read. Finishing it fails if a file with this name exists.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create_private(path: &Path) -> io::Result<Self> {
        let (file, temporary) = leftovers::create(folder_of(path), FOR_OWNER)?;
        Ok(Self { file: BufWriter::new(file), path: path.to_owned(), place: Place::New(temporary) })
    }

    /// Starts a file with the first free name of the form `cubewire-1.mp4` in a folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create_numbered(folder: &Path, extension: &str) -> io::Result<Self> {
        Self::create_named(folder, "cubewire-", extension)
    }

    /// Starts a file with the first free name of the form `name.mp4`, `name-2.mp4` in a folder, or `name-1.mp4` if the
    /// stem is `name-`.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create_named(folder: &Path, stem: &str, extension: &str) -> io::Result<Self> {
        let (file, temporary) = leftovers::create(or_here(folder), FOR_ALL)?;
        // `cubewire-1.mp4` is easier to read than `./cubewire-1.mp4`.
        let folder = folder.strip_prefix(".").unwrap_or(folder);
        let mut numbers = 1..;
        let name = |number| folder.join(numbered(stem, number, extension));
        let number = numbers.find(|&number| name(number).symlink_metadata().is_err());
        let number = number.ok_or(io::ErrorKind::AlreadyExists)?;
        Ok(Self {
            file: BufWriter::new(file),
            path: name(number),
            place: Place::Numbered {
                temporary,
                stem: stem.to_owned(),
                extension: extension.to_owned(),
                number,
            },
        })
    }

    /// Path of the finished file. A numbered file gets another number if this one is taken in the meantime.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Inserts bytes at a position and moves all bytes behind it. Afterwards, writing continues at an unspecified position.
    ///
    /// # Errors
    /// If the file cannot be read or written, for example because it is a pipe.
    pub fn insert(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        // Writes the buffered bytes.
        let mut end = self.file.seek(SeekFrom::End(0))?;
        let file = self.file.get_mut();
        let mut moved = vec![0; MOVED_BYTES];
        // From the end, so that no byte is overwritten before it is moved.
        while end > at {
            let start = end.saturating_sub(MOVED_BYTES as u64).max(at);
            let moved = &mut moved[..(end - start) as usize];
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(moved)?;
            file.seek(SeekFrom::Start(start + bytes.len() as u64))?;
            file.write_all(moved)?;
            end = start;
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }

    /// Writes the buffered bytes, gives the file its name and returns its path.
    ///
    /// # Errors
    /// If writing fails, or the file cannot get its name. No file is left in this case.
    pub fn finish(self) -> io::Result<PathBuf> {
        // Keep the file open, and so locked, until it has its name.
        let _file = self.file.into_inner().map_err(|error| error.into_error())?;
        let mut path = self.path;
        match self.place {
            Place::There => {}
            Place::Replace(temporary, replaced) => {
                temporary.persist(replaced).map_err(|error| error.error)?;
            }
            Place::New(temporary) => {
                let persisted = temporary.persist_noclobber(&path);
                persisted.map_err(|error| error.error)?;
            }
            Place::Numbered { mut temporary, stem, extension, mut number } => {
                while let Err(failed) = temporary.persist_noclobber(&path) {
                    if failed.error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(failed.error);
                    }
                    temporary = failed.path;
                    number = number.checked_add(1).ok_or(io::ErrorKind::AlreadyExists)?;
                    path.set_file_name(numbered(&stem, number, &extension));
                }
            }
        }
        Ok(path)
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

/// Writes a complete file with [`NewFile::create`].
///
/// # Errors
/// If the file cannot be written, or any error of `write`.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    write(&mut file)?;
    file.finish().map(drop)
}

/// Copies owner and permissions of the old file to the new one.
#[cfg(unix)]
fn keep_permissions(from: &fs::Metadata, to: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = from.mode() & 0o777;
    let (owner, group) = (from.uid(), from.gid());
    let is = to.metadata()?;
    let is_kept = (is.uid(), is.gid()) == (owner, group)
        || fchown(to, Some(owner), Some(group)).is_ok()
        || is.gid() == group
        || fchown(to, None, Some(group)).is_ok();
    if !is_kept {
        // The new file has another group, which must not gain access.
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    to.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_permissions(_: &fs::Metadata, _: &File) -> io::Result<()> {
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    or_here(path.parent().unwrap_or(path))
}

fn or_here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// Name with a number. A stem that ends in `-` always has one, others from the second file on.
fn numbered(stem: &str, number: u32, extension: &str) -> String {
    match (stem.ends_with('-'), number) {
        (true, _) => format!("{stem}{number}.{extension}"),
        (false, 1) => format!("{stem}.{extension}"),
        (false, _) => format!("{stem}-{number}.{extension}"),
    }
}
