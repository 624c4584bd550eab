//! Recordings of scenes other than the cubes.

use std::fs;
use std::path::Path;

use crate::{clip, codecs, failure, mean_bytes, output, walkoff};

/// Names of the ships' fields.
const FIELDS: [&str; 7] = [
    "thrusting",
    "shielded",
    "target",
    "turret",
    "fuel",
    "missiles",
    "bank",
];

/// Records ships and returns the path of the file.
fn ships(folder: &Path, file: &str, seed: &str) -> String {
    let path = folder.join(file).to_str().unwrap().to_owned();
    let args = ["record", "ships", "--frames", "40", "--out", &path];
    assert_eq!(output(&[&args[..], &["--seed", seed]].concat()), "");
    path
}

#[test]
fn every_rung_that_a_scene_has_is_exact_on_a_recording_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = ships(folder.path(), "ships.bin.zst", "1");
    let rows = walkoff(&[&file, "--kinds"]);
    let codecs = codecs(&rows);
    assert_eq!(codecs[0], "position");
    assert_eq!(*codecs.last().unwrap(), "predicted");
    for row in &rows {
        assert_eq!(row["packets"], 34);
        let kinds = row["kinds"].as_object().unwrap();
        let sum: f64 = kinds.values().map(|bytes| bytes.as_f64().unwrap()).sum();
        let bytes = row["bytes_per_packet"].as_f64().unwrap();
        assert!((sum - bytes).abs() < 1e-6, "{row}");
        for field in FIELDS {
            assert!(kinds[field].as_f64() > Some(0.0), "{field}: {row}");
        }
    }
    assert!(mean_bytes(&rows, "predicted") < mean_bytes(&rows, "changed-flags"));
    walkoff(&[&file, "--loss", "0.3", "--codec", "changed-flags,predicted"]);
    let table = output(&["walkoff", &file, "--codec", "delta", "--kinds"]);
    assert!(table.contains("| bytes a packet | header |"), "{table}");
    let error = failure(&["walkoff", &file, "--codec", "delta,velocity"]);
    assert!(
        error.contains("velocity cannot encode a recording of the scene ships: positions in other"),
        "{error}"
    );
}

#[test]
fn the_seed_determines_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let files = [("a.bin", "1"), ("b.bin", "1"), ("c.bin", "2")];
    let [a, b, c] = files.map(|(file, seed)| fs::read(ships(folder, file, seed)).unwrap());
    assert!(a.starts_with(b"cubewire recording 2\n"));
    assert!(a == b && a != c);
    let error = failure(&["record", "ships", "--frames", "6", "--out", "x.bin"]);
    assert!(error.contains("--frames"), "{error}");
    let error = failure(&[
        "record",
        "ships",
        "--frames",
        "7",
        "--out",
        "/no/such/x.bin",
    ]);
    assert!(
        error.contains("/no/such/x.bin: cannot be written"),
        "{error}"
    );
}

#[test]
fn a_model_is_trained_on_recordings_of_one_scene() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (first, second) = (ships(folder, "a.bin", "1"), ships(folder, "b.bin", "2"));
    let model = folder.join("model.bin").to_str().unwrap().to_owned();
    output(&["train", &first, "--out", &model]);
    walkoff(&[&second, "--codec", "predicted", "--model", &model]);

    let cubes = clip(folder, "cubes.bin", "dev-mix", 6..16);
    for args in [
        &["train", &first, &cubes, "--out", &model][..],
        &["ablate", &first, "--train", &cubes],
    ] {
        let error = failure(args);
        let expected = format!("{first} and {cubes} are recordings of different scenes");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn statistics_take_recordings_of_any_scene() {
    let folder = tempfile::tempdir().unwrap();
    let file = ships(folder.path(), "a.bin", "1");
    let stats = output(&["stats", &file]);
    for text in [
        "| positions (1/256) | smallest three (12 bits) |",
        "that were removed",
    ] {
        assert!(stats.contains(text), "{stats}");
    }
    let costs = stats.lines().find(|line| line.starts_with("| mean bits"));
    let columns: Vec<_> = costs.unwrap().split(" | ").map(str::trim).collect();
    for field in &FIELDS[1..] {
        let column = format!("{field}, each sent");
        assert!(columns.contains(&&*column), "{column}: {columns:?}");
    }
}
