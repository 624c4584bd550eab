//! The honest viewer: requests snapshots, decodes and acks them, and records their arrival. Also the newcomers, which
//! only connect and leave.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cubewire_codec::{Limits, Snapshot, ladder};
use cubewire_physics::state_hash;
use cubewire_protocol::{
    BaselineChoice, ClientEvent, PacketOutcome, Request, Settings, SnapshotReceiver, playout_delay,
};
use cubewire_scene::TICK;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::client::{Client, TIMEOUT_SECONDS, Target};
use crate::socket::{STEP, Socket, Tally};

/// A decoded snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Instant,
    pub(crate) viewer: u64,
    pub(crate) tick: u64,
    pub(crate) hash: u64,
}

/// Records of the honest viewer over all of its connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) seen: Vec<Seen>,
    /// Number of packets that the decoder refused.
    pub(crate) refused: u32,
    /// End and duration of each pause of the viewer that was much longer than its sleep of [`STEP`].
    pub(crate) stalls: Vec<(Instant, Duration)>,
    /// Reasons for connections that ended before the viewer left.
    pub(crate) losses: Vec<String>,
}

/// State of the viewer that other threads read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) should_stop: AtomicBool,
    /// The newest tick, 0 before the first snapshot.
    pub(crate) tick: AtomicU64,
}

/// Watches until told to stop. Reconnects if the connection ends.
///
/// # Errors
/// If no socket can be bound.
pub(crate) fn watch(
    target: Target,
    tally: &Tally,
    progress: &Progress,
    mut random: ChaCha8Rng,
) -> io::Result<Notes> {
    let mut notes = Notes::default();
    let should_stop = || progress.should_stop.load(Ordering::Relaxed);
    while !should_stop() {
        let socket = Socket::bind(Ipv4Addr::LOCALHOST, tally)?;
        let mut viewer = Viewer::new(socket, target, TIMEOUT_SECONDS, &mut random);
        while !should_stop() && !viewer.client.is_over() {
            viewer.step();
            if let Some(newest) = viewer.seen.last() {
                progress.tick.store(newest.tick, Ordering::Relaxed);
            }
            let asleep = Instant::now();
            thread::sleep(STEP);
            let slept = asleep.elapsed();
            if slept > SHORTEST_STALL {
                notes.stalls.push((Instant::now(), slept));
            }
        }
        notes.losses.extend(viewer.client.end());
        notes.seen.append(&mut viewer.seen);
        notes.refused += viewer.refused;
    }
    Ok(notes)
}

const SHORTEST_STALL: Duration = Duration::from_millis(20);

/// A connection of a viewer that follows the protocol.
pub(crate) struct Viewer {
    id: u64,
    pub(crate) client: Client,
    pub(crate) request: Request,
    receiver: Option<SnapshotReceiver>,
    flushed: Instant,
    snapshot: Snapshot,
    pub(crate) seen: Vec<Seen>,
    /// Number of packets that could not be decoded.
    pub(crate) refused: u32,
}

impl Viewer {
    pub(crate) fn new(
        socket: Socket,
        target: Target,
        timeout_seconds: u64,
        random: &mut ChaCha8Rng,
    ) -> Self {
        let id = random.random();
        let client = Client::new(socket, target, target.token(id, timeout_seconds));
        Self {
            id,
            flushed: client.start,
            client,
            request: request(),
            receiver: None,
            snapshot: Snapshot::default(),
            seen: Vec::new(),
            refused: 0,
        }
    }

    /// Handles received messages, records the snapshots and sends answers.
    pub(crate) fn step(&mut self) {
        let at = Instant::now();
        let now = at - self.client.start;
        let queue = self.client.step(usize::MAX);
        for message in queue.messages {
            match self.client.take(&message) {
                Some(ClientEvent::Welcome(welcome)) => {
                    let (limits, delay) = (Limits::default(), playout_delay(60));
                    self.receiver = SnapshotReceiver::new(*welcome, limits, delay, now).ok();
                    self.refused += u32::from(self.receiver.is_none());
                }
                Some(_) => {}
                None => self.refused += 1,
            }
        }
        for message in queue.datagrams {
            self.decode(&message, at);
        }
        if at - self.flushed >= TICK {
            self.flushed = at;
            self.flush();
        }
    }

    fn decode(&mut self, packet: &[u8], at: Instant) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let now = at - self.client.start;
        match receiver.on_packet(now, packet) {
            Ok(PacketOutcome::Decoded { tick, .. }) => {
                let held = receiver.get(tick).expect("it has just been decoded");
                held.snapshot().dequantize(&mut self.snapshot);
                let hash = state_hash(0, &self.snapshot);
                self.seen.push(Seen { at, viewer: self.id, tick, hash });
                receiver.advance_playout(now, Some(playout_delay(60)));
            }
            Ok(_) => {}
            Err(_) => self.refused += 1,
        }
    }

    fn flush(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            self.client.ask(self.request.settings);
            while let Some(feedback) = receiver.poll_feedback() {
                self.client.feedback(&feedback);
            }
        }
        self.client.flush();
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

/// A viewer that tried to connect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newcomer {
    pub(crate) came: Instant,
    /// Time until it was connected, or `None` if it gave up.
    pub(crate) waited: Option<Duration>,
}

/// Connects and leaves, again and again, until told to stop. `delay` is added to the round trip of loopback.
///
/// # Errors
/// If no socket can be bound.
pub(crate) fn come_and_go(
    target: Target,
    tally: &Tally,
    delay: Duration,
    mut random: ChaCha8Rng,
    should_stop: &AtomicBool,
) -> io::Result<Vec<Newcomer>> {
    let mut newcomers = Vec::new();
    while !should_stop.load(Ordering::Relaxed) {
        let socket = Socket::bind(Ipv4Addr::LOCALHOST, tally)?;
        let came = Instant::now();
        let token = target.token(random.random(), TIMEOUT_SECONDS);
        let mut client = Client::new(socket, target, token);
        client.delay = delay;
        let waited = client.connect(Duration::from_secs(TIMEOUT_SECONDS), &mut random);
        newcomers.push(Newcomer { came, waited });
        thread::sleep(Duration::from_millis(500));
    }
    Ok(newcomers)
}
