//! Programs that are told to end, or killed: what they write is whole, or there is none of it.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write, pipe};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::window::{Killed, Window};

const PATIENCE: Duration = Duration::from_secs(120);

/// Each with the exit code that says so.
pub(crate) const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Starts the program, which ignores this signal or none.
pub(crate) fn start(ignored: Option<&str>, arguments: &[&str]) -> Killed {
    Killed(piped(&mut program(ignored, arguments)).spawn().unwrap())
}

/// The program, which ignores this signal or none: whoever runs the tests in the background may have them ignore some.
fn program(ignored: Option<&str>, arguments: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP");
    if let Some(signal) = ignored {
        command.arg(format!("--ignore-signal={signal}"));
    }
    command.arg(assert_cmd::cargo::cargo_bin("cubewire"));
    command.args(arguments);
    command
}

fn piped(command: &mut Command) -> &mut Command {
    let command = command.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped())
}

pub(crate) fn send(signal: &str, process: &Child) {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{signal}")).arg(process.id().to_string());
    assert!(kill.status().unwrap().success());
}

/// Waits until it is so.
pub(crate) fn wait<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(result) = done() {
            return result;
        }
        assert!(start.elapsed() < PATIENCE, "waited for {what}");
        sleep(Duration::from_millis(20));
    }
}

/// Waits until the process has ended. Returns its exit code, which a killed one does not have, and what it wrote.
pub(crate) fn end(mut process: Killed) -> (Option<i32>, [String; 2]) {
    let status = wait("the end", || process.0.try_wait().unwrap());
    let mut written = [String::new(), String::new()];
    let [out, errors] = &mut written;
    let child = &mut process.0;
    child.stdout.take().unwrap().read_to_string(out).unwrap();
    child.stderr.take().unwrap().read_to_string(errors).unwrap();
    (status.code(), written)
}

/// The first address that is named on a line of its output.
fn address(out: impl Read) -> (String, impl BufRead) {
    let mut out = BufReader::new(out);
    let mut line = String::new();
    loop {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it has ended");
        let words = line.split_whitespace();
        let mut words = words.map(|word| word.trim_end_matches('.'));
        if let Some(address) = words.find(|word| word.parse::<SocketAddr>().is_ok()) {
            return (address.to_owned(), out);
        }
    }
}

const SERVE: [&str; 5] = ["serve", "--headless", "--bind", "127.0.0.1:0", "--insecure"];

/// Starts a server that writes a digest, until it listens.
fn serve(ignored: Option<&str>, digest: &Path) -> (Killed, String) {
    let digest = ["--digest", digest.to_str().unwrap()];
    let mut server = start(ignored, &[&SERVE[..], &digest].concat());
    let (address, out) = address(server.0.stdout.take().unwrap());
    // The pipe is dropped: what is printed at the end is not read.
    drop(out);
    (server, address)
}

/// Starts a viewer that writes a digest, until it is connected.
fn view(address: &str, digest: &Path) -> Killed {
    let digest = digest.to_str().unwrap();
    let view = ["view", "--headless", "--insecure", "--connect"];
    let mut viewer = start(None, &[&view[..], &[address, "--digest", digest]].concat());
    let errors = viewer.0.stderr.take().unwrap();
    let mut line = [0; 13];
    let mut errors = errors;
    errors.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"connected to ", "{}", line.escape_ascii());
    viewer.0.stderr = Some(errors);
    viewer
}

/// The lines of a digest, of which none is cut off.
fn lines(path: &Path) -> HashSet<String> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let columns = text.lines().next().unwrap().split(',').count();
    let lines = text.lines().skip(1).map(str::to_owned);
    let lines: HashSet<_> = lines.collect();
    assert!(!lines.is_empty());
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
    lines
}

#[test]
fn servers_and_viewers_that_are_told_to_end_write_their_digests_and_tell_the_others() {
    for (signal, code) in SIGNALS {
        let folder = tempfile::tempdir().unwrap();
        let [sent, left, stayed] = ["sent", "left", "stayed"].map(|name| folder.path().join(name));
        let (server, address) = serve(None, &sent);
        let [leaver, stayer] = [&left, &stayed].map(|digest| view(&address, digest));
        sleep(Duration::from_millis(500));

        send(signal, &leaver.0);
        let (ended, [figures, _]) = end(leaver);
        assert_eq!(ended, Some(code), "{signal}");
        let figures: Value = serde_json::from_str(&figures).unwrap();
        assert!(figures["snapshots"].as_u64() > Some(0), "{figures}");

        send(signal, &server.0);
        assert_eq!(wait_code(server), Some(code), "{signal}");
        let (ended, [_, said]) = end(stayer);
        assert_eq!(ended, Some(2));
        let wanted = format!("error: the server at {address} has ended the connection\n");
        assert!(said.ends_with(&wanted), "{said}");

        let sent = lines(&sent);
        assert!(lines(&left).is_subset(&sent) && lines(&stayed).is_subset(&sent));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }
}

/// The exit code of a process whose output is not read.
fn wait_code(mut process: Killed) -> Option<i32> {
    wait("the end", || process.0.try_wait().unwrap()).code()
}

#[test]
fn a_server_outlives_a_signal_that_it_was_told_to_ignore() {
    for (ignored, signal, code) in [("HUP", "TERM", 143), ("INT", "HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        let digest = folder.path().join("digest");
        let (mut server, address) = serve(Some(ignored), &digest);
        let viewer = view(&address, &folder.path().join("seen"));
        send(ignored, &server.0);
        sleep(Duration::from_millis(500));
        assert_eq!(server.0.try_wait().unwrap(), None, "{ignored}");
        send(signal, &server.0);
        assert_eq!(wait_code(server), Some(code));
        lines(&digest);
        drop(viewer);
    }
}

/// What it says then has nowhere to go.
#[test]
fn a_server_whose_terminal_is_closed_writes_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let [digest, seen, code] = ["digest", "seen", "code"].map(|name| folder.path().join(name));
    // As a user's shell does, this one passes the signal on. The first wait ends with it, the second with the server.
    let script = format!(
        "'{}' {} --digest '{}' & trap \"kill -HUP $!\" HUP; wait $!; wait $!; echo $? > '{}'",
        assert_cmd::cargo::cargo_bin("cubewire").display(),
        SERVE.join(" "),
        digest.display(),
        code.display(),
    );
    let mut terminal = Command::new("env");
    terminal
        .args(["--default-signal=INT,TERM,HUP", "script", "-qc", &script])
        .arg("/dev/null")
        .env("SHELL", "/bin/sh");
    let mut terminal = Killed(piped(&mut terminal).spawn().unwrap());
    let (address, out) = address(terminal.0.stdout.take().unwrap());
    let viewer = view(&address, &seen);
    sleep(Duration::from_millis(500));
    drop(terminal);
    drop(out);
    let code = wait("the exit code", || {
        let code = fs::read_to_string(&code).unwrap_or_default();
        (!code.is_empty()).then_some(code)
    });
    assert_eq!(code, "129\n");
    let (_, [_, said]) = end(viewer);
    assert!(said.ends_with("has ended the connection\n"), "{said}");
    assert!(lines(&seen).is_subset(&lines(&digest)));
}

const BYTES_OF_A_TICK: u64 = 901 * 8 * 4;

/// Starts a play that lasts, until a tenth of a second of it is in the file that it captures.
fn play(folder: &Path, out: Stdio) -> Killed {
    let arguments = [
        "headless",
        "--seconds",
        "86400",
        "--json",
        "--capture",
        "play.bin",
        "--csv",
        "play.csv",
    ];
    let mut paths = arguments.map(|word| match word.starts_with("play.") {
        true => folder.join(word).to_str().unwrap().to_owned(),
        false => word.to_owned(),
    });
    let paths: Vec<_> = paths.iter_mut().map(|word| word.as_str()).collect();
    let mut play = program(None, &paths);
    let play = Killed(piped(&mut play).stdout(out).spawn().unwrap());
    wait("some ticks", || {
        let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
        let mut lengths = files.map(|file| file.metadata().map_or(0, |file| file.len()));
        lengths
            .any(|bytes| bytes > 12 * BYTES_OF_A_TICK)
            .then_some(())
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
        // Six frames of the initial state come first.
        let bytes = fs::metadata(states).unwrap().len();
        assert_eq!(bytes, (6 + ticks) * BYTES_OF_A_TICK);
        let rows = fs::read_to_string(table).unwrap().lines().count() as u64 - 1;
        assert_eq!(rows, ticks);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

/// The first has its figures printed, which it cannot finish: nobody reads them, and the pipe is full.
#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, mut full) = pipe().unwrap();
    let mut play = play(folder.path(), full.try_clone().unwrap().into());
    let filler = thread::spawn(move || while full.write_all(&[0; 4096]).is_ok() {});
    send("TERM", &play.0);
    let errors = play.0.stderr.take().unwrap();
    let mut line = String::new();
    BufReader::new(errors).read_line(&mut line).unwrap();
    assert!(line.starts_with("stopped after "), "{line}");
    sleep(Duration::from_millis(500));
    assert_eq!(play.0.try_wait().unwrap(), None);
    send("INT", &play.0);
    assert_eq!(wait_code(play), Some(130));
    drop(reader);
    filler.join().unwrap();
}

#[test]
fn what_a_killed_play_has_left_is_removed_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let files = fs::read_dir(folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.collect::<HashSet<_>>()
    };
    let killed = play(folder.path(), Stdio::piped());
    send("KILL", &killed.0);
    assert_eq!(end(killed).0, None);
    let left = names();
    assert_eq!(left.len(), 2);
    assert!(
        left.iter().all(|name| name.starts_with(".cubewire-")),
        "{left:?}"
    );

    let csv = folder.path().join("a.csv");
    let next = ["headless", "--seconds", "1", "--csv", csv.to_str().unwrap()];
    let (code, [_, said]) = end(start(None, &next));
    assert_eq!((code, &*said), (Some(0), ""));
    assert_eq!(names(), HashSet::from(["a.csv".to_owned()]));
}

#[test]
#[ignore = "needs Xvfb, xdotool and a software Vulkan driver"]
fn a_window_that_is_killed_leaves_no_video_and_one_that_is_told_to_end_finishes_it() {
    let recorded = |folder: &Path, signal: &str| {
        let folder = folder.to_str().unwrap();
        let mut window = Window::open(&["--recordings", folder]);
        window.press("F9");
        window.press("F10");
        window.ticks(60);
        send(signal, &window.app.0);
        wait("the end", || window.app.0.try_wait().unwrap()).code()
    };
    let names = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(recorded(folder, "KILL"), None);
    let left = names(folder);
    assert_eq!(left.len(), 1);
    assert!(left[0].starts_with(".cubewire-"), "{left:?}");
    assert_eq!(recorded(folder, "TERM"), Some(143));
    assert_eq!(names(folder), ["cubewire-1.mp4", "cubewire-1.ron"]);
    assert_eq!(recorded(folder, "HUP"), Some(129));
    let all = ["1.mp4", "1.ron", "2.mp4", "2.ron"];
    assert_eq!(names(folder), all.map(|end| format!("cubewire-{end}")));
    for name in ["cubewire-1.mp4", "cubewire-2.mp4"] {
        let (_, frames) = crate::decode::read_mp4(&folder.join(name)).unwrap();
        assert!(!frames.is_empty());
    }
}
