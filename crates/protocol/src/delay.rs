//! The playout delay: how long snapshots wait before they are shown.

use std::collections::VecDeque;
use std::time::Duration;

/// The playout delay for a send rate, long enough to bridge two lost snapshots in a row: three send
/// intervals and a few frames for jitter. At 60, 30 and 10 snapshots a second these are Fiedler's
/// figures (*Snapshot Interpolation*, 2014).
///
/// # Panics
/// If `snapshots_per_second` is 0.
#[must_use]
pub fn playout_delay(snapshots_per_second: u32) -> Duration {
    assert!(snapshots_per_second > 0, "the send rate must not be 0");
    let ms = match snapshots_per_second {
        60.. => 85,
        rate => 3000 / rate + 50,
    };
    Duration::from_millis(ms.into())
}

/// A playout delay that adapts to the link: the largest that a packet of the last five seconds needed,
/// because it was late or because it followed a gap.
#[derive(Clone, Debug)]
pub struct AdaptiveDelay {
    tick: Duration,
    /// Time of arrival and delay needed, in the order of arrival.
    needs: VecDeque<(Duration, Duration)>,
    newest: Option<u64>,
    delay: Duration,
    updated: Option<Duration>,
}

/// How long the delay that a packet needed is taken into account.
const WINDOW: Duration = Duration::from_secs(5);

/// Longer stalls interrupt playout instead of increasing the delay further.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// Seconds by which the delay grows or shrinks each second: playout runs at half speed, or a twentieth
/// faster, until the delay is right.
const GROWTH: f64 = 0.5;
const SHRINKING: f64 = 0.05;

impl AdaptiveDelay {
    /// Starts from the delay `start`, at most one second.
    #[must_use]
    pub fn new(ticks_per_second: u32, start: Duration) -> Self {
        Self {
            tick: Duration::from_secs(1) / ticks_per_second,
            needs: VecDeque::new(),
            newest: None,
            delay: start.min(MAX_DELAY),
            updated: None,
        }
    }

    /// Records the arrival of the packet of `tick`, `lateness` after the fastest would have arrived.
    pub fn arrived(&mut self, now: Duration, tick: u64, lateness: Duration) {
        let gap = self.newest.map_or(1, |newest| tick.saturating_sub(newest));
        self.newest = self.newest.max(Some(tick));
        let gap = u32::try_from(gap).unwrap_or(u32::MAX);
        let need = self.tick.saturating_mul(gap).saturating_add(lateness);
        self.forget(now);
        self.needs.push_back((now, need.min(MAX_DELAY)));
    }

    fn forget(&mut self, now: Duration) {
        let expired = now.saturating_sub(WINDOW);
        while self.needs.front().is_some_and(|&(at, _)| at < expired) {
            self.needs.pop_front();
        }
    }

    /// Updates the delay and returns it. Call this every tick.
    pub fn update(&mut self, now: Duration) -> Duration {
        self.forget(now);
        let updated = self.updated.replace(now).unwrap_or(now);
        let passed = now.saturating_sub(updated).as_secs_f64();
        if let Some(need) = self.needs.iter().map(|&(_, need)| need).max() {
            // A tick more, because arrivals are polled once a tick.
            let target = (need + self.tick).as_secs_f64();
            let delay = self.delay.as_secs_f64();
            let step = (target - delay).clamp(-SHRINKING * passed, GROWTH * passed);
            self.delay = Duration::from_secs_f64((delay + step).max(0.0));
        }
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_rule_gives_the_figures_of_the_article() {
        let delays = [60, 30, 20, 10].map(playout_delay);
        assert_eq!(delays, [ms(85), ms(150), ms(200), ms(350)]);
    }

    /// The delay after 20 s of packets with the given lateness, lost where it is `None`.
    fn settled(start: Duration, mut late: impl FnMut(u64) -> Option<Duration>) -> Duration {
        let mut delay = AdaptiveDelay::new(100, start);
        let mut last = start;
        for tick in 0..2000 {
            let now = ms(10 * tick);
            if let Some(lateness) = late(tick) {
                delay.arrived(now, tick, lateness);
            }
            last = delay.update(now);
        }
        last
    }

    #[test]
    fn a_perfect_link_needs_an_interval_and_a_tick() {
        assert_eq!(settled(ms(300), |_| Some(ms(0))), ms(20));
    }

    #[test]
    fn jitter_and_gaps_are_covered() {
        let jitter = settled(ms(0), |tick| Some(ms(if tick % 50 == 0 { 40 } else { 5 })));
        assert!(jitter >= ms(60) && jitter < ms(61), "{jitter:?}");
        let losses = settled(ms(0), |tick| (tick % 50 > 2).then_some(ms(0)));
        assert!(losses >= ms(50) && losses < ms(51), "{losses:?}");
    }

    #[test]
    fn the_delay_grows_within_a_second_and_is_bounded() {
        let mut delay = AdaptiveDelay::new(100, ms(20));
        delay.update(ms(0));
        delay.arrived(ms(0), u64::MAX, Duration::from_secs(100));
        assert_eq!(delay.update(ms(500)), ms(270));
        assert!(settled(ms(0), |_| Some(Duration::from_secs(9))) <= MAX_DELAY + ms(10));
    }
}
