//! Adapts the data rate to a receiver by its acks.

mod path_stats;

use std::time::Duration;

use log::debug;

use crate::budget::BUDGETS_KBPS;
use crate::feedback::Ack;
use path_stats::{DELAY_SIXTIETHS, PathStats};

/// Limits the data rate to a receiver by the delay and loss that its acks show.
///
/// As in TCP, the limit increases until the path is congested, and then decreases. But radio links lose and delay
/// packets at any rate, and so does another route. So delay and loss are compared with their usual values, the *base*,
/// and each decrease is a trial that shows the cause:
///
/// - **Increase.** There is no limit at first. A limit is multiplied once its last change shows in the acks: by 2 in
///   slow start, which lasts until the first congestion, and by 5/4 after it.
/// - **Decrease.** If delay or loss exceeds its base, a trial sends three quarters of the rate that arrived.
///   - If delay or loss improves, the earlier rate congested the path. The limit stays below it for one second, or for
///     twice as long as the last time if that was within half a minute.
///   - If neither improves, the earlier limit is restored, and this delay and loss become the base.
/// - **Timeout.** If acks stop, the limit falls to the minimum, and slow start begins. If later acks show that the
///   packets before the timeout arrived, the receiver was only busy. The earlier limit is then restored.
///
/// Changes that chance explains do not count. Losses come in bursts, so the loss of a few packets proves little. A
/// delay must last for a quarter of a second. A timeout takes one second without acks, or two if a single burst of loss
/// can explain it.
///
/// The parts are known: the base delay is like LEDBAT's (RFC 6817), which sees a queue before it overflows. The decrease
/// starts from the arrival rate as in BBR, so that one decrease is enough, however high the limit was. Staying below a
/// congested rate for a while is like CUBIC's plateau (RFC 9438). The timeout is like QUIC's persistent congestion (RFC
/// 9002, section 7.6), and is undone as after a spurious timeout of TCP (RFC 5682, RFC 4015).
///
/// A controller without trials would take every loss and every longer route for congestion.
///
/// Ticks must not decrease. Private times are in sixtieths of a second, so that they do not depend on the tick rate.
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    ticks_per_second: u16,
    limit: Limit,
    path: PathStats,
    /// Usual time from sending a packet to its ack, sixtieths. `None` before the first ack.
    base_delay: Option<f64>,
    /// Usual fraction of lost packets, 0 to 1.
    base_loss: f64,
    /// Upper limit of `base_loss`: the loss of the last trial that did not help, but at least [`LIGHT_LOSS`].
    max_base_loss: f64,
    trial: Option<Trial>,
    /// When the limit was last set, or the end of the last trial.
    changed_at: u64,
    /// Since when the delay has exceeded its base. `None` if it does not.
    delayed_since: Option<u64>,
    /// The current or last timeout, until its cause is known.
    timeout: Option<Box<Timeout>>,
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Bytes a second. [`MAX_RATE`] means no limit.
    rate: f64,
    /// The last congestion. `None` in slow start.
    congestion: Option<Congestion>,
}

/// A rate that congested the path, as a trial has shown.
#[derive(Clone, Copy, Debug)]
struct Congestion {
    /// Rate that arrived before the trial, bytes a second.
    rate: f64,
    /// End of the trial.
    at: u64,
    /// Length of the period after `at` when the limit stays below `rate`.
    hold_sixtieths: u64,
}

/// A time with a lower rate, to find out whether that helps.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Limit before the trial.
    rate: f64,
    /// Rate that arrived before the trial, bytes a second.
    arriving: f64,
    /// Longest delay since the start of the trial, sixtieths. `None` if it did not exceed its base then.
    longest_delay: Option<u64>,
    /// Fraction of lost packets before the trial. `None` if it did not exceed its base.
    loss: Option<f64>,
}

/// State before a time without acks, to restore if the receiver was only busy.
#[derive(Clone, Debug)]
struct Timeout {
    at: u64,
    /// Packets that were sent before `at`. Loss counts only for the ones that were pending then.
    path: PathStats,
    limit: Limit,
}

/// Highest limit in kilobits a second, twice the bandwidth of uncompressed snapshots of the demo. There is no limit
/// at this value.
pub const MAX_KBPS: u32 = 32_000;

const MAX_RATE: f64 = MAX_KBPS as f64 * BYTES_OF_KBPS;
const MIN_RATE: f64 = *BUDGETS_KBPS.start() as f64 * BYTES_OF_KBPS;
const BYTES_OF_KBPS: f64 = 125.0;

/// A delay exceeds its base if it is longer by more than this plus the jitter. 83 ms, which a playout delay just covers.
const HARMFUL_DELAY_SIXTIETHS: f64 = 5.0;

/// A delay must exceed its base for this time, 250 ms, before a trial starts: random delays pass sooner, a queue does
/// not.
const DELAYED_SIXTIETHS: u64 = 15;

/// Loss exceeds its base if the difference is more than this, and more than chance explains ([`CHANCE`]). The loss of a
/// radio link varies by up to this fraction.
const HARMFUL_LOSS: f64 = 0.15;

/// Difference from the base loss that chance can cause, in standard deviations.
const CHANCE: f64 = 3.0;

/// Maximum base loss before any trial. Such loss does little harm.
const LIGHT_LOSS: f64 = 0.05;

/// Rate of a trial, as a fraction of the rate that arrived. If that was the rate of the slowest link, a quarter of the
/// link's rate is left to drain its queue.
const DECREASE: f64 = 0.75;

/// Factors of an increase in slow start, and after the first congestion.
const SLOW_START: f64 = 2.0;
const INCREASE: f64 = 1.25;

/// Minimum time from the first ack of a trial's packets to the decision, 1.5 s.
const TRIAL_SIXTIETHS: u64 = 90;

/// Time after which a trial is decided even if too few packets were sent to measure loss, 6 s.
const LONGEST_TRIAL_SIXTIETHS: u64 = 360;

/// A trial has reduced loss if at most this fraction of the excess over the base loss is left. Chance seldom reduces
/// it as much.
const HELPED_PART: f64 = 0.25;

/// Maximum limit during the hold time after a congestion, as a fraction of its rate.
const HELD_PART: f64 = 0.9;

/// Hold time after the first congestion, 1 s. It doubles up to 16 s.
const MIN_HOLD_SIXTIETHS: u64 = 60;
const MAX_HOLD_SIXTIETHS: u64 = 960;

/// Time after which a congestion does not double the next hold time any more, 30 s.
const FORGOTTEN_SIXTIETHS: u64 = 1800;

/// Time after which the state before a timeout is dropped, 5 s. Acks of packets from before it are not expected then.
const FORGOTTEN_TIMEOUT_SIXTIETHS: u64 = 300;

impl AdaptiveRate {
    /// Creates a rate without a limit.
    pub fn new(ticks_per_second: u16) -> Self {
        Self {
            ticks_per_second,
            limit: Limit { rate: MAX_RATE, congestion: None },
            path: PathStats::default(),
            base_delay: None,
            base_loss: 0.0,
            max_base_loss: LIGHT_LOSS,
            trial: None,
            changed_at: 0,
            delayed_since: None,
            timeout: None,
        }
    }

    /// Returns the limit in kilobits a second, from 16 to [`MAX_KBPS`], or `None` without a limit.
    pub fn kbps(&self) -> Option<u32> {
        let rate = self.limit.rate;
        (rate < MAX_RATE).then_some((rate / BYTES_OF_KBPS) as u32)
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
        if let Some(timeout) = &mut self.timeout {
            timeout.path.on_ack(now, ack);
        }
    }

    /// Converts a tick to sixtieths of a second.
    fn time(&self, tick: u64) -> u64 {
        (u128::from(tick) * 60 / u128::from(self.ticks_per_second)) as u64
    }

    /// Returns the fraction of lost packets over the last few hundred, 0 to 1.
    pub const fn loss(&self) -> f64 {
        self.path.mean_loss
    }

    /// Returns the mean time from sending a packet until its ack is processed, over the last few dozen packets,
    /// measured in whole ticks. `None` before the first ack.
    pub fn round_trip(&self) -> Option<Duration> {
        let [sixtieths, _] = self.path.delays?;
        Some(Duration::from_secs_f64(sixtieths / 60.0))
    }

    /// Updates the limit. Call this once per tick.
    pub fn update(&mut self, tick: u64) {
        let now = self.time(tick);
        self.path.advance(now);
        self.undo_timeout(now);
        if self.path.is_silent(now) {
            return self.time_out(now);
        }
        let Some(delay) = self.path.delay(now) else {
            return;
        };
        let (is_delayed, is_lossy) = (self.learn_delay(now, delay), self.learn_loss());
        let is_long = |since| since + DELAYED_SIXTIETHS <= now;
        if let Some(trial) = &mut self.trial {
            trial.longest_delay = trial.longest_delay.map(|longest| longest.max(delay));
            // First ack of a packet from after the start of the trial.
            let arrived_at = self.path.first_counted;
            let has_lasted = |sixtieths| arrived_at.is_some_and(|at| at + sixtieths <= now);
            let is_ready = self.path.has_loss_sample() || has_lasted(LONGEST_TRIAL_SIXTIETHS);
            if is_ready && has_lasted(TRIAL_SIXTIETHS) {
                self.end_trial(now, delay, is_delayed);
            }
        } else if is_lossy || self.delayed_since.is_some_and(is_long) {
            self.decrease(now, is_delayed.then_some(delay), is_lossy);
        } else if now >= self.changed_at + DELAY_SIXTIETHS + delay {
            // The last change has had time to show its effect in the acks.
            self.increase(now);
        }
    }

    /// Learns the base delay, shorter ones fast and longer ones slowly. Returns whether this delay exceeds it.
    fn learn_delay(&mut self, now: u64, delay: u64) -> bool {
        let delay = delay as f64;
        let base = self.base_delay.get_or_insert(delay);
        let is_delayed = delay > *base + HARMFUL_DELAY_SIXTIETHS + self.path.jitter();
        self.delayed_since = is_delayed.then(|| self.delayed_since.unwrap_or(now));
        if delay < *base {
            *base += (delay - *base) / 8.0;
        } else if !is_delayed && self.trial.is_none() {
            *base += (delay - *base) / 1024.0;
        }
        is_delayed
    }

    /// Learns the base loss. Returns whether the current loss exceeds it.
    fn learn_loss(&mut self) -> bool {
        if !self.path.has_loss_sample() {
            return false;
        }
        let loss = self.path.loss();
        let by_chance = CHANCE * self.path.loss_deviation();
        let is_lossy = loss > self.base_loss + by_chance.max(HARMFUL_LOSS);
        if !is_lossy && self.trial.is_none() {
            self.base_loss += (loss - self.base_loss) / 256.0;
            self.base_loss = self.base_loss.min(self.max_base_loss);
        }
        is_lossy
    }

    /// Raises the limit, up to just below the rate of a congestion during its hold time.
    fn increase(&mut self, now: u64) {
        let Limit { rate, congestion } = self.limit;
        let factor = if congestion.is_none() { SLOW_START } else { INCREASE };
        let held = congestion.filter(|last| now < last.at + last.hold_sixtieths);
        let max = held.map_or(MAX_RATE, |last| HELD_PART * last.rate);
        self.limit.rate = (rate * factor).min(max).max(rate);
        self.changed_at = now;
    }

    /// Starts a trial. `longest_delay` is the delay if it exceeds its base.
    fn decrease(&mut self, now: u64, longest_delay: Option<u64>, is_lossy: bool) {
        let (rate, arriving) = (self.limit.rate, self.path.arriving(now));
        let lower = (DECREASE * arriving).max(MIN_RATE);
        // The limit would hardly change: a queue from before the last change is still draining. At the minimum rate, a
        // trial does not reduce the rate, but shows which delay and loss are usual.
        if lower > HELD_PART * rate && rate > MIN_RATE {
            return;
        }
        let loss = is_lossy.then(|| self.path.loss());
        self.trial = Some(Trial { rate, arriving, longest_delay, loss });
        self.limit.rate = lower.min(rate);
        self.path.count_from(now);
        self.log("trial of a lower rate");
    }

    /// Decides whether the trial has helped.
    fn end_trial(&mut self, now: u64, delay: u64, is_delayed: bool) {
        let Some(trial) = self.trial.take() else {
            return;
        };
        let (base, loss) = (self.base_loss, self.path.loss());
        let improvement = HARMFUL_DELAY_SIXTIETHS + self.path.jitter();
        let is_faster = trial
            .longest_delay
            .is_some_and(|longest| !is_delayed || delay as f64 + improvement <= longest as f64);
        let is_less_lossy =
            trial.loss.is_some_and(|before| loss <= base + HELPED_PART * (before - base));
        if is_faster || is_less_lossy {
            let last = self.limit.congestion;
            let last = last.filter(|last| now - last.at < FORGOTTEN_SIXTIETHS);
            let hold_sixtieths = last.map_or(MIN_HOLD_SIXTIETHS, |last| {
                (2 * last.hold_sixtieths).min(MAX_HOLD_SIXTIETHS)
            });
            self.limit.congestion =
                Some(Congestion { rate: trial.arriving, at: now, hold_sixtieths });
            self.log("the lower rate has helped");
        } else {
            self.base_delay = Some(delay as f64);
            self.base_loss = loss;
            self.max_base_loss = loss.max(LIGHT_LOSS);
            self.limit.rate = trial.rate;
            self.log("the lower rate has not helped");
        }
        self.changed_at = now;
    }

    /// Sets the minimum rate and stores the state before the timeout. Statistics start again, because the fate of
    /// packets during a silence says little about later ones.
    fn time_out(&mut self, now: u64) {
        let mut path = std::mem::take(&mut self.path);
        // Later acks of the pending packets show whether they arrived.
        path.count_unknown();
        let trial = self.trial.take();
        let rate = trial.map_or(self.limit.rate, |trial| trial.rate);
        let limit = Limit { rate, ..self.limit };
        self.timeout.get_or_insert_with(|| Box::new(Timeout { at: now, path, limit }));
        let minimum = Limit { rate: MIN_RATE, congestion: None };
        if std::mem::replace(&mut self.limit, minimum).rate > MIN_RATE {
            self.log("no acks");
        }
        self.changed_at = now;
    }

    /// Restores the limit before a timeout if the packets before it arrived.
    fn undo_timeout(&mut self, now: u64) {
        let is_over = |timeout: &mut Box<Timeout>| {
            timeout.path.has_loss_sample() || timeout.at + FORGOTTEN_TIMEOUT_SIXTIETHS <= now
        };
        let Some(timeout) = self.timeout.take_if(is_over) else {
            return;
        };
        if timeout.path.has_loss_sample() && timeout.path.loss() <= self.base_loss + HARMFUL_LOSS {
            let rate = timeout.limit.rate.max(self.limit.rate);
            self.limit = Limit { rate, ..timeout.limit };
            self.changed_at = now;
            self.log("the packets before the silence have arrived");
        }
    }

    fn log(&self, event: &str) {
        debug!("limit {:.0} kbps: {event}", self.limit.rate / BYTES_OF_KBPS);
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
                for path in [Some(&rate.path), rate.timeout.as_ref().map(|before| &before.path)] {
                    let packets = path.map_or(0, |path| path.pending.len() + path.arrivals.len());
                    prop_assert!(packets <= 2 * 256);
                }
                prop_assert!((0.0..=1.0).contains(&rate.base_loss));
            }
        }
    }
}
