//! The playout delay: the time that snapshots wait before they are displayed.

use std::collections::VecDeque;
use std::time::Duration;

use crate::clock::SenderClock;

/// Returns the playout delay for a send rate. It covers two lost snapshots in a row: three send intervals, and a few
/// frames for jitter. At 60, 30 and 10 snapshots a second these are Fiedler's values (*Snapshot Interpolation*, 2014).
///
/// # Panics
/// If `snapshots_per_second` is 0.
pub fn playout_delay(snapshots_per_second: u32) -> Duration {
    assert!(snapshots_per_second > 0, "the send rate must not be 0");
    let ms = match snapshots_per_second {
        60.. => 85,
        rate => 3000 / rate + 50,
    };
    Duration::from_millis(ms.into())
}

/// A playout delay that adapts to the link. It approaches the maximum delay that a packet of the last five seconds
/// needed, because the packet was late or followed a gap. In seconds of the sender's time.
#[derive(Clone, Debug)]
pub struct AdaptiveDelay {
    tick: Duration,
    /// In order of arrival.
    needs: VecDeque<Need>,
    /// Newest tick that has arrived.
    newest: Option<u64>,
    delay: Duration,
    /// Time of the last [`update`](Self::update).
    updated: Option<Duration>,
}

/// The delay that a packet needed.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// Time until which the packet was missing.
    missed: Duration,
    /// Newest tick that had arrived before it, but not after its own.
    newest: u64,
    /// Delay that would have kept playout at tick `newest` until `missed`, by the clock at that time.
    delay: Duration,
}

/// The need of a packet counts for this time.
const WINDOW: Duration = Duration::from_secs(5);

/// Longer stalls interrupt playout and do not increase the delay further.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Maximum change of the delay per second. While it grows, playout runs at half speed; while it shrinks, a twentieth
/// faster.
const GROWTH: f64 = 0.5;
const SHRINKING: f64 = 0.05;

/// Time constant of shrinking while the delay is much too long, which may exceed [`SHRINKING`].
const SHRINKING_SECONDS: f64 = 2.0;

impl AdaptiveDelay {
    /// Starts from the delay `start`, at most one second.
    pub fn new(ticks_per_second: u32, start: Duration) -> Self {
        Self {
            tick: Duration::from_secs(1) / ticks_per_second,
            needs: VecDeque::new(),
            newest: None,
            delay: start.min(MAX_DELAY),
            updated: None,
        }
    }

    /// Records the arrival of the packet of `tick`, by the sender's clock. `missed` is the time until which the packet
    /// was missing, at most a tick after the last poll: a packet that is late only because the receiver did not poll
    /// needs no delay.
    pub fn arrived(&mut self, missed: Duration, tick: u64, clock: &SenderClock) {
        // A packet after a gap must arrive while playout is still at the newest tick before it. A late packet must
        // arrive before playout reaches its own tick.
        let newest = self.newest.unwrap_or(tick.saturating_sub(1)).min(tick);
        self.newest = self.newest.max(Some(tick));
        self.forget(missed);
        self.needs.push_back(Need { missed, newest, delay: clock.lateness(missed, newest) });
    }

    fn forget(&mut self, now: Duration) {
        let expired = now.saturating_sub(WINDOW);
        while self.needs.front().is_some_and(|need| need.missed < expired) {
            self.needs.pop_front();
        }
    }

    /// Updates the delay and returns it. Call this every tick.
    pub fn update(&mut self, now: Duration, clock: &SenderClock) -> Duration {
        self.forget(now);
        let updated = self.updated.replace(now).unwrap_or(now);
        let passed = now.saturating_sub(updated).as_secs_f64();
        // The minimum of both estimates, because the clock may have been wrong when the packet arrived: the sender lost
        // time or was slower than expected.
        let need = |need: &Need| {
            let delay = clock.lateness(need.missed, need.newest);
            delay.min(need.delay).min(MAX_DELAY)
        };
        if let Some(need) = self.needs.iter().map(need).max() {
            // One more tick, because arrivals are polled once a tick.
            let target = (need + self.tick).as_secs_f64();
            let delay = self.delay.as_secs_f64();
            let shrinking = SHRINKING.max((delay - target) / SHRINKING_SECONDS);
            let step = (target - delay).clamp(-shrinking * passed, GROWTH * passed);
            self.delay = Duration::from_secs_f64((delay + step).max(0.0));
        }
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ms;

    #[test]
    fn the_rule_gives_the_figures_of_the_article() {
        let delays = [60, 30, 20, 10].map(playout_delay);
        assert_eq!(delays, [ms(85), ms(150), ms(200), ms(350)]);
    }

    /// Returns the delay after 20 s of packets with the given lateness, where `None` is a lost packet.
    fn settled(start: Duration, mut late: impl FnMut(u64) -> Option<Duration>) -> Duration {
        let mut clock = SenderClock::new(100, 0, ms(0));
        let mut delay = AdaptiveDelay::new(100, start);
        let mut last = start;
        for tick in 0..2000 {
            let now = ms(10 * tick);
            // Other packets, which are on time, set the clock.
            clock.arrived(now, tick);
            if let Some(lateness) = late(tick) {
                delay.arrived(now + lateness, tick, &clock);
            }
            last = delay.update(now, &clock);
        }
        last
    }

    #[test]
    fn an_interval_and_a_tick_are_needed_and_jitter_and_gaps_are_covered() {
        assert_eq!(settled(ms(300), |_| Some(ms(0))), ms(20));
        let jitter = settled(ms(0), |tick| Some(ms(if tick % 50 == 0 { 40 } else { 5 })));
        assert!(jitter >= ms(60) && jitter < ms(61), "{jitter:?}");
        let losses = settled(ms(0), |tick| (tick % 50 > 2).then_some(ms(0)));
        assert!(losses >= ms(50) && losses < ms(51), "{losses:?}");
    }

    #[test]
    fn what_was_late_by_a_wrong_clock_needs_no_delay() {
        let mut clock = SenderClock::new(100, 0, ms(0));
        let mut delay = AdaptiveDelay::new(100, ms(20));
        let mut longest = ms(0);
        // After two seconds, the sender loses 300 ms.
        for tick in 0..700 {
            let now = ms(10 * tick + if tick < 200 { 0 } else { 300 });
            clock.arrived(now, tick);
            delay.arrived(now, tick, &clock);
            longest = longest.max(delay.update(now, &clock));
        }
        assert!(longest > ms(200), "{longest:?}");
        assert!(delay.delay < ms(70), "{:?}", delay.delay);
    }

    #[test]
    fn the_delay_grows_within_a_second_and_is_bounded() {
        let mut clock = SenderClock::new(100, 0, ms(0));
        clock.arrived(ms(0), 0);
        let mut delay = AdaptiveDelay::new(100, ms(20));
        delay.update(ms(0), &clock);
        delay.arrived(Duration::from_secs(100), 1, &clock);
        assert_eq!(delay.update(ms(500), &clock), ms(270));
        assert!(settled(ms(0), |_| Some(Duration::from_secs(9))) <= MAX_DELAY + ms(10));
    }
}
