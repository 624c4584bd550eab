//! Replaced files, followed links, and special files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use cubewire_files::{NewFile, write_whole};

#[test]
fn a_file_is_replaced_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    write_whole(&path, |file| file.write_all(b"old")).unwrap();
    let broken = write_whole(&path, |file| {
        file.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::StorageFull);
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(file.finish().unwrap(), path);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn bytes_are_inserted_and_the_rest_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    // More than is moved at once.
    for length in [0, 1, 100, (2 << 20) + 3] {
        let rest: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"head").unwrap();
        file.write_all(&rest).unwrap();
        file.insert(4, b"inserted").unwrap();
        file.finish().unwrap();
        let whole = fs::read(&path).unwrap();
        assert!(whole == [b"headinserted", &rest[..]].concat(), "{length}");
    }
}

#[test]
fn errors_do_not_name_the_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no");
    for error in [
        NewFile::create(&missing.join("a")).unwrap_err(),
        NewFile::create_private(&missing.join("a")).unwrap_err(),
        NewFile::create_numbered(&missing, "mp4").unwrap_err(),
    ] {
        let wanted = format!("there is no folder {}", missing.display());
        assert_eq!(error.to_string(), wanted);
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
    let error = NewFile::create(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), "is a directory");
}

#[test]
fn a_private_file_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let write = |text: &str| {
        let mut file = NewFile::create_private(&path)?;
        file.write_all(text.as_bytes())?;
        file.finish()
    };
    write("secret").unwrap();
    assert_eq!(write("other").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"secret");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn each_number_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("cubewire-2.ron"), "").unwrap();
    let files = [(); 3].map(|()| NewFile::create_numbered(folder.path(), "ron").unwrap());
    assert!(files.iter().all(|file| file.path().ends_with("cubewire-1.ron")));
    let names = files.map(|file| file.finish().unwrap());
    let names = names.map(|path| path.file_name().unwrap().to_owned());
    assert_eq!(names, ["cubewire-1.ron", "cubewire-3.ron", "cubewire-4.ron"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn a_name_gets_a_number_only_if_it_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let names = [(); 3].map(|()| {
        let file = NewFile::create_named(folder.path(), "at noon", "mp4").unwrap();
        let path = file.finish().unwrap();
        path.file_name().unwrap().to_owned()
    });
    assert_eq!(names, ["at noon.mp4", "at noon-2.mp4", "at noon-3.mp4"]);
    let here = NewFile::create_named(folder.path(), "at noon", "mp4").unwrap();
    fs::write(here.path(), "of another program").unwrap();
    assert!(here.finish().unwrap().ends_with("at noon-5.mp4"));
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_the_file_behind_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [elsewhere, link] = ["elsewhere", "link"].map(|name| folder.path().join(name));
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("a"), "old").unwrap();
    std::os::unix::fs::symlink("elsewhere/a", &link).unwrap();
    write_whole(&link, |file| file.write_all(b"new")).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(elsewhere.join("a")).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn a_file_keeps_its_permissions_and_a_hard_link_the_old_contents() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let [path, link, other] = ["a", "link", "other"].map(|name| folder.path().join(name));
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    for kept in [0o600, 0o640, 0o400, 0o644, 0o666, 0o755, 0o777] {
        let _ = fs::remove_file(&path);
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("a", &link).unwrap();
        for name in [&path, &link] {
            let _ = fs::remove_file(&other);
            fs::hard_link(&path, &other).unwrap();
            let old = fs::read(&path).unwrap();
            let new = [&old[..], b" new"].concat();
            let mut file = NewFile::create(name).unwrap();
            file.write_all(&new).unwrap();
            // The temporary file already has the final permissions.
            let mut parts = fs::read_dir(folder.path()).unwrap().flatten();
            let part = parts.find(|part| part.path().extension().is_some_and(|it| it == "part"));
            assert_eq!(mode(&part.unwrap().path()), kept);
            file.finish().unwrap();
            assert_eq!((mode(&path), fs::read(&path).unwrap()), (kept, new));
            assert_eq!((mode(&other), fs::read(&other).unwrap()), (kept, old));
        }
        assert!(link.is_symlink());
    }
}

/// Only root can change the owner of a file. For other users, the test checks less.
#[cfg(unix)]
#[test]
fn a_file_keeps_its_owner_where_that_is_allowed() {
    use std::os::unix::fs::{MetadataExt, chown};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "old").unwrap();
    let _ = chown(&path, Some(1234), Some(5678));
    let owner = |path: &Path| {
        let metadata = fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode())
    };
    let before = owner(&path);
    write_whole(&path, |file| file.write_all(b"new")).unwrap();
    assert_eq!(owner(&path), before);
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_stay_what_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let path = Path::new("/dev/null");
    write_whole(path, |file| file.write_all(b"a")).unwrap();
    let kind = fs::metadata(path).unwrap().file_type();
    assert!(kind.is_char_device());
    #[cfg(target_os = "linux")]
    {
        let full = write_whole(Path::new("/dev/full"), |file| file.write_all(b"a"));
        assert_eq!(full.unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read(path).unwrap()
    });
    write_whole(&path, |file| file.write_all(b"a")).unwrap();
    assert_eq!(reader.join().unwrap(), b"a");
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
}
