//! The receiver's side: packets in, snapshots to play back and feedback out.

use std::time::Duration;

use cubewire_codec::stages::Velocity;
use cubewire_codec::{
    Baseline, DecodeError, Decoder, Header, InitialStateError, Limits, Reference, Snapshot,
};

use crate::{Ack, BaselineRing, Feedback, PlayoutBuffer, SenderClock, Welcome};

/// Snapshots that a receiver keeps: twice the sender's, so that it still holds whatever a packet
/// that was up to four seconds under way names.
pub const RECEIVER_RING: usize = 512;

/// Decodes packets, keeps what later ones may be relative to, and plays the snapshots back.
///
/// Memory is bounded: [`RECEIVER_RING`] snapshots to decode with, and those of the playout buffer.
#[derive(Debug)]
pub struct SnapshotReceiver {
    decoder: Decoder,
    received: BaselineRing,
    playout: PlayoutBuffer<Received>,
    newest: Option<u64>,
    /// Packets in a row from far ahead.
    far_ahead: u32,
    ack_due: bool,
    missing: Option<Feedback>,
    /// Where the next packet is decoded to.
    next: Baseline,
    /// Memory of snapshots that were played.
    spare: Vec<Received>,
}

/// A snapshot to play back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Received {
    /// The cubes.
    pub snapshot: Snapshot,
    /// Whether their velocities were sent; they are zero if not.
    pub has_velocity: bool,
}

/// What became of a packet that is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Decoded.
    Decoded {
        /// The sender's tick.
        tick: u64,
        /// The packet's header.
        header: Header,
        /// Whether it came too late to be played.
        late: bool,
    },
    /// The snapshot is here already.
    Duplicate {
        /// The sender's tick.
        tick: u64,
    },
    /// Not decoded: so old that its place is taken by a newer one, or from so far ahead of the
    /// sender's clock that its number must be wrong.
    OutOfWindow {
        /// The sender's tick.
        tick: u64,
    },
}

impl SnapshotReceiver {
    /// Nothing received yet, and the welcome has come `now`.
    ///
    /// # Errors
    /// [`InitialStateError`] as [`Decoder::new`].
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
            next: Baseline::default(),
            spare: Vec::new(),
        })
    }

    /// Takes in a packet that arrives `now`.
    ///
    /// # Errors
    /// [`DecodeError`] if it cannot be decoded; nothing is changed then. If that is because its
    /// baseline is not held, the sender will be told.
    pub fn on_packet(&mut self, now: Duration, bytes: &[u8]) -> Result<Arrival, DecodeError> {
        let header = Header::decode(bytes)?;
        let sequence = header.sequence;
        let tick = self.playout.tick(now, sequence);
        if self.received.get(tick).is_some() {
            // The ack of it may have been lost.
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
            missing,
            ..
        } = &mut *self;
        let held = |baseline: cubewire_codec::Sequence| {
            received.get(tick.checked_sub(sequence.ticks_since(baseline).into())?)
        };
        let header = decoder.decode(bytes, held, next).inspect_err(|error| {
            *missing = match (*error, header.reference) {
                (DecodeError::UnknownBaseline(baseline), _) => Some(baseline),
                // What the two sides know of it differs: the sender must not go on from it.
                (
                    DecodeError::Check(_)
                    | DecodeError::NonCanonical { .. }
                    | DecodeError::OutOfRange { .. },
                    Reference::Baseline { sequence, .. },
                ) => Some(sequence),
                _ => return,
            }
            .map(Feedback::MissingBaseline);
        })?;

        let late = self.playout.is_late(now, tick);
        while let Some(played) = self.playout.discard_played(now) {
            self.spare.push(played);
        }
        let mut snapshot = self.spare.pop().unwrap_or_default();
        self.next.snapshot().dequantize(&mut snapshot.snapshot);
        snapshot.has_velocity = self.next.stages().velocity != Velocity::Omitted;
        self.spare.extend(self.playout.insert(now, tick, snapshot));
        let decoded = std::mem::take(&mut self.next);
        self.next = self.received.insert(tick, decoded).unwrap_or_default();
        self.newest = self.newest.max(Some(tick));
        self.ack_due = true;
        Ok(Arrival::Decoded { tick, header, late })
    }

    /// Whether a tick is too old, or too far ahead. A single packet whose number is wrong must not
    /// move the clock; but if all of them are far ahead, the clock is what is wrong.
    fn is_outside(&mut self, now: Duration, tick: u64) -> bool {
        let expected = self.playout.clock().expected(now);
        if tick as f64 > expected + MAX_AHEAD_TICKS && self.far_ahead < FAR_AHEAD_PATIENCE {
            self.far_ahead += 1;
            return true;
        }
        self.far_ahead = 0;
        let newest = self.newest.unwrap_or(0);
        tick + RECEIVER_RING as u64 <= newest
    }

    /// The next message for the sender; call it until there is none. However many packets have
    /// arrived since the last time, one ack covers them.
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

    /// Takes in that the sender has said, by other means than a packet, that it is at `tick`. If that
    /// is more than a second from where it was thought to be, it has paused or leapt, and the clock
    /// starts again from there: sequence numbers alone would be mistaken after half their range.
    pub fn hear_of_tick(&mut self, now: Duration, tick: u64) {
        if tick < MAX_HEARD_TICK {
            self.playout.hear_of_tick(now, tick);
        }
    }

    /// What is to be shown.
    #[must_use]
    pub const fn playout(&self) -> &PlayoutBuffer<Received> {
        &self.playout
    }

    /// Sets the playout delay and moves playout on to `now`. See [`PlayoutBuffer::advance`].
    pub fn advance_playout(&mut self, now: Duration, delay: Duration) {
        self.playout.set_delay(delay);
        self.playout.advance(now);
    }

    /// A snapshot that was decoded, if it is still held.
    #[must_use]
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        self.received.get(tick)
    }

    /// Tick of the newest snapshot that was decoded.
    #[must_use]
    pub const fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Bytes of memory that the snapshots to decode with take up.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.received.memory_bytes()
    }
}

/// As for the welcome: far from where ticks would overflow.
const MAX_HEARD_TICK: u64 = 1 << 48;

/// Packets may have become quicker by so much, a little over four seconds at 60 Hz, and no more: the
/// clock must not be led astray.
const MAX_AHEAD_TICKS: f64 = 255.0;

/// Packets in a row from far ahead that are not believed.
const FAR_AHEAD_PATIENCE: u32 = 60;
