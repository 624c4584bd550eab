//! The honest viewer: requests snapshots, decodes and acks them, and records their arrival.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_bevy::transport::MessageQueue;
use cubewire_codec::{Limits, Snapshot, ladder};
use cubewire_physics::state_hash;
use cubewire_protocol::{
    BaselineChoice, ClientEvent, PacketOutcome, Request, Settings, SnapshotReceiver, playout_delay,
};
use cubewire_scene::TICK;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::caller::{Caller, Target};
use crate::error::HostileError;
use crate::wire::{STEP, Tally, Wire};

/// A decoded snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) viewer: u64,
    pub(crate) tick: u64,
    pub(crate) hash: u64,
}

/// Records of the viewer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) seen: Vec<Seen>,
    /// Number of packets that the decoder refused.
    pub(crate) refused: u64,
    /// End and duration of each pause of the viewer that was much longer than its sleep of [`STEP`].
    pub(crate) stalls: Vec<(Instant, Duration)>,
    /// Reasons for connections that ended before the viewer left.
    pub(crate) losses: Vec<String>,
    pub(crate) tally: Tally,
}

/// State of a viewer that other threads read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) should_stop: AtomicBool,
    /// The newest tick.
    pub(crate) tick: AtomicU64,
    pub(crate) snapshots: AtomicU64,
}

/// Watches until told to stop. Reconnects if the connection ends.
///
/// # Errors
/// If no socket can be bound.
pub(crate) fn watch(
    target: Target,
    progress: &Progress,
    mut random: ChaCha8Rng,
) -> Result<Notes, HostileError> {
    let start = Instant::now();
    let mut notes = Notes::default();
    while !progress.should_stop.load(Ordering::Relaxed) {
        let wire = Wire::bind(Ipv4Addr::LOCALHOST).map_err(HostileError::Socket)?;
        let id = random.random();
        let caller = Caller::new(wire, target.token(id, TIMEOUT_SECONDS));
        let mut viewer = Viewer::new(id, caller, request());
        while !progress.should_stop.load(Ordering::Relaxed) && !viewer.caller.is_over() {
            viewer.step(start, &mut notes);
            if let Some(newest) = notes.seen.last() {
                progress.tick.store(newest.tick, Ordering::Relaxed);
                let count = notes.seen.len() as u64;
                progress.snapshots.store(count, Ordering::Relaxed);
            }
            let asleep = Instant::now();
            thread::sleep(STEP);
            let slept = asleep.elapsed();
            if slept > SHORTEST_STALL {
                notes.stalls.push((Instant::now(), slept));
            }
        }
        if let Some(reason) = viewer.caller.end() {
            notes.losses.push(reason);
        }
        notes.tally += viewer.caller.leave().tally;
    }
    Ok(notes)
}

/// Connection timeout of an honest viewer, the same as in `cubewire view`.
pub(crate) const TIMEOUT_SECONDS: u64 = 10;

const SHORTEST_STALL: Duration = Duration::from_millis(20);

/// A connection of a viewer that follows the protocol.
pub(crate) struct Viewer {
    id: u64,
    pub(crate) caller: Caller,
    request: Request,
    receiver: Option<SnapshotReceiver>,
    flushed: Instant,
    snapshot: Snapshot,
}

impl Viewer {
    pub(crate) fn new(id: u64, caller: Caller, request: Request) -> Self {
        Self {
            id,
            caller,
            request,
            receiver: None,
            flushed: Instant::now(),
            snapshot: Snapshot::default(),
        }
    }

    /// Handles received messages, records the snapshots and sends answers. `start` is the origin of the viewer's
    /// clock.
    pub(crate) fn step(&mut self, start: Instant, notes: &mut Notes) {
        let now = Instant::now();
        let queue = self.caller.step(usize::MAX);
        self.take(queue, start, now, notes);
        if now - self.flushed >= TICK {
            self.flushed = now;
            self.flush();
        }
    }

    fn take(&mut self, queue: MessageQueue, start: Instant, now: Instant, notes: &mut Notes) {
        for message in queue.messages {
            match self.caller.take(&message) {
                Some(ClientEvent::Welcome(welcome)) => {
                    let (limits, delay) = (Limits::default(), playout_delay(60));
                    let receiver = SnapshotReceiver::new(*welcome, limits, delay, now - start);
                    self.receiver = receiver.ok();
                    notes.refused += u64::from(self.receiver.is_none());
                }
                Some(_) => {}
                None => notes.refused += 1,
            }
        }
        for message in queue.datagrams {
            let Some(receiver) = &mut self.receiver else {
                continue;
            };
            match receiver.on_packet(now - start, &message) {
                Ok(PacketOutcome::Decoded { tick, .. }) => {
                    let held = receiver.get(tick).expect("it has just been decoded");
                    held.snapshot().dequantize(&mut self.snapshot);
                    notes.seen.push(Seen {
                        at: now,
                        viewer: self.id,
                        tick,
                        hash: state_hash(0, &self.snapshot),
                    });
                    receiver.advance_playout(now - start, Some(playout_delay(60)));
                }
                Ok(_) => {}
                Err(_) => notes.refused += 1,
            }
        }
    }

    fn flush(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            self.caller.ask(self.request.settings);
            while let Some(feedback) = receiver.poll_feedback() {
                self.caller.feedback(&feedback);
            }
        }
        self.caller.flush();
    }
}

/// Returns a request for a snapshot every tick, small enough for one datagram.
pub(crate) fn request() -> Request {
    Request {
        number: 1,
        settings: Settings {
            stages: ladder::CHANGED_FLAGS.stages,
            send_interval_ticks: 1,
            baseline: BaselineChoice::Newest,
            budget_kbps: None,
        },
    }
}
