//! Recordings of scenes other than the cubes.

use std::fs;
use std::path::Path;

use crate::{clip, codecs, failure, mean_bytes, output, walkoff};

fn asteroids(folder: &Path, file: &str, seed: &str) -> String {
    let path = folder.join(file).to_str().unwrap().to_owned();
    let args = ["record", "asteroids", "--frames", "40", "--out", &path];
    assert_eq!(output(&[&args[..], &["--seed", seed]].concat()), "");
    path
}

#[test]
fn every_rung_that_a_scene_has_is_exact_on_a_recording_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let arena = |file: &str, more: &[&str]| {
        let path = folder.path().join(file).to_str().unwrap().to_owned();
        let args = ["record", "arena", "--play", "rolling", "--frames", "26"];
        output(&[&args[..], &["--out", &path], more].concat());
        let rows = walkoff(&[&path]);
        let codecs = codecs(&rows);
        assert_eq!(codecs[0], "position");
        assert_eq!(*codecs.last().unwrap(), "predicted");
        assert!(rows.iter().all(|row| row["packets"] == 20));
        assert!(mean_bytes(&rows, "predicted") < mean_bytes(&rows, "changed-flags"));
        walkoff(&[&path, "--loss", "0.3", "--codec", "changed-flags,predicted"]);
        (path, mean_bytes(&rows, "changed-flags"))
    };
    let (_, poses) = arena("poses.bin", &["--without-fields"]);
    let (path, all) = arena("all.bin.zst", &[]);
    assert!(poses < all);
    let error = failure(&["walkoff", &path, "--codec", "delta,velocity"]);
    let reason =
        "velocity cannot encode a recording of the scene arena: the schema has no velocities";
    assert!(error.contains(reason), "{error}");
}

#[test]
fn the_seed_determines_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin").to_str().unwrap().to_owned();
    for scene in
        [&["arena", "--play", "rolling"][..], &["arena", "--play", "damped"], &["asteroids"]]
    {
        let [a, b, c] = ["1", "1", "2"].map(|seed| {
            output(
                &[&["record"], scene, &["--frames", "9", "--seed", seed, "--out", &path]].concat(),
            );
            fs::read(&path).unwrap()
        });
        assert!(a.starts_with(b"cubewire recording 3\n"));
        assert!(a == b && a != c, "{scene:?}");
    }
    for (frames, out, expected) in
        [("6", "x.bin", "--frames"), ("7", "/no/such/x.bin", "/no/such/x.bin: cannot be written")]
    {
        let error = failure(&["record", "asteroids", "--frames", frames, "--out", out]);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_model_is_trained_on_recordings_of_one_scene() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (first, second) = (asteroids(folder, "a.bin", "1"), asteroids(folder, "b.bin", "2"));
    let model = folder.join("model.bin").to_str().unwrap().to_owned();
    output(&["train", &first, "--out", &model]);
    walkoff(&[&second, "--codec", "predicted", "--model", &model]);

    let cubes = clip(folder, "cubes.bin", "dev-mix", 6..16);
    for args in
        [&["train", &first, &cubes, "--out", &model][..], &["ablate", &first, "--train", &cubes]]
    {
        let error = failure(args);
        let expected = format!("{first} and {cubes} are recordings of different scenes");
        assert!(error.contains(&expected), "{error}");
    }
}
