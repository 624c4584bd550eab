//! What the program says of mistakes on its command line.

use std::fs;
use std::path::Path;

use crate::command_line::cubewire;

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
fn mistakes_get_one_line_that_names_the_place() {
    let said = complaint(&["headless", "--rung", "indexx"]);
    assert!(
        said.contains("--rung: unknown rung `indexx` (did you mean `index`?); one of "),
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
    assert!(complaint(&["--script", &not_ron]).contains("c.ron: this is no script: "));
    fs::write(folder.path().join("d.ron"), [0xff, 0xfe]).unwrap();
    let binary = folder.path().join("d.ron");
    let said = complaint(&["headless", "--script", binary.to_str().unwrap()]);
    assert!(said.contains("d.ron: this is no script: "), "{said}");
    assert!(complaint(&["headless", "--seconds", "1", "--skip", "1"]).contains("--skip: 1 "));

    let said = complaint(&["network", "--networks", "perfect,5g"]);
    assert!(
        said.contains("--networks: unknown network `5g`; one of "),
        "{said}"
    );
    assert!(said.contains("wi-fi-bad, cable"), "{said}");
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

#[test]
fn a_bad_value_is_quoted_beside_its_flag_and_what_is_legal() {
    let seconds = |flag: &str, value: &str| {
        format!(
            "{flag}: {value} is not a number of seconds, more than 0 and at most a day, as in 2.5"
        )
    };
    for command in [
        &["headless"][..],
        &[],
        &["view", "--connect", "a:1"],
        &["play", "a.ron"],
    ] {
        for value in ["abc", "-3", "0", "NaN", "1e9", "-inf", "3s"] {
            let said = complaint(&[command, &["--seconds", value]].concat());
            assert_eq!(
                said.trim(),
                format!("error: {}", seconds("--seconds", value))
            );
        }
    }
    let view = ["view", "--connect", "a:1"];
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let lane = |setting: &str| format!("rung:delta,{setting}");
    let record = |flag: &str, value: &str| {
        ["record", "--out", "/nowhere/a.mp4", flag, value].map(str::to_owned)
    };
    for (arguments, wanted) in [
        (record("--seconds", "-3"), seconds("--seconds", "-3")),
        (
            record("--skip", "-1.5"),
            "--skip: -1.5 is not a number of seconds, from 0 to a day".to_owned(),
        ),
        (
            record("--at", "-1s:rung:delta"),
            "--at: `-1s` is not a time from 0s to 86400s, as in `4s` or `2.5s`".to_owned(),
        ),
        (
            record("--at", "1s:link:loss=2"),
            "--at: 1s:link:loss=2: loss is 2, which is out of range; the nearest in range is 1"
                .to_owned(),
        ),
        (
            record("--fps", "-60"),
            "--fps: -60 is not a whole number from 1 to 240".to_owned(),
        ),
        (
            record("--right", &lane("link:loss=2")),
            "--right: loss is 2, which is out of range; the nearest in range is 1".to_owned(),
        ),
        (
            record("--left", &lane("link:latency=70000ms")),
            "--left: latency is 70000ms, which is out of range; the nearest in range is 60000ms"
                .to_owned(),
        ),
        (
            record("--right", &lane("link:latency=-5ms")),
            "--right: latency must be a time in milliseconds, as in 50ms, not `-5ms`".to_owned(),
        ),
        (
            record("--right", &lane("playout:9s")),
            "--right: playout must be rule, adaptive, or from 0ms to 4000ms, as in 150ms, not `9s`"
                .to_owned(),
        ),
        (
            record("--right", &lane("rate:25")),
            "--right: rate must be 60, 30, 20 or 10, not `25`".to_owned(),
        ),
    ] {
        let arguments = arguments.each_ref().map(String::as_str);
        assert_eq!(complaint(&arguments).trim(), format!("error: {wanted}"));
    }
    for (arguments, wanted) in [
        (
            &["ladder", "--skip", "abc"][..],
            "--skip: abc is not a number of seconds, from 0 to a day",
        ),
        (
            &["--size", "-12"],
            "--size: -12 is not a width and a height from 64 to 16384, as in 1280x720",
        ),
        (
            &["--rate", "-25"],
            "--rate: rate must be 60, 30, 20 or 10, not `-25`",
        ),
        (
            &["--network", "5g"],
            "--network: unknown network `5g`; one of perfect, lan, wi-fi, wi-fi-bad, cable, 4g, 3g, \
             satellite, article, hostile",
        ),
        (
            &["soak", "--seed", "-1"],
            "--seed: -1 is not a whole number from 0 to 18446744073709551615",
        ),
        (
            &["soak", "--first-tick", "soon"],
            "--first-tick: soon is not a whole number from 0 to 72057594037927936",
        ),
        (
            &["soak", "--first-tick", "18446744073709551615"],
            "--first-tick: 18446744073709551615 is not a whole number from 0 to 72057594037927936",
        ),
        (
            &["viewers", "--max", "-1"],
            "--max: -1 is not a whole number from 1 to 64",
        ),
        (
            &[&view[..], &["--timeout", "31"]].concat(),
            "--timeout: 31 is not a whole number from 1 to 30",
        ),
        (
            &[&serve[..], &["--viewers", "-1"]].concat(),
            "--viewers: -1 is not a whole number from 1 to 64",
        ),
        (
            &["serve", "--bind", "7000"],
            "--bind: 7000 is not an IP address and a port, as in 192.168.1.5:7000 or [::1]:7000",
        ),
        (
            &[&serve[..], &["--public", "here"]].concat(),
            "--public: here is not an IP address and a port, as in 192.168.1.5:7000 or [::1]:7000",
        ),
    ] {
        assert_eq!(complaint(arguments).trim(), format!("error: {wanted}"));
    }
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = readme.to_str().unwrap();
    for arguments in [
        &["--script", readme][..],
        &["headless", "--script", readme],
        &["play", readme],
        &["record", "--out", "/nowhere/a.mp4", "--replay", readme],
    ] {
        assert_eq!(
            complaint(arguments).trim(),
            format!(
                "error: {readme}: this is no script: a script is a RON file, as in \
                 `(ticks: 240, steps: [(at: 60, hold: [Right])])`"
            )
        );
    }
}

#[test]
fn an_interpolation_that_lacks_velocities_is_warned_of_on_standard_error() {
    let warned = |arguments: &[&str]| {
        let output = cubewire(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines()
            .filter(|line| line.starts_with("warning: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let wanted = "warning: hermite → linear: hermite needs velocities, which predicted does not send; \
                  the rungs up to at-rest send them";
    let lane = "rung:predicted,interpolation:hermite";
    let nowhere = ["--out", "/nowhere/a.mp4"];
    let lacking = ["--rung", "predicted", "--interpolation", "hermite"];
    for arguments in [
        &[&lacking[..], &["--seconds", "0.1"]].concat()[..],
        &["--right", lane, "--seconds", "0.1"],
        &[&["record", "--right", lane], &nowhere[..]].concat(),
        &[
            &[
                "record",
                "--right",
                "rung:at-rest,interpolation:hermite",
                "--at",
                "1s:rung:predicted",
            ],
            &nowhere[..],
        ]
        .concat(),
        &[
            &[
                "serve",
                "--headless",
                "--insecure",
                "--bind",
                "127.0.0.1:0",
                "--seconds",
                "0.1",
            ],
            &lacking[..],
        ]
        .concat(),
        &[
            &[
                "view",
                "--headless",
                "--insecure",
                "--connect",
                "127.0.0.1:1",
                "--seconds",
                "0.1",
            ],
            &lacking[..],
        ]
        .concat(),
    ] {
        assert_eq!(warned(arguments), [wanted], "{arguments:?}");
    }
    assert_eq!(
        warned(&[
            "--rung",
            "at-rest",
            "--interpolation",
            "hermite",
            "--seconds",
            "0.1"
        ]),
        [""; 0]
    );
}

#[test]
fn what_is_no_model_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.bin");
    let path = path.to_str().unwrap();
    let commands = [["serve", "--bind"], ["view", "--connect"]];
    for [command, address] in commands {
        let run = |path: &str| {
            let run = [command, "--headless", "--insecure", address, "127.0.0.1:9"];
            complaint(&[&run[..], &["--model", path]].concat())
        };
        let said = run(&format!("{path}.missing"));
        assert!(
            said.starts_with(&format!("error: --model: {path}.missing: ")),
            "{said}"
        );
        fs::write(path, "a model").unwrap();
        let wanted = format!(
            "error: --model: {path}: not a trained model: the first bytes are not \"CWPRIOR4\"\n"
        );
        assert_eq!(run(path), wanted);
        fs::write(path, b"CWPRIOR4\0short").unwrap();
        assert!(run(path).contains("bytes, not 14"), "{}", run(path));
        #[cfg(unix)]
        assert!(run("/dev/zero").contains("longer than 67108864 bytes"));
    }
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
    let made = cubewire(&["key", "--out", key]).output().unwrap();
    assert!(made.status.success() && made.stdout.is_empty(), "{made:?}");
    let said = complaint(&["key", "--out", key]);
    assert!(said.starts_with(&format!("error: {key}: ")), "{said}");
    // Written to in place, it stays private.
    fs::write(key, "open sesame").unwrap();
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("64 hexadecimal digits"), "{said}");
    fs::write(key, "0".repeat(64)).unwrap();
    let said = complaint(&[&serve[..], &["--key-file", key]].concat());
    assert!(said.contains("a key of zeros is no secret"), "{said}");
    #[cfg(unix)]
    {
        use std::fs::{File, Permissions};
        use std::os::unix::fs::PermissionsExt;
        let said = complaint(&[&serve[..], &["--key-file", "/dev/zero"]].concat());
        assert!(said.contains("longer than 1024 bytes"), "{said}");
        fs::set_permissions(key, Permissions::from_mode(0o640)).unwrap();
        let said = complaint(&[&serve[..], &["--key-file", key]].concat());
        let wanted = format!(
            "error: --key-file: {key}: others can read it, so that it is no secret: `chmod 600 {key}`\n"
        );
        assert_eq!(said, wanted);
        let public = File::create(folder.path().join("public")).unwrap();
        public
            .set_permissions(Permissions::from_mode(0o644))
            .unwrap();
        let mut key = std::process::Command::new(assert_cmd::cargo::cargo_bin("cubewire"));
        let made = key.arg("key").stdout(public).output().unwrap();
        let said = String::from_utf8(made.stderr).unwrap();
        assert!(said.starts_with("warning: others can read"), "{said}");
    }
    assert!(
        complaint(&[&serve[..], &["--insecure", "--viewers", "0"]].concat())
            .contains("--viewers: 0")
    );
    let said = complaint(&["serve", "--headless", "--bind", "0.0.0.0:0", "--insecure"]);
    assert!(said.contains("needs a key"), "{said}");
    let said = complaint(&["view", "--headless", "--connect", "nowhere", "--insecure"]);
    let wanted = "--connect: nowhere: not a host and a port, as in 192.168.1.5:7000";
    assert!(said.contains(wanted), "{said}");
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
    let wanted = "error: never connected: nothing listens at 127.0.0.1:1\n";
    assert_eq!(said, wanted);
    assert!(output.stdout.is_empty(), "{:?}", output.stdout);
}

#[test]
fn a_command_line_that_is_not_understood_is_answered_in_one_line() {
    for (arguments, wanted) in [
        (
            &["--calmer"][..],
            "error: unexpected argument '--calmer' found (a similar argument exists: '--calm')\n",
        ),
        (
            &["headles"],
            "error: unrecognized subcommand 'headles' (some similar subcommands exist: 'help', 'headless')\n",
        ),
        (
            &["serve", "--insecure"],
            "error: the following required arguments were not provided: --bind <ADDR>\n",
        ),
        (
            &[
                "serve",
                "--insecure",
                "--bind",
                "127.0.0.1:0",
                "--headless",
                "--report",
                "a",
            ],
            "error: the argument '--headless' cannot be used with '--report <FILE>'\n",
        ),
    ] {
        assert_eq!(complaint(arguments), wanted);
    }
}
