//! The sender's clock, as far as arriving packets tell of it.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

/// Estimates the sender's time from the packet that was quickest in the last two seconds or so, and
/// with it which tick a sequence number means.
#[derive(Clone, Debug)]
pub struct SenderClock {
    tick_seconds: f64,
    /// A tick of the sender, and when it was.
    start: (u64, Duration),
    /// Sender's time minus ours, seconds, by the packet that was quickest in each of the last few
    /// stretches of time.
    offsets: VecDeque<Stretch>,
}

#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: Duration,
    best_offset_seconds: f64,
}

/// A packet sets the clock for two seconds at least: if they take longer from now on, or shorter,
/// playout follows.
const STRETCH: Duration = Duration::from_millis(500);
const STRETCHES: usize = 5;

impl SenderClock {
    /// A clock for a sender of that many ticks a second, which is near `start_tick` `now`.
    #[must_use]
    pub fn new(ticks_per_second: u32, start_tick: u64, now: Duration) -> Self {
        Self {
            tick_seconds: 1.0 / f64::from(ticks_per_second),
            start: (start_tick, now),
            offsets: VecDeque::new(),
        }
    }

    /// Length of a tick.
    #[must_use]
    pub const fn tick_seconds(&self) -> f64 {
        self.tick_seconds
    }

    /// The sender's tick `now`, as seen through the quickest packet; `None` before the first.
    #[must_use]
    pub fn tick_at(&self, now: Duration) -> Option<f64> {
        let offset = self.offset_seconds()?;
        Some((now.as_secs_f64() + offset) / self.tick_seconds)
    }

    /// The full tick of a sequence number that arrives `now`: of those that wrap to it, the one
    /// nearest to what the sender's clock must show.
    #[must_use]
    pub fn tick_of(&self, now: Duration, sequence: Sequence) -> u64 {
        let expected = self.expected(now).round() as u64;
        let expected_sequence = Sequence(expected as u16);
        let ahead = u64::from(sequence.ticks_since(expected_sequence));
        if sequence == expected_sequence || sequence.is_newer_than(expected_sequence) {
            expected + ahead
        } else {
            let behind = u64::from(expected_sequence.ticks_since(sequence));
            // Before the first wrap there is nothing to go back to.
            expected.checked_sub(behind).unwrap_or(expected + ahead)
        }
    }

    /// The sender's tick `now`, if need be going by the tick at the start alone.
    pub(crate) fn expected(&self, now: Duration) -> f64 {
        self.tick_at(now).unwrap_or_else(|| {
            let (tick, at) = self.start;
            tick as f64 + now.saturating_sub(at).as_secs_f64() / self.tick_seconds
        })
    }

    /// The sender has said that it is at `tick`. If that is more than a second from what was thought,
    /// the clock starts anew.
    pub fn hear_of_tick(&mut self, now: Duration, tick: u64) {
        let off_seconds = (self.expected(now) - tick as f64) * self.tick_seconds;
        if off_seconds.abs() > 1.0 {
            *self = Self {
                tick_seconds: self.tick_seconds,
                start: (tick, now),
                offsets: VecDeque::new(),
            };
        }
    }

    /// The packet of that tick has arrived.
    pub fn arrived(&mut self, now: Duration, tick: u64) {
        let offset_seconds = tick as f64 * self.tick_seconds - now.as_secs_f64();
        match self.offsets.back_mut() {
            Some(stretch) if now < stretch.start + STRETCH => {
                stretch.best_offset_seconds = stretch.best_offset_seconds.max(offset_seconds);
            }
            _ => self.offsets.push_back(Stretch {
                start: now,
                best_offset_seconds: offset_seconds,
            }),
        }
        if self.offsets.len() > STRETCHES {
            self.offsets.pop_front();
        }
    }

    /// How much longer the packet of that tick took, if it arrives `now`, than the quickest.
    #[must_use]
    pub fn lateness(&self, now: Duration, tick: u64) -> Duration {
        let expected = self.tick_at(now).unwrap_or(tick as f64);
        let ticks = (expected - tick as f64).max(0.0);
        Duration::from_secs_f64((ticks * self.tick_seconds).min(MAX_LATENESS_SECONDS))
    }

    fn offset_seconds(&self) -> Option<f64> {
        let offsets = self
            .offsets
            .iter()
            .map(|stretch| stretch.best_offset_seconds);
        offsets.reduce(f64::max)
    }
}

/// A packet that is later than an hour is as good as one that is an hour late.
const MAX_LATENESS_SECONDS: f64 = 3600.0;

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn ticks_go_on_where_sequence_numbers_wrap() {
        let mut clock = SenderClock::new(60, 65_530, ms(0));
        assert_eq!(clock.tick_of(ms(0), Sequence(65_535)), 65_535);
        clock.arrived(ms(0), 65_535);
        assert_eq!(clock.tick_of(ms(17), Sequence(0)), 65_536);
        assert_eq!(clock.tick_of(ms(17), Sequence(65_534)), 65_534);
        // Before the first wrap there is no earlier one to take a number for.
        let mut clock = SenderClock::new(60, 0, ms(0));
        clock.arrived(ms(0), 3);
        assert_eq!(clock.tick_of(ms(17), Sequence(65_534)), 65_534);
    }

    #[test]
    fn one_who_comes_late_starts_at_the_right_tick() {
        let clock = SenderClock::new(60, 3 * 65_536 + 2, ms(0));
        assert_eq!(clock.tick_of(ms(0), Sequence(7)), 3 * 65_536 + 7);
        assert_eq!(clock.tick_of(ms(0), Sequence(65_535)), 3 * 65_536 - 1);
    }

    #[test]
    fn the_first_packet_may_come_at_any_time() {
        let clock = SenderClock::new(60, 100, ms(5_000));
        for silent_ticks in [10_u64, 40_000, 200_000] {
            let tick = 100 + silent_ticks;
            let now = ms(5_000) + Duration::from_secs(silent_ticks) / 60;
            assert_eq!(clock.tick_of(now, Sequence(tick as u16)), tick);
        }
    }

    #[test]
    fn after_a_silence_of_any_length_ticks_go_on() {
        let mut clock = SenderClock::new(60, 0, ms(0));
        clock.arrived(ms(0), 100);
        for silent_ticks in [30_000_u64, 40_000, 70_000, 200_000] {
            let tick = 100 + silent_ticks;
            let now = Duration::from_secs_f64(silent_ticks as f64 / 60.0 + 0.02);
            assert_eq!(clock.tick_of(now, Sequence(tick as u16)), tick);
        }
    }

    #[test]
    fn a_pause_of_any_length_is_told() {
        for paused_seconds in [2_u64, 600, 1_100, 86_400] {
            let mut clock = SenderClock::new(60, 0, ms(0));
            clock.arrived(ms(50), 100);
            let mut now = ms(50);
            for _ in 0..paused_seconds {
                now += ms(1_000);
                clock.hear_of_tick(now, 100);
            }
            now += ms(500);
            assert_eq!(clock.tick_of(now, Sequence(101)), 101);
            clock.arrived(now, 101);
            // A word that is late, as packets are, changes nothing.
            clock.hear_of_tick(now + ms(900), 101);
            assert!((clock.tick_at(now).unwrap() - 101.0).abs() < 1e-9);
        }
    }

    #[test]
    fn lateness_is_against_the_quickest() {
        let mut clock = SenderClock::new(100, 0, ms(0));
        clock.arrived(ms(50), 0);
        clock.arrived(ms(85), 1);
        assert_eq!(clock.lateness(ms(85), 1), ms(25));
        assert_eq!(clock.lateness(ms(70), 2), ms(0));
    }
}
