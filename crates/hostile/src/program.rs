//! Child processes: the server, and a viewer behind the relay.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::HostileError;

/// A running program. It is killed on drop.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    pub(crate) process: Child,
}

impl Program {
    /// Starts a command without input, with piped standard error.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(command: &mut Command) -> Result<Self, HostileError> {
        let path = PathBuf::from(command.get_program());
        let piped = command.stdin(Stdio::null()).stderr(Stdio::piped());
        match piped.spawn() {
            Ok(process) => Ok(Self { path, process }),
            Err(source) => Err(HostileError::Start { path, source }),
        }
    }

    /// Ends the program. Returns whether it succeeded until then, or `None` if it does not end within `patience`.
    pub(crate) fn end(&mut self, patience: Duration) -> Option<bool> {
        // Like Ctrl-C. If this fails, the process has ended or will be found not to end.
        let kill = format!("kill -TERM {}", self.process.id());
        let mut shell = Command::new("sh");
        let _ = shell.args(["-c", &kill]).stderr(Stdio::null()).status();
        let start = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(has_ended(status)),
                Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(50)),
                _ => return None,
            }
        }
    }

    /// Returns an error of this program.
    pub(crate) fn failed(&self, what: &'static str, said: String) -> HostileError {
        HostileError::Program {
            path: self.path.clone(),
            what,
            said,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Still running only if the measurement has failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn has_ended(status: ExitStatus) -> bool {
    matches!(status.code(), Some(0 | TERMINATED))
}

/// Exit code of a terminated process, as reported by a shell.
const TERMINATED: i32 = 143;
