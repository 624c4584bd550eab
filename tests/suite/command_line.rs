//! The program as a user types it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use cubewire::controls::{BINDINGS, Binding};
use cubewire_codec::ladder::{self, LADDER};
use cubewire_link::PRESETS;
use serde_json::Value;

use crate::common::script_path;

pub(crate) fn cubewire(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cubewire").unwrap();
    command
        .args(arguments)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY");
    command
}

/// Runs it, wants exit code 2, and gives the one line that it says.
pub(crate) fn complaint(arguments: &[&str]) -> String {
    let output = cubewire(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    said
}

#[test]
fn headless_prints_figures_for_programs() {
    let script = script_path("katamari");
    let script = script.to_str().unwrap();
    let output = cubewire(&["headless", "--script", script, "--seconds", "3", "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(figures["rung"], "changed-flags");
    assert_eq!(figures["snapshots"], 180);
    assert_eq!(figures["wrong"], 0);
    let bits: f64 = figures["bits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kind| kind["bits_per_snapshot"].as_f64().unwrap())
        .sum();
    let bytes = figures["payload_bytes"].as_f64().unwrap();
    assert!(
        (bits - bytes * 8.0).abs() < 1e-6,
        "the ledger is the payload"
    );
    let article = figures["article"]["mean_kbps"].as_f64().unwrap();
    assert!((article - (bytes + 28.0) * 60.0 * 8.0 / 1000.0).abs() < 1e-6);
}

#[test]
fn the_ladder_is_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let png = folder.path().join("ladder.png");
    let script = script_path("rolling");
    let arguments = [
        "ladder",
        "--script",
        script.to_str().unwrap(),
        "--seconds",
        "2",
        "--png",
    ];
    let output = cubewire(&arguments).arg(&png).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    for rung in LADDER {
        assert!(table.contains(&format!("| {} ", rung.name)), "{table}");
    }
    assert_eq!(&fs::read(png).unwrap()[1..4], b"PNG");
}

#[test]
fn a_captured_play_is_a_recording_that_the_lab_can_read() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("play.bin", 906 * 901 * 32), ("play.bin.zst", 0)] {
        let path = folder.path().join(name);
        let script = script_path("katamari");
        let arguments = [
            "headless",
            "--script",
            script.to_str().unwrap(),
            "--seconds",
            "15",
        ];
        let output = cubewire(&arguments)
            .arg("--capture")
            .arg(&path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let written = fs::metadata(&path).unwrap().len();
        assert!(bytes == 0 || written == bytes, "{written}");
    }
    let play = fs::read(folder.path().join("play.bin")).unwrap();
    let packed = fs::File::open(folder.path().join("play.bin.zst")).unwrap();
    assert_eq!(zstd::decode_all(packed).unwrap(), play);
    // Six copies of the initial state come first.
    let frame = 901 * 32;
    assert_eq!(play[..frame], play[5 * frame..6 * frame]);
    assert_ne!(play[..frame], play[300 * frame..301 * frame]);
    let files = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(files, 2, "nothing else is left");

    // The lab reads both, and finds the codec lossless on them.
    for name in ["play.bin", "play.bin.zst"] {
        let mut lab = Command::cargo_bin("cubewire-lab").unwrap();
        lab.args(["walkoff", "--codec", "changed-flags", "--json"]);
        let output = lab.arg(folder.path().join(name)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["packets"], 900);
        assert_eq!(said["lossless"], true);
    }
}

#[test]
fn without_a_display_it_says_so_and_prints_the_ladder() {
    let output = cubewire(&[]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let first = said.lines().next().unwrap();
    assert!(
        first.contains("no window, because there is no display"),
        "{said}"
    );
    assert!(said.contains("| predicted-position "), "{said}");
}

#[test]
fn mistakes_get_one_line_that_names_the_place() {
    let said = complaint(&["headless", "--rung", "indexx"]);
    assert!(
        said.contains("--rung: unknown rung `indexx`; one of "),
        "{said}"
    );
    assert!(said.contains("relative-index"), "{said}");
    assert!(complaint(&["--rung", "indexx"]).contains("indexx"));

    let said = complaint(&["headless", "--script", "nowhere.ron"]);
    assert!(said.contains("nowhere.ron: "), "{said}");

    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unknown_key = write("a.ron", "(ticks: 9,\n steps: [(at: 1, hold: [Jump])])");
    let said = complaint(&["ladder", "--script", &unknown_key]);
    assert!(said.contains("a.ron:2:") && said.contains("Jump"), "{said}");
    let order = write(
        "b.ron",
        "(ticks: 9, steps: [(at: 3, hold: []), (at: 2, hold: [])])",
    );
    let said = complaint(&["headless", "--script", &order]);
    assert!(
        said.contains("b.ron: step 2: tick 2 does not come after tick 3"),
        "{said}"
    );
    let not_ron = write("c.ron", "ticks = 9");
    assert!(complaint(&["--script", &not_ron]).contains("c.ron:1:"));
    fs::write(folder.path().join("d.ron"), [0xff, 0xfe]).unwrap();
    let binary = folder.path().join("d.ron");
    assert!(complaint(&["headless", "--script", binary.to_str().unwrap()]).contains("d.ron: "));

    for seconds in ["0", "-1", "NaN", "1e9"] {
        let option = format!("--seconds={seconds}");
        assert!(complaint(&["headless", &option]).contains("--seconds: "));
    }
    assert!(complaint(&["headless", "--seconds", "1", "--skip", "1"]).contains("--skip: 1 "));
    assert!(complaint(&["--size", "12"]).contains("--size: 12 "));

    let said = complaint(&["network", "--networks", "perfect,5g"]);
    assert!(
        said.contains("--networks: unknown network `5g`; one of "),
        "{said}"
    );
    assert!(said.contains("wi-fi-bad, cable"), "{said}");
    assert!(complaint(&["--network", "5g"]).contains("`5g`"));
    assert!(complaint(&["--rate", "25"]).contains("--rate: rate: `25` must be 60, 30, 20 or 10"));
    let said = complaint(&["--interpolation", "cubic"]);
    assert!(
        said.contains("`cubic`") && said.contains("hermite"),
        "{said}"
    );
    let trace = write("e.csv", "sent_ms,delay_ms\n0,20\n16,soon\n");
    let said = complaint(&["--trace", &trace]);
    assert!(
        said.contains("e.csv: line 3: delay_ms is \"soon\""),
        "{said}"
    );

    let said = complaint(&[
        "headless",
        "--seconds",
        "1",
        "--capture",
        "/nowhere/play.bin",
    ]);
    assert!(said.contains("/nowhere/play.bin: "), "{said}");
    let said = complaint(&["ladder", "--seconds", "1", "--png", "/nowhere/ladder.png"]);
    assert!(said.contains("/nowhere/ladder.png: "), "{said}");
}

fn help(command: &[&str]) -> String {
    let output = cubewire(&[command, &["--help"]].concat()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_names_the_keys_and_the_commands() {
    for command in [&[][..], &["headless"], &["ladder"], &["network"], &["soak"]] {
        let help = help(command);
        assert!(help.contains("--script <FILE>"), "{help}");
    }
    let help = help(&[]);
    for Binding { keys, about, .. } in BINDINGS {
        let is_row = |line: &str| {
            let about_here = line.trim().strip_prefix(keys);
            about_here.is_some_and(|rest| rest.trim() == about && rest != about)
        };
        assert!(help.lines().any(is_row), "no `{keys}  {about}` in\n{help}");
    }
    let commands = "headless ladder network serve view viewers play record key soak";
    for command in commands.split(' ') {
        let is_row = |line: &str| line.trim_start().split(' ').next() == Some(command);
        assert!(help.lines().any(is_row), "no `{command}` in\n{help}");
    }
}

#[test]
fn help_names_every_rung_and_every_network_where_one_is_chosen() {
    let words = |help: &str| -> HashSet<String> {
        let words = help.split(|c: char| c != '-' && !c.is_ascii_alphanumeric());
        words.map(str::to_owned).collect()
    };
    for command in [
        &[][..],
        &["headless"],
        &["network"],
        &["record"],
        &["serve"],
        &["view"],
        &["viewers"],
    ] {
        let words = words(&help(command));
        for rung in ladder::all() {
            assert!(
                words.contains(rung.name),
                "{command:?} --help: no {}",
                rung.name
            );
        }
    }
    for command in [&[][..], &["network"], &["record"], &["serve"], &["view"]] {
        let words = words(&help(command));
        for preset in &PRESETS {
            assert!(
                words.contains(preset.name),
                "{command:?} --help: no {}",
                preset.name
            );
        }
    }
}

#[test]
fn the_readmes_table_of_keys_is_the_programs() {
    let rows = BINDINGS.map(|Binding { keys, about, .. }| format!("| {keys} | {about} |"));
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let mut lines = readme.lines();
    let header = lines.find(|line| line.starts_with("| keys | "));
    assert!(
        header.is_some(),
        "README.md has no table that begins `| keys | `"
    );
    let table: Vec<_> = lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(
        table == rows,
        "README.md's table of keys should have these rows:\n{}",
        rows.join("\n")
    );
}

#[test]
fn serving_and_viewing_say_what_they_lack() {
    let without_key = |arguments: &[&str]| {
        let output = cubewire(arguments).env_remove("CUBEWIRE_KEY").output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for command in [&["serve", "--bind"], &["view", "--connect"]] {
        let said = without_key(&[command[0], command[1], "127.0.0.1:0"]);
        assert!(
            said.contains("--key-file") && said.contains("--insecure"),
            "{said}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let key = key.to_str().unwrap();
    let serve = ["serve", "--headless", "--bind", "127.0.0.1:0"];
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(
        said.contains("--key-file: ") && said.contains(key),
        "{said}"
    );
    fs::write(key, "open sesame").unwrap();
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("64 hexadecimal digits"), "{said}");
    assert!(
        complaint(&[&serve[..], &["--insecure", "--viewers", "0"]].concat())
            .contains("--viewers: 0")
    );
    let said = complaint(&["serve", "--headless", "--bind", "0.0.0.0:0", "--insecure"]);
    assert!(said.contains("needs a key"), "{said}");
    let said = complaint(&["view", "--headless", "--connect", "nowhere", "--insecure"]);
    assert!(said.contains("--connect: nowhere: "), "{said}");
    // The key in the environment; nobody is there.
    let output = cubewire(&["key"]).output().unwrap();
    let key = String::from_utf8(output.stdout).unwrap();
    let view = [
        "view",
        "--headless",
        "--connect",
        "127.0.0.1:1",
        "--timeout",
        "1",
    ];
    let output = cubewire(&view).env("CUBEWIRE_KEY", key).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: nothing listens at 127.0.0.1:1\n");
}

#[test]
fn what_viewers_cost_is_a_table() {
    let output = cubewire(&["viewers", "--seconds", "1", "--max", "2"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    let kbps: Vec<f64> = table
        .lines()
        .skip(2)
        .map(|line| line.split('|').nth(4).unwrap().trim().parse().unwrap())
        .collect();
    assert_eq!(kbps.len(), 3);
    assert!(
        kbps[1] > 10.0 && (kbps[2] - 2.0 * kbps[1]).abs() < 1.0,
        "{table}"
    );
}
