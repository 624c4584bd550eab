//! `stats`, `search` and `export`.

use std::fs;

use crate::{output, recording};

#[test]
fn export_writes_a_line_for_each_change() {
    let text = output(&["export", &recording("dev-mix"), "--field", "position"]);
    // 43.3 changed cubes a frame, of which 91.7 % moved.
    assert_eq!(text.lines().count(), 112_411);
    for line in text.lines() {
        let numbers: Vec<i32> = line.split(',').map(|n| n.parse().unwrap()).collect();
        let [x, y, z, base_x, base_y, base_z] = numbers[..] else {
            panic!("{line}");
        };
        assert_ne!([x, y, z], [base_x, base_y, base_z]);
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orientations.txt");
    let out = path.to_str().unwrap();
    output(&[
        "export",
        &recording("dev-mix"),
        "--field",
        "orientation",
        "--out",
        out,
    ]);
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 111_044);
    assert!(text.lines().all(|line| line.split(',').count() == 8));
}

#[test]
fn stats_prints_three_tables() {
    let text = output(&["stats", &recording("dev-push")]);
    for row in [
        "changed cubes a frame, mean",
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
            "--measure",
            &recording("dev-pull"),
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
    let export = ["export", &recording("dev-mix"), "--field", "position"];
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_cubewire-lab"))
        .args(export)
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
