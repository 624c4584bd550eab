//! The sender. A server has one for each receiver.

mod history;
mod partial;
#[cfg(test)]
mod tests;

use std::mem;
use std::sync::Arc;

use cubewire_codec::stages::Delta;
use cubewire_codec::{
    Baseline, BitLedger, CurrentSnapshot, EncodeError, Encoder, Header, InitialStateError, Limits,
    Packet, Plan, Snapshot, Stages,
};
use log::debug;
use serde::{Deserialize, Serialize};

use crate::clock::sequence;
use crate::feedback::{Ack, Feedback, FeedbackError};
use crate::inputs::InputHistory;
use crate::schedule::Schedule;
use crate::sync::{SceneSync, SyncStatus};
use history::SentHistory;

pub use history::{CANDIDATES, MAX_BASELINE_AGE_TICKS};

/// Choice of the acked snapshot that becomes the baseline of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BaselineChoice {
    /// The newest acked snapshot.
    #[default]
    Newest,
    /// The one of the [`CANDIDATES`] newest acked snapshots that gives the smallest packet. Encodes once for each.
    Smallest,
}

/// Encodes snapshots for one receiver and tracks which ones the receiver has.
///
/// Memory is limited to 256 snapshots for any behaviour of the receiver. While acks arrive, the sender drops snapshots
/// that are more than 56 ticks older than the oldest of the [`CANDIDATES`] newest acked ones. If the newest acked one is
/// older than 255 ticks, packets are relative to the initial state until the next ack.
#[derive(Debug)]
pub struct SnapshotSender {
    encoder: Encoder,
    history: SentHistory,
    packet: Packet,
    /// The snapshot of `packet` as the receiver decodes it, until it is stored.
    next: Baseline,
    /// Packet and snapshot of another attempt, which are used if they are smaller.
    candidate: (Packet, Baseline),
    sync: SceneSync,
    schedule: Schedule,
    /// Tick of the last call of `send_within`.
    within_at: Option<u64>,
    /// For each body, whether the partial packet that is being encoded carries it.
    carried: Vec<bool>,
}

/// A key from [`SnapshotSender::sharing_key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharingKey {
    baseline: Option<u64>,
    newest_sent: Option<u64>,
    /// Digests of the baseline and of the two acked snapshots before it.
    digests: [Option<u64>; 3],
}

/// Reason why a snapshot was not sent.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SendError {
    /// The tick is not newer than the last one sent.
    #[error("tick {tick} is not after tick {newest}, which was sent last")]
    Tick {
        /// Tick of the snapshot.
        tick: u64,
        /// Tick of the last snapshot sent.
        newest: u64,
    },
    /// The codec cannot encode the snapshot.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl SnapshotSender {
    /// Creates a sender for one scene. `initial` is the receiver's state before the first packet.
    ///
    /// # Errors
    /// [`InitialStateError`] as in [`Encoder::new`].
    pub fn new(
        plan: Arc<Plan>,
        initial: Snapshot,
        limits: Limits,
    ) -> Result<Self, InitialStateError> {
        Ok(Self {
            encoder: Encoder::new(plan, initial, limits)?,
            history: SentHistory::new(),
            packet: Packet::default(),
            next: Baseline::default(),
            candidate: (Packet::default(), Baseline::default()),
            sync: SceneSync::new(),
            schedule: Schedule::new([1.0; 2]),
            within_at: None,
            carried: Vec::new(),
        })
    }

    /// Encodes the snapshot of `tick` into [`packet`](Self::packet), and stores it as the receiver will decode it.
    /// The snapshot must be quantized in the stages' precision. Returns the packet's header. A snapshot that is
    /// [shared](CurrentSnapshot::Shared) with other senders is stored only once.
    ///
    /// # Errors
    /// [`SendError`] if the tick is not newer than the last one, or if the codec cannot encode the snapshot. The
    /// sender remains usable.
    pub fn send<'s>(
        &mut self,
        tick: u64,
        stages: Stages,
        snapshot: impl Into<CurrentSnapshot<'s>>,
        choice: BaselineChoice,
    ) -> Result<Header, SendError> {
        self.send_simulated(tick, stages, snapshot, choice, None)
    }

    /// Like [`send`](Self::send), for a receiver that simulates the scene. `inputs` are the inputs up to `tick`. Only
    /// stages with [`Delta::ArithmeticSimulated`] use them, with the newest acked snapshot as baseline.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_simulated<'s>(
        &mut self,
        tick: u64,
        stages: Stages,
        snapshot: impl Into<CurrentSnapshot<'s>>,
        choice: BaselineChoice,
        inputs: Option<&InputHistory>,
    ) -> Result<Header, SendError> {
        self.begin(tick)?;
        let snapshot = snapshot.into();
        let baseline = self.newest_acked();
        let is_simulated = stages.delta == Delta::ArithmeticSimulated;
        let inputs = inputs.filter(|inputs| is_simulated && inputs.tick() == tick);
        let merged = self.history.merged();
        let mut references = self.history.references(baseline);
        references.merged = &merged;
        references.simulated = self.sync.choose(&self.history.acked, inputs);
        let mut header = self.encoder.encode(
            sequence(tick),
            stages,
            snapshot,
            references,
            &mut self.packet,
            Some(&mut self.next),
        )?;
        // The inputs of a simulated packet were chosen for the newest baseline.
        if choice == BaselineChoice::Smallest && stages.uses_baseline() && !is_simulated {
            let smaller = self.try_other_baselines(tick, stages, snapshot)?;
            header = smaller.unwrap_or(header);
        }
        self.history.store(tick, &mut self.next);
        self.schedule.stop();
        Ok(header)
    }

    /// Encodes relative to older acked snapshots and keeps the smallest packet. Returns `None` if the existing packet
    /// is the smallest.
    fn try_other_baselines(
        &mut self,
        tick: u64,
        stages: Stages,
        snapshot: CurrentSnapshot<'_>,
    ) -> Result<Option<Header>, EncodeError> {
        let mut smallest = None;
        // The existing packet is relative to the newest acked snapshot.
        for &baseline in self.history.acked.iter().rev().skip(1).take(CANDIDATES - 1) {
            let (packet, candidate) = &mut self.candidate;
            let header = self.encoder.encode(
                sequence(tick),
                stages,
                snapshot,
                self.history.references(Some(baseline)),
                packet,
                Some(candidate),
            )?;
            if packet.bytes.len() < self.packet.bytes.len() {
                mem::swap(packet, &mut self.packet);
                mem::swap(candidate, &mut self.next);
                smallest = Some(header);
            }
        }
        Ok(smallest)
    }

    /// Whether the next complete packets of both senders will be the same if both send the same snapshot with
    /// [`BaselineChoice::Newest`] and without inputs. True if their references are equal.
    pub fn is_like(&self, other: &Self) -> bool {
        self.newest_acked() == other.newest_acked()
            && self.history.newest == other.history.newest
            && self.held_references() == other.held_references()
            && self.history.merged() == other.history.merged()
    }

    /// Returns a key that [similar](Self::is_like) senders share and that others seldom have. Use it to group many
    /// senders.
    pub fn sharing_key(&self) -> SharingKey {
        SharingKey {
            baseline: self.newest_acked(),
            newest_sent: self.history.newest,
            digests: self.held_references().map(|held| held.map(Baseline::digest)),
        }
    }

    /// Takes over the complete packet that another sender has just sent for this tick. Before that packet, both senders
    /// must have been [alike](Self::is_like).
    ///
    /// # Errors
    /// [`SendError`] if the tick is not newer than the last one. The sender remains usable.
    ///
    /// # Panics
    /// If the other has not sent this tick.
    pub fn send_same(&mut self, tick: u64, other: &Self) -> Result<(), SendError> {
        self.begin(tick)?;
        let sent = other.get(tick).expect("the other sender sent this tick");
        self.history.store(tick, &mut sent.clone());
        self.packet.clone_from(&other.packet);
        self.schedule.stop();
        Ok(())
    }

    /// Returns the tick of the last packet if the receiver needs a state of the scene, else `None`. Send one with
    /// [`offer_state`](Self::offer_state).
    pub const fn wants_state(&self) -> Option<u64> {
        self.sync.wanted_at
    }

    /// Offers the state of the scene after `tick`. It is sent in chunks with the next packets if the receiver needs
    /// one and the snapshot of that tick was sent with [`Delta::ArithmeticSimulated`]. A world that is restored from
    /// the snapshot and the state must behave exactly like the sender's. The receiver's engine must be able to read
    /// the bytes.
    ///
    /// # Panics
    /// If the state is empty or longer than [`MAX_STATE_BYTES`](crate::MAX_STATE_BYTES).
    pub fn offer_state(&mut self, tick: u64, state: &Arc<[u8]>) {
        let snapshot = self.get(tick);
        if snapshot.is_some_and(|sent| sent.stages().delta == Delta::ArithmeticSimulated) {
            let is_acked = self.history.acked.binary_search(&tick).is_ok();
            self.sync.offer(tick, state, is_acked);
        }
    }

    /// Forces the receiver to need a state, as if it had lost its world.
    pub fn force_desync(&mut self) {
        if let Some(newest) = self.history.newest {
            self.sync.force_desync(newest);
        }
    }

    /// Returns whether the receiver's simulated world is known to equal the sender's.
    pub const fn sync(&self) -> SyncStatus {
        self.sync.status
    }

    /// During a state transfer, returns the number of chunks that the receiver is known to have, and the total.
    pub fn state_progress(&self) -> Option<(usize, usize)> {
        self.sync.state_progress()
    }

    /// Number of desyncs that the receiver has reported.
    pub const fn desyncs(&self) -> u64 {
        self.sync.desyncs
    }

    /// Sets whether the ledgers of further packets list every item: see [`BitLedger::itemized`]. Off by default.
    pub fn itemize(&mut self, itemize: bool) {
        for packet in [&mut self.packet, &mut self.candidate.0] {
            if packet.ledger.items().is_some() != itemize {
                packet.ledger = match itemize {
                    true => BitLedger::itemized(),
                    false => BitLedger::new(),
                };
            }
        }
    }

    /// The newest packet.
    pub const fn packet(&self) -> &Packet {
        &self.packet
    }

    /// Processes a message from the receiver. Ignores acks of snapshots that are no longer stored.
    ///
    /// # Errors
    /// [`FeedbackError`] if the message is invalid, or if it acks a snapshot that was not sent yet.
    pub fn on_message(&mut self, bytes: &[u8]) -> Result<Feedback, FeedbackError> {
        let feedback = Feedback::decode(bytes)?;
        self.on_feedback(feedback)?;
        Ok(feedback)
    }

    /// As [`on_message`](Self::on_message), for a decoded message.
    ///
    /// # Errors
    /// [`FeedbackError::NeverSent`] if the message acks a snapshot that was not sent yet.
    pub fn on_feedback(&mut self, feedback: Feedback) -> Result<(), FeedbackError> {
        match feedback {
            Feedback::Ack(ack) => {
                let newest = self.history.newest.map(sequence);
                if newest.is_none_or(|newest| ack.newest.is_newer_than(newest)) {
                    return Err(FeedbackError::NeverSent(ack.newest));
                }
                self.on_ack(ack);
            }
            // The receiver has lost this snapshot or has a different one. Older acks are no longer reliable either.
            Feedback::MissingBaseline(baseline) => {
                // The receiver may have restarted without any chunks.
                self.sync.transfer = None;
                // An unknown baseline discards all acks. The subtraction keeps the addition below in range.
                let newest_discarded = self.history.tick_of(baseline).unwrap_or(u64::MAX - 1);
                // Log only the first report: packets that are still in flight can cause more for the same loss.
                if self.history.acked.front().is_some_and(|&acked| acked <= newest_discarded) {
                    debug!("baseline lost: the receiver does not have tick {newest_discarded}");
                }
                self.history.discard_acks(newest_discarded + 1);
            }
            Feedback::Desync(number) => {
                let tick = self.history.tick_of(number);
                if let Some((tick, newest)) = tick.zip(self.history.newest) {
                    self.sync.on_desync(tick, newest);
                }
            }
        }
        Ok(())
    }

    /// Returns the tick of the newest acked snapshot.
    pub fn newest_acked(&self) -> Option<u64> {
        self.history.newest_acked()
    }

    /// Returns the ages at `tick` of the three newest acked snapshots, the newest first, ticks. An age is at most 65 535.
    pub fn acked_ages(&self, tick: u64) -> [Option<u16>; 3] {
        let newest = self.newest_acked();
        let [second, third] = self.acked_before(newest.unwrap_or(0));
        let age = |acked: u64| u16::try_from(tick - acked).unwrap_or(u16::MAX);
        [newest, second, third].map(|acked| acked.map(age))
    }

    /// Returns the ticks of the two newest acked snapshots before `tick`, the newer one first.
    pub fn acked_before(&self, tick: u64) -> [Option<u64>; 2] {
        self.history.acked_before(tick)
    }

    /// Returns the snapshot of `tick` as the receiver decodes it, if it is still stored. At 60 Hz, snapshots stay for
    /// about a second after their ack.
    pub fn get(&self, tick: u64) -> Option<&Baseline> {
        self.history.ring.get(tick)
    }

    /// Memory in use for snapshots, bytes.
    pub fn memory_bytes(&self) -> usize {
        self.history.ring.memory_bytes()
    }

    fn on_ack(&mut self, ack: Ack) {
        let history = &mut self.history;
        let (Some(newest_sent), Some(newest)) = (history.newest, history.tick_of(ack.newest))
        else {
            return;
        };
        let covered = newest.saturating_sub(u32::BITS.into())..=newest;
        for tick in covered.rev().filter(|&tick| ack.covers(sequence(tick))) {
            let is_recent = newest_sent - tick <= MAX_BASELINE_AGE_TICKS.into();
            if is_recent && let Some(sent) = history.ack(tick) {
                // An origin means that the packet carried inputs instead of bodies.
                self.sync.on_ack(tick, sent.origin().is_some());
            }
        }
    }

    /// Returns the baseline of the next packet and the two references before it.
    fn held_references(&self) -> [Option<&Baseline>; 3] {
        let references = self.history.references(self.newest_acked());
        let [second, third] = references.additional;
        [references.baseline, second, third]
    }

    fn begin(&mut self, tick: u64) -> Result<(), SendError> {
        if let Some(newest) = self.history.newest
            && tick <= newest
        {
            return Err(SendError::Tick { tick, newest });
        }
        self.history.forget_before(tick);
        Ok(())
    }
}
