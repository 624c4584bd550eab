//! Arithmetic coding: models are trained on some recordings and measured on others.

use std::fs;

use cubewire_codec::training::Feature;

use crate::{clip, failure, lab, output, recording, walkoff};

#[test]
fn a_recording_is_not_measured_with_a_model_trained_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = clip(folder, "first.bin", "dev-pull", 6..150);
    let second = clip(folder, "second.bin", "dev-pull", 400..500);
    let model = folder.join("model.bin").to_str().unwrap().to_owned();
    output(&["train", &first, "--out", &model]);
    let rungs = ["--codec", "arithmetic,predicted", "--model", &model];
    let error = failure(&[&["walkoff", &first][..], &rungs].concat());
    assert!(error.contains("first.bin: the model was trained on this"), "{error}");
    walkoff(&[&[&*second][..], &rungs].concat());
    // The built-in model was trained on two of the recordings.
    for name in ["dev-push", "dev-pull"] {
        failure(&["walkoff", &recording(name), "--codec", "predicted"]);
    }
    fs::write(&model, "not a model").unwrap();
    let error = failure(&[&["walkoff", &second][..], &rungs].concat());
    assert!(error.contains("model.bin: cannot be read as a model: "), "{error}");
}

#[test]
fn ablation_measures_without_every_feature() {
    let folder = tempfile::tempdir().unwrap();
    let trained = clip(folder.path(), "trained.bin", "dev-mix", 400..412);
    let measured = clip(folder.path(), "measured.bin", "dev-mix", 900..912);

    let table = output(&["ablate", &measured, "--train", &trained]);
    let rows = table.lines().filter(|line| line.starts_with('|')).skip(2);
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), 1 + Feature::all().count());
    assert_eq!(rows[0][1..3], ["", "nothing"]);
    // `arithmetic` has no predictors. At least one predictor reduces the size of `predicted`.
    let predictors = rows.iter().filter(|row| row[1].starts_with("candidate"));
    let worth = predictors.map(|row| {
        assert_eq!(row[4], "+0.00");
        row[6].parse::<f64>().unwrap()
    });
    assert!(worth.fold(0.0, f64::max) > 0.0);

    let error = failure(&["ablate", &trained, "--train", &trained]);
    assert!(error.contains("trained.bin: the recording to measure must not be"), "{error}");
    lab(&["ablate", &trained]).assert().code(2);
}
