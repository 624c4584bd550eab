//! The program's command line.

use std::collections::HashSet;
use std::fs;

use assert_cmd::Command;
use clap::CommandFactory;
use cubewire::commands::Cli;
use cubewire::controls::{BINDINGS, Binding};
use cubewire_codec::ladder::{self, LADDER, Rung};
use cubewire_link::PRESETS;
use serde_json::Value;

use crate::common::{names, root, script_path};

/// Bytes of a recorded frame: presence, orientation, position and flag of each cube.
pub(crate) const FRAME_BYTES: usize = 901 * (1 + 8 + 12 + 4);

pub(crate) fn cubewire(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cubewire").unwrap();
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

/// Returns standard output. The command must succeed.
pub(crate) fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn json(command: &mut Command) -> Value {
    serde_json::from_str(&printed(command)).unwrap()
}

#[test]
fn times_of_frames_are_printed_for_people_and_for_programs() {
    let profile = ["headless", "--seconds", "0.2", "--profile"];
    let figures = json(cubewire(&profile).arg("--json"));
    assert_eq!(figures["frames"], 12);
    let of = |name: &str| figures[name].as_f64().unwrap();
    assert!(of("median_ms") > 0.0 && of("worst_ms") >= of("percentile_99_ms"));
    let table = printed(&mut cubewire(&profile));
    assert!(table.contains("| percentile 99 ms | "), "{table}");
}

#[test]
fn a_budget_is_kept_in_every_second() {
    let play = ["headless", "--seconds", "12", "--json", "--budget", "64", "--script"];
    let of = |rung: &str| {
        let script = script_path("katamari");
        json(cubewire(&play).arg(script).args(["--rung", rung]))["budget"].clone()
    };
    let [predicted, flags] = ["predicted", "changed-flags"].map(of);
    for budget in [&predicted, &flags] {
        let figure = |name: &str| budget[name].as_f64().unwrap();
        assert_eq!(figure("wrong"), 0.0);
        assert!(figure("max_second_kbps") <= 64.0, "{budget}");
        // The budget is used, and no body waits forever.
        assert!(figure("max_second_kbps") > 56.0, "{budget}");
        assert!((1.0..180.0).contains(&figure("longest_wait_ticks")), "{budget}");
    }
    let error = |budget: &Value| budget["mean_error_mm"].as_f64().unwrap();
    assert!(error(&predicted) < error(&flags), "{predicted} {flags}");
}

#[test]
fn the_ladder_is_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let png = folder.path().join("rungs.png");
    let ladder = || {
        let mut ladder = cubewire(&["ladder", "--seconds", "2", "--script"]);
        ladder.arg(script_path("rolling")).current_dir(folder.path());
        ladder
    };
    let table = printed(ladder().arg("--png").arg(&png));
    for rung in LADDER {
        assert!(table.contains(&format!("| {} ", rung.name)), "{table}");
    }
    assert_eq!(&fs::read(&png).unwrap()[1..4], b"PNG");
    assert!(!table.contains("| position bits"), "{table}");

    let details = printed(ladder().arg("--bits"));
    let header = |line: &&str| line.contains(" largest, kbps | header |");
    assert!(details.lines().any(|line| header(&line)), "{details}");

    let costs = json(ladder().args(["--json", "--bits"]));
    assert_eq!(names(folder.path()), ["rungs.png"], "no other picture was asked for");
    let costs = costs.as_array().unwrap();
    assert_eq!(costs[0]["factor"], 1.0);
    let mean = |index: usize| costs[index]["mean_kbps"].as_f64().unwrap();
    let factor = costs[6]["factor"].as_f64().unwrap();
    assert!((factor - mean(0) / mean(6)).abs() < 1e-9, "{costs:?}");
    assert!(costs[6]["peak_kbps"].is_f64() && costs[6]["bits"].is_array());
}

#[test]
fn a_captured_play_is_a_recording_that_the_lab_can_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["play.bin", "play.bin.zst"] {
        let path = folder.path().join(name);
        let mut play = cubewire(&["headless", "--seconds", "5", "--script"]);
        play.arg(script_path("katamari")).arg("--capture");
        printed(play.arg(&path));
    }
    let play = fs::read(folder.path().join("play.bin")).unwrap();
    let packed = fs::File::open(folder.path().join("play.bin.zst")).unwrap();
    assert_eq!(zstd::decode_all(packed).unwrap(), play);
    // The schema comes first, then six copies of the initial state.
    assert!(play.starts_with(b"cubewire recording 3\n"));
    let frames = &play[play.len() % FRAME_BYTES..];
    let frames: Vec<_> = frames.chunks(FRAME_BYTES).collect();
    assert_eq!(frames.len(), 306);
    assert_eq!(frames[0], frames[5]);
    assert_ne!(frames[0], frames[200]);
    assert_eq!(names(folder.path()), ["play.bin", "play.bin.zst"]);

    // The lab reads both files, and the codec is lossless on them.
    for name in ["play.bin", "play.bin.zst"] {
        let mut lab = Command::cargo_bin("cubewire-lab").unwrap();
        lab.args(["walkoff", "--codec", "changed-flags", "--json"]);
        let said = json(lab.arg(folder.path().join(name)));
        assert_eq!(said["packets"], 300);
        assert_eq!(said["lossless"], true);
    }
}

#[test]
fn without_a_display_it_says_so_and_prints_the_ladder() {
    let said = printed(&mut cubewire(&[]));
    let first = said.lines().next().unwrap();
    assert!(first.contains("cannot open a window, because there is no display"), "{said}");
    assert!(said.contains("| predicted-position "), "{said}");
}

fn help(command: &str) -> String {
    let mut program = Cli::command();
    let command = match command {
        "" => &mut program,
        name => program.find_subcommand_mut(name).unwrap(),
    };
    command.render_help().to_string()
}

#[test]
fn help_names_the_keys_and_the_commands() {
    for command in ["", "headless", "ladder"] {
        let help = help(command);
        assert!(help.contains("--script <FILE>"), "{help}");
    }
    for (command, has_game) in [("", true), ("view", false)] {
        let help = help(command);
        for binding in BINDINGS {
            let keys = binding.keys;
            let Some(about) = binding.about_in(has_game) else { continue };
            let is_row = |line: &str| {
                let about_here = line.trim().strip_prefix(keys);
                about_here.is_some_and(|rest| rest.trim() == about && rest != about)
            };
            assert!(help.lines().any(is_row), "no `{keys}  {about}` in\n{help}");
        }
    }
    let help = help("");
    let commands = "tour headless ladder serve view play record key help";
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.map_while(|line| line.split_whitespace().next());
    assert_eq!(listed.collect::<Vec<_>>().join(" "), commands);
}

#[test]
fn options_for_tests_and_measurements_are_not_in_the_help() {
    for (command, options) in [
        ("play", &["--ticks", "--lane"][..]),
        ("serve", &["--digest"]),
        ("view", &["--digest"]),
        ("headless", &["--profile", "--join", "--nudge"]),
    ] {
        let help = help(command);
        for option in options {
            assert!(!help.contains(option), "{command} {option}");
        }
    }
}

#[test]
fn a_file_that_is_replaced_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let play = || {
        let mut play = cubewire(&["headless", "--seconds", "0.1", "--csv", "a.csv"]);
        play.current_dir(folder.path());
        let output = play.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(play(), "");
    assert_eq!(play(), "warning: a.csv exists and will be replaced\n");
}

#[test]
fn the_rungs_are_listed_once() {
    let listed = printed(&mut cubewire(&["ladder", "--list"]));
    let names: Vec<_> = ladder::all().map(|rung| rung.name).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), names);
}

#[test]
fn help_names_every_network_and_where_the_rungs_are_listed_where_one_is_chosen() {
    for command in ["", "headless", "record", "serve", "view"] {
        let help = help(command);
        assert!(help.contains("`cubewire ladder --list`"), "{help}");
        assert!(!help.contains("relative-orientation"), "{help}");
        let words = help.split(|c: char| c != '-' && !c.is_ascii_alphanumeric());
        let words: HashSet<_> = words.collect();
        for preset in &PRESETS {
            let name = preset.name;
            assert!(words.contains(name), "{command} --help: no {name}");
        }
    }
}

/// Returns the rows of a table in a document of the repository. `header` is the start of the table's first line.
fn table(document: &str, header: &str) -> Vec<String> {
    let path = root().join(document);
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header_line = lines.find(|line| line.starts_with(header));
    assert!(header_line.is_some(), "{document} has no table that begins `{header}`");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(str::to_owned).collect()
}

#[test]
fn the_documents_table_of_keys_is_the_programs() {
    let rows = BINDINGS.map(|Binding { keys, about, .. }| format!("| {keys} | {about} |"));
    assert!(
        table("PLAYING.md", "| keys | ") == rows,
        "PLAYING.md's table of keys should have these rows:\n{}",
        rows.join("\n")
    );
}

#[test]
fn the_readmes_ladder_has_every_summary_and_measured_bandwidth() {
    let figures = root().join("crates/lab/FIGURES.md");
    let figures = fs::read_to_string(figures).unwrap();
    let (_, measured) = figures.split_once("\n## The ladder: mix\n").unwrap();
    let measured: Vec<Vec<&str>> =
        measured.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    let rows: Vec<_> = ladder::all()
        .map(|Rung { name, summary, .. }| {
            let cells = measured.iter().find(|cells| cells.get(1) == Some(&name));
            let cells = cells.unwrap_or_else(|| panic!("FIGURES.md has no row of {name}"));
            format!("| {name} | {summary} | {} | {} |", cells[2], cells[3])
        })
        .collect();
    assert!(
        table("README.md", "| rung | ") == rows,
        "README.md's table of the ladder should have these rows:\n{}",
        rows.join("\n")
    );
}
