//! The tick that is due, and how it approaches a new playout delay.

use std::time::Duration;

use crate::SenderClock;

/// The sender's clock, less the playout delay. After the first [`advance`](Self::advance) it changes
/// smoothly where these change at once.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    pub(super) clock: SenderClock,
    pub(super) delay: Duration,
    /// Set by the last [`advance`](Self::advance).
    position: Option<Position>,
}

/// The tick that was due at a time. Since then, playout runs at the sender's tick rate.
#[derive(Clone, Copy, Debug)]
struct Position {
    at: Duration,
    due_tick: f64,
}

impl Pace {
    pub(super) const fn new(clock: SenderClock, delay: Duration) -> Self {
        Self {
            clock,
            delay,
            position: None,
        }
    }

    /// See [`PlayoutBuffer::advance`](super::PlayoutBuffer::advance).
    pub(super) fn advance(&mut self, now: Duration) {
        let Some(target) = self.target_tick(now) else {
            return;
        };
        let Some(position) = self.position else {
            self.position = Some(Position {
                at: now,
                due_tick: target,
            });
            return;
        };
        let tick_seconds = self.clock.tick_seconds();
        let elapsed_seconds = now.saturating_sub(position.at).as_secs_f64();
        let steady = position.due_tick + elapsed_seconds / tick_seconds;
        let off_seconds = (target - steady) * tick_seconds;
        let due_tick = if off_seconds.abs() > JUMP_SECONDS {
            target
        } else {
            let part = (elapsed_seconds / SETTLING_SECONDS).min(1.0);
            let max_seconds = MAX_RATE_CHANGE * elapsed_seconds;
            let step_seconds = (off_seconds * part).clamp(-max_seconds, max_seconds);
            steady + step_seconds / tick_seconds
        };
        self.position = Some(Position { at: now, due_tick });
    }

    /// The tick that is due at `now`; `None` before the first packet.
    pub(super) fn due_tick(&self, now: Duration) -> Option<f64> {
        let Some(position) = self.position else {
            return self.target_tick(now);
        };
        let elapsed_seconds = now.saturating_sub(position.at).as_secs_f64();
        Some(position.due_tick + elapsed_seconds / self.clock.tick_seconds())
    }

    /// The tick that should be due by the sender's clock and the delay.
    fn target_tick(&self, now: Duration) -> Option<f64> {
        Some(self.clock.tick_at(now)? - self.delay.as_secs_f64() / self.clock.tick_seconds())
    }
}

/// Time constant with which playout approaches its target.
const SETTLING_SECONDS: f64 = 0.5;

/// Maximum change of the playout rate, as a fraction of the sender's.
const MAX_RATE_CHANGE: f64 = 0.5;

/// Beyond this error playout jumps, because catching up would take too long.
const JUMP_SECONDS: f64 = 1.0;
