//! A budget of bytes on the wire.

mod send;

pub use self::send::{AllowedSnapshot, SendBudget, TransportState};

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::schedule::PacketBudget;

/// Budgets that a receiver can request, in kilobits a second.
pub const BUDGETS_KBPS: RangeInclusive<u32> = 16..=1024;

/// A budget of bytes per second on the wire. It holds in every period of one second and is spread over it.
///
/// All data to a receiver counts, including the headers of lower layers. Times are from one clock and must not
/// decrease. If packets are sent once per frame and a frame can have several ticks, use the frame's clock, not the
/// tick's.
#[derive(Clone, Debug)]
pub struct RateLimiter {
    bytes_per_second: u32,
    ticks_per_second: u16,
    /// Time and size of every send in the last second.
    spent: VecDeque<(Duration, u32)>,
    /// Fill of a token bucket, bytes. Negative after a send that exceeded the budget.
    saved: f64,
    /// When the bucket was last filled.
    filled_at: Option<Duration>,
}

/// Size of the token bucket in seconds of the rate. Longer than the sender waits for a full packet.
const SAVED_SECONDS: f64 = 0.15;

/// Minimum size of the token bucket, bytes, so that a new body fits.
const MIN_SAVED: f64 = 256.0;

/// A second less 1 µs, because 60 ticks in whole nanoseconds are slightly less than a second.
const SECOND: Duration = Duration::from_micros(999_999);

impl RateLimiter {
    /// Creates a budget of `bytes_per_second` for a scene with this tick rate.
    ///
    /// # Panics
    /// If `ticks_per_second` is 0.
    pub fn new(bytes_per_second: u32, ticks_per_second: u16) -> Self {
        assert!(ticks_per_second > 0, "the tick rate must not be 0");
        Self {
            bytes_per_second,
            ticks_per_second,
            spent: VecDeque::new(),
            saved: 0.0,
            filled_at: None,
        }
    }

    /// Returns the number of payload bytes that the next packet may have, if it is split into datagrams of at most
    /// `datagram` bytes with `overhead` bytes of headers each.
    pub fn packet_budget(
        &mut self,
        now: Duration,
        datagram: usize,
        overhead: usize,
    ) -> PacketBudget<'static> {
        let payload = |wire: usize| {
            // One too many if `wire` is an exact multiple, so the result is never too large.
            let datagrams = wire / (datagram + overhead) + 1;
            wire.saturating_sub(datagrams * overhead)
        };
        PacketBudget {
            bytes: payload(self.available(now)),
            growth: self.bytes_per_second as usize / usize::from(self.ticks_per_second),
            most: payload(self.most()),
            ..PacketBudget::default()
        }
    }

    /// Size of the token bucket, bytes.
    fn most(&self) -> usize {
        (f64::from(self.bytes_per_second) * SAVED_SECONDS).max(MIN_SAVED) as usize
    }

    /// Changes the rate. If it becomes lower, the bytes of the last second are scaled down with it, so that the
    /// change does not cause a pause.
    pub fn set_bytes_per_second(&mut self, bytes_per_second: u32) {
        if bytes_per_second < self.bytes_per_second {
            let [new, old] = [bytes_per_second, self.bytes_per_second].map(u64::from);
            for (_, bytes) in &mut self.spent {
                *bytes = (u64::from(*bytes) * new / old) as u32;
            }
        }
        self.bytes_per_second = bytes_per_second;
    }

    /// Returns the number of bytes that may be sent now. The token bucket spreads the sends over the second, and the
    /// bytes of the last second ensure that no second exceeds the budget.
    pub fn available(&mut self, now: Duration) -> usize {
        let rate = f64::from(self.bytes_per_second);
        let passed = now.saturating_sub(self.filled_at.replace(now).unwrap_or(now));
        self.saved = (self.saved + rate * passed.as_secs_f64()).min(self.most() as f64);
        while self.spent.pop_front_if(|(then, _)| *then + SECOND <= now).is_some() {}
        (self.saved.max(0.0) as usize).min(self.left())
    }

    /// Returns the budget of a second less the bytes of the last second.
    fn left(&self) -> usize {
        let spent: u64 = self.spent.iter().map(|&(_, bytes)| u64::from(bytes)).sum();
        u64::from(self.bytes_per_second).saturating_sub(spent) as usize
    }

    /// Returns the number of bytes that may be sent now of a packet that cannot be split. A packet that is longer than
    /// the token bucket is only limited by the bytes of the last second, because the bucket never has enough for it.
    pub fn available_for(&mut self, now: Duration, packet: usize) -> usize {
        let available = self.available(now);
        match packet > self.most() {
            true => self.left().min(packet),
            false => available.min(packet),
        }
    }

    /// Records sent bytes, even if they exceed the budget.
    pub fn spend(&mut self, at: Duration, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX / 2);
        self.saved -= f64::from(bytes);
        self.spent.push_back((at, bytes));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tick(tick: u32) -> Duration {
        Duration::from_nanos(16_666_666) * tick
    }

    proptest! {
        #[test]
        fn no_second_has_more_than_the_budget(
            rate in 500_u32..100_000,
            frames in prop::collection::vec((1_u64..400_000, prop::collection::vec(0_usize..3000, 0..5)), 1..300),
        ) {
            let mut budget = RateLimiter::new(rate, 60);
            let (mut now, mut sent) = (Duration::ZERO, Vec::new());
            for (micros, wishes) in frames {
                now += Duration::from_micros(micros);
                let mut bytes = 0;
                for wish in wishes {
                    let wish = wish.min(budget.available(now));
                    budget.spend(now, wish);
                    bytes += wish;
                }
                sent.push((now, bytes));
            }
            for &(from, _) in &sent {
                let second = sent.iter().filter(|&&(at, _)| (from..from + SECOND).contains(&at));
                prop_assert!(second.map(|&(_, bytes)| bytes).sum::<usize>() <= rate as usize);
            }
        }

        #[test]
        fn a_smaller_budget_holds_at_once_and_is_used(rate in 4_000_u32..100_000, part in 0.2..=1.0_f64) {
            let mut budget = RateLimiter::new(rate, 60);
            let smaller = (f64::from(rate) * part) as u32;
            let mut sent = Vec::new();
            for now in (0..300).map(tick) {
                if now == tick(120) {
                    budget.set_bytes_per_second(smaller);
                }
                let bytes = budget.available(now);
                budget.spend(now, bytes);
                sent.push(bytes);
            }
            for (rate, sent) in [(rate, &sent[..120]), (smaller, &sent[120..])] {
                for second in sent.windows(60) {
                    let total: usize = second.iter().sum();
                    let used = f64::from(rate) * 0.9;
                    prop_assert!(total <= rate as usize && total as f64 >= used, "{total} of {rate}");
                }
            }
        }
    }
}
