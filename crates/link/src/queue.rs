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
        Self {
            waiting: VecDeque::new(),
            bytes: 0,
            free_at: Duration::ZERO,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
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
        self.waiting.push_back(Waiting {
            since: now,
            bytes,
            item,
        });
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

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A byte takes one millisecond.
    const fn slow(queue_bytes: usize) -> Option<Bandwidth> {
        Some(Bandwidth {
            bits_per_second: 8_000,
            queue_bytes,
        })
    }

    /// Items that leave: time of sending in milliseconds, and item.
    fn popped<T>(
        queue: &mut Queue<T>,
        now: Duration,
        bandwidth: Option<Bandwidth>,
    ) -> Vec<(u128, T)> {
        std::iter::from_fn(|| queue.pop(now, bandwidth))
            .map(|(at, item)| (at.as_millis(), item))
            .collect()
    }

    #[test]
    fn items_wait_for_each_other_and_the_queue_drops_its_tail() {
        let bandwidth = slow(20);
        let mut queue = Queue::new();
        assert!(queue.push(ms(0), 10, bandwidth, "at once"));
        assert_eq!(popped(&mut queue, ms(0), bandwidth), [(10, "at once")]);
        assert!(queue.push(ms(0), 10, bandwidth, "waits"));
        assert!(queue.push(ms(0), 10, bandwidth, "waits longer"));
        assert!(!queue.push(ms(0), 1, bandwidth, "dropped"));
        assert_eq!(popped(&mut queue, ms(9), bandwidth), []);
        assert_eq!((queue.len(), queue.bytes()), (2, 20));

        assert_eq!(popped(&mut queue, ms(10), bandwidth), [(20, "waits")]);
        assert!(!queue.push(ms(10), 11, bandwidth, "too big"));
        assert!(queue.push(ms(10), 10, bandwidth, "fits"));
        assert_eq!(
            popped(&mut queue, Duration::MAX, bandwidth),
            [(30, "waits longer"), (40, "fits")]
        );
        assert_eq!((queue.len(), queue.bytes()), (0, 0));
    }

    #[test]
    fn an_idle_link_accepts_a_packet_larger_than_its_queue() {
        let bandwidth = slow(5);
        let mut queue = Queue::new();
        for sent in [0, 100] {
            assert!(queue.push(ms(sent), 100, bandwidth, ()));
            let sent = u128::from(sent);
            let now = Duration::from_millis(sent as u64);
            assert_eq!(popped(&mut queue, now, bandwidth), [(sent + 100, ())]);
        }
        assert!(!queue.push(ms(199), 100, bandwidth, ()));
    }

    #[test]
    fn queued_items_leave_at_the_current_rate() {
        let mut queue = Queue::new();
        for item in ["a", "b", "c"] {
            queue.push(ms(0), 10, slow(1_000), item);
        }
        assert_eq!(popped(&mut queue, ms(5), slow(1_000)), [(10, "a")]);
        // Twice as fast, then without a limit. The item that is being sent keeps its rate.
        let faster = Some(Bandwidth {
            bits_per_second: 16_000,
            queue_bytes: 1_000,
        });
        assert_eq!(popped(&mut queue, ms(12), faster), [(15, "b")]);
        queue.push(ms(12), 10, None, "d");
        assert_eq!(popped(&mut queue, ms(20), None), [(15, "c"), (15, "d")]);
    }

    #[test]
    fn the_time_to_send_is_rounded_up_and_does_not_overflow() {
        let bandwidth = Bandwidth {
            bits_per_second: 3_000,
            queue_bytes: 1,
        };
        assert_eq!(bandwidth.time_for(0), Duration::ZERO);
        assert_eq!(bandwidth.time_for(3), ms(8));
        assert_eq!(bandwidth.time_for(1), Duration::from_nanos(2_666_667));
        assert!(bandwidth.time_for(usize::MAX) > ms(1_000_000));
    }
}
