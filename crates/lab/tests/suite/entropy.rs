//! Arithmetic coding on recordings: trained on one, measured on another.

use std::fs;
use std::fs::File;

use cubewire_codec::training::Feature;
use serde_json::Value;

use crate::{lab, output, recording};

/// Whole frames.
const FRAME_BYTES: usize = 901 * 32;

fn walkoff(args: &[&str]) -> Value {
    let line = output(&[&["walkoff", "--json"], args].concat());
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_recording_is_not_measured_with_what_was_learned_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let frames = zstd::decode_all(File::open(recording("dev-pull")).unwrap()).unwrap();
    let (first, second) = (at("first.bin"), at("second.bin"));
    fs::write(&first, &frames[..150 * FRAME_BYTES]).unwrap();
    let initial = &frames[..6 * FRAME_BYTES];
    let later = &frames[400 * FRAME_BYTES..500 * FRAME_BYTES];
    fs::write(&second, [initial, later].concat()).unwrap();

    let prior = at("prior.bin");
    output(&["train", &first, "--out", &prior]);
    for codec in ["arithmetic", "predicted"] {
        let args = [&first, "--codec", codec, "--prior", &prior];
        let refused = lab(&[&["walkoff"], &args[..]].concat()).assert().code(2);
        let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
        assert!(
            said.contains("first.bin: the prior was trained on this"),
            "{said}"
        );
        let row = walkoff(&[&args[..], &["--allow-trained"]].concat());
        assert_eq!(row["lossless"], true);
        let row = walkoff(&[&second, "--codec", codec, "--prior", &prior]);
        assert_eq!(row["lossless"], true);
    }
    // The one that comes with the codec knows two of the recordings.
    for (name, code) in [("dev-push", 2), ("dev-pull", 2)] {
        let path = recording(name);
        lab(&["walkoff", &path, "--codec", "predicted"])
            .assert()
            .code(code);
    }
    fs::write(&prior, "no prior").unwrap();
    let args = [
        "walkoff",
        &second,
        "--codec",
        "predicted",
        "--prior",
        &prior,
    ];
    let refused = lab(&args).assert().code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("prior.bin: not a trained model"), "{said}");
}

#[test]
fn the_contest_is_won_on_a_recording_that_nothing_was_learned_from() {
    // The reference packs bits in 301.3, the best coder that is robust to loss takes 232.0.
    let path = recording("dev-mix");
    let body = |codec: &str, more: &[&str]| {
        let row = walkoff(&[&[path.as_str(), "--codec", codec], more].concat());
        assert_eq!(row["lossless"], true, "{codec}");
        row["body_bytes_per_packet"].as_f64().unwrap()
    };
    let arithmetic = body("arithmetic", &[]);
    let predicted = body("predicted", &[]);
    println!("{arithmetic:.1} {predicted:.1}");
    assert!(arithmetic < 0.80 * 301.3);
    assert!(predicted < 0.80 * 232.0);
    let lossy = ["--loss", "0.05", "--reorder", "0.05"];
    assert!(body("arithmetic", &lossy) < 1.06 * arithmetic);
    assert!(body("predicted", &lossy) < 1.06 * predicted);
}

#[test]
fn everything_is_tried_without() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let frames = zstd::decode_all(File::open(recording("dev-pull")).unwrap()).unwrap();
    let initial = &frames[..6 * FRAME_BYTES];
    let clip = |from: usize| [initial, &frames[from * FRAME_BYTES..][..40 * FRAME_BYTES]].concat();
    let (learned, measured) = (at("learned.bin"), at("measured.bin"));
    fs::write(&learned, clip(400)).unwrap();
    fs::write(&measured, clip(900)).unwrap();

    let printed = output(&["ablate", &measured, "--train", &learned, "--json"]);
    let rows: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 1 + Feature::all().count());
    assert_eq!(rows[0]["without"], "nothing");
    let bytes = |row: &Value, rung: &str| row[rung].as_f64().unwrap();
    // Candidates are no part of `arithmetic`, and at least one of them is worth something.
    let candidates = rows
        .iter()
        .filter(|row| row["decision"].as_str().unwrap().starts_with("candidate"));
    let worth = candidates.map(|row| {
        assert_eq!(bytes(row, "arithmetic"), bytes(&rows[0], "arithmetic"));
        bytes(row, "predicted") - bytes(&rows[0], "predicted")
    });
    assert!(worth.fold(0.0, f64::max) > 0.0);

    let refused = lab(&["ablate", &learned, "--train", &learned])
        .assert()
        .code(2);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(
        said.contains("learned.bin: the same recording cannot be"),
        "{said}"
    );
    lab(&["ablate", &learned]).assert().code(2);
}
