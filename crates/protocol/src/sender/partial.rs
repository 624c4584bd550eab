//! Snapshots within a byte budget: complete packets if they fit, otherwise packets with the most urgent bodies.

use std::collections::VecDeque;

use cubewire_codec::{
    Baseline, Baselines, Coverage, EncodeError, Header, Precision, QuantizedSnapshot, Stages,
};

use super::{BaselineChoice, SendError, SnapshotSender, references};
use crate::clock::sequence;
use crate::ring::BaselineRing;
use crate::schedule::{DeliveryState, PacketBudget, SendState};

/// Maximum size of a partial packet under a growing budget, bytes: one datagram.
const MAX_BYTES: usize = 1200;

/// A packet this many ticks older than the newest acked one may still arrive.
const REORDERED_TICKS: u64 = 3;

/// A packet that is not acked after this number of ticks is presumed lost: two thirds of a second at 60 Hz.
const IN_FLIGHT_TICKS: u64 = 40;

/// Maximum interval between packets, ticks. Even a packet without bodies is sent then, because the receiver's playout
/// needs packets to advance: ten a second at 60 Hz.
const MAX_SILENCE_TICKS: u64 = 6;

/// The schedule ends after complete packets have fitted for this number of ticks.
const COMPLETE_TICKS: u64 = 30;

/// Minimum budget for a packet that only advances the receiver's playout, bytes.
const MIN_BYTES: usize = 16;

impl SnapshotSender {
    /// Like [`send`](Self::send), within a byte budget. Sends a complete snapshot if it fits, or waits if it will fit
    /// soon. Otherwise sends the most urgent bodies, if the stages allow partial packets. Returns `None` if it is
    /// better to wait.
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
        let since = self.newest_sent.map_or(u64::MAX, |newest| tick - newest);
        // Number of ticks that this packet may wait for a larger budget.
        let patience = MAX_SILENCE_TICKS.saturating_sub(since);
        let is_silent = patience == 0;
        // Without a schedule the last packet was complete, so try a complete one first.
        if !self.is_scheduling() {
            let is_due = self.is_complete_due(tick, stages, wanted);
            if !(is_due || is_silent && packet_budget.bytes >= MIN_BYTES) {
                return Ok(None);
            }
            let mut out = self.sent.take_spare();
            let header = self.encode(tick, stages, wanted, &mut out)?;
            if self.packet.bytes.len() <= packet_budget.bytes {
                self.keep(tick, out);
                return Ok(Some(header));
            }
            self.complete_since = None;
        }
        // A new schedule starts from the last packet, or from the initial state if the stages have another form.
        let sent = self.newest_sent.and_then(|sent| self.sent.get(sent));
        let start = match sent.map(Baseline::snapshot) {
            Some(sent) if sent.has_form_of(wanted) => (self.newest_sent, sent),
            _ => (None, self.encoder.initial(stages.precision())),
        };
        let delivery = delivery(&self.sent, &self.acked, stages.precision(), tick);
        self.schedule.advance(tick, wanted, &packet_budget, start, &delivery);
        // Waiting is better if a complete packet will fit soon, or until a partial one can fill a datagram: few large
        // packets have fewer headers.
        let soon = (packet_budget.bytes + packet_budget.growth * patience as usize)
            .min(packet_budget.most);
        let fits_soon = |complete| (packet_budget.bytes + 1..=soon).contains(&complete);
        let complete = self.schedule.complete_bytes();
        let fits = complete <= packet_budget.bytes;
        let is_worth_sending = match fits {
            true => !self.schedule.is_idle(),
            false => {
                !fits_soon(complete)
                    && (packet_budget.growth == 0 || packet_budget.bytes >= MAX_BYTES)
            }
        };
        if !(is_worth_sending || is_silent && packet_budget.bytes >= MIN_BYTES) {
            return Ok(None);
        }
        let mut out = self.sent.take_spare();
        // If all due bodies fit, try a complete packet: otherwise an estimate that is too high would never be
        // corrected.
        let may_fit = fits || self.schedule.all_fit(packet_budget.bytes);
        let complete = match may_fit {
            true => self.encode_complete(tick, stages, wanted, packet_budget.bytes, &mut out)?,
            false => None,
        };
        let encoded = match complete {
            Some(header) => Some((header, None)),
            None if fits_soon(self.schedule.complete_bytes()) => None,
            None => {
                let bytes = match packet_budget.growth {
                    0 => packet_budget.bytes,
                    _ => packet_budget.bytes.min(MAX_BYTES),
                };
                self.encode_urgent(tick, partial, wanted, bytes, is_silent, &mut out)?
                    .map(|(header, count)| (header, Some(count)))
            }
        };
        let Some((header, count)) = encoded else {
            return Ok(None);
        };
        self.schedule.on_sent(tick, wanted, count);
        self.complete_since = match count {
            None => self.complete_since.or(Some(tick)),
            Some(_) => None,
        };
        // Complete packets have fitted for a while: the schedule is not needed any more.
        if self.complete_since.is_some_and(|since| tick - since >= COMPLETE_TICKS) {
            self.schedule.stop();
        }
        self.keep(tick, out);
        Ok(Some(header))
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
            let sent = self.sent.get(at);
            sent.is_some_and(|sent| sent.stages() == stages && sent.snapshot() == wanted)
        };
        let delivery = delivery(&self.sent, &self.acked, stages.precision(), tick);
        let first = delivery.first_in_flight;
        let is_coming = || (first..=tick).any(|at| delivery.is_in_flight(at) && is_same(at));
        !self.newest_sent.is_some_and(is_same)
            || !(self.newest_acked().is_some_and(is_same) || is_coming())
    }

    fn keep(&mut self, tick: u64, out: Baseline) {
        self.sent.insert(tick, out);
        self.newest_sent = Some(tick);
    }

    /// Encodes a complete packet. Returns `None` if it takes more than `bytes`.
    fn encode_complete(
        &mut self,
        tick: u64,
        stages: Stages,
        wanted: &QuantizedSnapshot,
        bytes: usize,
        out: &mut Baseline,
    ) -> Result<Option<Header>, EncodeError> {
        let header = self.encode(tick, stages, wanted, out)?;
        let size = self.packet.bytes.len();
        self.schedule.learn(size, None);
        Ok((size <= bytes).then_some(header))
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
        out: &mut Baseline,
    ) -> Result<Option<(Header, usize)>, EncodeError> {
        let fitting = self.schedule.fitting(bytes);
        // A packet that is sent in any case should try a body, even if the estimate says that it does not fit.
        let min = usize::from(is_silent && !self.schedule.is_idle());
        let mut count = self.schedule.whole_groups(fitting).max(min);
        for attempt in 0.. {
            self.carry(count, wanted.len());
            let header = self.encode(tick, partial, wanted, out)?;
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

    fn encode(
        &mut self,
        tick: u64,
        stages: Stages,
        wanted: &QuantizedSnapshot,
        out: &mut Baseline,
    ) -> Result<Header, EncodeError> {
        let merged = merged(&self.sent, &self.acked);
        let references = Baselines {
            merged: &merged,
            carried: &self.carried,
            ..references(&self.sent, &self.acked, self.acked.back().copied())
        };
        let (packet, out) = (&mut self.packet, Some(out));
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
        let sent = self.newest_sent.filter(|_| !self.is_scheduling());
        let sent = sent.and_then(|at| Some((at, self.sent.get(at)?.snapshot())));
        let Some((sent_at, sent)) = sent else {
            return self.schedule.send_states(send_states);
        };
        let acked = newest(&self.sent, &self.acked).map(|(at, acked)| (at, acked.snapshot()));
        let mut differs = vec![true; sent.len()];
        let confirmed = match acked.filter(|(_, acked)| acked.has_form_of(sent)) {
            Some((at, acked)) => {
                sent.compare(acked, &mut differs);
                Some(at)
            }
            None => None,
        };
        send_states.extend(differs.into_iter().map(|differs| match differs {
            true => SendState::InFlight { sent: sent_at },
            false => SendState::UpToDate { sent: confirmed },
        }));
    }
}

/// Returns the acked packets that are merged with the newest one, newest first.
pub(super) fn merged<'s>(sent: &'s BaselineRing, acked: &VecDeque<u64>) -> Vec<&'s Baseline> {
    let Some((newest, baseline)) = newest(sent, acked) else {
        return Vec::new();
    };
    let reach = baseline.merge_reach() as u64;
    let ticks = acked.iter().rev().skip(1).copied();
    let ticks = ticks.take_while(|tick| tick + reach >= newest);
    ticks.filter_map(|tick| sent.get(tick)).collect()
}

fn newest<'s>(sent: &'s BaselineRing, acked: &VecDeque<u64>) -> Option<(u64, &'s Baseline)> {
    let newest = *acked.back()?;
    Some((newest, sent.get(newest)?))
}

/// Returns the delivery of bodies as of a tick. Acked packets with another precision do not count, because packets
/// cannot be relative to them.
fn delivery<'s>(
    sent: &BaselineRing,
    acked: &'s VecDeque<u64>,
    precision: Precision,
    tick: u64,
) -> DeliveryState<'s> {
    let newest =
        newest(sent, acked).filter(|(_, newest)| newest.snapshot().precision() == precision);
    let mut ages = Vec::new();
    if let Some((_, newest)) = newest {
        ages.extend(newest.ages());
        // From the oldest packet on, so that newer packets overwrite the ages.
        for packet in merged(sent, acked).into_iter().rev() {
            let age = newest.sequence().ticks_since(packet.sequence()) as u8;
            for body in packet.carried_bodies().filter(|&body| !newest.carried(body)) {
                ages[body] = age;
            }
        }
    }
    let newest = newest.map(|(tick, _)| tick);
    let first = newest.map_or(0, |newest| newest.saturating_sub(REORDERED_TICKS));
    let first_in_flight = first.max(tick.saturating_sub(IN_FLIGHT_TICKS));
    DeliveryState { newest, ages, first_in_flight, acked }
}
