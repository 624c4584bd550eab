//! `cubewire view`, connected through the relay.

use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::HostileError;
use crate::program::Program;

/// Starts the viewer for this number of seconds.
pub(crate) fn start(
    cubewire: &Path,
    relay: SocketAddr,
    key_file: &Path,
    digest: &Path,
    seconds: u64,
) -> Result<Program, HostileError> {
    Program::start(
        Command::new(cubewire)
            .args(["view", "--headless", "--rung", "changed-flags"])
            .args(["--connect", &relay.to_string()])
            .args(["--seconds", &seconds.to_string()])
            .arg("--key-file")
            .arg(key_file)
            .arg("--digest")
            .arg(digest)
            .stdout(Stdio::null()),
    )
}

/// Ends the viewer and returns the reason if it failed.
///
/// # Errors
/// If it does not end within `patience`.
pub(crate) fn finish(
    mut viewer: Program,
    patience: Duration,
) -> Result<Option<String>, HostileError> {
    let Some(has_ended) = viewer.end(patience) else {
        return Err(viewer.failed("the viewer did not end", "nothing".to_owned()));
    };
    let mut said = String::new();
    if let Some(mut errors) = viewer.process.stderr.take() {
        let _ = errors.read_to_string(&mut said);
    }
    let last = said.trim().lines().last().unwrap_or("nothing").to_owned();
    Ok((!has_ended).then_some(last))
}
