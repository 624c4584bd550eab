//! Servers and viewers in separate processes: their digests of every snapshot must agree.

use std::env;
use std::path::Path;
use std::process::Command;
use std::slice;

use tempfile::TempDir;

use crate::common::{eventually, script_path};
use crate::program::{decoded_and_sent, digests, finish, follow, key, lines, serve, view};
use crate::window::Killed;

fn serve_mix(by: &[&str], bind: &str, key: &str, digest: &Path) -> (Killed, String) {
    let script = script_path("mix");
    let script = script.to_str().unwrap();
    let more = ["--bind", bind, "--key-file", key, "--script", script, "--rebuild", "never"];
    serve(by, &more, digest)
}

/// Waits until a viewer has lost a snapshot. A packet can be late, but not by a second.
fn wait_for_a_loss(server: &TempDir, viewer: &TempDir) {
    eventually("a loss", || {
        let decoded = digests(viewer.path()).pop()?;
        let sent = digests(server.path()).pop()?;
        let [decoded, sent] = decoded_and_sent(&decoded, &sent);
        let certain = decoded.last()?.checked_sub(60)?;
        let is_lost = |tick: &u64| *tick < certain && !decoded.contains(tick);
        sent.iter().any(is_lost).then_some(())
    });
}

#[test]
fn processes_agree_on_every_snapshot_on_loopback_and_over_a_bad_network() {
    agree_on_loopback();
    match Namespaces::new() {
        Some(namespaces) => agree_over_a_bad_network(&namespaces),
        None => assert_eq!(
            env::var("CUBEWIRE_NO_NAMESPACES").as_deref(),
            Ok("1"),
            "network namespaces cannot be made: that takes root, `ip` and a kernel that has them; \
             CUBEWIRE_NO_NAMESPACES=1 leaves this part out"
        ),
    }
}

fn agree_on_loopback() {
    let folders = [(); 4].map(|()| TempDir::new().unwrap());
    let [sent, decoded @ ..] = folders.each_ref().map(|folder| folder.path().join("digest"));
    let key = key(folders[0].path(), "key");
    let (server, address) = serve_mix(&[], "127.0.0.1:0", &key, &sent);
    let options = [
        &["--rung", "relative-orientation"][..],
        &["--rung", "at-rest", "--rate", "20", "--interpolation", "hermite"],
        &["--network", "hostile"],
    ];
    let mut viewers = [0, 1, 2].map(|viewer| {
        let more = [&["--key-file", &key], options[viewer]].concat();
        view(&[], &address, &more, &decoded[viewer])
    });
    for folder in &folders[1..] {
        follow(&mut viewers, folder.path(), 1, 20);
    }
    wait_for_a_loss(&folders[0], &folders[3]);
    for viewer in viewers {
        assert_eq!(finish(viewer)["refused"], 0);
    }
    let served = finish(server);
    assert!(served["viewers"].as_u64() >= Some(3));
    assert_eq!((&served["rebuilds_never"], &served["rebuilds"]), (&true.into(), &0.into()));
    let sent = lines(&sent);
    let [every, third, hostile] = decoded.map(|decoded| {
        let decoded = lines(&decoded);
        let wrong: Vec<_> = decoded.difference(&sent).collect();
        assert!(wrong.is_empty(), "decoded, but not sent: {wrong:?}");
        let ticks = decoded_and_sent(&decoded, &sent);
        println!("{} of {} decoded", ticks[0].len(), ticks[1].len());
        ticks
    });
    // Loopback loses datagrams only if a process does not run until its socket's buffer is full.
    for [decoded, sent] in [&every, &third] {
        assert!(decoded.len() > sent.len() / 2);
    }
    assert!(third[1].iter().all(|tick| tick % 3 == 0), "{third:?}");
    assert!(hostile[0].len() < hostile[1].len(), "the network loses some");
}

/// Two network namespaces with a cable between them. They are removed on drop.
struct Namespaces {
    names: [String; 2],
}

impl Namespaces {
    /// Returns `None` if the machine does not allow it.
    fn new() -> Option<Self> {
        let names = ["a", "b"].map(|side| format!("cubewire-{}-{side}", std::process::id()));
        let this = Self { names };
        let [a, b] = &this.names;
        let cable = [
            "link", "add", "cable", "netns", a, "type", "veth", "peer", "name", "cable", "netns", b,
        ];
        let made = ip(&["netns", "add", a]) && ip(&["netns", "add", b]) && ip(&cable);
        let up = made
            && [(a, SERVER), (b, "10.77.0.2")].iter().all(|(name, address)| {
                let address = format!("{address}/24");
                ip(&["-n", name, "address", "add", &address, "dev", "cable"])
                    && ip(&["-n", name, "link", "set", "cable", "up"])
            });
        up.then_some(this)
    }

    /// Adds losses to packets from the server, with netem or, if the kernel has no netem, with a bottleneck that
    /// drops. Returns which one.
    fn spoil(&self) -> &'static str {
        let tc = |discipline: &str| {
            let exec = ["netns", "exec", &self.names[0]];
            let tc = "tc qdisc add dev cable root".split(' ');
            let tc: Vec<_> = exec.into_iter().chain(tc.chain(discipline.split(' '))).collect();
            ip(&tc)
        };
        if tc("netem loss 5% delay 40ms 15ms") {
            "netem, 5 % loss, 40 ± 15 ms"
        } else if tc("tbf rate 200kbit burst 3kb limit 6kb") {
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
    let folders = [(); 2].map(|()| TempDir::new().unwrap());
    let [sent, decoded] = folders.each_ref().map(|folder| folder.path().join("digest"));
    let key = key(folders[0].path(), "key");
    let [a, b] = namespaces.names.each_ref();
    let [a, b] = [a, b].map(|name| ["ip", "netns", "exec", name]);
    let (server, address) = serve_mix(&a, &format!("{SERVER}:0"), &key, &sent);
    let more = ["--key-file", &key, "--rung", "delta"];
    let mut viewer = view(&b, &address, &more, &decoded);
    follow(slice::from_mut(&mut viewer), folders[1].path(), 1, 20);
    if !spoiled_by.starts_with("nothing") {
        wait_for_a_loss(&folders[0], &folders[1]);
    }
    assert_eq!(finish(viewer)["refused"], 0);
    finish(server);
    let [decoded, sent] = [&decoded, &sent].map(|digest| lines(digest));
    assert!(decoded.is_subset(&sent));
    let [decoded, sent] = decoded_and_sent(&decoded, &sent).map(|ticks| ticks.len());
    println!("over {spoiled_by}: {decoded} of {sent} decoded");
}
