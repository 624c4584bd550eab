//! `stats` and `search`.

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
        "| 1023 ",
        "| relative-orientation ",
    ] {
        assert!(text.contains(row), "{row}:\n{text}");
    }
}

#[test]
fn search_ranks_the_sets_and_marks_the_current_one() {
    for field in ["position", "orientation", "index"] {
        let text = output(&[
            "search",
            &recording("dev-push"),
            "--field",
            field,
            "--top",
            "3",
        ]);
        let tables = text.split("| rank").skip(1);
        let mut count = 0;
        for table in tables {
            count += 1;
            let means: Vec<f64> = table
                .lines()
                .skip(2)
                .take_while(|line| line.starts_with('|'))
                .map(|line| line.split('|').nth(3).unwrap().trim().parse().unwrap())
                .collect();
            assert!(means.len() == 3 || means.len() == 4, "{table}");
            assert!(means.is_sorted(), "{table}");
            assert!(table.contains(", current"), "{table}");
        }
        assert_eq!(count, if field == "index" { 2 } else { 7 });
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
