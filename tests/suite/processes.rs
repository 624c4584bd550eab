//! A server and viewers as processes of their own: what either side writes down of every snapshot
//! must agree.

use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;

use tempfile::TempDir;

use crate::common::script_path;

/// How long the server plays.
const SECONDS: &str = "13";

/// How long viewers watch, so that they leave before the server does, and so that one that starts late
/// on a busy machine still sees enough.
const VIEW_SECONDS: &str = "10";

/// The program, in a network namespace if one is named.
fn cubewire(namespace: Option<&str>) -> Command {
    let program = assert_cmd::cargo::cargo_bin!("cubewire");
    match namespace {
        None => Command::new(program),
        Some(namespace) => {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", namespace]).arg(program);
            command
        }
    }
}

struct Server {
    process: Child,
    address: String,
}

/// Starts a server, and waits until it listens.
fn serve(mut command: Command, bind: &str, security: &[&str], digest: &Path) -> Server {
    let mut process = command
        .args(["serve", "--headless", "--bind", bind, "--seconds", SECONDS])
        .args(security)
        .arg("--script")
        .arg(script_path("mix"))
        .arg("--digest")
        .arg(digest)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(process.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    process.stdout = Some(out.into_inner());
    let words = line.split_whitespace();
    let mut words = words.map(|word| word.trim_end_matches('.'));
    let address = words.find(|word| word.parse::<SocketAddr>().is_ok());
    let address = address.unwrap_or_else(|| panic!("the server says: {line}"));
    Server {
        process,
        address: address.to_owned(),
    }
}

fn view(
    mut command: Command,
    server: &str,
    security: &[&str],
    more: &[&str],
    digest: &Path,
) -> Child {
    command
        .args([
            "view",
            "--headless",
            "--connect",
            server,
            "--seconds",
            VIEW_SECONDS,
        ])
        .args(security)
        .args(more)
        .arg("--digest")
        .arg(digest)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn succeeded(child: Child) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(status.success(), "{stdout}\n{stderr}");
    stdout
}

fn lines(path: &Path) -> HashSet<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// Of all snapshots sent to a viewer while it was there, how many it decoded; panics over one that
/// was decoded to something else than what was sent.
fn decoded_and_sent(sent: &HashSet<String>, decoded: &HashSet<String>) -> (usize, usize) {
    let mut wrong = decoded.difference(sent);
    assert_eq!(wrong.next(), None, "decoded, but not sent");
    let viewer = |line: &String| line.split(',').next().unwrap().to_owned();
    let this = viewer(decoded.iter().next().expect("something was decoded"));
    let sent = sent.iter().filter(|line| viewer(line) == this).count();
    (decoded.len(), sent)
}

#[test]
fn processes_agree_on_every_snapshot_on_loopback_and_over_a_bad_network() {
    // In real time, so both at once.
    thread::scope(|scope| {
        scope.spawn(agree_on_loopback);
        match Namespaces::new() {
            Some(namespaces) => agree_over_a_bad_network(&namespaces),
            None => assert_eq!(
                env::var("CUBEWIRE_NO_NAMESPACES").as_deref(),
                Ok("1"),
                "network namespaces cannot be made: that takes root, `ip` and a kernel that has \
                 them; CUBEWIRE_NO_NAMESPACES=1 leaves this part out"
            ),
        }
    });
}

fn agree_on_loopback() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let insecure = ["--insecure"];
    let server = serve(cubewire(None), "127.0.0.1:0", &insecure, &at("sent.csv"));
    let options = [
        &["--rung", "relative-orientation"][..],
        &[
            "--rung",
            "at-rest",
            "--rate",
            "20",
            "--interpolation",
            "hermite",
        ],
        &["--network", "hostile"],
    ];
    let viewers: Vec<_> = options
        .iter()
        .enumerate()
        .map(|(place, more)| {
            let digest = at(&format!("decoded-{place}.csv"));
            let viewer = view(cubewire(None), &server.address, &insecure, more, &digest);
            (viewer, digest)
        })
        .collect();
    let digests: Vec<_> = viewers
        .into_iter()
        .map(|(viewer, digest)| {
            let viewed: serde_json::Value = serde_json::from_str(&succeeded(viewer)).unwrap();
            assert_eq!(viewed["refused"], 0);
            lines(&digest)
        })
        .collect();
    let served = succeeded(server.process);
    assert!(served.contains("\"viewers\": 3"), "{served}");
    let sent = lines(&at("sent.csv"));
    let counts: Vec<_> = digests
        .iter()
        .map(|decoded| decoded_and_sent(&sent, decoded))
        .collect();
    println!("decoded of sent: {counts:?}");
    // At 60 a second and at 20: a slow machine may start late, and nothing is lost on loopback.
    assert!(counts[0].0 > 200 && counts[0].1 - counts[0].0 < 30);
    assert!(counts[1].0 > 66 && counts[1].0 < 210);
    assert!(counts[2].0 < counts[2].1, "the hostile network loses some");
}

#[test]
fn a_viewer_without_a_window_says_when_it_is_connected_and_fails_if_it_never_was() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["key", "other-key"] {
        let made = cubewire(None).args(["key", "--out"]).arg(at(name)).status();
        assert!(made.unwrap().success());
    }
    let keys = ["key", "other-key"].map(|name| at(name).to_str().unwrap().to_owned());
    let secure = keys.each_ref().map(|key| ["--key-file", key]);
    let mut server = serve(cubewire(None), "127.0.0.1:0", &secure[0], &at("sent.csv"));
    let watch = |security: &[&str], seconds: &str| {
        let view = [
            "view",
            "--headless",
            "--connect",
            &server.address,
            "--seconds",
            seconds,
        ];
        let output = cubewire(None).args(view).args(security).output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), stdout, stderr)
    };
    let (code, stdout, stderr) = watch(&secure[1], "1");
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    let reason = format!(
        "error: never connected: no answer from {} for ",
        server.address
    );
    assert!(
        stderr.starts_with(&reason) && stderr.contains("another key"),
        "{stderr}"
    );

    let (code, stdout, stderr) = watch(&secure[0], "4");
    assert_eq!(code, Some(0), "{stderr}");
    let viewed: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert!(viewed["snapshots"].as_u64() > Some(0), "{stdout}");
    let connected = format!(
        "connected to {} as viewer {}\n",
        server.address, viewed["viewer"]
    );
    assert_eq!(stderr, connected);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
}

/// Two network namespaces and a cable between them; gone when dropped.
struct Namespaces {
    names: [String; 2],
}

impl Namespaces {
    /// None where the machine does not allow it.
    fn new() -> Option<Self> {
        let names = ["a", "b"].map(|side| format!("cubewire-{}-{side}", std::process::id()));
        let this = Self { names };
        let [a, b] = &this.names;
        let cable = [
            "link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b,
        ];
        let made = ip(&["netns", "add", a]) && ip(&["netns", "add", b]) && ip(&cable);
        let up = made
            && [(a, SERVER), (b, "10.77.0.2")]
                .iter()
                .all(|(name, address)| {
                    ip(&[
                        "-n",
                        name,
                        "address",
                        "add",
                        &format!("{address}/24"),
                        "dev",
                        "cable",
                    ]) && ip(&["-n", name, "link", "set", "cable", "up"])
                });
        up.then_some(this)
    }

    /// Makes the way from the server bad: by netem, or where the kernel has none, by a bottleneck
    /// that drops what does not fit. What it was is told.
    fn spoil(&self) -> &'static str {
        let tc = |discipline: &[&str]| {
            let mut command = Command::new("ip");
            command.args([
                "netns",
                "exec",
                &self.names[0],
                "tc",
                "qdisc",
                "add",
                "dev",
                "cable",
                "root",
            ]);
            command
                .args(discipline)
                .output()
                .is_ok_and(|output| output.status.success())
        };
        if tc(&["netem", "loss", "5%", "delay", "40ms", "15ms"]) {
            "netem, 5 % loss, 40 ± 15 ms"
        } else if tc(&["tbf", "rate", "200kbit", "burst", "3kb", "limit", "6kb"]) {
            "a bottleneck of 200 kbit/s, as the kernel has no netem"
        } else {
            "nothing, as the kernel has neither netem nor tbf"
        }
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&["netns", "delete", name]);
        }
    }
}

fn ip(args: &[&str]) -> bool {
    let output = Command::new("ip").args(args).output();
    output.is_ok_and(|output| output.status.success())
}

const SERVER: &str = "10.77.0.1";

fn agree_over_a_bad_network(namespaces: &Namespaces) {
    let spoiled_by = namespaces.spoil();
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let key = at("key");
    let made = cubewire(None).args(["key", "--out"]).arg(&key).status();
    assert!(made.unwrap().success());
    let secure = ["--key-file", key.to_str().unwrap()];
    let [a, b] = namespaces.names.each_ref().map(|name| Some(name.as_str()));
    let bind = format!("{SERVER}:0");
    let server = serve(cubewire(a), &bind, &secure, &at("sent.csv"));
    let digest = at("decoded.csv");
    let more = ["--rung", "delta"];
    let viewer = view(cubewire(b), &server.address, &secure, &more, &digest);
    let viewed: serde_json::Value = serde_json::from_str(&succeeded(viewer)).unwrap();
    assert_eq!(viewed["refused"], 0);
    succeeded(server.process);
    let (decoded, sent) = decoded_and_sent(&lines(&at("sent.csv")), &lines(&digest));
    println!("over {spoiled_by}: {decoded} of {sent} decoded");
    assert!(decoded > 50);
    if !spoiled_by.starts_with("nothing") {
        assert!(decoded < sent, "something was lost");
    }
}
