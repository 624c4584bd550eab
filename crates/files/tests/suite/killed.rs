//! Killed writers and concurrent writers. Each test runs itself again in other processes.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use cubewire_files::{NewFile, write_whole};

/// Environment variables of the other process: its role and its folder.
const ROLE: &str = "CUBEWIRE_FILES_ROLE";
const FOLDER: &str = "CUBEWIRE_FILES_FOLDER";

/// Command that runs the current test in another process.
fn again(role: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    let thread = thread::current();
    command
        .args(["--nocapture", "--exact", thread.name().unwrap()])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Role and folder of this process. `None` in the test's first process.
fn role() -> Option<(String, PathBuf)> {
    let folder = env::var_os(FOLDER)?;
    Some((env::var(ROLE).unwrap(), folder.into()))
}

/// Kills the process when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_killed_writer_leaves_no_file_and_the_next_one_removes_what_it_left() {
    if let Some((role, folder)) = role() {
        if role == "next" {
            return write_whole(&folder.join("b"), |file| file.write_all(b"b")).unwrap();
        }
        let mut files = [
            NewFile::create(&folder.join("a")).unwrap(),
            NewFile::create_private(&folder.join("key")).unwrap(),
            NewFile::create_numbered(&folder, "mp4").unwrap(),
        ];
        for file in &mut files {
            file.write_all(b"half").unwrap();
            file.flush().unwrap();
        }
        println!("\nready");
        // Blocks until this process is killed.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        unreachable!("nobody writes");
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a"), "old").unwrap();
    let others =
        [".cubewire-abcdef", ".cubewire-abcdefg.part", ".cubewire-abc_ef.part", ".a-abcdef.part"];
    for name in others {
        fs::write(folder.join(name), "").unwrap();
    }
    fs::create_dir(folder.join(".cubewire-folder.part")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("a", folder.join(".cubewire-alinks.part")).unwrap();
    let mut before = names(folder);

    let mut writer = Killed(again("write", folder).spawn().unwrap());
    let lines = BufReader::new(writer.0.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line == "ready"));
    assert_eq!(names(folder).len(), before.len() + 3);
    // A file that is being written is not a leftover.
    assert!(again("next", folder).output().unwrap().status.success());
    assert_eq!(names(folder).len(), before.len() + 4);

    drop(writer);
    assert_eq!(names(folder).len(), before.len() + 4);
    for name in ["key", "cubewire-1.mp4"] {
        assert!(!folder.join(name).exists(), "{name}");
    }
    assert!(again("next", folder).output().unwrap().status.success());
    before.push("b".to_owned());
    before.sort();
    assert_eq!(names(folder), before);
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"old");
}

#[test]
fn writers_in_one_folder_lose_nothing() {
    const WRITERS: usize = 8;
    const FILES: usize = 20;
    if let Some((text, folder)) = role() {
        for _ in 0..FILES {
            let mut file = NewFile::create_numbered(&folder, "txt").unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.finish().unwrap();
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| again(&writer.to_string(), folder.path()).spawn().unwrap())
        .collect();
    for writer in writers {
        assert!(writer.wait_with_output().unwrap().status.success());
    }
    let mut counts = [0; WRITERS];
    for number in 1..=WRITERS * FILES {
        let path = folder.path().join(format!("cubewire-{number}.txt"));
        let text = fs::read_to_string(path).unwrap();
        counts[text.parse::<usize>().unwrap()] += 1;
    }
    assert_eq!(counts, [FILES; WRITERS]);
    assert_eq!(names(folder.path()).len(), WRITERS * FILES);
}

/// Runs a command in a shell after `script`.
#[cfg(unix)]
fn run_after(script: &str, command: &Command) {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &format!(r#"{script}; exec "$0" "$@""#)])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        shell.env(name, value.unwrap());
    }
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Runs in a process that can only write files of one or two kilobytes.
#[cfg(unix)]
#[test]
fn what_does_not_fit_leaves_the_file_as_it_was() {
    if let Some((_, folder)) = role() {
        let path = folder.join("a");
        // Fails at the first write, or when the buffer is flushed.
        for bytes in [5_000, 50_000] {
            let failed = write_whole(&path, |file| file.write_all(&vec![0; bytes]));
            assert_eq!(failed.unwrap_err().raw_os_error(), Some(27));
            let mut file = NewFile::create_numbered(&folder, "mp4").unwrap();
            let written = file.write_all(&vec![0; bytes]);
            assert!(written.and_then(|()| file.finish().map(drop)).is_err());
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "old").unwrap();
    run_after("trap '' XFSZ; ulimit -f 2", &again("write", folder.path()));
    assert_eq!(names(folder.path()), ["a"]);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[cfg(unix)]
#[test]
fn permissions_are_those_of_an_ordinary_file() {
    use std::os::unix::fs::PermissionsExt;
    if let Some((_, folder)) = role() {
        write_whole(&folder.join("a"), |_| Ok(())).unwrap();
        let private = NewFile::create_private(&folder.join("key")).unwrap();
        private.finish().unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    run_after("umask 027", &again("write", folder.path()));
    for (name, wanted) in [("a", 0o640), ("key", 0o600)] {
        let metadata = fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, wanted, "{name}");
    }
}
