//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::Builder;

/// Writes a file under a temporary name, and renames it when it is complete. Until then a file of its name is
/// left as it is. What is no ordinary file, such as a pipe, is written to directly.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return write_to(&File::create(path)?, write);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // An error below names the temporary file: a missing folder has the system's own words.
    fs::metadata(folder)?;
    let file = as_ordinary(&mut Builder::new())
        .tempfile_in(folder)
        .map_err(|error| error.kind())?;
    write_to(file.as_file(), write)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn write_to(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// With the permissions of an ordinary file: a temporary one would be its owner's alone.
#[cfg(unix)]
fn as_ordinary<'a, 'b, 'c>(builder: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn as_ordinary<'a, 'b, 'c>(builder: &'a mut Builder<'b, 'c>) -> &'a mut Builder<'b, 'c> {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_to_its_end_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_whole(&path, |file| file.write_all(b"old")).unwrap();
        let broken = write_whole(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_whole(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_whole(&folder.path().join("no/a"), |_| Ok(())).is_err());
        assert!(write_whole(folder.path(), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_stays_one() {
        use std::os::unix::fs::FileTypeExt;
        let path = Path::new("/dev/null");
        write_whole(path, |file| file.write_all(b"a")).unwrap();
        assert!(fs::metadata(path).unwrap().file_type().is_char_device());
    }
}
