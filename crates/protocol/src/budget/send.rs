//! All limits of one receiver: budget, adaptive rate, and spacing of complete snapshots.

use std::time::Duration;

use super::RateLimiter;
use crate::feedback::Feedback;
use crate::rate::AdaptiveRate;
use crate::renet_guard::SLICE_BYTES;
use crate::schedule::PacketBudget;

/// Limits the data sent to a receiver by a budget and by an adaptive rate.
///
/// The budget counts everything on the wire, including headers and retransmissions. If packets can be partial, it
/// limits the size of each packet. Otherwise complete snapshots are sent less often, and each is spread over several
/// ticks.
#[derive(Clone, Debug)]
pub struct SendBudget {
    ticks_per_second: u16,
    /// The adaptive rate, for a budget from [`adaptive`](Self::adaptive).
    pub rate: Option<AdaptiveRate>,
    /// Tick of the last [`allow`](Self::allow).
    tick: Option<u64>,
    /// The byte budget while packets can be partial.
    bucket: Option<RateLimiter>,
    /// Bytes on the wire before the last flush, and the time of that flush. The bytes of the flush itself are known at
    /// the next call.
    counted: (u64, Duration),
    /// Granted bytes per second while packets cannot be partial.
    whole_rate: Option<u32>,
    /// Tick until which the budget is used up by the last complete snapshot.
    whole_until: u64,
    overhead_bytes: usize,
}

/// State of the transport before it sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransportState {
    /// Number of bytes on the wire since the start.
    pub sent_bytes: u64,
    /// Maximum number of header bytes around each datagram.
    pub overhead_bytes: usize,
    /// Whether reliable messages wait to be sent or acked.
    pub is_reliable_waiting: bool,
    /// Bytes on the wire of a reliable packet that waits until the budget covers it; 0 without one. It cannot be split.
    pub stalled_bytes: usize,
}

/// The kind of snapshot that may be sent.
#[derive(Clone, Copy, Debug)]
pub enum AllowedSnapshot {
    /// A complete snapshot.
    Complete,
    /// A partial snapshot of limited size.
    Partial(PacketBudget<'static>),
    /// No snapshot, because the last complete one is still being sent.
    Nothing,
}

/// Maximum time over which a complete snapshot is spread. Its ack must arrive before it is [too
/// old](crate::MAX_BASELINE_AGE_TICKS) for a baseline. 2.1 s at 60 Hz.
const MAX_SPREAD_TICKS: u64 = 128;

impl SendBudget {
    /// Creates a budget that grants every request. Use it for a simulated network, which may be overloaded.
    ///
    /// # Panics
    /// If `ticks_per_second` is 0.
    pub const fn new(ticks_per_second: u16) -> Self {
        assert!(ticks_per_second > 0, "the tick rate must not be 0");
        Self {
            ticks_per_second,
            rate: None,
            tick: None,
            bucket: None,
            counted: (0, Duration::ZERO),
            whole_rate: None,
            whole_until: 0,
            overhead_bytes: 0,
        }
    }

    /// Creates a budget that is also limited by an [`AdaptiveRate`].
    ///
    /// # Panics
    /// If `ticks_per_second` is 0.
    pub fn adaptive(ticks_per_second: u16) -> Self {
        Self { rate: Some(AdaptiveRate::new(ticks_per_second)), ..Self::new(ticks_per_second) }
    }

    /// Returns the granted budget in kilobits a second for a requested one. `None` means no limit.
    pub fn granted_kbps(&self, asked_kbps: Option<u32>) -> Option<u32> {
        let through = self.rate.as_ref().and_then(AdaptiveRate::kbps);
        asked_kbps.into_iter().chain(through).min()
    }

    /// Returns the kind of snapshot that may be sent, and the maximum number of bytes on the wire for reliable
    /// messages, where `None` means no limit.
    ///
    /// Call this before each flush of the transport, at least once per tick. `now` is the transport's clock, which
    /// may have the same value for several ticks.
    pub fn allow(
        &mut self,
        tick: u64,
        now: Duration,
        asked_kbps: Option<u32>,
        can_be_partial: bool,
        outbound: &TransportState,
    ) -> (AllowedSnapshot, Option<usize>) {
        let is_new = self.tick.replace(tick) != Some(tick);
        if let Some(rate) = self.rate.as_mut().filter(|_| is_new) {
            rate.update(tick);
        }
        self.overhead_bytes = outbound.overhead_bytes;
        let granted = self.granted_kbps(asked_kbps);
        // A rate of 0 would never send anything.
        let granted = granted.map(|kbps| kbps.max(1).saturating_mul(125));
        self.whole_rate = granted.filter(|_| !can_be_partial);
        let Some(rate) = granted.filter(|_| can_be_partial) else {
            self.bucket = None;
            let is_busy = granted.is_some() && tick < self.whole_until;
            let allowed =
                if is_busy { AllowedSnapshot::Nothing } else { AllowedSnapshot::Complete };
            return (allowed, None);
        };
        let (before, at) = std::mem::replace(&mut self.counted, (outbound.sent_bytes, now));
        if let Some(bucket) = &mut self.bucket {
            bucket.spend(at, outbound.sent_bytes.saturating_sub(before) as usize);
            bucket.set_bytes_per_second(rate);
        }
        let bucket =
            self.bucket.get_or_insert_with(|| RateLimiter::new(rate, self.ticks_per_second));
        let available = bucket.available(now);
        let mut packet_budget = bucket.packet_budget(now, SLICE_BYTES, outbound.overhead_bytes);
        // Half for each, so that snapshots and reliable messages cannot block each other. A packet that cannot be split
        // may take more.
        let reliable = match outbound.is_reliable_waiting {
            true => bucket.available_for(now, outbound.stalled_bytes).max(available / 2),
            false => 0,
        };
        packet_budget.bytes = packet_budget.bytes.saturating_sub(reliable);
        (AllowedSnapshot::Partial(packet_budget), Some(reliable))
    }

    /// Records a snapshot of `bytes` without headers that goes to the transport. Returns the number of ticks over
    /// which a [`Pacer`](crate::Pacer) must spread its datagrams: 1 if it is partial, or without an adaptive rate.
    pub fn on_sent(&mut self, tick: u64, bytes: usize) -> u32 {
        let datagrams = bytes.div_ceil(SLICE_BYTES).max(1);
        let wire = bytes + datagrams * self.overhead_bytes;
        let spread = self.whole_rate.map_or(1, |rate| {
            let ticks = wire as u64 * u64::from(self.ticks_per_second);
            ticks.div_ceil(rate.into()).clamp(1, MAX_SPREAD_TICKS)
        });
        self.whole_until = tick + spread;
        self.rate.as_mut().map_or(1, |rate| {
            // Ticks until the `Pacer` sends the last datagram.
            let last = spread * (datagrams as u64 - 1) / datagrams as u64;
            rate.on_sent(tick, tick + last, wire);
            spread as u32
        })
    }

    /// Records feedback that arrived in this tick.
    pub fn on_feedback(&mut self, tick: u64, feedback: &Feedback) {
        if let (Some(rate), Feedback::Ack(ack)) = (&mut self.rate, feedback) {
            rate.on_ack(tick, ack);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_snapshots_are_sent_as_often_as_the_budget_allows() {
        let outbound = TransportState { overhead_bytes: 28, ..TransportState::default() };
        for (mut budget, spread) in [(SendBudget::new(60), 1), (SendBudget::adaptive(60), 59)] {
            // With more ticks, the missing acks would count as silence.
            for tick in 0..100 {
                let allowed = budget.allow(tick, Duration::ZERO, Some(64), false, &outbound);
                let is_due = matches!(allowed, (AllowedSnapshot::Complete, None));
                assert_eq!(is_due, tick % 59 == 0);
                // Seven datagrams, which take 7860 of 8000 bytes a second.
                if is_due {
                    assert_eq!(budget.on_sent(tick, 7_664), spread);
                }
            }
        }
    }

    #[test]
    fn a_budget_of_zero_is_a_small_one() {
        let mut budget = SendBudget::new(60);
        let (allowed, _) =
            budget.allow(1, Duration::ZERO, Some(0), false, &TransportState::default());
        assert!(matches!(allowed, AllowedSnapshot::Complete));
        budget.on_sent(1, 1_000);
        let (allowed, _) =
            budget.allow(2, Duration::ZERO, Some(0), false, &TransportState::default());
        assert!(matches!(allowed, AllowedSnapshot::Nothing));
    }
}
