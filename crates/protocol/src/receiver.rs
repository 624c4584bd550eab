//! The receiver: decodes packets, plays snapshots back, and sends feedback.

use std::time::Duration;

use cubewire_codec::{
    Baseline, BitLedger, DecodeError, Decoder, Header, InitialStateError, Limits, Sequence,
};

use crate::clock::{SenderClock, sequence};
use crate::delay::AdaptiveDelay;
use crate::engine::Engine;
use crate::feedback::{Ack, Feedback};
use crate::playout::PlayoutBuffer;
use crate::ring::BaselineRing;
use crate::sender::MAX_BASELINE_AGE_TICKS;
use crate::session::{MAX_TICK, Welcome};
use crate::state_transfer::StateAssembly;
use crate::tracks::{self, Received};

/// Snapshots that a receiver keeps at most: twice the sender's, so that it still holds the baseline of a packet
/// that took up to 256 ticks to arrive, which are four seconds at 60 Hz and one at 240.
pub const RECEIVER_RING: usize = 512;

/// How many snapshots from before the baseline of a packet a receiver keeps: for packets that are late, and the others that
/// these refer to.
const KEPT: usize = 63;

/// Decodes packets, keeps the snapshots as baselines for later packets, and plays them back.
///
/// Memory is bounded: [`RECEIVER_RING`] baselines, and the snapshots of the playout buffer. While acks arrive at the sender, the
/// baselines are those since the one that its packets name, and 63 before.
#[derive(Debug)]
pub struct SnapshotReceiver {
    decoder: Decoder,
    received: BaselineRing,
    playout: PlayoutBuffer<Received>,
    delay: AdaptiveDelay,
    newest: Option<u64>,
    /// Consecutive packets that were too far ahead of the clock.
    far_ahead: u32,
    /// Snapshots that have arrived and are not acked yet, ascending.
    unacked: Vec<u64>,
    /// Acks to send, the last one first.
    acks: Vec<Ack>,
    missing: Option<Feedback>,
    /// When packets were last waited for: the time of the last [`advance_playout`](Self::advance_playout).
    waited: Option<Duration>,
    engine: Box<dyn Engine>,
    state: StateAssembly,
    /// The next packet is decoded into this.
    next: Baseline,
    /// Played snapshots, kept to reuse their memory.
    spare: Vec<Received>,
    /// Index of the field with the number of a body's teleports.
    teleports: Option<usize>,
}

/// What happened to a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It was decoded.
    Decoded {
        /// The sender's tick.
        tick: u64,
        /// The packet's header.
        header: Header,
        /// Whether it arrived too late to be played.
        late: bool,
    },
    /// The snapshot is already held.
    Duplicate {
        /// The sender's tick.
        tick: u64,
    },
    /// It was not decoded: it is so old that a newer snapshot has its slot or that its baseline is no longer kept,
    /// or so far ahead of the sender's clock that its number must be wrong.
    OutOfWindow {
        /// The sender's tick.
        tick: u64,
    },
}

impl SnapshotReceiver {
    /// Creates a receiver whose welcome arrived at `now`, with the playout delay until the first
    /// [`advance_playout`](Self::advance_playout).
    ///
    /// # Errors
    /// [`InitialStateError`] as in [`Decoder::new`].
    pub fn new(
        welcome: Welcome,
        limits: Limits,
        playout_delay: Duration,
        now: Duration,
    ) -> Result<Self, InitialStateError> {
        let ticks_per_second = welcome.plan.schema().ticks_per_second.into();
        let clock = SenderClock::new(ticks_per_second, welcome.tick, now);
        Ok(Self {
            decoder: Decoder::new(welcome.plan, welcome.initial, limits)?,
            received: BaselineRing::new(RECEIVER_RING),
            playout: PlayoutBuffer::new(clock, playout_delay),
            delay: AdaptiveDelay::new(ticks_per_second, playout_delay),
            newest: None,
            far_ahead: 0,
            unacked: Vec::new(),
            acks: Vec::new(),
            missing: None,
            waited: None,
            engine: Box::new(()),
            state: StateAssembly::default(),
            next: Baseline::default(),
            spare: Vec::new(),
            teleports: None,
        })
    }

    /// Does not interpolate the pose of a body between snapshots that differ in this field of the schema, which counts the
    /// body's teleports. A field of n values tells apart up to n − 1 teleports between two snapshots that have arrived; a
    /// multiple of n looks like movement.
    ///
    /// # Panics
    /// If the schema has no field with this index.
    #[must_use]
    pub fn with_teleports(mut self, field: usize) -> Self {
        let fields = self.decoder.plan().schema().fields.len();
        assert!(field < fields, "field {field} of {fields}");
        self.teleports = Some(field);
        self
    }

    /// Simulates the scene, for packets with [`Delta::ArithmeticSimulated`](cubewire_codec::stages::Delta).
    #[must_use]
    pub fn with_engine(mut self, engine: Box<dyn Engine>) -> Self {
        self.engine = engine;
        self
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The decoder. After [`Arrival::Decoded`], its [ledger](Decoder::ledger) is that of the packet.
    #[must_use]
    pub const fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// As [`Decoder::set_ledger`].
    pub fn set_ledger(&mut self, ledger: Option<BitLedger>) {
        self.decoder.set_ledger(ledger);
    }

    /// Processes a packet that arrives at `now`.
    ///
    /// # Errors
    /// [`DecodeError`] if it cannot be decoded; no snapshot changes then. If its baseline is missing or
    /// differs from the sender's, [`poll_feedback`](Self::poll_feedback) reports that.
    pub fn on_packet(&mut self, now: Duration, bytes: &[u8]) -> Result<Arrival, DecodeError> {
        let header = Header::decode(bytes)?;
        let tick = self.playout.tick(now, header.sequence);
        if self.received.get(tick).is_some() {
            // Its ack may have been lost.
            self.wants_ack(tick);
            return Ok(Arrival::Duplicate { tick });
        }
        if self.is_outside(now, tick) {
            return Ok(Arrival::OutOfWindow { tick });
        }
        if let Err(error) = self.decode(tick, header.sequence, bytes) {
            // Newer packets have named newer baselines since. The link delivered this one more than [`KEPT`] ticks late.
            if matches!(error, DecodeError::UnknownBaseline(_)) && Some(tick) < self.newest {
                return Ok(Arrival::OutOfWindow { tick });
            }
            let named = header.baseline.sequence();
            // If the states of the two sides differ, the sender must not use this baseline again.
            let report = match error {
                DecodeError::Desync(sequence) => Some(Feedback::Desync(sequence)),
                DecodeError::UnknownBaseline(baseline) => Some(Feedback::MissingBaseline(baseline)),
                DecodeError::Check(_)
                | DecodeError::NonCanonical { .. }
                | DecodeError::OutOfRange { .. } => named.map(Feedback::MissingBaseline),
                _ => None,
            };
            self.missing = report.or(self.missing);
            return Err(error);
        }
        self.state.add(tick, self.decoder.state_chunk());

        let missed = self.missed(now);
        let late = self.playout.is_late(missed, tick);
        while let Some(played) = self.playout.discard_played(now) {
            self.spare.push(played);
        }
        let mut snapshot = self.spare.pop().unwrap_or_default();
        let before = self.playout.before(tick);
        let held = before.and_then(|(then, _)| self.received.get(then));
        let precision = self.next.snapshot().precision();
        let is_same = held.is_some_and(|held| held.snapshot().precision() == precision);
        snapshot.set(&self.next, tick, before, is_same, self.teleports);
        self.spare.extend(self.playout.insert(now, tick, snapshot));
        tracks::spread(&mut self.playout, now, tick);
        let old = self.received.take_slot(tick);
        let decoded = std::mem::replace(&mut self.next, old);
        self.received.insert(tick, decoded);
        self.restore();
        self.forget(tick, &header);
        self.newest = self.newest.max(Some(tick));
        self.wants_ack(tick);
        self.delay.arrived(missed, tick, self.playout.clock());
        Ok(Arrival::Decoded { tick, header, late })
    }

    /// Decodes a packet into `next`.
    fn decode(&mut self, tick: u64, sequence: Sequence, bytes: &[u8]) -> Result<(), DecodeError> {
        let received = &self.received;
        let held = |baseline: Sequence| {
            received.get(tick.checked_sub(sequence.ticks_since(baseline).into())?)
        };
        let begun = self.decoder.begin(bytes, held)?;
        let inputs = begun.inputs();
        let prediction = inputs.and_then(|inputs| self.engine.simulate(tick, inputs));
        self.decoder
            .finish(begun, held, prediction, &mut self.next)?;
        Ok(())
    }

    /// Restores a world once a state has arrived and the snapshot of its tick is held.
    fn restore(&mut self) {
        if let Some(tick) = self.state.complete()
            && let Some(snapshot) = self.received.get(tick)
        {
            self.engine
                .restore(tick, snapshot.snapshot(), &self.state.take());
        }
    }

    /// Forgets the snapshots that no packet is expected to refer to, after the one of `tick`.
    fn forget(&mut self, tick: u64, header: &Header) {
        let named = header.baseline.sequence();
        let age = named.map_or(MAX_BASELINE_AGE_TICKS, |named| {
            header.sequence.ticks_since(named)
        });
        let oldest = tick.saturating_sub(age.into());
        let awaited = self.state.awaited();
        let awaited = awaited.filter(|at| at + u64::from(MAX_BASELINE_AGE_TICKS) >= tick);
        let oldest = oldest.min(awaited.unwrap_or(oldest));
        self.received.forget_before(oldest, KEPT);
    }

    /// Whether a tick is too old or too far ahead. A single packet with a wrong number must not move
    /// the clock; but if all packets are far ahead, the clock is wrong.
    fn is_outside(&mut self, now: Duration, tick: u64) -> bool {
        let expected = self.playout.clock().expected(now);
        if tick as f64 > expected + MAX_AHEAD_TICKS && self.far_ahead < MAX_FAR_AHEAD {
            self.far_ahead += 1;
            return true;
        }
        self.far_ahead = 0;
        let newest = self.newest.unwrap_or(0);
        tick + RECEIVER_RING as u64 <= newest
    }

    /// The latest time at which a packet that arrives at `now` is known to have been missing, and a tick more: receivers look for
    /// packets once a tick. If the receiver itself has not looked for longer, the packet may have been there all the time.
    fn missed(&self, now: Duration) -> Duration {
        let tick = Duration::from_secs_f64(self.playout.clock().tick_seconds());
        self.waited.map_or(now, |waited| now.min(waited + tick))
    }

    /// The next message for the sender; call this until it returns `None`. The acks cover all packets that arrived since
    /// the last one and are held: one ack covers 33 ticks, so a receiver that was busy for longer sends several, at most
    /// 512 / 33 + 1, the oldest first. A sender that gets them in this order takes no packet for lost that has arrived.
    pub fn poll_feedback(&mut self) -> Option<Feedback> {
        if let Some(missing) = self.missing.take() {
            return Some(missing);
        }
        if self.acks.is_empty() {
            self.ack_all();
        }
        self.acks.pop().map(Feedback::Ack)
    }

    /// Notes that the snapshot of a tick is to be acked.
    fn wants_ack(&mut self, tick: u64) {
        if let Err(index) = self.unacked.binary_search(&tick) {
            self.unacked.insert(index, tick);
        }
        if self.unacked.len() > RECEIVER_RING {
            self.unacked.remove(0);
        }
    }

    /// Prepares acks of all new arrivals, and of the newest snapshot even if it is not new.
    fn ack_all(&mut self) {
        let mut next = self.newest.filter(|_| !self.unacked.is_empty());
        while let Some(newest) = next {
            let holds = |bit: &u32| {
                let tick = newest.checked_sub(u64::from(*bit) + 1);
                tick.is_some_and(|tick| self.received.get(tick).is_some())
            };
            let earlier = (0..u32::BITS)
                .filter(holds)
                .fold(0, |earlier, bit| earlier | 1 << bit);
            self.acks.push(Ack {
                newest: sequence(newest),
                earlier,
            });
            let covered = newest.saturating_sub(u32::BITS.into());
            let older = self.unacked.partition_point(|&tick| tick < covered);
            let mut older = self.unacked[..older].iter().rev().copied();
            next = older.find(|&tick| self.received.get(tick).is_some());
        }
        self.unacked.clear();
    }

    /// Records the sender's current `tick`, reported by other means than a packet. If it is more than a
    /// second from the estimate, the sender has paused or skipped ticks, and the clock
    /// is reset: after half their range, sequence numbers alone would be resolved to the wrong tick.
    /// Ticks above 2⁴⁸ are ignored.
    pub fn sync_tick(&mut self, now: Duration, tick: u64) {
        if tick <= MAX_TICK {
            self.playout.sync_tick(now, tick);
        }
    }

    /// The snapshots to show.
    #[must_use]
    pub const fn playout(&self) -> &PlayoutBuffer<Received> {
        &self.playout
    }

    /// Sets the playout delay, `None` for the [adaptive](AdaptiveDelay) one, and advances playout to `now`. Call this every
    /// tick or frame, after [`on_packet`](Self::on_packet) with all packets that have arrived. See [`PlayoutBuffer::advance`].
    pub fn advance_playout(&mut self, now: Duration, delay: Option<Duration>) {
        self.waited = Some(now);
        let adapted = self.delay.update(now, self.playout.clock());
        self.playout.set_delay(delay.unwrap_or(adapted));
        self.playout.advance(now);
    }

    /// The decoded snapshot of `tick`, if it is still held.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        self.received.get(tick)
    }

    /// Tick of the newest snapshot that was decoded.
    #[must_use]
    pub const fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Memory held by the baselines, bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.received.memory_bytes()
    }
}

/// How far ahead of the estimated clock a packet may be, as when the link has become faster: four seconds at 60 Hz, and one at
/// 240. One with a damaged number must not set the clock.
const MAX_AHEAD_TICKS: f64 = 255.0;

/// Consecutive packets too far ahead of the clock that are ignored.
const MAX_FAR_AHEAD: u32 = 60;
