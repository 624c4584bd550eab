//! Tests of the command line.

mod bad_input;
mod entropy;
mod figures;
mod scenes;
mod walkoff;

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// Size of a frame in a recording.
const FRAME_BYTES: usize = 901 * 32;

/// Returns a command that runs `cubewire-lab` with these arguments.
fn lab(args: &[&str]) -> Command {
    // Shown if the test fails, with the seed if the arguments have one.
    println!("cubewire-lab {}", args.join(" "));
    let mut command = Command::cargo_bin("cubewire-lab").unwrap();
    command.args(args);
    command
}

/// Returns the standard output of a successful run.
fn output(args: &[&str]) -> String {
    let assert = lab(args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// Returns the standard error of a run that fails with exit code 2.
fn failure(args: &[&str]) -> String {
    let assert = lab(args).assert().code(2);
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

/// Returns the rows that `walkoff` prints. Each must be lossless.
fn walkoff(args: &[&str]) -> Vec<Value> {
    let rows = output(&[&["walkoff"], args, &["--json"]].concat());
    let rows = rows.lines().map(|row| serde_json::from_str(row).unwrap());
    let rows: Vec<Value> = rows.collect();
    assert!(rows.iter().all(|row| row["lossless"] == true), "{rows:?}");
    rows
}

fn codecs(rows: &[Value]) -> Vec<&str> {
    let codecs = rows.iter().map(|row| row["codec"].as_str().unwrap());
    codecs.collect()
}

fn mean_bytes(rows: &[Value], rung: &str) -> f64 {
    let row = rows.iter().find(|row| row["codec"] == rung).unwrap();
    row["bytes_per_packet"].as_f64().unwrap()
}

/// Returns the path of a recording in `assets`.
fn recording(name: &str) -> String {
    format!("{}/../../assets/recordings/{name}.bin.zst", env!("CARGO_MANIFEST_DIR"))
}

/// Writes a recording with the initial state and a range of frames of a recording in `assets`. Returns its path.
fn clip(folder: &Path, file: &str, name: &str, frames: Range<usize>) -> String {
    let mut reader = zstd::Decoder::new(File::open(recording(name)).unwrap()).unwrap();
    let mut bytes = vec![0; 6 * FRAME_BYTES];
    reader.read_exact(&mut bytes).unwrap();
    let skipped = (frames.start - 6) * FRAME_BYTES;
    let skipped = reader.by_ref().take(skipped as u64);
    io::copy(&mut { skipped }, &mut io::sink()).unwrap();
    let mut wanted = vec![0; frames.len() * FRAME_BYTES];
    reader.read_exact(&mut wanted).unwrap();
    bytes.append(&mut wanted);
    let path = folder.join(file);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}
