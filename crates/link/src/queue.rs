//! The drop-tail queue of a bottleneck.

use std::collections::VecDeque;
use std::time::Duration;

use crate::Bandwidth;

/// First-in, first-out queue of items to send.
///
/// An item waits only for the items before it. Without a bandwidth limit it leaves at once.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    waiting: VecDeque<Waiting<T>>,
    bytes: usize,
    /// Time at which the last bit of the item that left last is sent.
    free_at: Duration,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    since: Duration,
    bytes: usize,
    item: T,
}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, free_at: Duration::ZERO }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Appends an item. Returns false if the queue is full and the item was dropped. Items that have left
    /// by `now` must have been [popped](Self::pop).
    pub(crate) fn push(
        &mut self,
        now: Duration,
        bytes: usize,
        bandwidth: Option<Bandwidth>,
        item: T,
    ) -> bool {
        let is_idle = self.waiting.is_empty() && self.free_at <= now;
        let total = self.bytes.saturating_add(bytes);
        if !is_idle && bandwidth.is_some_and(|bandwidth| total > bandwidth.queue_bytes) {
            return false;
        }
        self.bytes = total;
        self.waiting.push_back(Waiting { since: now, bytes, item });
        true
    }

    /// Returns the next item that has left the queue by `now`, and the time at which its last bit is sent, which
    /// may be later.
    pub(crate) fn pop(
        &mut self,
        now: Duration,
        bandwidth: Option<Bandwidth>,
    ) -> Option<(Duration, T)> {
        let start = self.free_at.max(self.waiting.front()?.since);
        if start > now {
            return None;
        }
        let Waiting { bytes, item, .. } = self.waiting.pop_front()?;
        self.bytes = self.bytes.saturating_sub(bytes);
        let takes = bandwidth.map_or(Duration::ZERO, |bandwidth| bandwidth.time_for(bytes));
        self.free_at = start.saturating_add(takes);
        Some((self.free_at, item))
    }
}

impl Bandwidth {
    /// Time to send `bytes` bytes, rounded up to a nanosecond.
    fn time_for(self, bytes: usize) -> Duration {
        let bit_nanos = bytes as u128 * 8 * 1_000_000_000;
        let nanos = bit_nanos.div_ceil(u128::from(self.bits_per_second));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_to_send_is_rounded_up_and_does_not_overflow() {
        let bandwidth = Bandwidth { bits_per_second: 3_000, queue_bytes: 1 };
        let nanos = |bytes| bandwidth.time_for(bytes).as_nanos();
        assert_eq!([0, 1, 3].map(nanos), [0, 2_666_667, 8_000_000]);
        assert!(bandwidth.time_for(usize::MAX) > Duration::from_secs(1_000));
    }
}
