//! The tick that is due, and how it approaches a new playout delay.

use std::time::Duration;

use crate::SenderClock;

/// The sender's clock minus the playout delay. After the first [`advance`](Self::advance) it changes smoothly even if
/// these jump.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    pub(super) clock: SenderClock,
    pub(super) delay: Duration,
    /// Set by the last [`advance`](Self::advance).
    position: Option<Position>,
}

/// The tick that was due at a time. Since then, playout runs at the sender's rate.
#[derive(Clone, Copy, Debug)]
struct Position {
    at: Duration,
    due_tick: f64,
}

impl Pace {
    pub(super) const fn new(clock: SenderClock, delay: Duration) -> Self {
        Self { clock, delay, position: None }
    }

    /// See [`PlayoutBuffer::advance`](super::PlayoutBuffer::advance). Returns the time since the last call.
    pub(super) fn advance(&mut self, now: Duration) -> Duration {
        let Some(target) = self.target_tick(now) else {
            return Duration::ZERO;
        };
        let Some(position) = self.position else {
            self.position = Some(Position { at: now, due_tick: target });
            return Duration::ZERO;
        };
        let elapsed = now.saturating_sub(position.at);
        let (passed, rate) = (elapsed.as_secs_f64(), self.clock.rate);
        let steady = position.due_tick + self.ticks(passed);
        let off_seconds = (target - steady) * self.clock.tick_seconds;
        let due_tick = if off_seconds.abs() > JUMP_SECONDS {
            target
        } else {
            let fraction = (passed / SETTLING_SECONDS).min(1.0);
            let max = MAX_RATE_CHANGE * passed;
            // While the sender is in slow motion, playout still catches up as fast as at the usual rate.
            let step = (off_seconds * fraction).clamp(-max * rate, max * rate.max(1.0));
            steady + step / self.clock.tick_seconds
        };
        self.position = Some(Position { at: now, due_tick });
        elapsed
    }

    /// Returns the number of the sender's ticks in `seconds` of local time.
    fn ticks(&self, seconds: f64) -> f64 {
        seconds * self.clock.rate / self.clock.tick_seconds
    }

    /// The tick that is due at `now`; `None` before the first packet.
    pub(super) fn due_tick(&self, now: Duration) -> Option<f64> {
        let Some(position) = self.position else {
            return self.target_tick(now);
        };
        let passed = now.saturating_sub(position.at).as_secs_f64();
        Some(position.due_tick + self.ticks(passed))
    }

    /// Moves playout back to its target if it is far ahead of it and past the `newest` snapshot, but not back beyond
    /// that snapshot. The display does not change, because playout has been waiting there.
    pub(super) fn take_back(&mut self, newest: u64) {
        let Some(target) = self.position.and_then(|position| self.target_tick(position.at)) else {
            return;
        };
        let far = TAKEN_BACK_SECONDS / self.clock.tick_seconds;
        if let Some(position) = &mut self.position
            && position.due_tick > target + far
        {
            position.due_tick = position.due_tick.min(target.max(newest as f64));
        }
    }

    /// The tick that should be due by the sender's clock and the delay.
    fn target_tick(&self, now: Duration) -> Option<f64> {
        Some(self.clock.tick_at(now)? - self.delay.as_secs_f64() / self.clock.tick_seconds)
    }
}

/// Time constant with which playout approaches its target.
const SETTLING_SECONDS: f64 = 0.5;

/// Maximum change of the playout rate, as a fraction of the sender's.
const MAX_RATE_CHANGE: f64 = 0.5;

/// With a smaller error, slowing down takes so little time that even extrapolated bodies need not move back.
const TAKEN_BACK_SECONDS: f64 = 0.1;

/// Beyond this error playout jumps, because catching up would take too long.
const JUMP_SECONDS: f64 = 1.0;
