//! The sender's clock, estimated from arriving packets.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

/// Estimates the sender's time from the fastest packet of about the last two seconds, and from that
/// the full tick of a sequence number.
#[derive(Clone, Debug)]
pub struct SenderClock {
    tick_seconds: f64,
    /// A tick of the sender, and the local time at which it was current.
    start: (u64, Duration),
    /// Sender's time minus local time, by the fastest packet of each of the last few windows.
    offsets: VecDeque<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    start: Duration,
    best_offset_seconds: f64,
}

/// A packet counts for at least two seconds, then expires: when the delay of the link changes,
/// playout follows.
const WINDOW: Duration = Duration::from_millis(500);
const WINDOWS: usize = 5;

impl SenderClock {
    /// Creates the clock of a sender that runs at `ticks_per_second` and is near `start_tick` at `now`.
    #[must_use]
    pub fn new(ticks_per_second: u32, start_tick: u64, now: Duration) -> Self {
        Self {
            tick_seconds: 1.0 / f64::from(ticks_per_second),
            start: (start_tick, now),
            offsets: VecDeque::new(),
        }
    }

    /// Length of a tick, seconds.
    #[must_use]
    pub const fn tick_seconds(&self) -> f64 {
        self.tick_seconds
    }

    /// The sender's tick at `now`, estimated from the fastest packet; `None` before the first packet.
    #[must_use]
    pub fn tick_at(&self, now: Duration) -> Option<f64> {
        let offset = self.offset_seconds()?;
        Some((now.as_secs_f64() + offset) / self.tick_seconds)
    }

    /// The full tick of a sequence number that arrives at `now`: of all ticks with that number, the
    /// one nearest to the sender's estimated tick.
    #[must_use]
    pub fn tick_of(&self, now: Duration, sequence: Sequence) -> u64 {
        let expected = self.expected(now).round() as u64;
        let expected_sequence = Sequence(expected as u16);
        let ahead = u64::from(sequence.ticks_since(expected_sequence));
        if sequence == expected_sequence || sequence.is_newer_than(expected_sequence) {
            expected + ahead
        } else {
            let behind = u64::from(expected_sequence.ticks_since(sequence));
            // Before the first wrap there is no earlier tick with this number.
            expected.checked_sub(behind).unwrap_or(expected + ahead)
        }
    }

    /// The sender's tick at `now`, extrapolated from the start tick before the first packet.
    pub(crate) fn expected(&self, now: Duration) -> f64 {
        self.tick_at(now).unwrap_or_else(|| {
            let (tick, at) = self.start;
            tick as f64 + now.saturating_sub(at).as_secs_f64() / self.tick_seconds
        })
    }

    /// Records the current `tick` that the sender has reported. If it is more than a second from
    /// the estimate, the clock is reset to it.
    pub fn sync_tick(&mut self, now: Duration, tick: u64) {
        let off_seconds = (self.expected(now) - tick as f64) * self.tick_seconds;
        if off_seconds.abs() > 1.0 {
            *self = Self {
                tick_seconds: self.tick_seconds,
                start: (tick, now),
                offsets: VecDeque::new(),
            };
        }
    }

    /// Records the arrival of the packet of `tick`.
    pub fn arrived(&mut self, now: Duration, tick: u64) {
        let offset_seconds = tick as f64 * self.tick_seconds - now.as_secs_f64();
        match self.offsets.back_mut() {
            Some(window) if now < window.start + WINDOW => {
                window.best_offset_seconds = window.best_offset_seconds.max(offset_seconds);
            }
            _ => self.offsets.push_back(Window {
                start: now,
                best_offset_seconds: offset_seconds,
            }),
        }
        if self.offsets.len() > WINDOWS {
            self.offsets.pop_front();
        }
    }

    /// How much longer than the fastest packet the packet of `tick` took, if it arrives at `now`; at
    /// most an hour.
    #[must_use]
    pub fn lateness(&self, now: Duration, tick: u64) -> Duration {
        let expected = self.tick_at(now).unwrap_or(tick as f64);
        let ticks = (expected - tick as f64).max(0.0);
        Duration::from_secs_f64((ticks * self.tick_seconds).min(MAX_LATENESS_SECONDS))
    }

    fn offset_seconds(&self) -> Option<f64> {
        let offsets = self.offsets.iter().map(|window| window.best_offset_seconds);
        offsets.reduce(f64::max)
    }
}

/// Keeps the lateness of any tick in the range of a `Duration`.
const MAX_LATENESS_SECONDS: f64 = 3600.0;

/// The sequence number of a tick: the tick modulo 2¹⁶.
pub(crate) const fn sequence(tick: u64) -> Sequence {
    Sequence(tick as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn ticks_continue_where_sequence_numbers_wrap() {
        let mut clock = SenderClock::new(60, 65_530, ms(0));
        assert_eq!(clock.tick_of(ms(0), Sequence(65_535)), 65_535);
        clock.arrived(ms(0), 65_535);
        assert_eq!(clock.tick_of(ms(17), Sequence(0)), 65_536);
        assert_eq!(clock.tick_of(ms(17), Sequence(65_534)), 65_534);
        // Before the first wrap no earlier tick has this number.
        let mut clock = SenderClock::new(60, 0, ms(0));
        clock.arrived(ms(0), 3);
        assert_eq!(clock.tick_of(ms(17), Sequence(65_534)), 65_534);
    }

    #[test]
    fn a_receiver_that_joins_late_starts_at_the_right_tick() {
        let clock = SenderClock::new(60, 3 * 65_536 + 2, ms(0));
        assert_eq!(clock.tick_of(ms(0), Sequence(7)), 3 * 65_536 + 7);
        assert_eq!(clock.tick_of(ms(0), Sequence(65_535)), 3 * 65_536 - 1);
    }

    #[test]
    fn ticks_continue_after_a_silence_of_any_length_at_the_start_or_later() {
        let start = ms(5_000);
        let silent = SenderClock::new(60, 100, start);
        let mut heard = SenderClock::new(60, 0, start);
        heard.arrived(start, 100);
        for silent_ticks in [10_u64, 30_000, 40_000, 70_000, 200_000] {
            let tick = 100 + silent_ticks;
            for (clock, late) in [(&silent, ms(0)), (&heard, ms(20))] {
                let now = start + Duration::from_secs(silent_ticks) / 60 + late;
                assert_eq!(clock.tick_of(now, Sequence(tick as u16)), tick);
            }
        }
    }

    #[test]
    fn reported_ticks_carry_the_clock_over_a_pause_of_any_length() {
        for paused_seconds in [2_u64, 600, 1_100, 86_400] {
            let mut clock = SenderClock::new(60, 0, ms(0));
            clock.arrived(ms(50), 100);
            let mut now = ms(50);
            for _ in 0..paused_seconds {
                now += ms(1_000);
                clock.sync_tick(now, 100);
            }
            now += ms(500);
            assert_eq!(clock.tick_of(now, Sequence(101)), 101);
            clock.arrived(now, 101);
            // A late report changes nothing.
            clock.sync_tick(now + ms(900), 101);
            assert!((clock.tick_at(now).unwrap() - 101.0).abs() < 1e-9);
        }
    }

    #[test]
    fn lateness_is_relative_to_the_fastest_packet() {
        let mut clock = SenderClock::new(100, 0, ms(0));
        clock.arrived(ms(50), 0);
        clock.arrived(ms(85), 1);
        assert_eq!(clock.lateness(ms(85), 1), ms(25));
        assert_eq!(clock.lateness(ms(70), 2), ms(0));
    }
}
