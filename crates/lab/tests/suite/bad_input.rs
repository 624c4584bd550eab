//! Bad input causes a one-line error and exit code 2.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::{failure, recording};

/// Returns the line on standard error for a file.
fn error_line(path: &Path) -> String {
    let file = path.to_str().unwrap();
    let line = failure(&["walkoff", file]);
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.contains(file), "{line}");
    line
}

fn frames() -> Vec<u8> {
    let cube: Vec<u8> =
        [3, 256, 256, 256, 0, 0, 102, 0_i32].into_iter().flat_map(i32::to_le_bytes).collect();
    cube.repeat(901 * 8)
}

/// Errors inside a file are tested in `cubewire-recording`.
#[test]
fn errors_name_the_file_and_the_offset() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for (path, part) in [
        (folder.path().join("missing.bin"), "cannot be opened"),
        (write("plain.bin.zst", &frames()), "cannot be read at offset 0"),
    ] {
        let line = error_line(&path);
        assert!(line.contains(part), "{line}");
    }
    let cut = &fs::read(recording("dev-push")).unwrap()[..50_000];
    let damaged = error_line(&write("damaged.bin.zst", cut));
    assert!(damaged.contains("cannot be read at offset "), "{damaged}");
    assert!(!damaged.contains("at offset 0 of"), "{damaged}");
}

#[test]
fn an_archive_is_checked_while_it_is_decompressed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.bin.zst");
    let mut encoder = zstd::Encoder::new(fs::File::create(&path).unwrap(), 1).unwrap();
    // The file is read frame by frame, so a late error is found without all frames in memory.
    for _ in 0..25 {
        encoder.write_all(&frames()).unwrap();
    }
    encoder.write_all(&[0; 3]).unwrap();
    encoder.finish().unwrap();
    assert!(error_line(&path).contains("ends inside frame 200"));
}

#[test]
fn arguments_out_of_range_are_rejected() {
    let mix = recording("dev-mix");
    for args in [
        &["walkoff", &mix, "--codec", "no-such-rung"][..],
        &["walkoff", &mix, "--codec", "simulated"],
        &["walkoff", &mix, "--loss", "1.5"],
        &["walkoff", &mix, "--loss", "NaN"],
        &["walkoff", &mix, "--loss", "-0.1"],
        &["walkoff", &mix, "--rtt-frames", "0"],
        &["walkoff"],
        &["no-such-command"],
    ] {
        let error = failure(args);
        assert!(error.starts_with("error: "), "{error}");
        assert!(!error.contains("panicked"), "{error}");
    }
    let error = failure(&["walkoff", &mix, "--codec", "no-such-rung"]);
    assert!(error.contains("delta, index, relative-index"), "{error}");
}
