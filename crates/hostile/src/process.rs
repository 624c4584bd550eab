//! The child processes: `cubewire serve`, and `cubewire view` behind a bad network.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Reason why a measurement failed, with a one-line message.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Returns a function that adds the path to the error of a file.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display()).into()
}

/// A running command of `cubewire`. It is killed on drop.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    out: BufReader<ChildStdout>,
    log: PathBuf,
}

impl Process {
    /// Starts a command. `cubewire` is in this program's folder. Standard error goes to the file `log`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(
        command: &str,
        [key, digest]: [&Path; 2],
        log: PathBuf,
    ) -> Result<Self, Failure> {
        let path = env::current_exe()?;
        let path = path.with_file_name(format!("cubewire{}", env::consts::EXE_SUFFIX));
        let mut child = Command::new(&path)
            .args(command.split(' '))
            .arg("--key-file")
            .arg(key)
            .arg("--digest")
            .arg(digest)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(at(&log))?)
            .spawn()
            .map_err(at(&path))?;
        let out = BufReader::new(child.stdout.take().expect("it is piped"));
        let name = command.split(' ').take(1).collect();
        Ok(Self { name, child, out, log })
    }

    /// Waits for the first line of the server's output, and returns the address in it.
    ///
    /// # Errors
    /// If the process ends before.
    pub(crate) fn address(&mut self) -> Result<SocketAddr, Failure> {
        let mut line = String::new();
        self.out.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(|word| word.trim_end_matches('.'));
        words.find_map(|word| word.parse().ok()).ok_or_else(|| self.failed("ended"))
    }

    /// Returns an error that quotes the log: its panic, or else its last line.
    fn failed(&self, what: &str) -> Failure {
        let log = self.log();
        let mut lines = log.trim().lines();
        let panic = lines.clone().find(|line| line.contains("panicked at"));
        let quoted = panic.or(lines.next_back()).unwrap_or("nothing");
        format!("cubewire {} {what}; its log: {quoted}", self.name).into()
    }

    /// Returns the log, which is empty if it cannot be read.
    fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Number of lines logged so far.
    pub(crate) fn log_lines(&self) -> usize {
        self.log().lines().count()
    }

    /// Ends the process and returns the rest of its output.
    ///
    /// # Errors
    /// If it failed before, logged a panic, or does not end.
    pub(crate) fn end(mut self) -> Result<String, Failure> {
        // Like Ctrl-C. If this fails, the process has ended or will be found not to end.
        let kill = format!("kill -TERM {}", self.child.id());
        let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if start.elapsed() > END_PATIENCE {
                return Err(self.failed("did not end"));
            }
            thread::sleep(Duration::from_millis(50));
        };
        if !matches!(status.code(), Some(0 | TERMINATED)) || self.log().contains("panicked at") {
            return Err(self.failed("failed"));
        }
        let mut out = String::new();
        self.out.read_to_string(&mut out)?;
        Ok(out)
    }

    /// Returns the resident memory in megabytes, or `None` if the process has ended or `/proc` is not available.
    pub(crate) fn memory(&self) -> Option<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let (_, resident) = status.split_once("VmRSS:")?;
        let kilobytes: f64 = resident.split_whitespace().next()?.parse().ok()?;
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

/// Exit code of a terminated process, as reported by a shell.
const TERMINATED: i32 = 143;

/// Time limit for a process to end.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(60);
