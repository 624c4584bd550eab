//! The child processes: `cubewire serve`, and `cubewire view` behind the relay.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::HostileError;

/// A running command of `cubewire`. It is killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    command: String,
    child: Child,
    /// Files with the standard output and the standard error.
    out: PathBuf,
    log: PathBuf,
}

impl Process {
    /// Starts a command. `cubewire` is in this program's folder. The output and, unless there is a path for it, the
    /// log are written next to the digest.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(
        command: &str,
        [key_file, digest]: [&Path; 2],
        log: Option<&Path>,
    ) -> Result<Self, HostileError> {
        let this = env::current_exe()?;
        let path = this.with_file_name(format!("cubewire{}", env::consts::EXE_SUFFIX));
        let own_log = digest.with_extension("log");
        let (out, log) = (digest.with_extension("out"), log.unwrap_or(&own_log));
        let file = |path: &Path| File::create(path).map_err(HostileError::file(path));
        let child = Command::new(&path)
            .args(command.split(' '))
            .args([OsStr::new("--key-file"), key_file.as_os_str()])
            .args([OsStr::new("--digest"), digest.as_os_str()])
            .stdin(Stdio::null())
            .stdout(file(&out)?)
            .stderr(file(log)?)
            .spawn()
            .map_err(HostileError::file(&path))?;
        let command = command.split(' ').take(1).collect();
        Ok(Self { command, child, out, log: log.to_owned() })
    }

    /// Waits for the first line of the server's output, and returns the address in it.
    ///
    /// # Errors
    /// If the process ends before.
    pub(crate) fn wait_for_address(&mut self) -> Result<SocketAddr, HostileError> {
        loop {
            if let Some((line, _)) = read(&self.out).split_once('\n')
                && let mut words = line.split(' ').map(|word| word.trim_end_matches('.'))
                && let Some(address) = words.find_map(|word| word.parse().ok())
            {
                return Ok(address);
            }
            if self.has_ended() {
                return Err(self.failed("ended"));
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }

    fn failed(&self, what: &'static str) -> HostileError {
        let log = read(&self.log);
        let mut lines = log.trim().lines();
        let panic = lines.clone().find(|line| line.contains("panicked at"));
        HostileError::Program {
            command: self.command.clone(),
            what,
            said: panic.or(lines.next_back()).unwrap_or("nothing").to_owned(),
        }
    }

    /// Number of lines logged so far.
    pub(crate) fn log_lines(&self) -> usize {
        read(&self.log).lines().count()
    }

    /// Whether the process ended by itself, for example after a panic.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the process and returns its output.
    ///
    /// # Errors
    /// If it failed before, logged a panic, or does not end.
    pub(crate) fn end(mut self) -> Result<String, HostileError> {
        // Like Ctrl-C. If this fails, the process has ended or will be found not to end.
        let kill = format!("kill -TERM {}", self.child.id());
        let mut shell = Command::new("sh");
        let _ = shell.args(["-c", &kill]).stderr(Stdio::null()).status();
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > END_PATIENCE {
                return Err(self.failed("did not end"));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        let status = self.child.wait()?;
        let is_good = matches!(status.code(), Some(0 | TERMINATED));
        match is_good && !read(&self.log).contains("panicked at") {
            true => Ok(read(&self.out)),
            false => Err(self.failed("failed")),
        }
    }

    /// Returns the resident memory in megabytes, or `None` if the process has ended or `/proc` is not available.
    pub(crate) fn memory(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Still running only if the measurement has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a file, which is empty if it cannot be read.
fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Exit code of a terminated process, as reported by a shell.
const TERMINATED: i32 = 143;

/// Time limit for a process to end.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(60);

const LOOK_INTERVAL: Duration = Duration::from_millis(50);
