//! Honest viewers: one that records every snapshot, and newcomers, which connect and leave. They add to the counts of the
//! current phase.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rand_chacha::ChaCha8Rng;

use crate::attacks::Field;
use crate::client::{Client, TIMEOUT_SECONDS};
use crate::socket::{LOCALHOST, STEP, Socket, Tally};

/// Counts of newcomers: how many came, how many of them were connected, how many within a second, and the longest time
/// until one was connected.
pub type Newcomers = [&'static str; 4];
pub const NEAR: Newcomers = ["near", "near connected", "near at once", "near slowest ms"];
/// With 100 ms more of round trip.
pub const FAR: Newcomers = ["far", "far connected", "far at once", "far slowest ms"];

pub struct HonestViewers {
    /// The tally has the counts of the whole run.
    pub field: Field,
    /// Counts of the current phase. A newcomer counts in the phase of its arrival.
    pub phase: Mutex<Tally>,
    /// The viewers leave when the owner drops this.
    pub running: Weak<()>,
}

impl HonestViewers {
    pub fn phase(&self) -> Tally {
        self.phase.lock().expect("no thread panics").clone()
    }

    pub fn is_running(&self) -> bool {
        self.running.strong_count() > 0
    }

    /// Watches, and returns a line `viewer,tick,hash` of each snapshot. Captures the datagrams and stores the newest tick.
    ///
    /// # Panics
    /// If it loses the connection, or cannot decode a packet.
    pub fn watch(&self, mut socket: Socket, mut random: ChaCha8Rng) -> HashSet<String> {
        let Field { target, newest, captured, .. } = &self.field;
        socket.captured = Some(captured.clone());
        let mut client = Client::honest(socket, *target, &mut random);
        let mut arrival = (Instant::now(), 0);
        let mut asleep = arrival.0;
        while self.is_running() {
            let (now, before) = (Instant::now(), client.seen.len());
            client.view();
            assert_eq!(client.netcode.disconnect_reason(), None, "the honest viewer");
            assert_eq!(client.refused, 0, "packets of the honest viewer");
            let counts = self.phase();
            // A pause of the viewer's own thread, for example on a busy machine.
            if now - asleep > SHORTEST_STALL {
                counts.raise("stall ms", ms(now - asleep));
            }
            let ticks = client.seen[before..].iter().map(|(tick, _)| *tick);
            count_arrivals(&counts, &mut arrival, now, ticks);
            newest.store(arrival.1, Ordering::Relaxed);
            asleep = Instant::now();
            thread::sleep(STEP);
        }
        client.seen.drain(..).map(|(_, line)| line).collect()
    }

    /// Connects and leaves, again and again. `delay` is added to the round trip of loopback.
    pub fn come_and_go(
        &self,
        [came, connected, at_once, slowest]: Newcomers,
        delay: Duration,
        mut random: ChaCha8Rng,
    ) {
        while self.is_running() {
            let counts = self.phase();
            let (target, tally) = (self.field.target, &self.field.tally);
            let mut client = Client::honest(Socket::bind(LOCALHOST, tally), target, &mut random);
            client.delay = delay;
            let waited = client.connect(Duration::from_secs(TIMEOUT_SECONDS), &mut random);
            counts.add(came, 1.0);
            if let Some(waited) = waited {
                counts.add(connected, 1.0);
                counts.add(at_once, (waited <= Duration::from_secs(1)).into());
                counts.raise(slowest, ms(waited));
            }
            thread::sleep(Duration::from_millis(500));
        }
    }
}

/// Counts the ticks of the snapshots that have arrived since the previous look. `last` is the time of the previous
/// arrival, with its newest tick. Without an arrival, the current gap counts.
fn count_arrivals(
    counts: &Tally,
    last: &mut (Instant, u64),
    now: Instant,
    ticks: impl ExactSizeIterator<Item = u64>,
) {
    let gap = now - last.0;
    counts.raise("gap ms", ms(gap));
    let count = ticks.len();
    let Some(newest) = ticks.max() else {
        return;
    };
    counts.add("snapshots", count as f64);
    // Longer than the playout delay at 60 snapshots per second.
    counts.add("long gaps", (ms(gap) > 100.0).into());
    counts.add("ticks", newest.saturating_sub(last.1) as f64);
    counts.add("seconds of these ticks", gap.as_secs_f64());
    *last = (now, newest.max(last.1));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

const SHORTEST_STALL: Duration = Duration::from_millis(20);

#[test]
fn a_gap_lasts_until_the_next_snapshot() {
    let (start, counts) = (Instant::now(), Tally::default());
    let mut last = (start, 7);
    let counted = |ms: u64, ticks: &[u64], last: &mut _| {
        let ticks = ticks.iter().copied();
        count_arrivals(&counts, last, start + Duration::from_millis(ms), ticks);
        ["gap ms", "long gaps", "snapshots", "ticks"].map(|figure| counts.get(figure).round())
    };
    assert_eq!(counted(10, &[8], &mut last), [10.0, 0.0, 1.0, 1.0]);
    assert_eq!(counted(300, &[], &mut last), [290.0, 0.0, 1.0, 1.0]);
    assert_eq!(counted(320, &[20, 19], &mut last), [310.0, 1.0, 3.0, 13.0]);
    // Late, and not longer.
    assert_eq!(counted(330, &[9], &mut last), [310.0, 1.0, 4.0, 13.0]);
    assert_eq!(last.1, 20);
    assert!((counts.get("seconds of these ticks") - 0.33).abs() < 1e-6);
}
