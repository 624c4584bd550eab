//! How much gets through to a receiver, learned from its acks.

use std::collections::VecDeque;

use cubewire_codec::Sequence;

use crate::budget::BUDGETS_KBPS;
use crate::clock::sequence;
use crate::feedback::Ack;

/// The bytes that may be sent to a receiver so that what is sent does no harm.
///
/// There is no limit until harm is seen: packets take longer than they usually do, as in a queue, or more of them are lost
/// than usually are. Then less is sent, three quarters of what has arrived, and the harm is watched:
///
/// - If it passes, it came of sending too much. The limit stays below what arrived then, for one second, or twice as long
///   as the last time if that was within half a minute. After that it grows by a quarter at a time.
/// - If it stays, it is the way's own: radio noise, another route, somebody else's traffic. Sending less would be of no use, so
///   the limit is what it was before, and such a delay and such a loss are usual from now on.
///
/// If no acks arrive at all, the limit is the lowest, and doubles until there is harm.
///
/// Each part is well known: the delay is compared as in LEDBAT (RFC 6817), which sees a queue before it overflows;
/// the rate of what arrives is measured as in BBR, so that one cut suffices, from however high; the time below a limit that
/// did harm is CUBIC's (RFC 9438), and the fall after silence QUIC's (RFC 9002, section 7.6). Loss alone is not a sign of
/// congestion for any of them that works over radio, and neither is it here.
///
/// Ticks must not decrease. Times are for 60 ticks a second.
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    ticks_per_second: u16,
    /// Bytes a second; there is no limit at [`MAX_RATE`].
    rate: f64,
    /// Packets whose fate is not known, oldest first, at most [`MAX_PENDING`].
    pending: VecDeque<Pending>,
    /// Packets that have arrived, by when that was known: those of the last [`ARRIVALS_TICKS`], and [`FEWEST_DELAYS`].
    arrivals: VecDeque<Arrived>,
    /// Whether packets were lost, the newest in the lowest bit, and how many of the bits count.
    lost: u64,
    judged: u32,
    /// Ticks that packets take when nothing is wrong, with their acks; none before the first.
    usual_delay: Option<f64>,
    /// Part of the packets that is lost when nothing is wrong.
    usual_loss: f64,
    /// The most that can become usual without a trial.
    most_usual_loss: f64,
    trial: Option<Trial>,
    /// What arrived when too much was sent the last time.
    harmful: Option<Harmful>,
    /// Whether the limit doubles.
    is_starting: bool,
    changed_at: u64,
    last_ack: u64,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    tick: u64,
    /// When the last of it was sent.
    left_at: u64,
    bytes: usize,
    has_arrived: bool,
}

#[derive(Clone, Copy, Debug)]
struct Arrived {
    at: u64,
    bytes: usize,
    delay: u64,
}

/// Less is sent, to see whether that helps.
#[derive(Clone, Copy, Debug)]
struct Trial {
    since: u64,
    /// When something arrived that was sent since.
    arrived_at: Option<u64>,
    /// The limit before.
    rate: f64,
    /// Bytes a second that arrived.
    arriving: f64,
    is_slow: bool,
    longest_delay: u64,
    is_lossy: bool,
    loss: f64,
}

#[derive(Clone, Copy, Debug)]
struct Harmful {
    rate: f64,
    at: u64,
    hold_ticks: u64,
}

/// The highest limit, in kilobits a second: twice what uncompressed snapshots of the demo take. From there on there is
/// none.
pub const MAX_KBPS: u32 = 32_000;

const MAX_RATE: f64 = MAX_KBPS as f64 * BYTES_OF_KBPS;
const MIN_RATE: f64 = *BUDGETS_KBPS.start() as f64 * BYTES_OF_KBPS;
const BYTES_OF_KBPS: f64 = 125.0;

/// Delay beyond the usual one that is harm: 67 ms, less than a playout delay can bridge.
const HARMFUL_TICKS: f64 = 4.0;

/// Loss beyond the usual one that is harm, as a part of the packets. That of a radio link varies by as much.
const HARMFUL_LOSS: f64 = 0.15;

/// Loss that does little harm, wherever it comes from.
const LIGHT_LOSS: f64 = 0.05;

/// Fewest packets that tell a loss, of up to 64.
const FEWEST_JUDGED: u32 = 20;

/// Jitter and late acks hide a delay: the shortest of the last half second is compared, and of so many packets at least.
const DELAY_TICKS: u64 = 30;
const FEWEST_DELAYS: usize = 10;

const ARRIVALS_TICKS: u64 = 2 * DELAY_TICKS;

/// What is sent on trial, as a part of what has arrived: a queue drains in three times the time that it took to fill.
const TRIAL_PART: f64 = 0.75;

/// From the first arrival of what was sent on trial to the verdict.
const TRIAL_TICKS: u64 = 90;

/// The limit below one that did harm, as a part of it.
const HELD_PART: f64 = 0.9;

const MIN_HOLD_TICKS: u64 = 60;
const MAX_HOLD_TICKS: u64 = 960;

/// Harm after a longer time has nothing to do with the last.
const FORGOTTEN_TICKS: u64 = 1800;

/// A packet is lost if one that was sent so much later has arrived.
const LATE_TICKS: u64 = 12;

/// Ticks without an ack that delay and loss alone can explain, as a round trip by satellite takes 0.6 s.
const SILENCE_TICKS: u64 = 60;

/// As long as the sender keeps snapshots.
const MAX_PENDING: usize = 256;

impl AdaptiveRate {
    /// Begins without a limit.
    #[must_use]
    pub fn new(ticks_per_second: u16) -> Self {
        Self {
            ticks_per_second,
            rate: MAX_RATE,
            pending: VecDeque::new(),
            arrivals: VecDeque::new(),
            lost: 0,
            judged: 0,
            usual_delay: None,
            usual_loss: 0.0,
            most_usual_loss: LIGHT_LOSS,
            trial: None,
            harmful: None,
            is_starting: true,
            changed_at: 0,
            last_ack: 0,
        }
    }

    /// The limit in kilobits a second, from 16 to [`MAX_KBPS`]; none while nothing is known to do harm.
    #[must_use]
    pub fn kbps(&self) -> Option<u32> {
        (self.rate < MAX_RATE).then_some((self.rate / BYTES_OF_KBPS) as u32)
    }

    /// Records the packet of a tick, with the tick in which the last of it leaves and the bytes that it takes on the wire.
    pub fn on_sent(&mut self, tick: u64, left_at: u64, bytes: usize) {
        if self.pending.len() == MAX_PENDING
            && let Some(oldest) = self.pending.pop_front()
        {
            self.judge(oldest);
        }
        self.pending.push_back(Pending {
            tick,
            left_at,
            bytes,
            has_arrived: false,
        });
    }

    /// Records an ack that has arrived in this tick, of packets that were sent.
    pub fn on_ack(&mut self, tick: u64, ack: &Ack) {
        let mut newest = None;
        for packet in &mut self.pending {
            if !acks(ack, sequence(packet.tick)) {
                continue;
            }
            newest = Some(packet.tick);
            if packet.has_arrived {
                continue;
            }
            packet.has_arrived = true;
            self.last_ack = tick;
            self.arrivals.push_back(Arrived {
                at: tick,
                bytes: packet.bytes,
                delay: tick.saturating_sub(packet.left_at),
            });
            if let Some(trial) = &mut self.trial
                && packet.tick >= trial.since
            {
                trial.arrived_at.get_or_insert(tick);
            }
        }
        let is_late = |packet: &Pending| newest >= Some(packet.tick + LATE_TICKS);
        while let Some(packet) = self
            .pending
            .pop_front_if(|packet| packet.has_arrived || is_late(packet))
        {
            self.judge(packet);
        }
    }

    fn judge(&mut self, packet: Pending) {
        if self.trial.is_some_and(|trial| packet.tick < trial.since) {
            return;
        }
        let is_lost = !packet.has_arrived;
        self.lost = self.lost << 1 | u64::from(is_lost);
        self.judged = (self.judged + 1).min(u64::BITS);
        if self.trial.is_none() && !self.is_lossy() {
            self.usual_loss += (f64::from(u8::from(is_lost)) - self.usual_loss) / 256.0;
            self.usual_loss = self.usual_loss.min(self.most_usual_loss);
        }
    }

    /// Changes the limit, once a tick.
    pub fn update(&mut self, tick: u64) {
        let aged = |arrived: &Arrived| arrived.at + ARRIVALS_TICKS <= tick;
        while self.arrivals.len() > FEWEST_DELAYS && self.arrivals.front().is_some_and(aged) {
            self.arrivals.pop_front();
        }
        if self.is_silent(tick) {
            return self.fall(tick);
        }
        let Some(delay) = self.delay(tick) else {
            return;
        };
        let is_slow = self.learn_delay(delay);
        if let Some(trial) = &mut self.trial {
            trial.longest_delay = trial.longest_delay.max(delay);
            if trial.arrived_at.is_some_and(|at| at + TRIAL_TICKS <= tick) {
                self.decide(tick, delay, is_slow);
            }
        } else if is_slow || self.is_lossy() {
            self.try_less(tick, delay, is_slow);
        } else if tick >= self.changed_at + DELAY_TICKS + delay {
            self.grow(tick);
        }
    }

    /// Whether what was sent is not acked.
    fn is_silent(&self, tick: u64) -> bool {
        let mut pending = self.pending.iter();
        let first = pending.find(|packet| !packet.has_arrived);
        first.is_some_and(|first| tick >= first.left_at.max(self.last_ack) + SILENCE_TICKS)
    }

    /// What was sent into the silence tells nothing about the time after it.
    fn fall(&mut self, tick: u64) {
        self.rate = MIN_RATE;
        self.pending.clear();
        self.arrivals.clear();
        self.judged = 0;
        self.trial = None;
        self.harmful = None;
        self.is_starting = true;
        self.changed_at = tick;
    }

    /// Ticks that the fastest of the last packets took with its ack; none before the first.
    fn delay(&self, tick: u64) -> Option<u64> {
        let newest = self.arrivals.iter().rev().enumerate();
        let recent = newest.take_while(|(index, arrived)| {
            *index < FEWEST_DELAYS || arrived.at + DELAY_TICKS > tick
        });
        recent.map(|(_, arrived)| arrived.delay).min()
    }

    /// Learns which delay is usual, shorter ones soon and longer ones slowly. Returns whether this one is harm.
    fn learn_delay(&mut self, delay: u64) -> bool {
        let delay = delay as f64;
        let usual = self.usual_delay.get_or_insert(delay);
        let is_slow = delay > *usual + HARMFUL_TICKS;
        if delay < *usual {
            *usual += (delay - *usual) / 8.0;
        } else if !is_slow && self.trial.is_none() {
            *usual += (delay - *usual) / 1024.0;
        }
        is_slow
    }

    /// Part of the last packets that was lost.
    fn loss(&self) -> f64 {
        let newest = u64::MAX
            .checked_shl(self.judged)
            .map_or(self.lost, |old| self.lost & !old);
        f64::from(newest.count_ones()) / f64::from(self.judged.max(1))
    }

    fn is_lossy(&self) -> bool {
        self.judged >= FEWEST_JUDGED && self.loss() > self.usual_loss + HARMFUL_LOSS
    }

    /// Bytes a second that arrive, at least for half a second.
    fn arriving(&self, tick: u64) -> f64 {
        let middle = tick.saturating_sub(DELAY_TICKS);
        let (earlier, later) = self
            .arrivals
            .iter()
            .fold((0, 0), |(earlier, later), arrived| match arrived.at {
                at if at > middle => (earlier, later + arrived.bytes),
                at if at + ARRIVALS_TICKS > tick => (earlier + arrived.bytes, later),
                _ => (earlier, later),
            });
        earlier.max(later) as f64 * f64::from(self.ticks_per_second) / DELAY_TICKS as f64
    }

    fn try_less(&mut self, tick: u64, delay: u64, is_slow: bool) {
        let arriving = self.arriving(tick);
        let less = (TRIAL_PART * arriving).max(MIN_RATE);
        // While a queue drains, it goes on being slow.
        if less > HELD_PART * self.rate && self.rate > MIN_RATE {
            return;
        }
        self.trial = Some(Trial {
            since: tick,
            arrived_at: None,
            rate: self.rate,
            arriving,
            is_slow,
            longest_delay: delay,
            is_lossy: self.is_lossy(),
            loss: self.loss(),
        });
        self.rate = less.min(self.rate);
        self.judged = 0;
    }

    /// Decides whether sending less has helped.
    fn decide(&mut self, tick: u64, delay: u64, is_slow: bool) {
        let Some(trial) = self.trial.take() else {
            return;
        };
        let is_faster = !is_slow || (delay as f64) + HARMFUL_TICKS <= trial.longest_delay as f64;
        let is_whole = self.loss() <= (trial.loss + self.usual_loss) / 2.0;
        if trial.is_slow && is_faster || trial.is_lossy && is_whole {
            let last = self.harmful.filter(|last| tick - last.at < FORGOTTEN_TICKS);
            self.harmful = Some(Harmful {
                rate: trial.arriving,
                at: tick,
                hold_ticks: last.map_or(MIN_HOLD_TICKS, |last| {
                    (2 * last.hold_ticks).min(MAX_HOLD_TICKS)
                }),
            });
            self.is_starting = false;
        } else {
            self.usual_delay = Some(delay as f64);
            self.usual_loss = self.loss();
            self.most_usual_loss = self.usual_loss.max(LIGHT_LOSS);
            self.rate = trial.rate;
        }
        self.changed_at = tick;
    }

    fn grow(&mut self, tick: u64) {
        let factor = if self.is_starting { 2.0 } else { 1.25 };
        let held = self.harmful.filter(|last| tick < last.at + last.hold_ticks);
        let most = held.map_or(MAX_RATE, |last| HELD_PART * last.rate);
        self.rate = (self.rate * factor).min(most).max(self.rate);
        self.changed_at = tick;
    }
}

/// Whether an ack says that a packet is held.
fn acks(ack: &Ack, number: Sequence) -> bool {
    match ack.newest.ticks_since(number) {
        0 => true,
        age @ 1..=32 => ack.earlier >> (age - 1) & 1 == 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_acked_the_limit_is_in_range_and_memory_is_bounded(
            steps in prop::collection::vec((0_u64..300, any::<bool>(), any::<u16>(), any::<u32>()), 1..400),
            first in prop::sample::select(vec![0, 65_000, u64::MAX / 2]),
        ) {
            let (mut rate, mut tick) = (AdaptiveRate::new(60), first);
            for (ticks, is_ack, age, earlier) in steps {
                tick += ticks;
                rate.update(tick);
                if is_ack {
                    let newest = Sequence((tick as u16).wrapping_sub(age % 64));
                    rate.on_ack(tick, &Ack { newest, earlier });
                } else {
                    rate.on_sent(tick, tick + ticks % 128, 1200);
                }
                prop_assert!(rate.kbps().is_none_or(|kbps| (16..MAX_KBPS).contains(&kbps)));
                prop_assert!(rate.pending.len() <= MAX_PENDING);
                prop_assert!((0.0..=1.0).contains(&rate.usual_loss));
            }
            prop_assert!(rate.arrivals.len() <= 400);
        }
    }
}
