//! The receiver: decodes packets, plays snapshots and sends feedback.

use std::time::Duration;

use cubewire_codec::{
    Baseline, BitLedger, DecodeError, Decoder, Header, InitialStateError, Limits, Sequence,
};
use log::trace;

use crate::clock::{SenderClock, sequence};
use crate::connection::{MAX_TICK, Welcome};
use crate::delay::AdaptiveDelay;
use crate::engine::Engine;
use crate::feedback::{Ack, Feedback};
use crate::playout::PlayoutBuffer;
use crate::ring::BaselineRing;
use crate::sender::MAX_BASELINE_AGE_TICKS;
use crate::state_transfer::StateAssembly;
use crate::tracks::{self, PlayoutSnapshot};

/// Maximum number of snapshots that a receiver keeps: twice as many as the sender. So the receiver still has the
/// baseline of a packet that took up to 256 ticks to arrive, which is four seconds at 60 Hz and one at 240 Hz.
pub const RECEIVER_RING: usize = 512;

/// Number of snapshots that a receiver keeps from before the baseline of a packet, for late packets and for
/// additional references.
const KEPT: usize = 63;

/// Decodes packets, stores the snapshots as baselines of later packets, and plays them.
///
/// Memory is limited to [`RECEIVER_RING`] baselines and the snapshots in the playout buffer. While acks arrive at the
/// sender, the receiver keeps the baselines since the one that the last packet named, and 63 before it.
#[derive(Debug)]
pub struct SnapshotReceiver {
    decoder: Decoder,
    received: BaselineRing,
    playout: PlayoutBuffer<PlayoutSnapshot>,
    delay: AdaptiveDelay,
    newest: Option<u64>,
    /// Number of consecutive packets that were too far ahead of the clock.
    far_ahead: u32,
    /// Ticks of snapshots that have arrived and are not acked yet, ascending.
    unacked: Vec<u64>,
    /// Acks to send; the last entry is sent first.
    acks: Vec<Ack>,
    /// Report about a refused packet: a missing baseline or a desync. Sent before acks.
    missing: Option<Feedback>,
    /// Time of the last call of [`advance_playout`](Self::advance_playout). All packets that arrived before it were
    /// processed.
    waited: Option<Duration>,
    engine: Box<dyn Engine>,
    state: StateAssembly,
    /// Target for decoding the next packet.
    next: Baseline,
    /// Played snapshots, for reuse of their memory.
    spare: Vec<PlayoutSnapshot>,
    /// Index of the field that counts a body's teleports.
    teleports: Option<usize>,
}

/// Outcome of a valid packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketOutcome {
    /// The packet was decoded.
    Decoded {
        /// The sender's tick.
        tick: u64,
        /// The packet's header.
        header: Header,
        /// Whether it arrived too late to be displayed.
        late: bool,
    },
    /// The snapshot is already stored.
    Duplicate {
        /// The sender's tick.
        tick: u64,
    },
    /// The packet was not decoded. It is so old that a newer snapshot has its slot or that its baseline is not stored
    /// any more, or so far ahead of the sender's clock that its number must be wrong.
    OutOfWindow {
        /// The sender's tick.
        tick: u64,
    },
}

impl SnapshotReceiver {
    /// Creates a receiver for a welcome that arrived at `now`. `playout_delay` applies until the first
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

    /// Sets the field of the schema that counts a body's teleports. The pose of a body is not interpolated between
    /// snapshots that differ in this field. A field with n values can represent up to n − 1 teleports between two
    /// snapshots that arrived; a multiple of n teleports looks like movement.
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

    /// Sets the engine that simulates the scene, for packets with
    /// [`Delta::ArithmeticSimulated`](cubewire_codec::stages::Delta).
    #[must_use]
    pub fn with_engine(mut self, engine: Box<dyn Engine>) -> Self {
        self.engine = engine;
        self
    }

    /// Returns the engine.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Returns the decoder. After [`PacketOutcome::Decoded`], its [ledger](Decoder::ledger) is for this packet.
    pub const fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Calls [`Decoder::set_ledger`].
    pub fn set_ledger(&mut self, ledger: Option<BitLedger>) {
        self.decoder.set_ledger(ledger);
    }

    /// Processes a packet that arrived at `now`.
    ///
    /// # Errors
    /// [`DecodeError`] if the packet cannot be decoded. No snapshot changes then. If its baseline is missing or
    /// differs from the sender's, [`poll_feedback`](Self::poll_feedback) reports this.
    pub fn on_packet(&mut self, now: Duration, bytes: &[u8]) -> Result<PacketOutcome, DecodeError> {
        let header = Header::decode(bytes)?;
        let tick = self.playout.clock().tick_of(now, header.sequence);
        if self.received.get(tick).is_some() {
            // The ack may have been lost.
            self.wants_ack(tick);
            return Ok(PacketOutcome::Duplicate { tick });
        }
        if self.is_outside(now, tick) {
            trace!("packet of tick {tick} dropped: too old or too far ahead");
            return Ok(PacketOutcome::OutOfWindow { tick });
        }
        if let Err(error) = self.decode(tick, header.sequence, bytes) {
            trace!("packet of tick {tick} dropped: {error}");
            // Newer packets have named newer baselines. This packet arrived more than [`KEPT`] ticks late.
            if matches!(error, DecodeError::UnknownBaseline(_)) && Some(tick) < self.newest {
                return Ok(PacketOutcome::OutOfWindow { tick });
            }
            let named = header.baseline.sequence();
            // If the states of sender and receiver differ, the sender must not use this baseline again.
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
        tracks::update_neighbours(&mut self.playout, now, tick);
        self.received.store(tick, &mut self.next);
        self.restore();
        self.forget(tick, &header);
        self.newest = self.newest.max(Some(tick));
        self.wants_ack(tick);
        self.delay.arrived(missed, tick, self.playout.clock());
        Ok(PacketOutcome::Decoded { tick, header, late })
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
        self.decoder.finish(begun, held, prediction, &mut self.next)?;
        Ok(())
    }

    /// Restores the engine's world when a state is complete and the snapshot of its tick is stored.
    fn restore(&mut self) {
        if let Some(tick) = self.state.complete()
            && let Some(snapshot) = self.received.get(tick)
        {
            self.engine.restore(tick, snapshot.snapshot(), &self.state.take());
        }
    }

    /// After the packet of `tick`, drops the snapshots that no further packet is expected to refer to.
    fn forget(&mut self, tick: u64, header: &Header) {
        let named = header.baseline.sequence();
        let age = named.map_or(MAX_BASELINE_AGE_TICKS, |named| header.sequence.ticks_since(named));
        let oldest = tick.saturating_sub(age.into());
        // An incomplete state needs the snapshot of its tick.
        let awaited = self.state.awaited();
        let awaited = awaited.filter(|at| at + u64::from(MAX_BASELINE_AGE_TICKS) >= tick);
        let oldest = oldest.min(awaited.unwrap_or(oldest));
        self.received.forget_before(oldest, KEPT);
    }

    /// Whether a tick is too old or too far ahead. A single packet with a wrong number must not move the clock. But
    /// if all packets are far ahead, the clock is wrong.
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

    /// Returns the arrival time to assume for a packet that is read at `now`: at most a tick after the last poll, because
    /// receivers poll once a tick. After a longer pause, the packet may have been waiting in the socket.
    fn missed(&self, now: Duration) -> Duration {
        let tick = Duration::from_secs_f64(self.playout.clock().tick_seconds);
        self.waited.map_or(now, |waited| now.min(waited + tick))
    }

    /// Returns the next message for the sender. Call this until it returns `None`. The acks cover all stored packets
    /// that arrived since the last call. One ack covers 33 ticks, so a receiver that was busy for longer sends up to
    /// 512 / 33 + 1 acks, oldest first. In this order, the sender never takes a packet for lost that has arrived.
    pub fn poll_feedback(&mut self) -> Option<Feedback> {
        if let Some(missing) = self.missing.take() {
            return Some(missing);
        }
        if self.acks.is_empty() {
            self.ack_all();
        }
        self.acks.pop().map(Feedback::Ack)
    }

    /// Queues an ack of the snapshot of a tick.
    fn wants_ack(&mut self, tick: u64) {
        if let Err(index) = self.unacked.binary_search(&tick) {
            self.unacked.insert(index, tick);
        }
        if self.unacked.len() > RECEIVER_RING {
            self.unacked.remove(0);
        }
    }

    /// Prepares acks for new arrivals. The newest snapshot is included even if it is not new.
    fn ack_all(&mut self) {
        let mut next = self.newest.filter(|_| !self.unacked.is_empty());
        while let Some(newest) = next {
            let holds = |bit: &u32| {
                let tick = newest.checked_sub(u64::from(*bit) + 1);
                tick.is_some_and(|tick| self.received.get(tick).is_some())
            };
            let earlier = (0..u32::BITS).filter(holds).fold(0, |earlier, bit| earlier | 1 << bit);
            self.acks.push(Ack { newest: sequence(newest), earlier });
            let covered = newest.saturating_sub(u32::BITS.into());
            let older = self.unacked.partition_point(|&tick| tick < covered);
            let mut older = self.unacked[..older].iter().rev().copied();
            next = older.find(|&tick| self.received.get(tick).is_some());
        }
        self.unacked.clear();
    }

    /// Records the sender's current `tick` from a source other than a packet. If it differs by more than a second
    /// from the estimate, the sender has paused or skipped ticks, and the clock is reset. Without this, sequence
    /// numbers would be resolved to wrong ticks after half their range. Ticks above 2⁴⁸ are ignored.
    pub fn sync_tick(&mut self, now: Duration, tick: u64) {
        if tick <= MAX_TICK {
            self.playout.sync_tick(now, tick);
        }
    }

    /// Returns the buffer of snapshots to display.
    pub const fn playout(&self) -> &PlayoutBuffer<PlayoutSnapshot> {
        &self.playout
    }

    /// Sets the playout delay, where `None` selects the [adaptive](AdaptiveDelay) one, and advances playout to `now`.
    /// Call this every tick or frame, after [`on_packet`](Self::on_packet) with all packets that have arrived. See
    /// [`PlayoutBuffer::advance`].
    pub fn advance_playout(&mut self, now: Duration, delay: Option<Duration>) {
        self.waited = Some(now);
        let adapted = self.delay.update(now, self.playout.clock());
        self.playout.set_delay(delay.unwrap_or(adapted));
        self.playout.advance(now);
    }

    /// Returns the decoded snapshot of `tick` if it is still stored.
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        self.received.get(tick)
    }

    /// Returns the tick of the newest decoded snapshot.
    pub const fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Memory in use for baselines, bytes.
    pub fn memory_bytes(&self) -> usize {
        self.received.memory_bytes()
    }
}

/// Maximum number of ticks that a packet may be ahead of the estimated clock, for links that become faster: four
/// seconds at 60 Hz and one at 240 Hz. A packet with a damaged number must not set the clock.
const MAX_AHEAD_TICKS: f64 = 255.0;

/// Number of consecutive packets too far ahead of the clock that are ignored.
const MAX_FAR_AHEAD: u32 = 60;
