//! Bad input ends with one clear line and exit code 2.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::{lab, recording};

const FRAME_BYTES: usize = 901 * 32;

/// Runs every command on the file, and returns the one line that all of them print.
fn complaint(path: &Path) -> String {
    let file = path.to_str().unwrap();
    let commands: [&[&str]; 4] = [
        &["walkoff", file],
        &["stats", file],
        &["search", file, "--field", "index"],
        &["export", file, "--field", "position"],
    ];
    let mut lines: Vec<String> = commands
        .map(|args| {
            let assert = lab(args).assert().code(2).stdout("");
            String::from_utf8(assert.get_output().stderr.clone()).unwrap()
        })
        .into();
    lines.dedup();
    let [line] = &lines[..] else {
        panic!("different complaints: {lines:?}");
    };
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains(file), "{line}");
    line.clone()
}

fn frames() -> Vec<u8> {
    let cube: Vec<u8> = [3, 256, 256, 256, 0, 0, 102, 0_i32]
        .into_iter()
        .flat_map(i32::to_le_bytes)
        .collect();
    cube.repeat(901 * 8)
}

#[test]
fn each_bad_file_is_named_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };

    let missing = complaint(&folder.path().join("missing.bin"));
    assert!(missing.contains("cannot be opened"), "{missing}");
    let directory = complaint(folder.path());
    assert!(directory.contains("cannot be opened"), "{directory}");
    let empty = complaint(&write("empty.bin", &[]));
    assert!(
        empty.contains("ends at offset 0, after 0 frames"),
        "{empty}"
    );
    let short = complaint(&write("short.bin", &frames()[..FRAME_BYTES * 6]));
    assert!(
        short.contains("ends at offset 172992, after 6 frames"),
        "{short}"
    );
    let cut = complaint(&write("cut.bin", &frames()[..FRAME_BYTES * 7 + 5]));
    assert!(cut.contains("offset 201829"), "{cut}");

    let mut wrong = frames();
    let offset = FRAME_BYTES * 7 + 32 * 900 + 28;
    wrong[offset] = 2;
    let wrong = complaint(&write("wrong.bin", &wrong));
    assert!(
        wrong.contains(&format!(
            "interacting of cube 900 in frame 7, at offset {offset}, is 2, outside 0..=1"
        )),
        "{wrong}"
    );

    let mut far = frames();
    let offset = FRAME_BYTES * 6 + 16;
    far[offset..offset + 4].copy_from_slice(&131_072_i32.to_le_bytes());
    let far = complaint(&write("far.bin", &far));
    assert!(
        far.contains("position_x of cube 0 in frame 6, at offset 173008, is 131072"),
        "{far}"
    );

    let plain = complaint(&write("plain.bin.zst", &frames()));
    assert!(plain.contains("cannot be read at offset 0"), "{plain}");
    assert!(plain.contains("zstd: "), "{plain}");
    let zeros = complaint(&write("zeros.bin", &[0; FRAME_BYTES * 8]));
    assert!(
        zeros.contains("orientation of cube 0 in frame 0, at offset 0, is a code"),
        "{zeros}"
    );
    let compressed = fs::read(recording("dev-push")).unwrap();
    let damaged = complaint(&write("damaged.bin.zst", &compressed[..50_000]));
    assert!(damaged.contains("cannot be read at offset "), "{damaged}");
    assert!(!damaged.contains("at offset 0:"), "{damaged}");
}

#[test]
fn an_archive_is_checked_as_it_unfolds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.bin.zst");
    let mut encoder = zstd::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
    // Read frame by frame: what is wrong is found without the whole in memory.
    for _ in 0..25 {
        encoder.write_all(&frames()).unwrap();
    }
    encoder.write_all(&[0; 3]).unwrap();
    encoder.finish().unwrap();
    assert!(complaint(&path).contains("ends inside frame 200"));
}

#[test]
fn arguments_out_of_range_are_refused() {
    let mix = recording("dev-mix");
    for args in [
        &["walkoff", &mix, "--codec", "no-such-rung"][..],
        &["walkoff", &mix, "--loss", "1.5"],
        &["walkoff", &mix, "--loss", "NaN"],
        &["walkoff", &mix, "--loss", "-0.1"],
        &["search", &mix, "--field", "index", "--top", "0"],
        &["walkoff", &mix, "--rtt-frames", "0"],
        &["search", &mix, "--field", "colour"],
        &["walkoff"],
        &["no-such-command"],
    ] {
        let assert = lab(args).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
        assert!(stderr.starts_with("error: "), "{stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let mix = recording("dev-mix");
    for args in [
        &[
            "export",
            &mix,
            "--field",
            "position",
            "--out",
            "/no/such/folder/x.txt",
        ][..],
        &["stats", &mix, "--plot", "/dev/null/plots"],
        &["export", &mix, "--field", "position", "--out", &mix],
    ] {
        let assert = lab(args).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr);
        assert!(stderr.contains(args.last().unwrap()), "{stderr}");
        assert!(stderr.contains("cannot be written"), "{stderr}");
    }
}
