//! Measuring threads: the honest viewer, which records every snapshot, newcomers, which connect and leave, and samples of
//! the server's memory. They add to the figures of the current phase.

use std::collections::HashSet;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;

use crate::attacks::Field;
use crate::client::{Client, TIMEOUT_SECONDS};
use crate::process::Process;
use crate::socket::{LOCALHOST, STEP, Socket, Tally};

/// Viewer, tick and hash of snapshots.
pub(crate) type Snapshots = HashSet<(u64, u64, u64)>;

/// State that the measuring threads share.
pub(crate) struct Measuring {
    /// The tally has the counts of the whole run.
    pub(crate) field: Field,
    /// Figures of the current phase. A newcomer counts in the phase of its arrival.
    pub(crate) phase: Mutex<Tally>,
    pub(crate) should_stop: AtomicBool,
}

/// Records of the honest viewer over all of its connections.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) seen: Snapshots,
    /// Reasons for connections that ended before the viewer left.
    pub(crate) losses: Vec<String>,
}

impl Measuring {
    fn phase(&self) -> Tally {
        self.phase.lock().expect("no thread panics").clone()
    }

    fn is_running(&self) -> bool {
        !self.should_stop.load(Ordering::Relaxed)
    }

    /// Watches until told to stop. Reconnects from another socket if the connection ends. Captures the datagrams and
    /// stores the newest tick.
    ///
    /// # Errors
    /// If no socket can be bound.
    pub(crate) fn watch(&self, socket: Socket, mut random: ChaCha8Rng) -> io::Result<Notes> {
        let Field { target, tally, newest, captured, .. } = &self.field;
        let mut first = Some(socket);
        let mut notes = Notes::default();
        let mut arrival = (Instant::now(), 0);
        let mut asleep = arrival.0;
        while self.is_running() {
            let mut socket = first.take().map_or_else(|| Socket::bind(LOCALHOST, tally), Ok)?;
            socket.captured = Some(captured.clone());
            let mut client = Client::honest(socket, *target, &mut random);
            while self.is_running() && !client.netcode.is_disconnected() {
                let (now, before) = (Instant::now(), client.seen.len());
                client.view();
                let figures = self.phase();
                // A pause of the viewer's own thread, for example on a busy machine.
                if now - asleep > SHORTEST_STALL {
                    figures.raise("stall ms", ms(now - asleep));
                }
                let ticks = client.seen[before..].iter().map(|(_, tick, _)| *tick);
                count_arrivals(&figures, &mut arrival, now, ticks);
                newest.store(arrival.1, Ordering::Relaxed);
                asleep = Instant::now();
                thread::sleep(STEP);
            }
            let loss = client.netcode.disconnect_reason().map(|reason| reason.to_string());
            tally.add("lost connections of the honest viewer", loss.is_some().into());
            tally.add("packets refused by the honest viewer", client.refused.into());
            notes.losses.extend(loss);
            notes.seen.extend(&client.seen);
        }
        Ok(notes)
    }

    /// Connects and leaves, again and again, until told to stop. `delay` is added to the round trip of loopback.
    ///
    /// # Errors
    /// If no socket can be bound.
    pub(crate) fn come_and_go(
        &self,
        [came, connected, at_once, slowest]: [&'static str; 4],
        delay: Duration,
        mut random: ChaCha8Rng,
    ) -> io::Result<()> {
        while self.is_running() {
            let figures = self.phase();
            let (target, tally) = (self.field.target, &self.field.tally);
            let mut client = Client::honest(Socket::bind(LOCALHOST, tally)?, target, &mut random);
            client.delay = delay;
            let waited = client.connect(Duration::from_secs(TIMEOUT_SECONDS), &mut random);
            figures.add(came, 1.0);
            if let Some(waited) = waited {
                figures.add(connected, 1.0);
                figures.add(at_once, (waited <= Duration::from_secs(1)).into());
                figures.raise(slowest, ms(waited));
            }
            thread::sleep(Duration::from_millis(500));
        }
        Ok(())
    }

    /// Samples the memory until told to stop or the server has ended.
    pub(crate) fn sample(&self, server: &Process) {
        while self.is_running()
            && let Some(megabytes) = server.memory()
        {
            self.phase().raise("MB", megabytes);
            thread::sleep(SAMPLE_INTERVAL);
        }
    }
}

/// Counts the ticks of the snapshots that have arrived since the previous look. `last` is the time of the previous
/// arrival, with its newest tick. Without an arrival, the current gap counts.
fn count_arrivals(
    figures: &Tally,
    last: &mut (Instant, u64),
    now: Instant,
    ticks: impl ExactSizeIterator<Item = u64>,
) {
    let gap = now - last.0;
    figures.raise("gap ms", ms(gap));
    let count = ticks.len();
    let Some(newest) = ticks.max() else {
        return;
    };
    figures.add("snapshots", count as f64);
    // Longer than the playout delay at 60 snapshots per second.
    figures.add("long gaps", (ms(gap) > 100.0).into());
    figures.add("ticks", newest.saturating_sub(last.1) as f64);
    figures.add("seconds of these ticks", gap.as_secs_f64());
    *last = (now, newest.max(last.1));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

const SHORTEST_STALL: Duration = Duration::from_millis(20);

/// Interval between samples of memory.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

#[test]
fn a_gap_lasts_until_the_next_snapshot() {
    let (start, figures) = (Instant::now(), Tally::default());
    let mut last = (start, 7);
    let counted = |ms: u64, ticks: &[u64], last: &mut _| {
        let ticks = ticks.iter().copied();
        count_arrivals(&figures, last, start + Duration::from_millis(ms), ticks);
        ["gap ms", "long gaps", "snapshots", "ticks"].map(|figure| figures.get(figure).round())
    };
    assert_eq!(counted(10, &[8], &mut last), [10.0, 0.0, 1.0, 1.0]);
    assert_eq!(counted(300, &[], &mut last), [290.0, 0.0, 1.0, 1.0]);
    assert_eq!(counted(320, &[20, 19], &mut last), [310.0, 1.0, 3.0, 13.0]);
    // Late, and not longer.
    assert_eq!(counted(330, &[9], &mut last), [310.0, 1.0, 4.0, 13.0]);
    assert_eq!(last.1, 20);
    assert!((figures.get("seconds of these ticks") - 0.33).abs() < 1e-6);
}
