//! Plays snapshots back at the pace at which they were taken, some time after they arrive.
//!
//! The time at which a snapshot is due, `playout delay` after it could have arrived at best, leaves
//! room for packets that come late or not at all.

use std::collections::VecDeque;
use std::time::Duration;

use cubewire_codec::Sequence;

use crate::SenderClock;

/// Snapshots that a buffer holds at most; the oldest make room.
const CAPACITY: usize = 256;

/// What has arrived, by tick.
#[derive(Clone, Debug)]
pub struct PlayoutBuffer<T> {
    clock: SenderClock,
    delay: Duration,
    /// What playout goes by since the last [`advance`](Self::advance).
    pace: Option<Pace>,
    /// Ascending ticks.
    snapshots: VecDeque<(u64, T)>,
}

/// The tick that is due at a time; later, one tick more with each tick of time.
#[derive(Clone, Copy, Debug)]
struct Pace {
    at: Duration,
    due_tick: f64,
}

/// Where playout stands: between two snapshots, or at one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playout<'a, T> {
    /// The sender's tick that is shown.
    pub tick: f64,
    /// The sender's tick that would be shown if every snapshot had come: past `tick` where playout
    /// waits.
    pub due_tick: f64,
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
    /// Time between the two, seconds.
    pub span_seconds: f32,
    /// Time for which playout has been waiting at the newest snapshot because the next one has not
    /// arrived, seconds; 0 if there is a next one.
    pub starved_seconds: f32,
}

impl<T> PlayoutBuffer<T> {
    /// An empty buffer that plays a sender back by its clock, so much later.
    #[must_use]
    pub const fn new(clock: SenderClock, delay: Duration) -> Self {
        Self {
            clock,
            delay,
            pace: None,
            snapshots: VecDeque::new(),
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

    /// Changes it. Playout goes there as [`advance`](Self::advance) says, or at once if that was
    /// never called.
    pub const fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    /// Moves playout on to `now`. Where the delay has changed, or packets take longer than before or
    /// less long, it plays slower or faster until it is where it should be, and never backwards;
    /// only if it is off by more than a second, it jumps. Call it many times a second.
    pub fn advance(&mut self, now: Duration) {
        let Some(target) = self.target_tick(now) else {
            return;
        };
        let Some(pace) = self.pace else {
            self.pace = Some(Pace {
                at: now,
                due_tick: target,
            });
            return;
        };
        let tick_seconds = self.clock.tick_seconds();
        let elapsed_seconds = now.saturating_sub(pace.at).as_secs_f64();
        let steady = pace.due_tick + elapsed_seconds / tick_seconds;
        let off_seconds = (target - steady) * tick_seconds;
        let due_tick = if off_seconds.abs() > JUMP_SECONDS {
            target
        } else {
            let part = (elapsed_seconds / SETTLING_SECONDS).min(1.0);
            let most_seconds = MAX_PACE_CHANGE * elapsed_seconds;
            let step_seconds = (off_seconds * part).clamp(-most_seconds, most_seconds);
            steady + step_seconds / tick_seconds
        };
        self.pace = Some(Pace { at: now, due_tick });
    }

    /// See [`SenderClock::hear_of_tick`].
    pub fn hear_of_tick(&mut self, now: Duration, tick: u64) {
        self.clock.hear_of_tick(now, tick);
    }

    /// The sender's clock.
    #[must_use]
    pub const fn clock(&self) -> &SenderClock {
        &self.clock
    }

    /// The full tick of a sequence number that arrives `now`. See [`SenderClock::tick_of`].
    #[must_use]
    pub fn tick(&self, now: Duration, sequence: Sequence) -> u64 {
        self.clock.tick_of(now, sequence)
    }

    /// Snapshots that are still to come in playout.
    #[must_use]
    pub fn ahead(&self, now: Duration) -> usize {
        let due = self.due_tick(now).unwrap_or(0.0);
        let played = self
            .snapshots
            .partition_point(|&(tick, _)| tick as f64 <= due);
        self.snapshots.len() - played
    }

    /// Whether the snapshot of that tick comes too late `now` to be played.
    #[must_use]
    pub fn is_late(&self, now: Duration, tick: u64) -> bool {
        // Not by what floats round away.
        const SLACK_TICKS: f64 = 1e-6;
        self.due_tick(now)
            .is_some_and(|due| tick as f64 + SLACK_TICKS < due)
    }

    /// Takes in the snapshot of a [tick](Self::tick) that arrived `now`; gives one back whose memory
    /// can be reused: the oldest if the buffer is full, or this one if it is there already.
    pub fn insert(&mut self, now: Duration, tick: u64, snapshot: T) -> Option<T> {
        self.clock.arrived(now, tick);
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

    /// The newest snapshot, due or not.
    #[must_use]
    pub fn newest(&self, now: Duration) -> Option<Playout<'_, T>> {
        let (tick, newest) = self.snapshots.back()?;
        Some(Playout {
            tick: *tick as f64,
            due_tick: self.clock.tick_at(now)?,
            from_tick: *tick,
            from: newest,
            to_tick: *tick,
            to: newest,
            fraction: 0.0,
            span_seconds: 0.0,
            starved_seconds: 0.0,
        })
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
        let seconds = self.clock.tick_seconds();
        let starved_ticks = if span > 0.0 {
            0.0
        } else {
            (due - start).max(0.0)
        };
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

    /// Removes the oldest snapshot if it will not be needed any more, for its memory.
    pub fn discard_played(&mut self, now: Duration) -> Option<T> {
        let due = self.due_tick(now)?;
        let next_is_played = self
            .snapshots
            .get(1)
            .is_some_and(|&(tick, _)| tick as f64 <= due);
        next_is_played.then(|| self.snapshots.pop_front().expect("there are two").1)
    }

    fn due_tick(&self, now: Duration) -> Option<f64> {
        let Some(pace) = self.pace else {
            return self.target_tick(now);
        };
        let elapsed_seconds = now.saturating_sub(pace.at).as_secs_f64();
        Some(pace.due_tick + elapsed_seconds / self.clock.tick_seconds())
    }

    /// What ought to be due by the quickest packets and the delay.
    fn target_tick(&self, now: Duration) -> Option<f64> {
        Some(self.clock.tick_at(now)? - self.delay.as_secs_f64() / self.clock.tick_seconds())
    }
}

/// Time in which playout makes up for most of what it is off by.
const SETTLING_SECONDS: f64 = 0.5;

/// By how much it plays slower or faster than the sender at most: half.
const MAX_PACE_CHANGE: f64 = 0.5;

/// Farther off than this, playout jumps: nobody wants to watch it catch up.
const JUMP_SECONDS: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// 100 ticks a second, shown 30 ms late; ticks take 50 ms to arrive.
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
        assert!(
            PlayoutBuffer::<u16>::new(SenderClock::new(60, 0, ms(0)), ms(85))
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
    fn what_waits_and_what_is_late_is_known() {
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

    #[test]
    fn playout_slows_down_for_slower_packets_and_never_goes_back() {
        // From 2 s on, ticks take 150 ms instead of 50.
        let mut buffer = PlayoutBuffer::new(SenderClock::new(100, 0, ms(0)), ms(30));
        let mut last = f64::MIN;
        let mut slowest = f64::MAX;
        for tick in 0..1_000 {
            let now = ms(150 + 10 * tick);
            // What arrives in this tick of the receiver: sent 50 ms before, or 150.
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
        // 30 ms after the arrival of what takes 150 ms.
        assert!((last - (999.0 - 3.0)).abs() < 0.05, "{last}");
    }

    #[test]
    fn playout_follows_a_new_delay_and_jumps_a_long_way() {
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
        buffer.advance(ms(160));
        assert!((due(&buffer, ms(160)) - (11.0 - 500.0)).abs() < 1e-6);
    }
}
