//! Estimates the sender's clock from arriving packets: its time and its rate.
//!
//! The delay of packets varies, and the fastest packets show the clock best. Plotted as the sender's time over local
//! time, they lie on a line. Its slope is the rate of the sender's clock (S. Moon, P. Skelly and D. Towsley,
//! *Estimation and Removal of Clock Skew from Network Delay Measurements*, INFOCOM 1999). A game loop that is
//! overloaded, in slow motion or on another timestep deviates more than a quartz, and changes at once. So a change of
//! the delay or of the rate restarts the estimate.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

/// Estimates the sender's time and rate from the fastest packets of the last few seconds, and resolves sequence
/// numbers to ticks. The delay of the fastest packets is part of the estimate: a tick is current when such a packet
/// arrives.
#[derive(Clone, Debug)]
pub struct SenderClock {
    /// Length of a tick by the sender's clock, seconds.
    pub(crate) tick_seconds: f64,
    /// A tick of the sender with the local time at which it was current, for estimates before the first packet.
    start: (u64, Duration),
    /// Seconds of the sender's time in a second of local time, 0.02 to 50. It is 1 unless the sender is slow, fast or
    /// in slow motion.
    pub rate: f64,
    /// Oldest first, at most [`WINDOWS`].
    windows: VecDeque<Window>,
    /// Number of the newest windows since the last change of the delay or of the rate.
    agreeing: usize,
}

/// The fastest packet of a period.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Arrival of its first packet.
    start: Duration,
    packets: u32,
    fastest: Arrived,
}

/// A packet, in seconds.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Time of its arrival.
    local: f64,
    /// Time of its tick by the sender's clock.
    sender: f64,
}

impl Arrived {
    /// The sender's time at local time 0 in seconds, if its clock runs at `rate` and this packet had no delay. A delay
    /// reduces the value, so the highest one is the best estimate.
    const fn offset(&self, rate: f64) -> f64 {
        self.sender - rate * self.local
    }
}

/// Minimum length of a window and minimum number of packets.
const WINDOW: Duration = Duration::from_millis(500);
const FEWEST_PACKETS: u32 = 3;

/// Number of windows for the estimate of the rate. With bad jitter, its standard error is about 0.2 %.
const WINDOWS: usize = 8;

/// A packet counts for at least two seconds and then expires, so that playout follows slow changes of the link's delay.
const FASTEST_OF_WINDOWS: usize = 5;

/// Minimum number of windows for the estimate of the rate.
const FEWEST_WINDOWS: usize = 4;

/// If the fastest packet of a window is this much later than in the window before, the delay of the link has changed
/// or the sender has lost time. Jitter delays single packets, not every packet of half a second.
const STEP_SECONDS: f64 = 0.1;

/// If the estimate is off by more than this in two windows in a row, by similar amounts, the rate has changed. In a
/// window of half a second, a rate that is wrong by a tenth is off by 50 ms.
const RAMP_SECONDS: f64 = 0.05;

/// A rate this close to 1 counts as 1. Clocks of machines differ by less than 0.02 %, so the rest is jitter.
const SAME_RATE: f64 = 0.005;

/// Range of rates that the clock follows.
const RATES: std::ops::RangeInclusive<f64> = 0.02..=50.0;

impl SenderClock {
    /// Creates the clock of a sender that runs at `ticks_per_second` and is near `start_tick` at `now`.
    pub fn new(ticks_per_second: u32, start_tick: u64, now: Duration) -> Self {
        Self {
            tick_seconds: 1.0 / f64::from(ticks_per_second),
            start: (start_tick, now),
            rate: 1.0,
            windows: VecDeque::new(),
            agreeing: 0,
        }
    }

    /// Returns the sender's tick at `now`, estimated from the fastest packet. `None` before the first packet.
    pub fn tick_at(&self, now: Duration) -> Option<f64> {
        let offset = self.offset_seconds()?;
        Some((self.rate * now.as_secs_f64() + offset) / self.tick_seconds)
    }

    /// Resolves the sequence number of a packet that arrives at `now`: returns the tick with this number that is
    /// nearest to the sender's estimated tick.
    pub fn tick_of(&self, now: Duration, sequence: Sequence) -> u64 {
        let expected = self.expected(now).round() as u64;
        let expected_sequence = Sequence(expected as u16);
        let ahead = u64::from(sequence.ticks_since(expected_sequence));
        if sequence == expected_sequence || sequence.is_newer_than(expected_sequence) {
            expected + ahead
        } else {
            let behind = u64::from(expected_sequence.ticks_since(sequence));
            // Before the first wrap, no earlier tick has this number.
            expected.checked_sub(behind).unwrap_or(expected + ahead)
        }
    }

    /// Returns the sender's tick at `now`. Before the first packet, it is extrapolated from the start tick.
    pub(crate) fn expected(&self, now: Duration) -> f64 {
        self.tick_at(now).unwrap_or_else(|| {
            let (tick, at) = self.start;
            tick as f64 + now.saturating_sub(at).as_secs_f64() / self.tick_seconds
        })
    }

    /// Records the current `tick` as reported by the sender. If it is more than a second from the estimate, the clock
    /// is reset to it.
    pub fn sync_tick(&mut self, now: Duration, tick: u64) {
        let off_seconds = (self.expected(now) - tick as f64) * self.tick_seconds;
        if off_seconds.abs() > 1.0 {
            self.start = (tick, now);
            self.rate = 1.0;
            self.windows.clear();
            self.agreeing = 0;
        }
    }

    /// Records the arrival of the packet of `tick`.
    pub fn arrived(&mut self, now: Duration, tick: u64) {
        let packet = Arrived { local: now.as_secs_f64(), sender: tick as f64 * self.tick_seconds };
        let rate = self.rate;
        match self.windows.back_mut() {
            Some(window) if now < window.start + WINDOW || window.packets < FEWEST_PACKETS => {
                window.packets += 1;
                if packet.offset(rate) > window.fastest.offset(rate) {
                    window.fastest = packet;
                }
            }
            _ => {
                self.learn();
                self.agreeing = (self.agreeing + 1).min(WINDOWS);
                self.windows.push_back(Window { start: now, packets: 1, fastest: packet });
                if self.windows.len() > WINDOWS {
                    self.windows.pop_front();
                }
            }
        }
    }

    /// Updates the rate and the number of agreeing windows when the newest window is complete.
    fn learn(&mut self) {
        // The difference of two offsets is the time that the sender has gained on the estimate between two windows.
        // Newest first.
        let offsets = self.windows.iter().rev();
        let mut offsets = offsets.map(|window| window.fastest.offset(self.rate));
        let [Some(last), Some(second)] = [offsets.next(), offsets.next()] else {
            return;
        };
        let gained = last - second;
        let before = offsets.next().map_or(0.0, |third| second - third);
        let is_ramp = gained * before > 0.0
            && gained.abs().min(before.abs()) > RAMP_SECONDS
            && (gained - before).abs() < 0.5 * gained.abs();
        if is_ramp {
            // Three windows show the two changes.
            self.agreeing = 3;
        } else if gained < -STEP_SECONDS {
            self.agreeing = 1;
        }
        if is_ramp || self.agreeing >= FEWEST_WINDOWS {
            let slope = self.slope();
            let is_same = (slope - 1.0).abs() < SAME_RATE;
            self.rate = if is_same { 1.0 } else { slope };
        }
    }

    /// Returns the slope of the least-squares line through the fastest packets of the agreeing windows.
    fn slope(&self) -> f64 {
        let first = self.windows.len().saturating_sub(self.agreeing);
        let points = || self.windows.range(first..).map(|window| window.fastest);
        let count = points().count() as f64;
        let local = points().map(|point| point.local).sum::<f64>() / count;
        let sender = points().map(|point| point.sender).sum::<f64>() / count;
        let [mut variance, mut covariance] = [0.0; 2];
        for point in points() {
            variance += (point.local - local).powi(2);
            covariance += (point.local - local) * (point.sender - sender);
        }
        // All packets arrived at the same time: the caller's clock stands still.
        if variance == 0.0 {
            return self.rate;
        }
        (covariance / variance).clamp(*RATES.start(), *RATES.end())
    }

    /// Returns how much longer than the fastest packet the packet of `tick` took by the sender's clock, if it arrives
    /// at `now`. At most an hour.
    pub fn lateness(&self, now: Duration, tick: u64) -> Duration {
        let expected = self.tick_at(now).unwrap_or(tick as f64);
        let ticks = (expected - tick as f64).max(0.0);
        Duration::from_secs_f64((ticks * self.tick_seconds).min(MAX_LATENESS_SECONDS))
    }

    /// The sender's time at local time 0 by the fastest packet, seconds.
    fn offset_seconds(&self) -> Option<f64> {
        let newest = self.windows.iter().rev().take(self.agreeing.min(FASTEST_OF_WINDOWS));
        let offsets = newest.map(|window| window.fastest.offset(self.rate));
        offsets.reduce(f64::max)
    }
}

/// Keeps the lateness of any tick within the range of a `Duration`.
const MAX_LATENESS_SECONDS: f64 = 3600.0;

/// Returns the sequence number of a tick: the tick modulo 2¹⁶.
pub(crate) const fn sequence(tick: u64) -> Sequence {
    Sequence(tick as u16)
}

#[cfg(test)]
pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_resolved_to_the_nearest_tick_across_wraps() {
        for (start, heard, number, tick) in [
            (65_530, None, 65_535, 65_535),
            (65_530, Some(65_535), 0, 65_536),
            (65_530, Some(65_535), 65_534, 65_534),
            // Before the first wrap no earlier tick has this number.
            (0, Some(3), 65_534, 65_534),
            // A receiver that joins late.
            (3 * 65_536 + 2, None, 7, 3 * 65_536 + 7),
            (3 * 65_536 + 2, None, 65_535, 3 * 65_536 - 1),
        ] {
            let mut clock = SenderClock::new(60, start, ms(0));
            if let Some(heard) = heard {
                clock.arrived(ms(0), heard);
            }
            let now = ms(if heard.is_some() { 17 } else { 0 });
            assert_eq!(clock.tick_of(now, Sequence(number)), tick, "{number} after {start}");
        }
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
            // A late report has no effect.
            clock.sync_tick(now + ms(900), 101);
            assert!((clock.tick_at(now).unwrap() - 101.0).abs() < 1e-9);
        }
    }

    /// Returns a clock after packets at 100 ticks a second of the sender's time, which runs at each of the rates for
    /// five seconds, and the sender's time in ticks.
    fn after(rates: &[f64]) -> (SenderClock, f64) {
        let mut clock = SenderClock::new(100, 0, ms(0));
        let (mut time, mut sent) = (0.0, 0);
        for frame in 0..500 * rates.len() {
            let rate = rates[frame / 500];
            time += rate;
            while (sent + 1) as f64 <= time {
                sent += 1;
                // One of three packets is late.
                let late = if sent % 3 == 0 { ms(30) } else { ms(0) };
                clock.arrived(ms(10 * frame as u64) + late, sent);
            }
        }
        (clock, time)
    }

    #[test]
    fn a_slow_or_fast_sender_is_followed() {
        for rates in
            [&[1.0][..], &[1.001], &[0.9], &[0.97], &[1.03], &[1.1], &[1.0, 0.25], &[0.25, 1.0]]
        {
            let (clock, time) = after(rates);
            let rate = rates[rates.len() - 1];
            if (rate - 1.0).abs() < SAME_RATE {
                assert_eq!(clock.rate, 1.0);
            }
            assert!((clock.rate - rate).abs() < 0.005, "{} at {rates:?}", clock.rate);
            let now = ms(10 * (500 * rates.len() as u64 - 1));
            let off = clock.tick_at(now).unwrap() - time;
            assert!(off.abs() < 1.5, "off by {off} ticks at {rates:?}");
        }
    }

    #[test]
    fn a_longer_way_is_known_after_a_second() {
        let mut clock = SenderClock::new(100, 0, ms(0));
        (0..500).for_each(|tick| clock.arrived(ms(10 * tick), tick));
        (500..610).for_each(|tick| clock.arrived(ms(10 * tick + 200), tick));
        assert_eq!(clock.lateness(ms(6_300), 610), ms(0));
        assert_eq!(clock.rate, 1.0);
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
