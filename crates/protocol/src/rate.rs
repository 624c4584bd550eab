//! Adapts the data rate to a receiver by its acks.

mod path_stats;

use std::time::Duration;

use log::debug;

use crate::budget::BUDGETS_KBPS;
use crate::feedback::Ack;
use path_stats::{DELAY_SIXTIETHS, PathStats};

/// Limits the data rate to a receiver by the delay and loss that its acks show.
///
/// There is no limit until packets take longer than usual, as in a queue, or more of them are lost than usual. Then a
/// trial sends three quarters of the rate that arrived:
///
/// - If delay or loss improves, the rate was too high. The limit stays below the rate that arrived for one second, or
///   for twice as long as the last time if that was within half a minute. After that it grows by a quarter at a time.
/// - If neither improves, the path itself is the cause: radio noise, another route or other traffic. The earlier
///   limit is restored. This delay and loss count as usual from now on.
///
/// If acks stop, the limit falls to the minimum. When they return, it doubles until delay or loss increases. If they
/// show that the packets before the silence arrived, the receiver was only busy. The limit before the silence then
/// applies again (as in F-RTO, RFC 5682).
///
/// Changes that chance explains do not count. Losses come in bursts, so the loss of a few packets proves little. A
/// delay must last for a quarter of a second. Acks must be missing for one second to count as silence, or for two if a
/// single burst of loss can explain it.
///
/// The parts are known: the delay is compared as in LEDBAT (RFC 6817), which sees a queue before it overflows. The
/// arrival rate is measured as in BBR, so that one cut is enough from any rate. The time below a limit that was too
/// high is from CUBIC (RFC 9438), and the fall after silence from QUIC (RFC 9002, section 7.6). Some paths always
/// lose packets without congestion, so loss alone does not prove that the rate is too high.
///
/// Plain additive increase, multiplicative decrease is not enough: it takes every loss and every longer route for
/// congestion. With trials added it is hardly shorter, and it uses less of the budget over links with bursts of loss.
///
/// Ticks must not decrease. Private times are in sixtieths of a second, so that they do not depend on the tick rate.
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    ticks_per_second: u16,
    /// Limit in bytes a second. [`MAX_RATE`] means no limit.
    rate: f64,
    path: PathStats,
    /// Usual time from sending a packet to its ack, sixtieths. `None` before the first ack.
    usual_delay: Option<f64>,
    /// Usual fraction of lost packets, 0 to 1.
    usual_loss: f64,
    /// Upper limit of `usual_loss`: the loss of the last trial that did not help, but at least [`LIGHT_LOSS`].
    max_usual_loss: f64,
    trial: Option<Trial>,
    /// The last rate that was too high.
    harmful: Option<Harmful>,
    /// Whether the limit doubles, instead of growing by a quarter.
    is_starting: bool,
    /// When the limit was last set, or the end of the last trial.
    changed_at: u64,
    /// Since when the delay has been too long. `None` if it is not.
    slow_since: Option<u64>,
    /// The current or last silence, until its cause is known.
    silence: Option<Box<Silence>>,
}

/// State before a time without acks, to restore if the receiver was only busy.
#[derive(Clone, Debug)]
struct Silence {
    since: u64,
    /// Packets that were sent before the silence. Loss counts only for the ones that were pending when it began.
    path: PathStats,
    /// Limit before the silence.
    rate: f64,
    harmful: Option<Harmful>,
    is_starting: bool,
}

/// A time with a lower rate, to find out whether that helps.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Limit before the trial.
    rate: f64,
    /// Rate that arrived before the trial, bytes a second.
    arriving: f64,
    /// Whether the delay was too long before the trial.
    is_slow: bool,
    /// Longest delay since the start of the trial, sixtieths.
    longest_delay: u64,
    /// Whether the loss was too high before the trial.
    is_lossy: bool,
    /// Fraction of lost packets before the trial.
    loss: f64,
}

/// A rate that caused delay or loss, as a trial has shown.
#[derive(Clone, Copy, Debug)]
struct Harmful {
    /// Rate that arrived before the trial, bytes a second.
    rate: f64,
    /// End of the trial.
    at: u64,
    /// Length of the period after `at` when the limit stays below `rate`.
    hold_sixtieths: u64,
}

/// Highest limit in kilobits a second, twice the bandwidth of uncompressed snapshots of the demo. There is no limit
/// at this value.
pub const MAX_KBPS: u32 = 32_000;

const MAX_RATE: f64 = MAX_KBPS as f64 * BYTES_OF_KBPS;
const MIN_RATE: f64 = *BUDGETS_KBPS.start() as f64 * BYTES_OF_KBPS;
const BYTES_OF_KBPS: f64 = 125.0;

/// A delay is too long if it exceeds the usual one by this and by the jitter: 83 ms, which a playout delay just covers.
const HARMFUL_DELAY_SIXTIETHS: f64 = 5.0;

/// A delay must be too long for this time, 250 ms, before a trial starts: random delays pass sooner, a queue does not.
const SLOW_SIXTIETHS: u64 = 15;

/// Loss is too high if it exceeds the usual one by this fraction and by [`CHANCE`]. The loss of a radio link varies by
/// up to this fraction.
const HARMFUL_LOSS: f64 = 0.15;

/// Difference from the usual loss that chance can cause, in standard deviations.
const CHANCE: f64 = 3.0;

/// Maximum usual loss before any trial. Such loss does little harm.
const LIGHT_LOSS: f64 = 0.05;

/// Rate of a trial, as a fraction of the rate that arrived. If that was the rate of the slowest link, a quarter of the
/// link's rate is left to drain its queue.
const TRIAL_PART: f64 = 0.75;

/// Minimum time from the first ack of a trial's packets to the decision, 1.5 s.
const TRIAL_SIXTIETHS: u64 = 90;

/// Time after which a trial is decided even if too few packets were sent to measure loss, 6 s.
const LONGEST_TRIAL_SIXTIETHS: u64 = 360;

/// A trial has reduced loss if at most this fraction of the excess over the usual loss is left. Chance seldom reduces
/// it as much.
const HELPED_PART: f64 = 0.25;

/// Maximum limit during the hold time after a rate that was too high, as a fraction of that rate.
const HELD_PART: f64 = 0.9;

/// Hold time after the first rate that was too high, 1 s. It doubles up to 16 s.
const MIN_HOLD_SIXTIETHS: u64 = 60;
const MAX_HOLD_SIXTIETHS: u64 = 960;

/// Time after which the state before a silence is dropped, 5 s. Acks of packets from before it are not expected then.
const FORGOTTEN_SILENCE_SIXTIETHS: u64 = 300;

/// Time after which a rate that was too high does not double the next hold time any more, 30 s.
const FORGOTTEN_SIXTIETHS: u64 = 1800;

impl AdaptiveRate {
    /// Creates a rate without a limit.
    #[must_use]
    pub fn new(ticks_per_second: u16) -> Self {
        Self {
            ticks_per_second,
            rate: MAX_RATE,
            path: PathStats::default(),
            usual_delay: None,
            usual_loss: 0.0,
            max_usual_loss: LIGHT_LOSS,
            trial: None,
            harmful: None,
            is_starting: true,
            changed_at: 0,
            slow_since: None,
            silence: None,
        }
    }

    /// Returns the limit in kilobits a second, from 16 to [`MAX_KBPS`], or `None` without a limit.
    #[must_use]
    pub fn kbps(&self) -> Option<u32> {
        (self.rate < MAX_RATE).then_some((self.rate / BYTES_OF_KBPS) as u32)
    }

    /// Records the packet of a tick. Its last datagram is sent in tick `left_at`. `bytes` is its size on the wire.
    pub fn on_sent(&mut self, tick: u64, left_at: u64, bytes: usize) {
        let [sent_at, left_at] = [tick, left_at].map(|tick| self.time(tick));
        self.path.on_sent(tick, sent_at, left_at, bytes);
    }

    /// Records an ack that arrived in this tick. Pass several acks oldest first.
    pub fn on_ack(&mut self, tick: u64, ack: &Ack) {
        let now = self.time(tick);
        self.path.on_ack(now, ack);
        if let Some(silence) = &mut self.silence {
            silence.path.on_ack(now, ack);
        }
    }

    /// Converts a tick to sixtieths of a second.
    fn time(&self, tick: u64) -> u64 {
        (u128::from(tick) * 60 / u128::from(self.ticks_per_second)) as u64
    }

    /// Returns the fraction of lost packets over the last few hundred, 0 to 1.
    #[must_use]
    pub const fn loss(&self) -> f64 {
        self.path.mean_loss
    }

    /// Returns the mean time from sending a packet until its ack is processed, over the last few dozen packets,
    /// measured in whole ticks. `None` before the first ack.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let [ticks, _] = self.path.delays?;
        Some(Duration::from_secs_f64(ticks / 60.0))
    }

    /// Updates the limit. Call this once per tick.
    pub fn update(&mut self, tick: u64) {
        let now = self.time(tick);
        self.path.advance(now);
        self.end_silence(now);
        if self.path.is_silent(now) {
            return self.fall(now);
        }
        let Some(delay) = self.path.delay(now) else {
            return;
        };
        let (is_slow, is_lossy) = (self.learn_delay(now, delay), self.learn_loss());
        let is_long = |since| since + SLOW_SIXTIETHS <= now;
        if let Some(trial) = &mut self.trial {
            trial.longest_delay = trial.longest_delay.max(delay);
            // First ack of a packet from after the start of the trial.
            let arrived_at = self.path.first_counted;
            let has_lasted = |ticks| arrived_at.is_some_and(|at| at + ticks <= now);
            let is_ready = self.path.has_loss_sample() || has_lasted(LONGEST_TRIAL_SIXTIETHS);
            if is_ready && has_lasted(TRIAL_SIXTIETHS) {
                self.decide(now, delay, is_slow);
            }
        } else if is_lossy || self.slow_since.is_some_and(is_long) {
            self.try_less(now, delay, is_slow, is_lossy);
        } else if now >= self.changed_at + DELAY_SIXTIETHS + delay {
            // The last change has had time to show its effect in the acks.
            self.grow(now);
        }
    }

    /// Sets the minimum rate and stores the state before the silence. Statistics start again, because the fate of
    /// packets during the silence says little about later ones.
    fn fall(&mut self, now: u64) {
        let mut path = std::mem::take(&mut self.path);
        // Later acks of the pending packets show whether they arrived.
        path.count_unknown();
        let trial = self.trial.take();
        self.silence.get_or_insert_with(|| {
            Box::new(Silence {
                since: now,
                path,
                rate: trial.map_or(self.rate, |trial| trial.rate),
                harmful: self.harmful,
                is_starting: self.is_starting,
            })
        });
        if std::mem::replace(&mut self.rate, MIN_RATE) > MIN_RATE {
            self.log("no acks");
        }
        self.harmful = None;
        self.is_starting = true;
        self.changed_at = now;
    }

    /// Restores the limit before a silence if the packets before it arrived.
    fn end_silence(&mut self, now: u64) {
        let is_over = |silence: &mut Box<Silence>| {
            silence.path.has_loss_sample() || silence.since + FORGOTTEN_SILENCE_SIXTIETHS <= now
        };
        let Some(silence) = self.silence.take_if(is_over) else {
            return;
        };
        if silence.path.has_loss_sample() && silence.path.loss() <= self.usual_loss + HARMFUL_LOSS {
            self.rate = silence.rate.max(self.rate);
            self.harmful = silence.harmful;
            self.is_starting = silence.is_starting;
            self.changed_at = now;
            self.log("the packets before the silence have arrived");
        }
    }

    /// Learns the usual delay, shorter ones fast and longer ones slowly. Returns whether this delay is too long.
    fn learn_delay(&mut self, now: u64, delay: u64) -> bool {
        let delay = delay as f64;
        let usual = self.usual_delay.get_or_insert(delay);
        let is_slow = delay > *usual + HARMFUL_DELAY_SIXTIETHS + self.path.jitter();
        self.slow_since = is_slow.then(|| self.slow_since.unwrap_or(now));
        if delay < *usual {
            *usual += (delay - *usual) / 8.0;
        } else if !is_slow && self.trial.is_none() {
            *usual += (delay - *usual) / 1024.0;
        }
        is_slow
    }

    /// Learns the usual loss. Returns whether the current loss is too much.
    fn learn_loss(&mut self) -> bool {
        if !self.path.has_loss_sample() {
            return false;
        }
        let loss = self.path.loss();
        let by_chance = CHANCE * self.path.loss_deviation();
        let is_lossy = loss > self.usual_loss + by_chance.max(HARMFUL_LOSS);
        if !is_lossy && self.trial.is_none() {
            self.usual_loss += (loss - self.usual_loss) / 256.0;
            self.usual_loss = self.usual_loss.min(self.max_usual_loss);
        }
        is_lossy
    }

    fn try_less(&mut self, now: u64, delay: u64, is_slow: bool, is_lossy: bool) {
        let arriving = self.path.arriving(now);
        let lower = (TRIAL_PART * arriving).max(MIN_RATE);
        // The limit would hardly change: a queue from before the last change is still draining. At the minimum rate, a
        // trial does not reduce the rate, but shows which delay and loss are usual.
        if lower > HELD_PART * self.rate && self.rate > MIN_RATE {
            return;
        }
        self.trial = Some(Trial {
            rate: self.rate,
            arriving,
            is_slow,
            longest_delay: delay,
            is_lossy,
            loss: self.path.loss(),
        });
        self.rate = lower.min(self.rate);
        self.path.count_from(now);
        self.log("trial of a lower rate");
    }

    /// Decides whether the trial has helped.
    fn decide(&mut self, now: u64, delay: u64, is_slow: bool) {
        let Some(trial) = self.trial.take() else {
            return;
        };
        let loss = self.path.loss();
        let improvement = HARMFUL_DELAY_SIXTIETHS + self.path.jitter();
        let is_faster = !is_slow || delay as f64 + improvement <= trial.longest_delay as f64;
        let is_less_lossy = loss <= self.usual_loss + HELPED_PART * (trial.loss - self.usual_loss);
        if trial.is_slow && is_faster || trial.is_lossy && is_less_lossy {
            let last = self.harmful.filter(|last| now - last.at < FORGOTTEN_SIXTIETHS);
            self.harmful = Some(Harmful {
                rate: trial.arriving,
                at: now,
                hold_sixtieths: last.map_or(MIN_HOLD_SIXTIETHS, |last| {
                    (2 * last.hold_sixtieths).min(MAX_HOLD_SIXTIETHS)
                }),
            });
            self.is_starting = false;
            self.log("the lower rate has helped");
        } else {
            // The path itself causes this delay and loss, so they are usual from now on.
            self.usual_delay = Some(delay as f64);
            self.usual_loss = loss;
            self.max_usual_loss = loss.max(LIGHT_LOSS);
            self.rate = trial.rate;
            self.log("the lower rate has not helped");
        }
        self.changed_at = now;
    }

    fn log(&self, event: &str) {
        debug!("limit {:.0} kbps: {event}", self.rate / BYTES_OF_KBPS);
    }

    /// Raises the limit, up to just below a rate that was too high during its hold time.
    fn grow(&mut self, now: u64) {
        let factor = if self.is_starting { 2.0 } else { 1.25 };
        let held = self.harmful.filter(|last| now < last.at + last.hold_sixtieths);
        let max = held.map_or(MAX_RATE, |last| HELD_PART * last.rate);
        self.rate = (self.rate * factor).min(max).max(self.rate);
        self.changed_at = now;
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::Sequence;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_acked_the_limit_is_in_range_and_memory_is_bounded(
            steps in prop::collection::vec((0_u64..300, any::<bool>(), any::<u16>(), any::<u32>()), 1..400),
            first in prop::sample::select(vec![0, 65_000, 1 << 48]),
            ticks_per_second in prop::sample::select(vec![1, 30, 60, 240]),
        ) {
            let (mut rate, mut tick) = (AdaptiveRate::new(ticks_per_second), first);
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
                prop_assert!(rate.path.len() <= 2 * 256);
                let before = rate.silence.as_ref().map_or(0, |silence| silence.path.len());
                prop_assert!(before <= 2 * 256);
                prop_assert!((0.0..=1.0).contains(&rate.usual_loss));
            }
        }
    }
}
