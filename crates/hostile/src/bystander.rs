//! `cubewire view`, whose datagrams go through the relay.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::HostileError;
use crate::server::{has_ended, terminate};

/// The program, running.
#[derive(Debug)]
pub(crate) struct Bystander {
    path: PathBuf,
    process: Child,
}

impl Bystander {
    /// Starts to watch, for this number of seconds.
    pub(crate) fn start(
        cubewire: &Path,
        relay: SocketAddr,
        key_file: &Path,
        digest: &Path,
        seconds: u64,
    ) -> Result<Self, HostileError> {
        let process = Command::new(cubewire)
            .args(["view", "--headless", "--rung", "changed-flags"])
            .args(["--connect", &relay.to_string()])
            .args(["--seconds", &seconds.to_string()])
            .arg("--key-file")
            .arg(key_file)
            .arg("--digest")
            .arg(digest)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let path = cubewire.to_owned();
        match process {
            Ok(process) => Ok(Self { path, process }),
            Err(source) => Err(HostileError::Start { path, source }),
        }
    }

    /// Ends it, and returns why it failed if it did.
    ///
    /// # Errors
    /// If it does not end within `patience`.
    pub(crate) fn finish(mut self, patience: Duration) -> Result<Option<String>, HostileError> {
        terminate(&self.process);
        let start = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => {
                    let mut said = String::new();
                    if let Some(mut errors) = self.process.stderr.take() {
                        let _ = errors.read_to_string(&mut said);
                    }
                    let last = said.trim().lines().last().unwrap_or("nothing").to_owned();
                    return Ok((!has_ended(status)).then_some(last));
                }
                Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(50)),
                _ => {
                    return Err(HostileError::Program {
                        path: self.path.clone(),
                        what: "the viewer does not end",
                        said: "nothing".to_owned(),
                    });
                }
            }
        }
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
