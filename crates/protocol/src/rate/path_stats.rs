//! State of the path to a receiver as acks show it: arrivals, delay and loss.
//!
//! All times are in sixtieths of a second. Only [`Pending::tick`] is a tick of the scene.

use std::collections::VecDeque;

use crate::clock::sequence;
use crate::feedback::Ack;

/// Statistics of the path, from acks: packets in flight, arrivals of the last second, losses among the last 64 packets,
/// and long-term means.
#[derive(Clone, Debug, Default)]
pub(super) struct PathStats {
    /// Packets that `lost` does not include yet, oldest first, at most [`MAX_PENDING`]. An acknowledged packet stays here
    /// until all earlier packets are acknowledged or late.
    pub(super) pending: VecDeque<Pending>,
    /// Arrived packets in the order of their acks: all of the last [`ARRIVALS_SIXTIETHS`], and at least
    /// [`FEWEST_DELAYS`].
    pub(super) arrivals: VecDeque<Arrived>,
    /// When the last ack of a new packet arrived.
    last_ack: u64,
    /// Mean and mean deviation of the delay (like RFC 6298, with a gain of 1/32), or `None` before the first ack.
    pub(super) delays: Option<[f64; 2]>,
    /// Fate of the last packets: 1 for lost, the newest in the lowest bit.
    lost: u64,
    /// Number of valid bits in `lost`.
    counted: u32,
    /// Mean fraction of lost packets over the last few hundred, 0 to 1. It includes packets from before `counts_from`.
    pub(super) mean_loss: f64,
    /// Mean fraction of packets that begin a burst: a lost packet after an arrived one.
    mean_bursts: f64,
    was_lost: bool,
    /// Number of packets in the means, at most [`MEAN_PACKETS`].
    known: u32,
    /// Packets that were sent earlier do not count in `lost`.
    counts_from: u64,
    /// When the first ack of a packet from `counts_from` or later arrived.
    pub(super) first_counted: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// Tick of the scene, for the sequence number.
    tick: u64,
    sent_at: u64,
    /// When its last datagram was sent. The delay counts from here.
    left_at: u64,
    bytes: usize,
    has_arrived: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    /// When the ack arrived.
    at: u64,
    bytes: usize,
    /// Time from its last datagram to the ack.
    delay: u64,
}

/// The delay is the minimum over half a second and over at least four packets, because jitter and late acks only add
/// to it.
pub(super) const DELAY_SIXTIETHS: u64 = 30;
const FEWEST_DELAYS: usize = 4;

const ARRIVALS_SIXTIETHS: u64 = 2 * DELAY_SIXTIETHS;

/// Minimum number of packets, out of 64, for a measurement of loss.
const FEWEST_COUNTED: u32 = 20;

/// Number of packets in the mean loss.
const MEAN_PACKETS: u32 = 256;

/// A packet counts as lost if a packet that was sent this much later has arrived.
const LATE_SIXTIETHS: u64 = 12;

/// Time without acks that delay alone can explain: a satellite round trip takes 0.6 s.
const SILENCE_SIXTIETHS: u64 = 60;

/// Time without acks that one burst of loss can explain. A burst loses at most this number of packets.
const BURST_SIXTIETHS: u64 = 120;
const BURST_PACKETS: usize = 40;

/// As many packets as the sender keeps snapshots.
const MAX_PENDING: usize = 256;

impl PathStats {
    pub(super) fn on_sent(&mut self, tick: u64, sent_at: u64, left_at: u64, bytes: usize) {
        if self.pending.len() == MAX_PENDING
            && let Some(oldest) = self.pending.pop_front()
        {
            self.count(oldest);
        }
        self.pending.push_back(Pending { tick, sent_at, left_at, bytes, has_arrived: false });
    }

    pub(super) fn on_ack(&mut self, now: u64, ack: &Ack) {
        // When the newest acked packet was sent.
        let mut newest = None;
        for packet in &mut self.pending {
            if !ack.covers(sequence(packet.tick)) {
                continue;
            }
            newest = Some(packet.sent_at);
            if packet.has_arrived {
                continue;
            }
            packet.has_arrived = true;
            self.last_ack = now;
            let delay = now.saturating_sub(packet.left_at);
            self.arrivals.push_back(Arrived { at: now, bytes: packet.bytes, delay });
            let [mean, deviation] = self.delays.get_or_insert([delay as f64, 0.0]);
            *deviation += ((delay as f64 - *mean).abs() - *deviation) / 32.0;
            *mean += (delay as f64 - *mean) / 32.0;
            if packet.sent_at >= self.counts_from {
                self.first_counted.get_or_insert(now);
            }
        }
        let is_late = |packet: &Pending| newest >= Some(packet.sent_at + LATE_SIXTIETHS);
        while let Some(packet) =
            self.pending.pop_front_if(|packet| packet.has_arrived || is_late(packet))
        {
            self.count(packet);
        }
    }

    fn count(&mut self, packet: Pending) {
        self.known = (self.known + 1).min(MEAN_PACKETS);
        let is_lost = !packet.has_arrived;
        let was_lost = std::mem::replace(&mut self.was_lost, is_lost);
        for (mean, is_one) in
            [(&mut self.mean_loss, is_lost), (&mut self.mean_bursts, is_lost && !was_lost)]
        {
            *mean += (f64::from(u8::from(is_one)) - *mean) / f64::from(self.known);
        }
        if packet.sent_at >= self.counts_from {
            self.lost = self.lost << 1 | u64::from(is_lost);
            self.counted = (self.counted + 1).min(u64::BITS);
        }
    }

    /// Drops arrivals that are too old.
    pub(super) fn advance(&mut self, now: u64) {
        let aged = |arrived: &Arrived| arrived.at + ARRIVALS_SIXTIETHS <= now;
        while self.arrivals.len() > FEWEST_DELAYS && self.arrivals.front().is_some_and(aged) {
            self.arrivals.pop_front();
        }
    }

    /// Restarts the loss measurement with packets that are sent at `sent_at` or later.
    pub(super) fn count_from(&mut self, sent_at: u64) {
        self.counted = 0;
        self.counts_from = sent_at;
        self.first_counted = None;
    }

    /// Restarts the loss measurement with the first packet that is not acked yet.
    pub(super) fn count_unknown(&mut self) {
        let mut unknown = self.pending.iter().filter(|packet| !packet.has_arrived);
        let first = unknown.next().map_or(u64::MAX, |packet| packet.sent_at);
        self.count_from(first);
    }

    /// Whether acks are missing for longer than delay or a burst of loss can explain.
    pub(super) fn is_silent(&self, now: u64) -> bool {
        let mut pending = self.pending.iter().filter(|packet| !packet.has_arrived);
        pending.next().is_some_and(|first| {
            let silent = now.saturating_sub(first.left_at.max(self.last_ack));
            let is_burst = pending.count() < BURST_PACKETS;
            silent >= if is_burst { BURST_SIXTIETHS } else { SILENCE_SIXTIETHS }
        })
    }

    /// Minimum delay of the last packets, or `None` before the first ack.
    pub(super) fn delay(&self, now: u64) -> Option<u64> {
        let newest = self.arrivals.iter().rev().enumerate();
        let recent = newest.take_while(|(index, arrived)| {
            *index < FEWEST_DELAYS || arrived.at + DELAY_SIXTIETHS > now
        });
        recent.map(|(_, arrived)| arrived.delay).min()
    }

    /// Mean deviation of the delay.
    pub(super) fn jitter(&self) -> f64 {
        self.delays.map_or(0.0, |[_, deviation]| deviation)
    }

    /// Whether enough packets were counted to measure loss.
    pub(super) const fn has_loss_sample(&self) -> bool {
        self.counted >= FEWEST_COUNTED
    }

    /// Fraction of lost packets among the counted ones.
    pub(super) fn loss(&self) -> f64 {
        // A shift by 64 bits would overflow.
        if self.counted == 0 {
            return 0.0;
        }
        let newest = self.lost << (u64::BITS - self.counted);
        f64::from(newest.count_ones()) / f64::from(self.counted)
    }

    /// Standard deviation of [`loss`](Self::loss) by chance. With bursts of b packets on average and a memoryless
    /// burst length, loss varies as with 2 b − 1 times fewer packets.
    pub(super) fn loss_deviation(&self) -> f64 {
        if self.mean_bursts == 0.0 || self.counted == 0 {
            return 0.0;
        }
        let burst = self.mean_loss / self.mean_bursts;
        let variance = self.mean_loss * (1.0 - self.mean_loss);
        (variance * (2.0 * burst - 1.0) / f64::from(self.counted)).sqrt()
    }

    /// Returns the arrival rate in bytes a second: the higher one of the last two half seconds.
    pub(super) fn arriving(&self, now: u64) -> f64 {
        let halves = self.arrivals.iter().fold([0; 2], |mut halves, arrived| {
            let age = now.saturating_sub(arrived.at);
            if let Some(half) = halves.get_mut((age / DELAY_SIXTIETHS) as usize) {
                *half += arrived.bytes;
            }
            halves
        });
        let most = halves[0].max(halves[1]);
        most as f64 * 60.0 / DELAY_SIXTIETHS as f64
    }
}
