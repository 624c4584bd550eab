//! The server's process with its log, memory and processor time.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_bevy::udp::Key;
use cubewire_files::NewFile;
use serde_json::Value;

use crate::error::HostileError;
use crate::program::Program;

/// Parameters for starting the server.
#[derive(Clone, Debug)]
pub(crate) struct ServerOptions<'a> {
    pub(crate) cubewire: &'a Path,
    pub(crate) bind: SocketAddr,
    /// Another public address of the server, for viewers behind the relay.
    pub(crate) relay: SocketAddr,
    pub(crate) key_file: &'a Path,
    pub(crate) digest: &'a Path,
    pub(crate) seconds: u64,
    pub(crate) log: Option<&'a Path>,
}

/// Script of the simulation, relative to the root of the repository.
const SCRIPT: &str = "assets/scripts/mix.ron";

/// Number of viewers that can connect, more than all attackers and newcomers use at a time.
const SLOTS: u32 = 64;

/// A running `cubewire serve` process.
#[derive(Debug)]
pub(crate) struct Server {
    program: Program,
    out: BufReader<ChildStdout>,
    log: Log,
}

/// The server's log.
#[derive(Clone, Debug, Default)]
struct Log {
    lines: Arc<AtomicU64>,
    /// The line of the first panic.
    panic: Arc<Mutex<Option<String>>>,
    last: Arc<Mutex<String>>,
}

/// Creates a random key and writes it to a file.
pub(crate) fn make_key(file: &Path) -> std::io::Result<Key> {
    let key = Key::random();
    let mut private = NewFile::create_private(file)?;
    writeln!(private, "{}", key.to_hex())?;
    private.finish().map(|_| key)
}

impl Server {
    /// Starts the server and waits until it listens.
    pub(crate) fn start(start: &ServerOptions<'_>) -> Result<Self, HostileError> {
        let mut command = Command::new(start.cubewire);
        command
            .args(["serve", "--headless", "--json"])
            .args(["--bind", &start.bind.to_string()])
            .args(["--public", &format!("{},{}", start.bind, start.relay)])
            .args(["--viewers", &SLOTS.to_string()])
            .args(["--seconds", &start.seconds.to_string()])
            .arg("--key-file")
            .arg(start.key_file)
            .arg("--digest")
            .arg(start.digest)
            .args(["--script", SCRIPT])
            .stdout(Stdio::piped());
        let mut program = Program::start(&mut command)?;
        let log = Log::default();
        let copy = start
            .log
            .map(|path| File::create(path).map_err(HostileError::file(path)));
        let lines = BufReader::new(program.process.stderr.take().expect("the output is piped"));
        let reader = log.clone();
        let mut copy = copy.transpose()?;
        let reading = thread::spawn(move || reader.read(lines, copy.as_mut()));
        let mut server = Self {
            out: BufReader::new(program.process.stdout.take().expect("the output is piped")),
            program,
            log,
        };
        let mut line = String::new();
        // A failed read ends the output.
        let _ = server.out.read_line(&mut line);
        if line.starts_with("Serving") {
            Ok(server)
        } else {
            // The log ends when the process ends.
            let _ = server.program.process.kill();
            let _ = reading.join();
            Err(server.failed("the server did not start listening"))
        }
    }

    fn failed(&self, what: &'static str) -> HostileError {
        let said = self.log.last.lock().expect("no thread panics").clone();
        self.program.failed(what, said)
    }

    /// Number of lines logged so far.
    pub(crate) fn log_lines(&self) -> u64 {
        self.log.lines.load(Ordering::Relaxed)
    }

    /// Returns the line of the first panic in the log.
    pub(crate) fn panic(&self) -> Option<String> {
        self.log.panic.lock().expect("no thread panics").clone()
    }

    /// Reads the memory and processor time of the process.
    ///
    /// # Errors
    /// If the process has ended, or if `/proc` is not available.
    pub(crate) fn sample(&self) -> Result<Sample, HostileError> {
        Sample::of(self.program.process.id()).map_err(HostileError::Process)
    }

    /// Whether the process ended by itself, for example after a panic.
    pub(crate) fn has_ended(&self) -> bool {
        self.sample().is_err()
    }

    /// Ends the server and returns the figures that it prints.
    ///
    /// # Errors
    /// If it failed, or does not end within `patience`.
    pub(crate) fn finish(mut self, patience: Duration) -> Result<Value, HostileError> {
        let Some(has_ended) = self.program.end(patience) else {
            return Err(self.failed("the server did not end"));
        };
        let mut text = String::new();
        let _ = self.out.read_to_string(&mut text);
        match serde_json::from_str(&text) {
            Ok(figures) if has_ended => Ok(figures),
            _ => Err(self.failed("the server failed")),
        }
    }
}

impl Log {
    fn read(&self, lines: impl BufRead, mut copy: Option<&mut File>) {
        for line in lines.split(b'\n') {
            let Ok(line) = line else {
                return;
            };
            let line = String::from_utf8_lossy(&line).into_owned();
            if let Some(copy) = &mut copy {
                // Keep reading after a failed write: a full pipe would block the server.
                let _ = writeln!(copy, "{line}");
            }
            self.lines.fetch_add(1, Ordering::Relaxed);
            if line.contains("panicked at") {
                let mut panic = self.panic.lock().expect("no thread panics");
                panic.get_or_insert_with(|| line.clone());
            }
            *self.last.lock().expect("no thread panics") = line;
        }
    }
}

/// Memory and processor time of a process at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    /// Resident memory, bytes.
    pub(crate) rss: u64,
    /// Processor time since the start of the process.
    pub(crate) cpu: Duration,
}

impl Sample {
    fn of(process: u32) -> std::io::Result<Self> {
        let invalid = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        Ok(Self {
            at: Instant::now(),
            rss: resident(&status).ok_or_else(invalid)?,
            cpu: processor_time(&stat).ok_or_else(invalid)?,
        })
    }
}

/// Parses the resident memory in bytes from `/proc/PID/status`.
fn resident(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Parses the processor time from `/proc/PID/stat`. The name may contain spaces but is in parentheses. User and
/// system time are the 14th and 15th field, in hundredths of a second.
fn processor_time(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (next()? + next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_read() {
        let stat = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20";
        assert_eq!(processor_time(stat), Some(Duration::from_secs(3)));
        assert_eq!(resident("Name:\tx\nVmRSS:\t   12 kB\n"), Some(12 << 10));
        assert_eq!(resident("Name:\tx\n"), None);
        let this = Sample::of(std::process::id()).unwrap();
        assert!(this.rss > 100_000, "{}", this.rss);
    }

    #[test]
    fn lines_are_counted_and_panics_found() {
        let log = Log::default();
        log.read(&b"one\nthread 'main' panicked at x.rs:1\nlast"[..], None);
        assert_eq!(log.lines.load(Ordering::Relaxed), 3);
        assert!(
            log.panic
                .lock()
                .unwrap()
                .as_ref()
                .unwrap()
                .ends_with("x.rs:1")
        );
        assert_eq!(*log.last.lock().unwrap(), "last");
    }
}
