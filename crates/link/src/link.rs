//! One direction of a link: a queue, followed by the packets in flight.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::draw::{Draw, draw};
use crate::{Bandwidth, Conditions, Loss};

/// One direction of a link that carries items of type `T`.
///
/// The time is an argument, from any clock that does not run backwards. Packets come out in the order
/// of arrival. If they arrive at the same time, they keep the order of sending. The same seed, calls and
/// conditions give the same deliveries. Use different seeds for the two directions.
///
/// The random numbers of a packet depend only on its number and the seed, and the same numbers are drawn
/// for every packet. The fate of a packet therefore does not shift the random numbers of later ones, and a
/// packet that is lost at an independent loss of 5 % is also lost at 10 %.
#[derive(Clone, Debug)]
pub struct Link<T> {
    conditions: Conditions,
    rng: ChaCha8Rng,
    /// State of the Gilbert–Elliott model.
    in_bad_state: bool,
    /// Time of the first packet that was sent since the trace was set.
    trace_start: Option<Duration>,
    /// The drop-tail queue of the bottleneck. A packet waits only for those before it.
    queue: VecDeque<Packet<T>>,
    queue_bytes: usize,
    /// Time at which the last bit of the packet that left the queue last is sent.
    free_at: Duration,
    /// Packets in flight by time of arrival, then number, a copy after the packet itself.
    arriving: BTreeMap<(Duration, u64, bool), T>,
    newest_delivered: Option<u64>,
    stats: LinkStats,
}

/// Counters of a link, in packets.
///
/// Invariant: sent + duplicated = lost + queue dropped + delivered + [in flight](Link::in_flight).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets passed to [`Link::send`].
    pub sent: u64,
    /// Packets lost at random, by a trace or while the link was cut.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub queue_dropped: u64,
    /// Copies made by duplication.
    pub duplicated: u64,
    /// Packets returned by [`Link::receive`], copies included.
    pub delivered: u64,
    /// Packets delivered after a packet that was sent later (RFC 4737, section 3).
    pub reordered: u64,
}

#[derive(Clone, Debug)]
struct Packet<T> {
    sent_at: Duration,
    bytes: usize,
    number: u64,
    fate: Fate,
    item: T,
}

/// Fate of a packet after it leaves the queue.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lost,
    Arrives { delay: Duration, copy_delay: Option<Duration> },
}

impl<T> Link<T> {
    /// Creates an empty link. `seed` determines all randomness. Conditions out of range are
    /// [clamped](Conditions::clamped).
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self {
            conditions: conditions.clamped(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            in_bad_state: false,
            trace_start: None,
            queue: VecDeque::new(),
            queue_bytes: 0,
            free_at: Duration::ZERO,
            arriving: BTreeMap::new(),
            newest_delivered: None,
            stats: LinkStats::default(),
        }
    }

    /// The current conditions, clamped.
    pub const fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Sets the conditions for packets that are sent from now on. Values out of range are
    /// [clamped](Conditions::clamped).
    ///
    /// Packets sent before keep their fate and their delay. Queued packets stay queued. They leave at the
    /// new rate after the packet that is being sent. The state of the Gilbert–Elliott model is
    /// kept if the new loss also has that model. Otherwise it is reset to the good state.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        let conditions = conditions.clamped();
        if !matches!(conditions.loss, Loss::GilbertElliott { .. }) {
            self.in_bad_state = false;
        }
        if conditions.trace != self.conditions.trace {
            self.trace_start = None;
        }
        self.conditions = conditions;
    }

    /// Number of packets in flight, including queued ones and copies.
    pub fn in_flight(&self) -> usize {
        self.queue.len() + self.arriving.len()
    }

    /// Counters since the link was created.
    pub const fn stats(&self) -> LinkStats {
        self.stats
    }

    /// Decides the fate of a packet that is sent at `now`.
    fn fate(&mut self, now: Duration, draw: &Draw) -> Fate {
        let Conditions {
            latency, jitter, loss, duplicate_probability, reordering, ref trace, ..
        } = self.conditions;
        let is_duplicated = draw.duplication < duplicate_probability;
        if let Some(trace) = trace {
            let start = *self.trace_start.get_or_insert(now);
            return trace.delay(now.saturating_sub(start)).map_or(Fate::Lost, |delay| {
                Fate::Arrives { delay, copy_delay: is_duplicated.then_some(delay) }
            });
        }
        if loss.loses(&mut self.in_bad_state, draw.transition, draw.loss) {
            return Fate::Lost;
        }
        let held_back = reordering.map_or(Duration::ZERO, |reordering| reordering.delay(draw));
        Fate::Arrives {
            delay: jitter.delay(latency, draw.jitter) + held_back,
            copy_delay: is_duplicated.then(|| jitter.delay(latency, draw.copy_jitter)),
        }
    }
}

impl<T: Clone> Link<T> {
    /// Sends an item in a packet of `bytes` bytes, IP and UDP headers included. The size only matters if
    /// the bandwidth is limited.
    pub fn send(&mut self, now: Duration, bytes: usize, item: T) {
        let number = self.stats.sent;
        self.stats.sent += 1;
        let draw = draw(&mut self.rng, number);
        let fate = self.fate(now, &draw);
        if self.conditions.cut {
            self.stats.lost += 1;
            return;
        }
        self.drain_queue(now);
        let is_idle = self.queue.is_empty() && self.free_at <= now;
        let queue_bytes = self.queue_bytes.saturating_add(bytes);
        let bandwidth = self.conditions.bandwidth;
        if !is_idle && bandwidth.is_some_and(|bandwidth| queue_bytes > bandwidth.queue_bytes) {
            self.stats.queue_dropped += 1;
            return;
        }
        self.queue_bytes = queue_bytes;
        self.queue.push_back(Packet { sent_at: now, bytes, number, fate, item });
        self.drain_queue(now);
    }

    /// Returns the next item that has arrived by `now`. Call it until it returns `None`.
    pub fn receive(&mut self, now: Duration) -> Option<T> {
        self.receive_timed(now).map(|(_, item)| item)
    }

    /// Like [`receive`](Self::receive), with the time of arrival.
    pub fn receive_timed(&mut self, now: Duration) -> Option<(Duration, T)> {
        self.drain_queue(now);
        let entry = self.arriving.first_entry()?;
        let (arrived_at, number, _) = *entry.key();
        if arrived_at > now {
            return None;
        }
        self.stats.delivered += 1;
        if self.newest_delivered > Some(number) {
            self.stats.reordered += 1;
        }
        self.newest_delivered = self.newest_delivered.max(Some(number));
        Some((arrived_at, entry.remove()))
    }

    /// Moves the packets that have left the queue by `now` into flight.
    fn drain_queue(&mut self, now: Duration) {
        while let Some(packet) =
            self.queue.pop_front_if(|next| self.free_at.max(next.sent_at) <= now)
        {
            let Packet { sent_at, bytes, number, fate, item } = packet;
            self.queue_bytes = self.queue_bytes.saturating_sub(bytes);
            let bandwidth = self.conditions.bandwidth;
            let takes = bandwidth.map_or(Duration::ZERO, |bandwidth| bandwidth.time_for(bytes));
            // The time at which the last bit is sent, which may be after `now`.
            let left_at = self.free_at.max(sent_at).saturating_add(takes);
            self.free_at = left_at;
            let Fate::Arrives { delay, copy_delay } = fate else {
                self.stats.lost += 1;
                continue;
            };
            if let Some(copy_delay) = copy_delay {
                self.stats.duplicated += 1;
                let arrives_at = left_at.saturating_add(copy_delay);
                self.arriving.insert((arrives_at, number, true), item.clone());
            }
            let arrives_at = left_at.saturating_add(delay);
            self.arriving.insert((arrives_at, number, false), item);
        }
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
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Reordering, Trace};

    pub(crate) const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn latency(latency: Duration) -> Conditions {
        Conditions { latency, ..Conditions::PERFECT }
    }

    /// A byte takes one millisecond.
    fn slow() -> Conditions {
        Conditions {
            bandwidth: Some(Bandwidth { bits_per_second: 8_000, queue_bytes: 1_000 }),
            ..latency(ms(50))
        }
    }

    /// Arrivals: time in milliseconds, and item.
    fn arrivals<T: Clone>(link: &mut Link<T>) -> Vec<(u128, T)> {
        std::iter::from_fn(|| link.receive_timed(Duration::MAX))
            .map(|(at, item)| (at.as_millis(), item))
            .collect()
    }

    #[test]
    fn packets_arrive_after_the_latency_in_the_order_of_sending() {
        let mut link = Link::new(latency(ms(50)), 0);
        for item in ["a", "b", "c"] {
            link.send(ms(10), 100, item);
        }
        assert_eq!(link.receive(ms(59)), None);
        assert_eq!(link.receive(ms(60)), Some("a"));
        link.set_conditions(latency(ms(10)));
        link.send(ms(20), 100, "overtakes");
        assert_eq!(arrivals(&mut link), [(30, "overtakes"), (60, "b"), (60, "c")]);
        assert_eq!(link.stats().reordered, 2);
    }

    #[test]
    fn packets_wait_for_each_other_and_the_tail_of_the_queue_is_dropped() {
        let with = |bits_per_second| Conditions {
            bandwidth: Some(Bandwidth { bits_per_second, queue_bytes: 20 }),
            ..Conditions::PERFECT
        };
        // A byte takes one millisecond. An idle link accepts a packet larger than the queue.
        let mut link = Link::new(with(8_000), 0);
        for (sent, bytes, item) in [
            (0, 30, "at once"),
            (0, 10, "waits"),
            (0, 10, "waits longer"),
            (0, 1, "dropped"),
            (30, 11, "too large"),
            (30, 10, "fits"),
        ] {
            link.send(ms(sent), bytes, item);
        }
        assert_eq!(link.stats().queue_dropped, 2);
        // Twice as fast, then without a limit. The packet that is being sent keeps its rate.
        link.set_conditions(with(16_000));
        assert_eq!(link.receive_timed(ms(35)), Some((ms(30), "at once")));
        assert_eq!(link.receive_timed(ms(41)), Some((ms(40), "waits")));
        link.set_conditions(Conditions::PERFECT);
        link.send(ms(41), 10, "last");
        let rest = [(45, "waits longer"), (45, "fits"), (45, "last")];
        assert_eq!(arrivals(&mut link), rest);
    }

    #[test]
    fn a_cut_link_loses_new_packets_but_not_those_in_flight() {
        let mut link = Link::new(slow(), 0);
        link.send(ms(0), 10, "before");
        link.send(ms(0), 10, "queued");
        link.set_conditions(Conditions { cut: true, ..slow() });
        link.send(ms(1), 10, "during");
        assert_eq!((link.in_flight(), link.stats().lost), (2, 1));
        assert_eq!(arrivals(&mut link), [(60, "before"), (70, "queued")]);
    }

    #[test]
    fn a_copy_with_the_same_delay_arrives_after_its_original() {
        let mut link = Link::new(Conditions { duplicate_probability: 1.0, ..latency(ms(50)) }, 0);
        link.send(ms(0), 100, "a");
        link.send(ms(0), 100, "b");
        assert_eq!(link.in_flight(), 4);
        assert_eq!(arrivals(&mut link), [(50, "a"), (50, "a"), (50, "b"), (50, "b")]);
        assert_eq!(link.stats().reordered, 0);
    }

    #[test]
    fn a_trace_replaces_delays_and_losses_but_neither_copies_nor_the_queue() {
        let trace = Trace::from_csv("sent_ms,delay_ms\n0,30\n10,\n20,5\n").unwrap();
        let mut link = Link::new(
            Conditions {
                duplicate_probability: 1.0,
                loss: Loss::Independent { probability: 1.0 },
                reordering: Some(Reordering {
                    probability: 1.0,
                    min_delay: ms(7),
                    max_delay: ms(7),
                }),
                trace: Some(Arc::new(trace)),
                ..slow()
            },
            0,
        );
        for (sent, item) in [(100, "first"), (110, "lost"), (120, "last"), (130, "again")] {
            link.send(ms(sent), 1, item);
        }
        assert_eq!(
            arrivals(&mut link),
            [
                (126, "last"),
                (126, "last"),
                (131, "first"),
                (131, "first"),
                (161, "again"),
                (161, "again"),
            ]
        );
        assert_eq!(link.stats().lost, 1);
    }

    #[test]
    fn the_bad_state_survives_new_probabilities_but_not_another_model() {
        let loses_all_if_bad = |to_bad| Conditions {
            loss: Loss::GilbertElliott {
                to_bad,
                to_good: 0.0,
                loss_in_good: 0.0,
                loss_in_bad: 1.0,
            },
            ..Conditions::PERFECT
        };
        let mut link = Link::new(loses_all_if_bad(1.0), 0);
        link.send(ms(0), 1, ());
        assert_eq!(link.stats().lost, 1);
        link.set_conditions(loses_all_if_bad(0.0));
        link.send(ms(0), 1, ());
        assert_eq!(link.stats().lost, 2);
        link.set_conditions(Conditions::PERFECT);
        link.set_conditions(loses_all_if_bad(0.0));
        link.send(ms(0), 1, ());
        assert_eq!(link.stats().lost, 2);
    }

    #[test]
    fn the_time_to_send_is_rounded_up_and_does_not_overflow() {
        let bandwidth = Bandwidth { bits_per_second: 3_000, queue_bytes: 1 };
        let nanos = |bytes| bandwidth.time_for(bytes).as_nanos();
        assert_eq!([0, 1, 3].map(nanos), [0, 2_666_667, 8_000_000]);
        assert!(bandwidth.time_for(usize::MAX) > Duration::from_secs(1_000));
    }
}
