//! Runs the program in separate processes, follows their output and ends them.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::eventually;
use crate::window::Killed;

/// Signals with the exit codes that report them.
pub(crate) const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Options of a server for this machine only.
pub(crate) const INSECURE: [&str; 3] = ["--bind", "127.0.0.1:0", "--insecure"];

/// Returns a command that runs its arguments with default signal handling, even if the tests ignore signals, as under
/// `nohup`.
pub(crate) fn heeding_signals() -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,TERM,HUP");
    command
}

/// Returns the command for the program. If `by` is not empty, it is a program that runs it.
pub(crate) fn program(by: &[&str], arguments: &[&str]) -> Command {
    let mut command = heeding_signals();
    command
        .args(by)
        .arg(assert_cmd::cargo::cargo_bin("cubewire"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(crate) fn start(by: &[&str], arguments: &[&str]) -> Killed {
    Killed(program(by, arguments).spawn().unwrap())
}

pub(crate) fn send(signal: &str, process: &Child) {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{signal}")).arg(process.id().to_string());
    assert!(kill.status().unwrap().success());
}

/// Waits until the process has ended. Returns its exit code, or `None` if it was killed, and the output that was not
/// read before.
pub(crate) fn end(mut process: Killed) -> (Option<i32>, [String; 2]) {
    let process = &mut process.0;
    let status = eventually("the end", || process.try_wait().unwrap());
    let out = process.stdout.as_mut().map(|pipe| io::read_to_string(pipe).unwrap());
    let errors = process.stderr.as_mut().map(|pipe| io::read_to_string(pipe).unwrap());
    (status.code(), [out, errors].map(Option::unwrap_or_default))
}

fn address(out: impl Read) -> String {
    let mut lines = BufReader::new(out).lines().map(Result::unwrap);
    let found = lines.find_map(|line| {
        let words = line.split_whitespace();
        let mut words = words.map(|word| word.trim_end_matches('.'));
        let address = words.find(|word| word.parse::<SocketAddr>().is_ok());
        address.map(str::to_owned)
    });
    found.expect("it says where it listens")
}

/// Starts a server that writes a digest and waits until it listens. Returns its address, too.
pub(crate) fn serve(by: &[&str], more: &[&str], digest: &Path) -> (Killed, String) {
    let digest = ["--digest", digest.to_str().unwrap()];
    let mut server = start(by, &[&["serve", "--headless", "--json"], more, &digest].concat());
    let address = address(server.0.stdout.as_mut().unwrap());
    (server, address)
}

/// Starts a viewer that writes a digest and waits until it is connected.
pub(crate) fn view(by: &[&str], server: &str, more: &[&str], digest: &Path) -> Killed {
    let view = ["view", "--headless", "--json", "--timeout", "30", "--connect", server];
    let digest = ["--digest", digest.to_str().unwrap()];
    let mut viewer = start(by, &[&view, more, &digest].concat());
    let mut line = [0; 13];
    let errors = viewer.0.stderr.as_mut().unwrap();
    errors.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"connected to ", "{}", line.escape_ascii());
    viewer
}

/// Returns the lines of every digest in a folder, which may be unfinished.
pub(crate) fn digests(folder: &Path) -> Vec<HashSet<String>> {
    let files = fs::read_dir(folder).unwrap();
    let texts = files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok());
    let digests = texts.filter_map(|text| {
        let (header, lines) = text.split_once('\n')?;
        let whole = &lines[..lines.rfind('\n').map_or(0, |end| end + 1)];
        (header == "viewer,tick,hash").then(|| whole.lines().map(str::to_owned).collect())
    });
    digests.collect()
}

/// Waits until this number of digests in a folder have `lines` lines each. Fails with the viewer's output if a viewer
/// ends earlier.
pub(crate) fn follow(viewers: &mut [Killed], folder: &Path, count: usize, lines: usize) {
    eventually("the lines of digests", || {
        for Killed(viewer) in &mut *viewers {
            if let Some(status) = viewer.try_wait().unwrap() {
                let said = io::read_to_string(viewer.stderr.as_mut().unwrap()).unwrap();
                panic!("a viewer has ended: {status}: {said}");
            }
        }
        let digests = digests(folder).into_iter();
        let long = digests.filter(|digest| digest.len() >= lines);
        (long.count() >= count).then_some(())
    });
}

/// Returns the lines of a finished digest, which must not be empty.
pub(crate) fn lines(digest: &Path) -> HashSet<String> {
    let text = fs::read_to_string(digest).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let lines: HashSet<_> = text.lines().skip(1).map(str::to_owned).collect();
    assert!(!lines.is_empty());
    lines
}

pub(crate) fn key(folder: &Path, name: &str) -> String {
    let file = folder.join(name).to_str().unwrap().to_owned();
    let made = program(&[], &["key", "--out", &file]).status();
    assert!(made.unwrap().success());
    file
}

/// Ends a server or a viewer and returns the figures that it prints.
pub(crate) fn finish(process: Killed) -> Value {
    send("TERM", &process.0);
    let (code, [figures, said]) = end(process);
    assert_eq!(code, Some(143), "{said}");
    serde_json::from_str(&figures).unwrap()
}

/// Returns the ticks that a viewer decoded, and those sent to it between the first and the last of them. Lines of a
/// digest are viewer, tick and hash.
pub(crate) fn decoded_and_sent(
    decoded: &HashSet<String>,
    sent: &HashSet<String>,
) -> [BTreeSet<u64>; 2] {
    let columns = |line: &str| {
        let (viewer, rest) = line.split_once(',').unwrap();
        let (tick, _) = rest.split_once(',').unwrap();
        (viewer.to_owned(), tick.parse().unwrap())
    };
    let decoded: BTreeSet<_> = decoded.iter().map(|line| columns(line)).collect();
    let sent: BTreeSet<_> = sent.iter().map(|line| columns(line)).collect();
    let sent = match (decoded.first(), decoded.last()) {
        (Some(first), Some(last)) => sent.range(first..=last).cloned().collect(),
        _ => BTreeSet::new(),
    };
    [decoded, sent].map(|lines| lines.into_iter().map(|(_, tick)| tick).collect())
}
