//! Files that appear whole or not at all.
//!
//! A [`NewFile`] is written under a temporary name, `.cubewire-XXXXXX.part` in the folder that it is for, and gets
//! its own name at the end, when it is complete: whatever fails before, even if the program is killed, there is
//! no half of a file under that name, and a file that was there before is as it was. What is not an ordinary file,
//! such as a device or a pipe, is written to directly. A killed program leaves its temporary files: the next one
//! that writes into the folder removes them.
//!
//! A file that is replaced is another file from then on, with the contents of the new one:
//!
//! - It has the permissions of the old one on Unix (`chmod`), from the start, and its owner and group where the system
//!   allows that. If it cannot get the group, then the group may do no more than others may. Access control lists and other
//!   extended attributes are lost.
//! - A symbolic link to the old file stays, and leads to the new one.
//! - A hard link to the old file stays the old file, with the old contents.
//!
//! Nothing here waits for the disk: after a loss of power, the newest files may be incomplete.

mod leftovers;

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// A file that is being written. It gets its name when it is [finished](Self::finish); if it is dropped before,
/// nothing is left of it.
#[derive(Debug)]
pub struct NewFile {
    // Dropped, and thus closed, before the temporary file is removed.
    file: BufWriter<File>,
    path: PathBuf,
    place: Place,
}

/// Permissions: for those who may read other files of this user (see `umask`), or for its owner alone.
const FOR_ALL: u32 = 0o666;
const FOR_OWNER: u32 = 0o600;

/// How a file comes to its place.
#[derive(Debug)]
enum Place {
    /// It is no ordinary file, and was in its place before.
    There,
    /// Replaces what is there: behind a link, this is another path.
    Replace(TempPath, PathBuf),
    /// Fails if something is there.
    New(TempPath),
    /// Takes the next number, from this one, if something is there.
    Numbered {
        temporary: TempPath,
        extension: String,
        number: u32,
    },
}

impl NewFile {
    /// Begins a file that replaces what has its name, if it is an ordinary file; anything else is written to
    /// directly. A link is followed.
    ///
    /// # Errors
    /// If this is a folder, or nothing can be written there.
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
        Ok(Self {
            file: BufWriter::new(file),
            path: path.to_owned(),
            place,
        })
    }

    /// Begins a file that only its owner can read, and that replaces none: finishing it fails if there is one.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create_private(path: &Path) -> io::Result<Self> {
        let (file, temporary) = leftovers::create(folder_of(path), FOR_OWNER)?;
        Ok(Self {
            file: BufWriter::new(file),
            path: path.to_owned(),
            place: Place::New(temporary),
        })
    }

    /// Begins a file that gets the first free name of the form `cubewire-1.mp4` in a folder.
    ///
    /// # Errors
    /// If nothing can be written there.
    pub fn create_numbered(folder: &Path, extension: &str) -> io::Result<Self> {
        let (file, temporary) = leftovers::create(or_here(folder), FOR_ALL)?;
        // `cubewire-1.mp4` is easier to read than `./cubewire-1.mp4`.
        let folder = folder.strip_prefix(".").unwrap_or(folder);
        let mut numbers = 1..;
        let name = |number| folder.join(numbered(number, extension));
        let number = numbers.find(|&number| name(number).symlink_metadata().is_err());
        let number = number.ok_or(io::ErrorKind::AlreadyExists)?;
        Ok(Self {
            file: BufWriter::new(file),
            path: name(number),
            place: Place::Numbered {
                temporary,
                extension: extension.to_owned(),
                number,
            },
        })
    }

    /// Where it will be. A numbered file gets another number if this one is taken in the meantime.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in its place, and returns where that is.
    ///
    /// # Errors
    /// If what is left to write cannot be written, or the file cannot get its name. Nothing is left of it then.
    pub fn finish(self) -> io::Result<PathBuf> {
        // Open until it has its name: the file is ours as long as it is open.
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
            Place::Numbered {
                mut temporary,
                extension,
                mut number,
            } => {
                while let Err(failed) = temporary.persist_noclobber(&path) {
                    if failed.error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(failed.error);
                    }
                    temporary = failed.path;
                    number = number.checked_add(1).ok_or(io::ErrorKind::AlreadyExists)?;
                    path.set_file_name(numbered(number, &extension));
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

/// Writes a whole file, as [`NewFile::create`] does.
///
/// # Errors
/// If it cannot be written, or what `write` returns.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut NewFile) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    write(&mut file)?;
    file.finish().map(drop)
}

/// Gives a new file the owner and the permissions of another.
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
        // Another group must not gain access.
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    to.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_permissions(_: &fs::Metadata, _: &File) -> io::Result<()> {
    Ok(())
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    or_here(path.parent().unwrap_or(path))
}

fn or_here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

fn numbered(number: u32, extension: &str) -> String {
    format!("cubewire-{number}.{extension}")
}
