//! Plays snapshots back at the pace at which they were taken, some time after they arrive.
//!
//! The time at which a snapshot is due, `playout delay` after it could have arrived at best, leaves
//! room for packets that come late or not at all.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

/// Snapshots that a buffer holds at most; the oldest make room.
const CAPACITY: usize = 256;

/// What has arrived, by tick.
#[derive(Clone, Debug)]
pub struct PlayoutBuffer<T> {
    tick_seconds: f64,
    delay: Duration,
    /// Ascending ticks.
    snapshots: VecDeque<(u64, T)>,
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

/// Where playout stands: between two snapshots, or at one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playout<'a, T> {
    /// The sender's tick that is shown.
    pub tick: f64,
    /// Tick of the newest snapshot not after `tick`, or of the oldest there is; and the snapshot.
    pub from_tick: u64,
    /// See `from_tick`.
    pub from: &'a T,
    /// Tick of `to`.
    pub to_tick: u64,
    /// The next one; `from` again if there is none yet.
    pub to: &'a T,
    /// How far between the two, 0..=1.
    pub fraction: f32,
}

impl<T> PlayoutBuffer<T> {
    /// An empty buffer for a sender of that many ticks a second.
    #[must_use]
    pub fn new(ticks_per_second: u32, delay: Duration) -> Self {
        Self {
            tick_seconds: 1.0 / f64::from(ticks_per_second),
            delay,
            snapshots: VecDeque::new(),
            offsets: VecDeque::new(),
        }
    }

    /// Time from the best possible arrival of a snapshot until it is shown.
    #[must_use]
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Snapshots held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.snapshots.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// The full tick of a sequence number that arrives `now`: of those that wrap to it, the one
    /// nearest to what the sender's clock must show.
    #[must_use]
    pub fn tick(&self, now: Duration, sequence: Sequence) -> u64 {
        let Some(offset) = self.offset_seconds() else {
            return u64::from(sequence.0);
        };
        let expected = ((now.as_secs_f64() + offset) / self.tick_seconds).round() as u64;
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

    /// Takes in the snapshot of a [tick](Self::tick) that arrived `now`; gives one back whose memory can be reused: the
    /// oldest if the buffer is full, or this one if it is there already.
    pub fn insert(&mut self, now: Duration, tick: u64, snapshot: T) -> Option<T> {
        self.set_clock(now, tick as f64 * self.tick_seconds - now.as_secs_f64());
        let place = self.snapshots.partition_point(|&(held, _)| held < tick);
        if self
            .snapshots
            .get(place)
            .is_some_and(|&(held, _)| held == tick)
        {
            return Some(snapshot);
        }
        self.snapshots.insert(place, (tick, snapshot));
        if self.snapshots.len() > CAPACITY {
            return self.snapshots.pop_front().map(|(_, snapshot)| snapshot);
        }
        None
    }

    /// What is due `now`. Past the newest snapshot, playout waits at it; before the oldest, there.
    /// None before anything has arrived.
    #[must_use]
    pub fn sample(&self, now: Duration) -> Option<Playout<'_, T>> {
        let due = self.due_tick(now)?;
        let after = self
            .snapshots
            .partition_point(|&(tick, _)| tick as f64 <= due);
        let (from_tick, from) = self.snapshots.get(after.saturating_sub(1))?;
        let (to_tick, to) = self
            .snapshots
            .get(after)
            .unwrap_or_else(|| &self.snapshots[after - 1]);
        let (start, span) = (*from_tick as f64, (to_tick - from_tick) as f64);
        let fraction = if span > 0.0 {
            ((due - start) / span).clamp(0.0, 1.0)
        } else {
            0.0
        };
        Some(Playout {
            tick: start + fraction * span,
            from_tick: *from_tick,
            from,
            to_tick: *to_tick,
            to,
            fraction: fraction as f32,
        })
    }

    /// Removes the oldest snapshot if it will not be needed any more, for its memory.
    pub fn discard_played(&mut self, now: Duration) -> Option<T> {
        let due = self.due_tick(now)?;
        let next_is_played = self
            .snapshots
            .get(1)
            .is_some_and(|&(tick, _)| tick as f64 <= due);
        next_is_played.then(|| self.snapshots.pop_front().expect("there are two").1)
    }

    fn set_clock(&mut self, now: Duration, offset_seconds: f64) {
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

    fn offset_seconds(&self) -> Option<f64> {
        let offsets = self
            .offsets
            .iter()
            .map(|stretch| stretch.best_offset_seconds);
        offsets.reduce(f64::max)
    }

    fn due_tick(&self, now: Duration) -> Option<f64> {
        let seconds = now.as_secs_f64() + self.offset_seconds()? - self.delay.as_secs_f64();
        Some(seconds / self.tick_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// 100 ticks a second, shown 30 ms late; ticks take 50 ms to arrive.
    fn buffer(ticks: impl IntoIterator<Item = u16>) -> PlayoutBuffer<u16> {
        let mut buffer = PlayoutBuffer::new(100, ms(30));
        for tick in ticks {
            buffer.insert(ms(50 + 10 * u64::from(tick)), u64::from(tick), tick);
        }
        buffer
    }

    #[test]
    fn a_snapshot_is_due_a_delay_after_it_arrives() {
        let buffer = buffer(0..10);
        let playout = buffer.sample(ms(50 + 40 + 30)).unwrap();
        assert!((playout.tick - 4.0).abs() < 1e-9);
        let playout = buffer.sample(ms(50 + 45 + 30)).unwrap();
        assert_eq!((*playout.from, *playout.to), (4, 5));
        assert!((playout.fraction - 0.5).abs() < 1e-5);
    }

    #[test]
    fn a_gap_is_bridged_by_its_neighbours() {
        let buffer = buffer([0, 1, 4, 5]);
        let playout = buffer.sample(ms(50 + 20 + 30)).unwrap();
        assert_eq!((*playout.from, *playout.to), (1, 4));
        assert!((playout.fraction - 1.0 / 3.0).abs() < 1e-5);
    }

    #[test]
    fn playout_waits_at_either_end() {
        let buffer = buffer(3..6);
        let early = buffer.sample(ms(0)).unwrap();
        assert_eq!((early.tick, *early.from, early.fraction), (3.0, 3, 0.0));
        let late = buffer.sample(ms(1000)).unwrap();
        assert_eq!((late.tick, *late.from, *late.to), (5.0, 5, 5));
        assert!(
            PlayoutBuffer::<u16>::new(60, ms(85))
                .sample(ms(0))
                .is_none()
        );
    }

    #[test]
    fn late_and_repeated_packets_find_their_place_and_do_not_set_the_clock() {
        let mut buffer = buffer([0, 1, 3]);
        assert_eq!(buffer.insert(ms(90), 2, 2), None);
        assert_eq!(buffer.insert(ms(95), 2, 2), Some(2));
        let playout = buffer.sample(ms(50 + 20 + 30)).unwrap();
        assert_eq!((*playout.from, *playout.to), (2, 3));
    }

    #[test]
    fn ticks_go_on_where_sequence_numbers_wrap() {
        let mut buffer = PlayoutBuffer::new(60, ms(0));
        assert_eq!(buffer.tick(ms(0), Sequence(65_535)), 65_535);
        buffer.insert(ms(0), 65_535, 'a');
        assert_eq!(buffer.tick(ms(17), Sequence(0)), 65_536);
        assert_eq!(buffer.tick(ms(17), Sequence(65_534)), 65_534);
        // Before the first wrap there is no earlier one to take a number for.
        let mut buffer = PlayoutBuffer::new(60, ms(0));
        buffer.insert(ms(0), 3, 'a');
        assert_eq!(buffer.tick(ms(17), Sequence(65_534)), 65_534);
    }

    #[test]
    fn after_a_silence_of_any_length_ticks_go_on() {
        let mut buffer = PlayoutBuffer::new(60, ms(0));
        buffer.insert(ms(0), 100, 'a');
        for silent_ticks in [30_000_u64, 40_000, 70_000, 200_000] {
            let tick = 100 + silent_ticks;
            let now = Duration::from_secs_f64(silent_ticks as f64 / 60.0 + 0.02);
            assert_eq!(buffer.tick(now, Sequence(tick as u16)), tick);
        }
    }

    #[test]
    fn playout_follows_a_link_that_becomes_slower() {
        let mut buffer = buffer(0..10);
        for tick in 10..500 {
            buffer.insert(ms(250 + 10 * tick), tick, tick as u16);
        }
        let now = ms(250 + 10 * 499 + 5);
        let playout = buffer.sample(now).unwrap();
        assert!(
            (playout.tick - (499.5 - 3.0)).abs() < 1e-6,
            "{}",
            playout.tick
        );
    }

    #[test]
    fn what_is_played_can_be_discarded_and_the_rest_stays() {
        let mut buffer = buffer(0..10);
        let now = ms(50 + 45 + 30);
        let discarded: Vec<_> = std::iter::from_fn(|| buffer.discard_played(now)).collect();
        assert_eq!(discarded, [0, 1, 2, 3]);
        assert_eq!(*buffer.sample(now).unwrap().from, 4);
    }

    #[test]
    fn the_buffer_is_bounded() {
        let mut buffer = buffer(0..CAPACITY as u16);
        assert_eq!(buffer.insert(ms(9000), CAPACITY as u64, 0), Some(0));
        assert_eq!(buffer.len(), CAPACITY);
    }
}
