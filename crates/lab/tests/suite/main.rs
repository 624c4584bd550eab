//! The lab's command line, run as a user would.

mod bad_input;
mod documents;
mod entropy;
mod reports;
mod walkoff;

use std::path::PathBuf;

use assert_cmd::Command;

/// `cubewire-lab` with these arguments.
fn lab(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("cubewire-lab").unwrap();
    command.args(args);
    command
}

/// Standard output of a run that succeeds.
fn output(args: &[&str]) -> String {
    let assert = lab(args).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// One of the recordings in `assets`.
fn recording(name: &str) -> String {
    let path = repository(&format!("assets/recordings/{name}.bin.zst"));
    path.to_str().unwrap().to_owned()
}
