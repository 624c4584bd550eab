//! Error messages for mistakes on the command line.

use std::fs;
use std::net::UdpSocket;

use assert_cmd::Command;

use crate::command_line::{cubewire, printed};

/// Runs the program, expects exit code 2 and returns standard error.
pub(crate) fn complaint(arguments: &[&str]) -> String {
    complaint_of(&mut cubewire(arguments))
}

pub(crate) fn complaint_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}: {output:?}");
    assert!(output.stdout.is_empty(), "{command:?}: {output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: "), "{said}");
    said
}

/// Checks that the error message of a command line, split at spaces, has a part. A `$` at its end is the end of a line.
fn assert_complaint(arguments: &str, wanted: &str) {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    let said = complaint(&arguments).replace('\n', "$\n");
    assert!(said.contains(wanted), "{arguments:?}: {said}");
}

/// Command lines, and a part of their error messages. To play a day would take an hour.
const MISTAKES: &str = "\
headless --rung indexx | '--rung <NAME>': unknown rung `indexx` (did you mean `index`?); choose one of
--rung indexx | relative-index
--calmer | '--calm'
headles | 'headless'
serve --insecure | --bind <ADDR>
--network 5g | unknown condition or preset `5g`; choose one of latency, jitter
--interpolation cubic | hermite
--rate -25 | rate must be 60, 30, 20 or 10, not `-25`
--size -12 | -12 is not a width and height from 64 to 16384, for example 1280x720
headless --script assets/scripts/katamari.ron --skip 60 | --skip: 60 s must be less than the 35.1 s that are played$
tour 0 | '[STEP]': steps are numbered 1 to
tour five | '[STEP]': steps are numbered 1 to
--left delta | `delta` is a rung: did you mean `rung:delta`?
--left bogus | unknown setting `bogus`; choose one of simulation, rung, stages,
record --fall --right rung:delta --out a.mp4 | '--fall' cannot be used with '--right <LANE>'
headless --budget 8 | budget must be from 16kbps to 1024kbps
--rung uncompressed --budget 64 | --budget: a budget requires a rung that lists changed cubes, unlike `uncompressed`
headless --rung predicted --nudge 1 | --nudge: a viewer with the rung `predicted` has no simulation to change
--recordings Cargo.toml | error: Cargo.toml: is not a folder$
--theme grey | 'grey' for '--theme <THEME>'
ladder --list --bits | '--list' cannot be used with
ladder --skip abc | abc is not a number of seconds from 0 to 86400
view --connect a:1 --timeout 31 | 31 is not a whole number from 1 to 30
serve --bind 127.0.0.1:0 --viewers 0 | 0 is not a whole number from 1 to 64
headless --players 9 | 9 is not a whole number from 1 to 4
serve --bind 127.0.0.1:0 --insecure --players 0 | 0 is not a whole number from 1 to 4
headless --players 1 --script assets/scripts/ball.ron --script assets/scripts/mix.ron | --script: 2 players, but
view --connect a:1 --watch --play-at client | cannot be used with
serve --rebuild soon | [possible values: when-asked, never]
serve --bind 7000 | 7000 is not an IP address and port, for example 192.168.1.5:7000
headless --seconds 1 --capture /nowhere/play.bin | /nowhere/play.bin: there is no folder /nowhere$
headless --seconds 86400 --csv /nowhere/x.csv | error: /nowhere/x.csv: there is no folder /nowhere$
headless --seconds 86400 --csv src | src: is a directory$
ladder --seconds 1 --png /nowhere/ladder.png | /nowhere/ladder.png: there is no folder /nowhere$
ladder --seconds 1 --png ladder.jpg | ladder.jpg: the name of a plot must end in .png$
play assets/scripts/mix.ron --ticks /nowhere/ticks.csv | /nowhere/ticks.csv: there is no folder /nowhere$
record --series quick --out a.mp4 | a.mp4: a series is a folder of videos: give the name of a folder$
--left simulaton | unknown setting `simulaton` (did you mean `simulation`?)
serve --bind 0.0.0.0:0 --insecure --headless | cannot listen at 0.0.0.0:0: it can be reached from other machines, which needs a key$
--recordings /nowhere | /nowhere: there is no such folder$
headless --script nowhere.ron | nowhere.ron: No such file or directory$
record --out /nowhere/a.mp4 --skip -1.5 | -1.5 is not a number of seconds from 0 to 86400
record --out /nowhere/a.mp4 --at -1s:rung:delta | `-1s` is not a time from 0s to 86400s, for example `4s` or `2.5s`
record --out /nowhere/a.mp4 --at 1s:link:loss=2 | 1s:link:loss=2: loss is 2, which is out of range; the nearest in range is 1
record --out /nowhere/a.mp4 --fps -60 | -60 is not a whole number from 1 to 240
record --out /nowhere/a.mp4 --right rung:delta,link:loss=2 | loss is 2, which is out of range; the nearest in range is 1
record --out /nowhere/a.mp4 --left rung:delta,rate:25 | rate must be 60, 30, 20 or 10, not `25`
record --out a.mp4 --size 641x360 | a.mp4: an MP4 needs an even width and an even height, not 641x360
record --out a.mp4 --size 640 | 640 is not a width and height from 64 to 16384
record --out no/folder/a.mp4 | no/folder/a.mp4: there is no folder no/folder$
record --out a.avi | a.avi: the name of a video must end in .mp4, .gif or .png
record --out a.mp4 --fps 0 | 0 is not a whole number from 1 to 240
record --out a.gif --fps 60 | hundredths of a second
record --out a.mp4 --lane rung:delta | --lane must be given 2 to 4 times
record --out a.mp4 --lane rung:delta --lane rung:index --right rung:delta | cannot be used with
record --out a.mp4 --right simulation | the right half must show a lane; only the left half can show the simulation
record --out a.mp4 --left rung:detla | unknown rung `detla` (did you mean `delta`?)
record --out a.mp4 --right stages:changed-flags=separate | changed flags need delta encoding, because they compare with a baseline
record --out a.mp4 --at 4:rung:delta | `4` is not a time
record --out a.mp4 --seconds 4 --at 4s:rung:delta | --at: 4s:rung:delta: the film ends after 4 s
record --out a.mp4 --at 1s:left.rung:delta | --at: 1s:left.rung:delta: the left half shows the simulation, which has no settings
record --out a.mp4 --lane rung:delta --lane rung:index --at 1s:left.rung:index | --at: 1s:left.rung:index: columns have numbers, as in `4s:2.rung:delta`
record --out a.mp4 --lane rung:delta --lane rung:index --at 1s:3.rung:index | --at: 1s:3.rung:index: there are 2 columns
record --out a.mp4 --at 1s:1.rung:index | --at: 1s:1.rung:index: halves are called `left.` and `right.`
record --out a.mp4 --label a --label b --label c | --label is given 3 times, but there are 2 names
record --out a.mp4 --rung delta | set the right one with `--right rung:delta`
record --out a.mp4 --megabytes 0 | 0 is not a number of megabytes from 0.01 to 1000000
record --out a.gif --megabytes 1 | a.gif: only the size of an MP4 can be limited
record --out a.mp4 --replay assets/scripts/katamari.ron | this is a script, not a replay; play it with --script
record --out a.mp4 --script assets/scripts/katamari.ron --skip 1000 | --skip: 1000 s must be less than the ";

#[test]
fn a_refused_film_does_not_say_that_it_replaces_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, option, value, why) in [
        ("a.mp4", "--size", "641x360", "an even height, not 641x360\n"),
        ("a.gif", "--fps", "60", "frames a second, not 60\n"),
        ("a.gif", "--megabytes", "1", "only the size of an MP4 can be limited\n"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        let said = complaint_of(cubewire(&["record", option, value, "--out"]).arg(&path));
        assert!(said.ends_with(why) && said.lines().count() == 1, "{said}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
}

#[test]
fn a_bad_value_is_quoted_with_its_flag_and_what_is_legal() {
    for row in MISTAKES.lines() {
        let (arguments, wanted) = row.split_once(" | ").unwrap();
        assert_complaint(arguments, wanted);
    }
    for command in ["headless", "", "view --connect a:1", "play a.ron", "record --out a.mp4"] {
        for value in ["abc", "-3", "0", "NaN", "1e9", "-inf", "3s"] {
            let wanted = format!(
                "'--seconds <SECONDS>': {value} is not a number of seconds above 0 and up to 86400, for example 2.5"
            );
            assert_complaint(&format!("{command} --seconds {value}"), &wanted);
        }
    }
}

#[test]
fn what_is_quoted_sends_a_terminal_no_control_characters_and_no_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.ron");
    let huge = "b".repeat(5_000_000);
    for text in [
        "(ticks: 9, steps: [(at: 2, hold: [\"\u{1b}[2J\"])])".to_owned(),
        "(ticks: 9, right: \"rung:\u{1b}[2J\", steps: [])".to_owned(),
        format!("(ticks: 9, steps: [(at: 2, hold: [{huge}])])"),
        format!("(ticks: 9, right: \"rung:{huge}\", steps: [])"),
    ] {
        fs::write(&script, text).unwrap();
        let said = complaint(&["headless", "--script", script.to_str().unwrap()]);
        assert!(said.contains("a.ron:"), "{said:?}");
        assert!(!said.trim_end().chars().any(char::is_control), "{said:?}");
        assert!(said.len() < 3_000, "{} bytes", said.len());
    }
    for lane in ["rung:\u{1b}[2J", "\u{9b}2J"] {
        let said = complaint(&["--right", lane]);
        assert!(said.contains("--right <LANE>"), "{said:?}");
        assert!(!said.replace('\n', "").chars().any(char::is_control), "{said:?}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_the_position_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, command, wanted) in [
        (
            "a.ron",
            &b"(ticks: 9,\n steps: [(at: 1, hold: [Jump])])"[..],
            "ladder --script",
            "a.ron:2:",
        ),
        (
            "b.ron",
            b"(ticks: 9, steps: [(at: 3, hold: []), (at: 2, hold: [])])",
            "headless --script",
            "b.ron: step 2: tick 2 does not come after tick 3",
        ),
        (
            "c.ron",
            b"ticks = 9",
            "--script",
            "c.ron:1:1: not a script or a replay, which are RON files, for example ",
        ),
        ("d.ron", b"\xff\xfe", "play", "d.ron: not a script or a replay, "),
        (
            "e.csv",
            b"sent_ms,delay_ms\n0,20\n16,soon\n",
            "--trace",
            "e.csv: line 3: delay_ms is \"soon\"",
        ),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_complaint(&format!("{command} {}", path.display()), wanted);
    }
}

#[test]
fn an_interpolation_that_lacks_velocities_is_warned_of_on_standard_error() {
    let warned = |arguments: &str| {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let output = cubewire(&arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let warnings = said.lines().filter(|line| line.starts_with("warning: "));
        warnings.map(str::to_owned).collect::<Vec<_>>()
    };
    let wanted = "warning: hermite → linear: hermite needs velocities, which predicted does not send; \
                  the rungs up to at-rest send them";
    let lacking = "--rung predicted --interpolation hermite --seconds 0.1";
    for arguments in [
        "record --out /nowhere/a.mp4 --right rung:predicted,interpolation:hermite",
        "record --out /nowhere/a.mp4 --right rung:at-rest,interpolation:hermite --at 1s:rung:predicted",
        &format!("serve --headless --insecure --bind 127.0.0.1:0 {lacking}"),
        &format!("view --headless --insecure --connect 127.0.0.1:1 {lacking}"),
    ] {
        assert_eq!(warned(arguments), [wanted], "{arguments}");
    }
    let without =
        "warning: lane options have no effect without a window, because the table has every rung";
    assert_eq!(warned(lacking), [wanted, without]);
    let with = "--rung at-rest --interpolation hermite --seconds 0.1";
    assert_eq!(warned(with), [without]);
}

#[test]
fn serving_and_viewing_ask_for_a_key_or_for_insecure() {
    for [command, address] in [["serve", "--bind"], ["view", "--connect"]] {
        let mut without_key = cubewire(&[command, address, "127.0.0.1:0"]);
        let said = complaint_of(without_key.env_remove("CUBEWIRE_KEY"));
        assert!(said.contains("--key-file") && said.contains("--insecure"), "{said}");
    }
    let abroad = ["view", "--headless", "--insecure", "--connect", "192.0.2.1:7000"];
    let wanted = "192.0.2.1:7000 is on another machine, which needs a key";
    assert!(complaint(&abroad).contains(wanted));
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = complaint(&["serve", "--headless", "--bind", &address, "--insecure"]);
    let expected = format!("error: cannot listen at {address}: ");
    assert!(said.starts_with(&expected), "{said}");
    let mut everywhere = cubewire(&["serve", "--headless", "--bind", "0.0.0.0:0"]);
    let said = complaint_of(everywhere.env("CUBEWIRE_KEY", "1".repeat(64)));
    assert!(said.contains("pass the address for viewers with --public"), "{said}");
}

#[test]
fn a_file_that_holds_no_secret_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    let key = key.to_str().unwrap();
    let serve = ["serve", "--headless", "--bind", "127.0.0.1:0"];
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("--key-file: ") && said.contains(key), "{said}");
    let made = cubewire(&["key", "--out", key]).output().unwrap();
    assert!(made.status.success() && made.stdout.is_empty(), "{made:?}");
    let said = complaint(&["key", "--out", key]);
    let why =
        "the file exists and may contain a key in use: choose another name, or delete it first";
    assert_eq!(said, format!("error: {key}: {why}\n"));
    // Overwriting the file keeps its private mode.
    fs::write(key, "open sesame").unwrap();
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("64 hexadecimal digits"), "{said}");
    fs::write(key, "0".repeat(64)).unwrap();
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("a key of zeros is not secret"), "{said}");
    #[cfg(unix)]
    {
        use std::fs::{File, Permissions};
        use std::os::unix::fs::PermissionsExt;
        let said = complaint(&[&serve[..], &["--key-file", "/dev/zero"]].concat());
        assert!(said.contains("longer than 1024 bytes"), "{said}");
        fs::set_permissions(key, Permissions::from_mode(0o640)).unwrap();
        let said = complaint(&[&serve[..], &["--key-file", key]].concat());
        let wanted = format!(
            "error: --key-file: {key}: other users can read this file: run `chmod 600 {key}`\n"
        );
        assert_eq!(said, wanted);
        let public = File::create(folder.path().join("public")).unwrap();
        public.set_permissions(Permissions::from_mode(0o644)).unwrap();
        let mut key = std::process::Command::new(assert_cmd::cargo::cargo_bin("cubewire"));
        let made = key.arg("key").stdout(public).output().unwrap();
        let said = String::from_utf8(made.stderr).unwrap();
        assert!(said.starts_with("warning: other users can read"), "{said}");
    }
}

#[test]
fn a_viewer_says_why_it_never_connected() {
    let said = complaint(&["view", "--headless", "--connect", "nowhere", "--insecure"]);
    let wanted = "--connect: nowhere: not a host and port, for example 192.168.1.5:7000";
    assert!(said.contains(wanted), "{said}");
    // The key comes from the environment. No server is running.
    let key = printed(&mut cubewire(&["key"]));
    let mut view = cubewire(&["view", "--headless", "--connect", "127.0.0.1:1", "--timeout", "1"]);
    let said = complaint_of(view.env("CUBEWIRE_KEY", key));
    assert_eq!(said, "error: never connected: nothing listens at 127.0.0.1:1\n");
}
