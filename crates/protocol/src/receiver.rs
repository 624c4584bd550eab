//! The receiver: decodes packets, plays snapshots back, and sends feedback.

use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::entropy::{Fingerprint, TrainedModel};
use cubewire_codec::stages::{Delta, Velocity};
use cubewire_codec::{
    Baseline, DecodeError, Decoder, Header, InitialStateError, Limits, Reference, Simulated,
    Simulation, Snapshot,
};

use crate::fallback::{Fallback, FallbackReason};
use crate::state::StateAssembly;
use crate::welcome::MAX_TICK;
use crate::{Ack, BaselineRing, Feedback, PlayoutBuffer, SenderClock, Welcome};

/// Snapshots that a receiver keeps: twice the sender's, so that it still holds the baseline of a packet
/// that took up to four seconds to arrive.
pub const RECEIVER_RING: usize = 512;

/// Decodes packets, keeps the snapshots as baselines for later packets, and plays them back.
///
/// Memory is bounded: [`RECEIVER_RING`] baselines, and the snapshots of the playout buffer.
#[derive(Debug)]
pub struct SnapshotReceiver {
    decoder: Decoder,
    received: BaselineRing,
    playout: PlayoutBuffer<Received>,
    newest: Option<u64>,
    /// Consecutive packets that were too far ahead of the clock.
    far_ahead: u32,
    ack_due: bool,
    missing: Option<Feedback>,
    simulation: Box<dyn Simulation>,
    state: StateAssembly,
    /// The sender's.
    fingerprint: Fingerprint,
    fallback: Fallback,
    /// The next packet is decoded into this.
    next: Baseline,
    /// Played snapshots, kept to reuse their memory.
    spare: Vec<Received>,
}

/// A snapshot to play back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Received {
    /// The cubes.
    pub snapshot: Snapshot,
    /// Whether velocities were sent; they are zero if not.
    pub has_velocity: bool,
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
    /// It was not decoded: it is so old that a newer snapshot has its slot, or so far ahead of the
    /// sender's clock that its number must be wrong.
    OutOfWindow {
        /// The sender's tick.
        tick: u64,
    },
}

impl SnapshotReceiver {
    /// Creates a receiver whose welcome arrived at `now`.
    ///
    /// # Errors
    /// [`InitialStateError`] as in [`Decoder::new`].
    pub fn new(
        welcome: Welcome,
        limits: Limits,
        playout_delay: Duration,
        now: Duration,
    ) -> Result<Self, InitialStateError> {
        let clock = SenderClock::new(welcome.ticks_per_second.into(), welcome.tick, now);
        Ok(Self {
            decoder: Decoder::new(welcome.initial, limits)?,
            received: BaselineRing::new(RECEIVER_RING),
            playout: PlayoutBuffer::new(clock, playout_delay),
            newest: None,
            far_ahead: 0,
            ack_due: false,
            missing: None,
            simulation: Box::new(()),
            state: StateAssembly::default(),
            fingerprint: welcome.fingerprint,
            fallback: Fallback::new(welcome.fingerprint, Fingerprint::shipped()),
            next: Baseline::default(),
            spare: Vec::new(),
        })
    }

    /// Uses another trained model for arithmetic coding.
    #[must_use]
    pub fn with_model(mut self, model: Arc<TrainedModel>) -> Self {
        self.fallback = Fallback::new(self.fingerprint, Fingerprint::of(&model));
        self.decoder = self.decoder.with_model(model);
        self
    }

    /// Simulates the scene, for packets with [`Delta::ArithmeticSimulated`](cubewire_codec::stages::Delta).
    #[must_use]
    pub fn with_simulation(mut self, simulation: Box<dyn Simulation>) -> Self {
        self.simulation = simulation;
        self
    }

    /// What the packet that was decoded last says of a simulation, without a prediction.
    #[must_use]
    pub fn simulated(&self) -> Simulated<'_> {
        self.decoder.simulated()
    }

    /// The engine.
    #[must_use]
    pub fn simulation(&self) -> &dyn Simulation {
        &*self.simulation
    }

    /// Why the sender should not use arithmetic coding at `now`, if it should not. Call this regularly: the time that
    /// passes can be the reason.
    pub fn fallback(&mut self, now: Duration) -> Option<FallbackReason> {
        self.fallback.reason(now)
    }

    /// Processes a packet that arrives at `now`.
    ///
    /// # Errors
    /// [`DecodeError`] if it cannot be decoded; no snapshot changes then. If its baseline is missing or
    /// differs from the sender's, [`poll_feedback`](Self::poll_feedback) reports that.
    pub fn on_packet(&mut self, now: Duration, bytes: &[u8]) -> Result<Arrival, DecodeError> {
        let header = Header::decode(bytes)?;
        let sequence = header.sequence;
        let tick = self.playout.tick(now, sequence);
        if self.received.get(tick).is_some() {
            // Its ack may have been lost.
            self.ack_due = true;
            return Ok(Arrival::Duplicate { tick });
        }
        if self.is_outside(now, tick) {
            return Ok(Arrival::OutOfWindow { tick });
        }

        let Self {
            decoder,
            received,
            next,
            simulation,
            ..
        } = &mut *self;
        let held = |baseline: cubewire_codec::Sequence| {
            received.get(tick.checked_sub(sequence.ticks_since(baseline).into())?)
        };
        let decoded = decoder.decode_simulated(bytes, held, &mut **simulation, next);
        // None if the packet has those of a baseline that is not held.
        let stages = match header.reference {
            Reference::Initial { stages } => Some(stages),
            Reference::Baseline { sequence, stages } => {
                stages.or_else(|| Some(held(sequence)?.stages()))
            }
        };
        let named = match header.reference {
            Reference::Initial { .. } => None,
            Reference::Baseline { sequence, .. } => Some(sequence),
        };
        let is_arithmetic = stages.is_some_and(|stages| stages.delta.is_arithmetic());
        if let Err(error) = decoded {
            if matches!(error, DecodeError::Simulation(_)) {
                self.missing = Some(Feedback::NotSimulated(sequence));
                return Err(error);
            }
            // The states of the two sides differ: the sender must not use this baseline again.
            let differs = matches!(
                error,
                DecodeError::Check(_)
                    | DecodeError::NonCanonical { .. }
                    | DecodeError::OutOfRange { .. }
            );
            let missing = match error {
                DecodeError::UnknownBaseline(baseline) => Some(baseline),
                _ => named.filter(|_| differs),
            };
            self.missing = missing.map(Feedback::MissingBaseline).or(self.missing);
            let ahead = tick as f64 - self.playout.clock().expected(now);
            if differs && is_arithmetic && ahead < MAX_FAILED_AHEAD_TICKS {
                self.fallback.on_failed(now, tick);
            }
            return Err(error);
        }
        if stages.is_some_and(|stages| stages.delta == Delta::ArithmeticSimulated) {
            if self.next.origin().is_some() {
                self.simulation.correct(&self.next);
            }
            self.state.add(self.decoder.simulated().attachment);
        }
        if is_arithmetic {
            self.fallback.on_decoded(now, tick, named.is_some());
        }

        let late = self.playout.is_late(now, tick);
        while let Some(played) = self.playout.discard_played(now) {
            self.spare.push(played);
        }
        let mut snapshot = self.spare.pop().unwrap_or_default();
        self.next.snapshot().dequantize(&mut snapshot.snapshot);
        snapshot.has_velocity = self.next.stages().velocity != Velocity::Omitted;
        self.spare.extend(self.playout.insert(now, tick, snapshot));
        let old = self.received.take_slot(tick);
        let decoded = std::mem::replace(&mut self.next, old);
        self.received.insert(tick, decoded);
        self.restore(tick, sequence);
        self.newest = self.newest.max(Some(tick));
        self.ack_due = true;
        Ok(Arrival::Decoded { tick, header, late })
    }

    /// Restores a world once a state has arrived and the snapshot of its tick is held. `tick` and `sequence` are of a
    /// recent packet.
    fn restore(&mut self, tick: u64, sequence: cubewire_codec::Sequence) {
        let Some(of) = self.state.complete() else {
            return;
        };
        let held = tick.checked_sub(sequence.ticks_since(of).into());
        if let Some(snapshot) = held.and_then(|tick| self.received.get(tick)) {
            self.simulation.restore(snapshot, &self.state.take());
        }
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

    /// The next message for the sender; call this until it returns `None`. One ack covers all packets
    /// that arrived since the last one.
    pub fn poll_feedback(&mut self) -> Option<Feedback> {
        if let Some(missing) = self.missing.take() {
            return Some(missing);
        }
        if !std::mem::take(&mut self.ack_due) {
            return None;
        }
        let newest = self.newest?;
        let holds = |bit: &u32| {
            let tick = newest.checked_sub(u64::from(*bit) + 1);
            tick.is_some_and(|tick| self.received.get(tick).is_some())
        };
        let earlier = (0..u32::BITS)
            .filter(holds)
            .fold(0, |earlier, bit| earlier | 1 << bit);
        let newest = crate::sender::sequence(newest);
        Some(Feedback::Ack(Ack { newest, earlier }))
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

    /// Sets the playout delay and advances playout to `now`. See [`PlayoutBuffer::advance`].
    pub fn advance_playout(&mut self, now: Duration, delay: Duration) {
        self.playout.set_delay(delay);
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

/// How far ahead of the estimated clock a packet may be, as when the link has become faster: a little
/// over four seconds at 60 Hz. One with a damaged number must not set the clock.
const MAX_AHEAD_TICKS: f64 = 255.0;

/// A packet that fails counts if the sender's own of the same tick can be expected within this time.
const MAX_FAILED_AHEAD_TICKS: f64 = 30.0;

/// Consecutive packets too far ahead of the clock that are ignored.
const MAX_FAR_AHEAD: u32 = 60;
