//! The playout buffer (jitter buffer): plays snapshots at the rate at which they were taken.
//!
//! A snapshot is due one playout delay after its earliest possible arrival. The delay gives late packets time to
//! arrive, and covers lost ones.

mod pace;

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::schema::MAX_TICKS_PER_SECOND;

use self::pace::Pace;
use crate::clock::SenderClock;

/// Maximum number of snapshots in a buffer. Beyond it, the oldest is dropped.
const CAPACITY: usize = 256;

/// Maximum playout delay, ticks: the maximum adaptive delay of one second at the highest tick rate. The rest of the
/// buffer is for the displayed snapshot and for packets that arrive faster than usual.
const MAX_DELAY_TICKS: u32 = MAX_TICKS_PER_SECOND as u32;

/// Received snapshots in the order of their ticks, with the clock that determines which are due.
#[derive(Clone, Debug)]
pub struct PlayoutBuffer<T> {
    pace: Pace,
    /// Ascending by tick.
    snapshots: VecDeque<(u64, T)>,
    /// Tick of the newest snapshot that was [discarded](Self::discard_played).
    discarded: Option<u64>,
    /// Whether the next snapshot was missing in the last [`advance`](Self::advance).
    is_starved: bool,
    /// Number of times that [`advance`](Self::advance) found the next snapshot missing after one that was present.
    pub stalls: u64,
    /// Total time without a next snapshot, measured in [`advance`](Self::advance). A buffer that stays empty has one
    /// stall.
    pub starved: Duration,
}

/// State of playout between two snapshots, or at a single one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playout<'a, T> {
    /// The sender's tick that is displayed.
    pub tick: f64,
    /// The sender's tick that would be displayed if every snapshot had arrived. Greater than `tick` while playout
    /// waits.
    pub due_tick: f64,
    /// Tick of `from`.
    pub from_tick: u64,
    /// The newest snapshot not after `tick`, or the oldest in the buffer.
    pub from: &'a T,
    /// Tick of `to`.
    pub to_tick: u64,
    /// The snapshot after `from`, or `from` itself if the next one is missing.
    pub to: &'a T,
    /// Position between the two snapshots, 0..=1.
    pub fraction: f32,
    /// Time between the two snapshots, seconds of the sender's clock.
    pub span_seconds: f32,
    /// Time that playout has been waiting at the newest snapshot, seconds of the sender's clock; 0 while a next
    /// one exists.
    pub starved_seconds: f32,
}

impl<T> PlayoutBuffer<T> {
    /// Creates an empty buffer that plays `delay` behind the sender's clock. The delay is limited to 240 ticks.
    pub fn new(clock: SenderClock, delay: Duration) -> Self {
        let mut buffer = Self {
            pace: Pace::new(clock, delay),
            snapshots: VecDeque::new(),
            discarded: None,
            is_starved: false,
            stalls: 0,
            starved: Duration::ZERO,
        };
        buffer.set_delay(delay);
        buffer
    }

    /// Returns the time from the earliest possible arrival of a snapshot until its display, by the sender's clock.
    pub const fn delay(&self) -> Duration {
        self.pace.delay
    }

    /// Sets the delay, which is limited to 240 ticks. Playout approaches it in [`advance`](Self::advance), or jumps
    /// to it if that is never called.
    pub fn set_delay(&mut self, delay: Duration) {
        let longest = self.clock().tick_seconds * f64::from(MAX_DELAY_TICKS);
        self.pace.delay = delay.min(Duration::from_secs_f64(longest));
    }

    /// Advances playout to `now` at the rate of the sender's clock. If the playout delay or the link's delay has
    /// changed, playout runs slower or faster until it has caught up, but never backwards. It jumps if it is off by
    /// more than a second. Call this many times a second.
    pub fn advance(&mut self, now: Duration) {
        let elapsed = self.pace.advance(now);
        let Some(&(newest, _)) = self.snapshots.back() else {
            return;
        };
        let sampled = self.sample(now);
        let past_newest = sampled.map_or(0.0, |playout| playout.starved_seconds);
        let is_starved = past_newest > 0.0;
        self.stalls += u64::from(is_starved && !self.is_starved);
        self.is_starved = is_starved;
        let starved = f64::from(past_newest) / self.clock().rate;
        self.starved += Duration::from_secs_f64(starved.min(elapsed.as_secs_f64()));
        self.pace.take_back(newest);
    }

    /// See [`SenderClock::sync_tick`].
    pub fn sync_tick(&mut self, now: Duration, tick: u64) {
        self.pace.clock.sync_tick(now, tick);
    }

    /// The sender's clock.
    pub const fn clock(&self) -> &SenderClock {
        &self.pace.clock
    }

    /// Number of snapshots that are not due yet.
    pub fn ahead(&self, now: Duration) -> usize {
        let due = self.pace.due_tick(now).unwrap_or(0.0);
        let played = self.snapshots.partition_point(|&(tick, _)| tick as f64 <= due);
        self.snapshots.len() - played
    }

    /// Whether a snapshot of `tick` that arrives at `now` is too late to be displayed.
    pub fn is_late(&self, now: Duration, tick: u64) -> bool {
        // A snapshot that is due at exactly `now` is not late. Larger than the rounding errors of ticks as floats.
        const SLACK_TICKS: f64 = 1e-6;
        self.pace.due_tick(now).is_some_and(|due| tick as f64 + SLACK_TICKS < due)
    }

    /// Inserts the snapshot of a [tick](SenderClock::tick_of) that arrived at `now`. Returns a snapshot so that its memory can
    /// be reused: the oldest one if the buffer was full, or this one if the buffer already has its tick or has discarded a
    /// later one.
    pub fn insert(&mut self, now: Duration, tick: u64, snapshot: T) -> Option<T> {
        self.pace.clock.arrived(now, tick);
        let index = self.snapshots.partition_point(|&(held, _)| held < tick);
        // Playout that slows down would otherwise go back to a snapshot from before the discarded one.
        let is_played = Some(tick) <= self.discarded;
        if is_played || self.snapshots.get(index).is_some_and(|&(held, _)| held == tick) {
            return Some(snapshot);
        }
        self.snapshots.insert(index, (tick, snapshot));
        if self.snapshots.len() > CAPACITY {
            return self.snapshots.pop_front().map(|(_, snapshot)| snapshot);
        }
        None
    }

    /// Returns the newest snapshot before a tick.
    pub fn before(&self, tick: u64) -> Option<(u64, &T)> {
        let index = self.snapshots.partition_point(|&(held, _)| held < tick);
        let (tick, before) = self.snapshots.get(index.checked_sub(1)?)?;
        Some((*tick, before))
    }

    /// Iterates over the snapshot that is displayed at `now` and all later ones.
    pub fn upcoming_mut(
        &mut self,
        now: Duration,
    ) -> impl DoubleEndedIterator<Item = (u64, &mut T)> {
        let due = self.pace.due_tick(now).unwrap_or(0.0);
        let after = self.snapshots.partition_point(|&(tick, _)| tick as f64 <= due);
        let shown = after.saturating_sub(1);
        self.snapshots.range_mut(shown..).map(|(tick, snapshot)| (*tick, snapshot))
    }

    /// Returns playout at the newest snapshot without a playout delay. `None` before the first snapshot.
    pub fn newest(&self, now: Duration) -> Option<Playout<'_, T>> {
        let (tick, newest) = self.snapshots.back()?;
        Some(Playout {
            tick: *tick as f64,
            due_tick: self.clock().tick_at(now)?,
            from_tick: *tick,
            from: newest,
            to_tick: *tick,
            to: newest,
            fraction: 0.0,
            span_seconds: 0.0,
            starved_seconds: 0.0,
        })
    }

    /// Returns playout at `now`. It waits at the newest snapshot while the next one is missing, and at the oldest
    /// until that is due. `None` before the first snapshot.
    pub fn sample(&self, now: Duration) -> Option<Playout<'_, T>> {
        let due = self.pace.due_tick(now)?;
        let after = self.snapshots.partition_point(|&(tick, _)| tick as f64 <= due);
        let (from_tick, from) = self.snapshots.get(after.saturating_sub(1))?;
        // `after - 1` cannot underflow: with `after` 0, `get` returns the oldest snapshot.
        let (to_tick, to) = self.snapshots.get(after).unwrap_or_else(|| &self.snapshots[after - 1]);
        let (start, span) = (*from_tick as f64, (to_tick - from_tick) as f64);
        let fraction = if span > 0.0 { ((due - start) / span).clamp(0.0, 1.0) } else { 0.0 };
        let seconds = self.clock().tick_seconds;
        let starved_ticks = if span > 0.0 { 0.0 } else { (due - start).max(0.0) };
        Some(Playout {
            tick: start + fraction * span,
            due_tick: due,
            from_tick: *from_tick,
            from,
            to_tick: *to_tick,
            to,
            fraction: fraction as f32,
            span_seconds: (span * seconds) as f32,
            starved_seconds: (starved_ticks * seconds) as f32,
        })
    }

    /// Removes and returns the oldest snapshot if the one after it is due.
    pub fn discard_played(&mut self, now: Duration) -> Option<T> {
        let due = self.pace.due_tick(now)?;
        let next_is_played = self.snapshots.get(1).is_some_and(|&(tick, _)| tick as f64 <= due);
        let (tick, played) = self.snapshots.pop_front_if(|_| next_is_played)?;
        self.discarded = Some(tick);
        Some(played)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ms;

    /// A buffer with 100 ticks a second, a playout delay of 30 ms and a link delay of 50 ms.
    fn buffer(ticks: impl IntoIterator<Item = u16>) -> PlayoutBuffer<u16> {
        let mut buffer = PlayoutBuffer::new(SenderClock::new(100, 0, ms(0)), ms(30));
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
        let empty = self::buffer([]);
        assert!(empty.sample(ms(0)).is_none());
    }

    #[test]
    fn late_and_duplicate_packets_are_sorted_in_and_do_not_set_the_clock() {
        let mut buffer = buffer([0, 1, 3]);
        assert_eq!(buffer.insert(ms(90), 2, 2), None);
        assert_eq!(buffer.insert(ms(95), 2, 2), Some(2));
        let playout = buffer.sample(ms(50 + 20 + 30)).unwrap();
        assert_eq!((*playout.from, *playout.to), (2, 3));
    }

    #[test]
    fn waiting_late_and_missing_snapshots_are_reported() {
        let buffer = buffer(0..10);
        let now = ms(50 + 45 + 30);
        assert_eq!(buffer.ahead(now), 5);
        assert!(buffer.is_late(now, 4));
        assert!(!buffer.is_late(now, 5));
        assert_eq!(buffer.sample(now).unwrap().starved_seconds, 0.0);
        let later = buffer.sample(ms(50 + 90 + 30 + 20)).unwrap();
        assert!((later.starved_seconds - 0.02).abs() < 1e-6);
    }

    #[test]
    fn played_snapshots_can_be_discarded() {
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
        assert_eq!(buffer.snapshots.len(), CAPACITY);
    }

    #[test]
    fn playout_slows_down_for_slower_packets_and_never_runs_backwards() {
        // From 2 s on, packets take 150 ms instead of 50.
        let mut buffer = PlayoutBuffer::new(SenderClock::new(100, 0, ms(0)), ms(30));
        let mut last = f64::MIN;
        let mut slowest = f64::MAX;
        for tick in 0..1_000 {
            let now = ms(150 + 10 * tick);
            // The packet that arrives in this tick was sent 50 ms earlier, or 150 ms.
            let sent = if tick < 200 { tick + 10 } else { tick };
            buffer.insert(now, sent, sent);
            buffer.advance(now);
            let due = buffer.sample(now).unwrap().due_tick;
            if tick > 0 {
                slowest = slowest.min(due - last);
            }
            last = due;
        }
        assert!((0.75..0.85).contains(&slowest), "{slowest}");
        // 30 ms behind packets that take 150 ms.
        assert!((last - (999.0 - 3.0)).abs() < 0.05, "{last}");
    }

    #[test]
    fn playout_approaches_a_near_delay_and_jumps_to_a_far_one() {
        let mut buffer = buffer(0..10);
        let due = |buffer: &PlayoutBuffer<u16>, now| buffer.sample(now).unwrap().due_tick;
        buffer.advance(ms(140));
        assert!((due(&buffer, ms(140)) - 6.0).abs() < 1e-6);
        buffer.set_delay(ms(130));
        buffer.advance(ms(150));
        // A fiftieth of the 100 ms in the first 10.
        assert!((due(&buffer, ms(150)) - 6.8).abs() < 1e-6);
        assert!((due(&buffer, ms(160)) - 7.8).abs() < 1e-6);
        buffer.set_delay(ms(5_000));
        assert_eq!(buffer.delay(), ms(2_400));
        buffer.advance(ms(160));
        assert!((due(&buffer, ms(160)) - (11.0 - 240.0)).abs() < 1e-6);
    }

    #[test]
    fn the_time_without_a_snapshot_is_counted() {
        let mut buffer = buffer(0..10);
        // The last snapshot is due at 170 ms, and the receiver polls every 20 ms.
        for now in (0..=300).step_by(20).map(ms) {
            buffer.advance(now);
        }
        assert_eq!((buffer.stalls, buffer.starved), (1, ms(130)));
        buffer.insert(ms(310), 60, 60);
        buffer.advance(ms(320));
        assert_eq!((buffer.stalls, buffer.starved), (1, ms(130)));
    }

    #[test]
    fn playout_that_has_waited_for_long_goes_on_where_it_waited() {
        let mut buffer = buffer(0..10);
        (0..=60).for_each(|frame| buffer.advance(ms(10 * frame)));
        // The sender has lost half a second.
        for tick in 10..110 {
            let now = ms(650 + 10 * (tick - 10));
            buffer.insert(now, tick, tick as u16);
            buffer.advance(now);
        }
        let playout = buffer.sample(ms(1_640)).unwrap();
        assert_eq!(playout.starved_seconds, 0.0, "{playout:?}");
    }
}
