//! Snapshots within a byte budget: complete packets if they fit, otherwise packets with the most urgent bodies.

use cubewire_codec::{Baselines, Coverage, EncodeError, Header, QuantizedSnapshot, Stages};

use super::{BaselineChoice, SendError, SnapshotSender};
use crate::clock::sequence;
use crate::schedule::{PacketBudget, SendState};

/// Maximum size of a partial packet under a growing budget, bytes: one datagram.
const MAX_BYTES: usize = 1200;

/// Maximum interval between packets, ticks. Even a packet without bodies is sent then, because the receiver's playout
/// needs packets to advance: ten a second at 60 Hz.
const MAX_SILENCE_TICKS: u64 = 6;

/// Minimum budget for a packet that only advances the receiver's playout, bytes.
const MIN_BYTES: usize = 16;

impl SnapshotSender {
    /// Like [`send`](Self::send), within a byte budget. If the stages do not allow partial packets, the budget is ignored
    /// and a complete snapshot is sent. Otherwise sends a complete snapshot if it fits, returns `None` if it is better
    /// to wait, or else sends the most urgent bodies.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn send_within(
        &mut self,
        tick: u64,
        stages: Stages,
        wanted: &QuantizedSnapshot,
        packet_budget: PacketBudget<'_>,
    ) -> Result<Option<Header>, SendError> {
        let Ok(partial) = stages.with_coverage(Coverage::Partial) else {
            let sent = self.send(tick, stages, wanted, BaselineChoice::Newest)?;
            return Ok(Some(sent));
        };
        self.begin(tick)?;
        self.within_at = Some(tick);
        let since = self.history.newest.map_or(u64::MAX, |newest| tick - newest);
        // Number of ticks that this packet may wait for a larger budget.
        let patience = MAX_SILENCE_TICKS.saturating_sub(since);
        // Without a schedule the last packet was complete, so try a complete one first.
        if !self.is_scheduling() {
            let must_send = patience == 0 && packet_budget.bytes >= MIN_BYTES;
            if !must_send && !self.is_complete_due(tick, stages, wanted) {
                return Ok(None);
            }
            let header = self.encode(tick, stages, wanted)?;
            if self.packet.bytes.len() <= packet_budget.bytes {
                self.history.store(tick, &mut self.next);
                return Ok(Some(header));
            }
        }
        // A new schedule starts from the last packet, or from the initial state if the stages have another form.
        let start = match self.history.held(self.history.newest) {
            Some((at, sent)) if sent.snapshot().has_form_of(wanted) => (Some(at), sent.snapshot()),
            _ => (None, self.encoder.initial(stages.precision())),
        };
        let delivery = self.history.delivery(stages.precision(), tick);
        self.schedule.advance(tick, wanted, &packet_budget, start, &delivery);
        let encoded =
            self.encode_scheduled(tick, [stages, partial], wanted, &packet_budget, patience)?;
        Ok(encoded.map(|(header, count)| {
            self.schedule.on_sent(tick, wanted, count);
            self.history.store(tick, &mut self.next);
            header
        }))
    }

    /// Encodes a complete packet if it fits, or else the most urgent bodies. Returns their number, `None` for a
    /// complete packet. Returns `None` for both if it is better to wait: few large packets have fewer headers.
    fn encode_scheduled(
        &mut self,
        tick: u64,
        [stages, partial]: [Stages; 2],
        wanted: &QuantizedSnapshot,
        packet_budget: &PacketBudget<'_>,
        patience: u64,
    ) -> Result<Option<(Header, Option<usize>)>, EncodeError> {
        let &PacketBudget { bytes, growth, most, .. } = packet_budget;
        let soon = (bytes + growth * patience as usize).min(most);
        let fits_soon = |complete| (bytes + 1..=soon).contains(&complete);
        let complete = self.schedule.complete_bytes();
        let fits = complete <= bytes;
        let is_worth_sending = match fits {
            true => !self.schedule.is_idle(),
            false => !fits_soon(complete) && (growth == 0 || bytes >= MAX_BYTES),
        };
        let is_silent = patience == 0;
        if !(is_worth_sending || is_silent && bytes >= MIN_BYTES) {
            return Ok(None);
        }
        // If all due bodies fit, try a complete packet: otherwise an estimate that is too high would never be
        // corrected.
        if fits || self.schedule.all_fit(bytes) {
            let header = self.encode(tick, stages, wanted)?;
            let size = self.packet.bytes.len();
            self.schedule.learn(size, None);
            if size <= bytes {
                return Ok(Some((header, None)));
            }
        }
        if fits_soon(self.schedule.complete_bytes()) {
            return Ok(None);
        }
        let bytes = if growth == 0 { bytes } else { bytes.min(MAX_BYTES) };
        let urgent = self.encode_urgent(tick, partial, wanted, bytes, is_silent)?;
        Ok(urgent.map(|(header, count)| (header, Some(count))))
    }

    /// Whether packets are partial or have been recently. Otherwise [`send_within`](Self::send_within) sends the same
    /// packets as [`send`](Self::send), as long as they fit and there is a change to send.
    pub const fn is_scheduling(&self) -> bool {
        self.schedule.is_running()
    }

    /// Without a schedule: whether this snapshot must be sent, because the receiver neither has it nor will get it from
    /// a packet in flight.
    fn is_complete_due(&self, tick: u64, stages: Stages, wanted: &QuantizedSnapshot) -> bool {
        let is_same = |at: u64| {
            let sent = self.get(at);
            sent.is_some_and(|sent| sent.stages() == stages && sent.snapshot() == wanted)
        };
        let delivery = self.history.delivery(stages.precision(), tick);
        let first = delivery.first_in_flight;
        let is_coming = || (first..=tick).any(|at| delivery.is_in_flight(at) && is_same(at));
        !self.history.newest.is_some_and(is_same)
            || !(self.newest_acked().is_some_and(is_same) || is_coming())
    }

    /// Encodes the most urgent bodies that fit into `bytes` and returns their number. Returns `None` if the first one
    /// does not fit. If `is_silent`, the packet has no bodies then.
    fn encode_urgent(
        &mut self,
        tick: u64,
        partial: Stages,
        wanted: &QuantizedSnapshot,
        bytes: usize,
        is_silent: bool,
    ) -> Result<Option<(Header, usize)>, EncodeError> {
        let fitting = self.schedule.fitting(bytes);
        // A packet that is sent in any case should try a body, even if the estimate says that it does not fit.
        let min = usize::from(is_silent && !self.schedule.is_idle());
        let mut count = self.schedule.whole_groups(fitting).max(min);
        for attempt in 0.. {
            self.carry(count, wanted.len());
            let header = self.encode(tick, partial, wanted)?;
            let size = self.packet.bytes.len();
            self.schedule.learn(size, Some(count));
            if size <= bytes {
                // Without room for the most urgent body, wait until it fits.
                let is_sent = count > 0 || is_silent;
                return Ok(is_sent.then_some((header, count)));
            }
            if count == 0 {
                break;
            }
            // Bodies vary in size, so the proportional guess can fail. Halving bounds the number of attempts.
            count = self.schedule.whole_groups(match attempt < 3 {
                true => (count * bytes / size).min(count - 1),
                false => count / 2,
            });
        }
        Ok(None)
    }

    /// Sets `carried` to the `count` most urgent bodies.
    fn carry(&mut self, count: usize, bodies: usize) {
        self.carried.clear();
        self.carried.resize(bodies, false);
        for slot in self.schedule.most_urgent(count) {
            self.carried[slot] = true;
        }
    }

    /// Encodes a packet into `packet`, and its snapshot into `next`.
    fn encode(
        &mut self,
        tick: u64,
        stages: Stages,
        wanted: &QuantizedSnapshot,
    ) -> Result<Header, EncodeError> {
        let merged = self.history.merged();
        let references = Baselines {
            merged: &merged,
            carried: &self.carried,
            ..self.history.references(self.newest_acked())
        };
        let (packet, out) = (&mut self.packet, Some(&mut self.next));
        self.encoder.encode(sequence(tick), stages, wanted, references, packet, out)
    }

    /// Returns the longest wait of a body at `tick`, ticks.
    pub fn longest_wait(&self, tick: u64) -> u64 {
        self.schedule.longest_wait(tick)
    }

    /// Writes the state of every body after this tick. Empty unless [`send_within`](Self::send_within) was called for
    /// the tick.
    pub fn send_states(&self, tick: u64, send_states: &mut Vec<SendState>) {
        send_states.clear();
        if self.within_at != Some(tick) {
            return;
        }
        let sent = self.history.held(self.history.newest).filter(|_| !self.is_scheduling());
        let Some((sent_at, sent)) = sent else {
            return self.schedule.send_states(send_states);
        };
        let sent = sent.snapshot();
        let acked = self.history.held(self.newest_acked());
        let acked = acked.filter(|(_, acked)| acked.snapshot().has_form_of(sent));
        let mut differs = vec![true; sent.len()];
        if let Some((_, acked)) = acked {
            sent.compare(acked.snapshot(), &mut differs);
        }
        let confirmed = acked.map(|(at, _)| at);
        send_states.extend(differs.into_iter().map(|differs| match differs {
            true => SendState::InFlight { sent: sent_at },
            false => SendState::UpToDate { sent: confirmed },
        }));
    }
}
