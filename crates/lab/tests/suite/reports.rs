//! `stats`.

use std::fs;

use crate::{output, recording};

#[test]
fn stats_prints_three_tables() {
    let text = output(&["stats", &recording("dev-push")]);
    for row in [
        "changed bodies a frame, mean",
        "same largest component",
        "only the position changed",
        "only the orientation changed",
        "| 1\u{2009}023 ",
        "| relative-orientation ",
    ] {
        assert!(text.contains(row), "{row}:\n{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_cubewire-lab"))
        .args(["stats", &recording("dev-mix")])
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
