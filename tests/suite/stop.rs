//! Programs that are stopped or killed: files are complete or absent.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::slice;

use serde_json::Value;

use crate::command_line::FRAME_BYTES;
use crate::common::{eventually, names};
use crate::program::{INSECURE, SIGNALS, end, follow, lines, program, send, serve, view};
use crate::window::{Killed, Window};

#[test]
fn servers_and_viewers_that_are_told_to_end_write_their_digests_and_tell_the_others() {
    for (signal, code) in SIGNALS {
        let folder = tempfile::tempdir().unwrap();
        let [sent, left, stayed] = ["sent", "left", "stayed"].map(|name| folder.path().join(name));
        let (mut server, address) = serve(&[], &INSECURE, &sent);
        // The server cannot print its figures, because its standard output is closed.
        drop(server.0.stdout.take());
        let view = |digest: &Path| view(&[], &address, &["--insecure"], digest);
        let mut viewers = [&left, &stayed].map(|digest| view(digest));
        follow(&mut viewers, folder.path(), 3, 1);
        let [leaver, stayer] = viewers;

        send(signal, &leaver.0);
        let (ended, [figures, said]) = end(leaver);
        assert_eq!(ended, Some(code), "{signal}");
        let figures: Value = serde_json::from_str(&figures).unwrap();
        assert!(figures["snapshots"].as_u64() > Some(0), "{figures}");
        assert_eq!(said, format!("{address} as viewer {}\n", figures["viewer"].as_str().unwrap()));

        // It cannot print messages either, as after its terminal was closed.
        drop(server.0.stderr.take());
        send(signal, &server.0);
        assert_eq!(end(server).0, Some(code), "{signal}");
        let (ended, [_, said]) = end(stayer);
        assert_eq!(ended, Some(2));
        let wanted = format!("error: the server at {address} has ended the connection\n");
        assert!(said.ends_with(&wanted), "{said}");

        let sent = lines(&sent);
        assert!(lines(&left).is_subset(&sent) && lines(&stayed).is_subset(&sent));
        assert_eq!(names(folder.path()).len(), 3);
    }
}

#[test]
fn a_server_outlives_a_signal_that_it_was_told_to_ignore() {
    for (ignored, signal, code) in [("HUP", "TERM", 143), ("INT", "HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        let [sent, seen] = ["sent", "seen"].map(|name| folder.path().join(name));
        let ignore = ["env", &format!("--ignore-signal={ignored}")];
        let (mut server, address) = serve(&ignore, &INSECURE, &sent);
        let mut viewer = view(&[], &address, &["--insecure"], &seen);
        send(ignored, &server.0);
        // It keeps running and sends many more snapshots than before the signal.
        follow(slice::from_mut(&mut viewer), folder.path(), 2, 60);
        assert_eq!(server.0.try_wait().unwrap(), None, "{ignored}");
        send(signal, &server.0);
        assert_eq!(end(server).0, Some(code));
        lines(&sent);
        drop(viewer);
    }
}

/// Starts a long game and returns when its capture file has a tenth of a second.
fn play(folder: &Path, out: Stdio) -> Killed {
    let [states, table] = ["play.bin", "play.csv"].map(|name| folder.join(name));
    let play = ["headless", "--seconds", "86400", "--json", "--capture"];
    let files = [states.to_str().unwrap(), "--csv", table.to_str().unwrap()];
    let mut play = program(&[], &[&play[..], &files].concat());
    let play = Killed(play.stdout(out).spawn().unwrap());
    eventually("some ticks", || {
        let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut lengths = files.map(|file| file.metadata().map_or(0, |file| file.len()));
        lengths.any(|bytes| bytes > 12 * FRAME_BYTES as u64).then_some(())
    });
    play
}

#[test]
fn a_play_that_is_told_to_end_has_the_files_and_figures_so_far() {
    for (signal, code) in SIGNALS {
        let folder = tempfile::tempdir().unwrap();
        let play = play(folder.path(), Stdio::piped());
        let files = ["play.bin", "play.csv"].map(|name| folder.path().join(name));
        assert!(!files.iter().any(|file| file.exists()));
        send(signal, &play.0);
        let (ended, [figures, said]) = end(play);
        assert_eq!(ended, Some(code), "{signal}: {said}");
        let played = said.strip_prefix("stopped after ").unwrap();
        let (ticks, rest) = played.split_once(' ').unwrap();
        let ticks: u64 = ticks.parse().unwrap();
        assert_eq!(rest, "of 5184000 ticks\n");
        let figures: Value = serde_json::from_str(&figures).unwrap();
        let seconds = figures["seconds"].as_f64().unwrap();
        assert_eq!((seconds * 60.0).round(), ticks as f64);
        let [states, table] = &files;
        // The header, which is smaller than a frame, and six frames of the initial state come first.
        let bytes = fs::metadata(states).unwrap().len();
        assert_eq!(bytes / FRAME_BYTES as u64, 6 + ticks);
        let rows = fs::read_to_string(table).unwrap().lines().count() as u64 - 1;
        assert_eq!(rows, ticks);
        assert_eq!(names(folder.path()), ["play.bin", "play.csv"]);
    }
}

/// Sends signals to a play, which tell it to end. It blocks while it prints its figures: the pipe is full. Returns the
/// other end of the pipe.
fn blocked(folder: &Path, signals: &[&str]) -> (Killed, UnixStream) {
    let (reader, full) = UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    while (&full).write(&[b' '; 4096]).is_ok() {}
    full.set_nonblocking(false).unwrap();
    let mut play = play(folder, OwnedFd::from(full).into());
    signals.iter().for_each(|signal| send(signal, &play.0));
    let mut line = String::new();
    BufReader::new(play.0.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("stopped after "), "{line}");
    assert_eq!(play.0.try_wait().unwrap(), None);
    (play, reader)
}

#[test]
fn a_signal_long_after_the_first_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut play, _reader) = blocked(folder.path(), &["TERM"]);
    let ended = eventually("the end", || {
        // It may have ended in the meantime.
        let mut kill = Command::new("kill");
        let _ = kill.arg("-INT").arg(play.0.id().to_string()).stderr(Stdio::null()).status();
        play.0.try_wait().unwrap()
    });
    assert_eq!(ended.code(), Some(130));
}

/// `timeout` sends its signal to the program and again to its process group.
#[test]
fn a_signal_that_is_repeated_at_once_is_one_request() {
    let folder = tempfile::tempdir().unwrap();
    let (play, reader) = blocked(folder.path(), &["TERM", "TERM"]);
    let figures: Value = serde_json::from_str(&io::read_to_string(reader).unwrap()).unwrap();
    assert!(figures["seconds"].is_f64());
    assert_eq!(end(play).0, Some(143));
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn a_window_that_is_killed_leaves_no_film_and_one_that_is_told_to_end_finishes_it() {
    let filmed = |folder: &Path, signal: &str| {
        let mut window = Window::start(None, &["--recordings", folder.to_str().unwrap()]);
        window.press("F9");
        window.ticks(60);
        window.press("F11");
        window.press("F11");
        eventually("some of the film", || {
            let mut files = fs::read_dir(folder).unwrap().map(Result::unwrap);
            files.find(|file| {
                let is_unfinished = file.file_name().to_string_lossy().starts_with(".cubewire-");
                is_unfinished && file.metadata().is_ok_and(|file| file.len() > 4096)
            })
        });
        send(signal, &window.app.0);
        eventually("the end", || window.app.0.try_wait().unwrap()).code()
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(filmed(folder, "KILL"), None);
    let left = names(folder);
    assert_eq!(left.len(), 1);
    assert!(left[0].starts_with(".cubewire-"), "{left:?}");
    for (number, signal, code) in [(1, "TERM", 143), (2, "HUP", 129)] {
        assert_eq!(filmed(folder, signal), Some(code));
        let ends = |end| names(folder).into_iter().filter(move |name| name.ends_with(end));
        assert_eq!([ends(".mp4").count(), ends(".ron").count()], [number; 2]);
        assert_eq!(names(folder).len(), 2 * number);
    }
    for name in names(folder).into_iter().filter(|name| name.ends_with(".mp4")) {
        let (_, frames) = crate::decode::read_mp4(&folder.join(name)).unwrap();
        assert!(!frames.is_empty());
    }
}
