//! One direction of a link: a queue, and what is under way behind it.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::chance::{Chance, Draw};
use crate::queue::Queue;
use crate::{Conditions, Loss};

/// One direction of a link that carries `T`s.
///
/// Time is what the caller says: any clock that does not run backwards. What was sent comes out in the
/// order of arrival, and in the order of sending where that is the same. The same seed, calls and
/// conditions give the same deliveries; give the two directions of a link seeds of their own.
///
/// What happens to a packet is drawn by its number and the seed alone, and always the same numbers are
/// drawn. So what happens to one does not shift the accidents of the next, and a packet that is lost
/// at an independent loss of 5 % is lost at 10 %, too.
#[derive(Clone, Debug)]
pub struct Link<T> {
    conditions: Conditions,
    chance: Chance,
    /// Of the Gilbert–Elliott model.
    in_bad_state: bool,
    /// When the first packet was sent since the trace was set.
    trace_start: Option<Duration>,
    queue: Queue<Numbered<T>>,
    /// By time of delivery; then by number, the copy after the packet itself.
    arriving: BTreeMap<(Duration, u64, bool), T>,
    /// The highest number delivered.
    newest_delivered: Option<u64>,
    stats: LinkStats,
}

/// What a link has done so far, in packets.
///
/// At any time sent + duplicated = lost + queue dropped + delivered + [under way](Link::under_way).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Given to [`Link::send`].
    pub sent: u64,
    /// Lost at random, by a trace or by a cut cable.
    pub lost: u64,
    /// Dropped because the queue was full.
    pub queue_dropped: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Taken out of [`Link::receive`], copies included.
    pub delivered: u64,
    /// Of those delivered, the ones that a packet sent later had overtaken (RFC 4737, section 3).
    pub reordered: u64,
}

#[derive(Clone, Debug)]
struct Numbered<T> {
    number: u64,
    fate: Fate,
    what: T,
}

/// What happens to a packet once it has left the queue.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lost,
    Arrives {
        delay: Duration,
        copy_delay: Option<Duration>,
    },
}

impl<T> Link<T> {
    /// An empty link whose accidents come from a seed. Conditions out of range are
    /// [clamped](Conditions::clamped).
    #[must_use]
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self {
            conditions: conditions.clamped(),
            chance: Chance::new(seed),
            in_bad_state: false,
            trace_start: None,
            queue: Queue::new(),
            arriving: BTreeMap::new(),
            newest_delivered: None,
            stats: LinkStats::default(),
        }
    }

    /// What it does to what it carries, clamped.
    #[must_use]
    pub const fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Changes the conditions for what is sent from now on. Those out of range are
    /// [clamped](Conditions::clamped).
    ///
    /// What was sent before keeps its fate and its delay. What waits in the queue stays there and goes
    /// out at the new rate once the packet that is being sent is through. The state of bursty loss stays
    /// as it is, unless the new loss has none: then the next that has one begins in the good state.
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

    /// How many packets are under way, those in the queue and copies included.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.queue.len() + self.arriving.len()
    }

    /// Bytes that wait in the queue, as of the last time that something was sent or received.
    #[must_use]
    pub const fn queued_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// What it has done so far.
    #[must_use]
    pub const fn stats(&self) -> LinkStats {
        self.stats
    }

    /// What happens to a packet that is sent now.
    fn fate(&mut self, now: Duration, draw: &Draw) -> Fate {
        let Conditions {
            latency,
            jitter,
            loss,
            duplicate_probability,
            reordering,
            ref trace,
            ..
        } = self.conditions;
        let is_duplicated = draw.duplicated < duplicate_probability;
        if let Some(trace) = trace {
            let start = *self.trace_start.get_or_insert(now);
            return trace
                .delay(now.saturating_sub(start))
                .map_or(Fate::Lost, |delay| Fate::Arrives {
                    delay,
                    copy_delay: is_duplicated.then_some(delay),
                });
        }
        if loss.loses(&mut self.in_bad_state, draw.moves, draw.lost) {
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
    /// Sends something of so many bytes, headers of IP and UDP included. The bytes count only if the
    /// bandwidth is limited.
    pub fn send(&mut self, now: Duration, bytes: usize, what: T) {
        let number = self.stats.sent;
        self.stats.sent += 1;
        let draw = self.chance.draw(number);
        let fate = self.fate(now, &draw);
        if self.conditions.cut {
            self.stats.lost += 1;
            return;
        }
        self.empty_queue(now);
        let numbered = Numbered { number, fate, what };
        let bandwidth = self.conditions.bandwidth;
        if self.queue.push(now, bytes, bandwidth, numbered) {
            self.empty_queue(now);
        } else {
            self.stats.queue_dropped += 1;
        }
    }

    /// Takes out the next thing that has arrived by `now`; call it until there is none.
    pub fn receive(&mut self, now: Duration) -> Option<T> {
        self.receive_timed(now).map(|(_, what)| what)
    }

    /// Like [`receive`](Self::receive), with the time at which the thing arrived.
    pub fn receive_timed(&mut self, now: Duration) -> Option<(Duration, T)> {
        self.empty_queue(now);
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

    /// Puts under way what has had its turn by now.
    fn empty_queue(&mut self, now: Duration) {
        while let Some((sent_at, numbered)) = self.queue.pop(now, self.conditions.bandwidth) {
            let Numbered { number, fate, what } = numbered;
            let Fate::Arrives { delay, copy_delay } = fate else {
                self.stats.lost += 1;
                continue;
            };
            if let Some(copy_delay) = copy_delay {
                self.stats.duplicated += 1;
                let arrives_at = sent_at.saturating_add(copy_delay);
                self.arriving
                    .insert((arrives_at, number, true), what.clone());
            }
            let arrives_at = sent_at.saturating_add(delay);
            self.arriving.insert((arrives_at, number, false), what);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Bandwidth, Reordering, Trace};

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn latency(latency: Duration) -> Conditions {
        Conditions {
            latency,
            ..Conditions::PERFECT
        }
    }

    /// A byte takes a millisecond.
    fn slow() -> Conditions {
        Conditions {
            bandwidth: Some(Bandwidth {
                bits_per_second: 8_000,
                queue_bytes: 1_000,
            }),
            ..latency(ms(50))
        }
    }

    /// What arrives, and when, in milliseconds.
    fn arrivals<T: Clone>(link: &mut Link<T>) -> Vec<(u128, T)> {
        std::iter::from_fn(|| link.receive_timed(Duration::MAX))
            .map(|(at, what)| (at.as_millis(), what))
            .collect()
    }

    #[test]
    fn things_arrive_after_the_latency_and_not_before() {
        let mut link = Link::new(latency(ms(50)), 0);
        link.send(ms(10), 100, "a");
        assert_eq!(link.receive(ms(59)), None);
        assert_eq!(link.receive(ms(60)), Some("a"));
        assert_eq!(link.receive(ms(60)), None);
    }

    #[test]
    fn things_of_one_time_arrive_in_the_order_of_sending() {
        let mut link = Link::new(latency(ms(50)), 0);
        for what in ["a", "b", "c"] {
            link.send(ms(0), 100, what);
        }
        assert_eq!(arrivals(&mut link), [(50, "a"), (50, "b"), (50, "c")]);
    }

    #[test]
    fn a_shorter_latency_overtakes() {
        let mut link = Link::new(latency(ms(50)), 0);
        link.send(ms(0), 100, "slow");
        link.set_conditions(latency(ms(10)));
        link.send(ms(20), 100, "fast");
        assert_eq!(arrivals(&mut link), [(30, "fast"), (50, "slow")]);
        assert_eq!(link.stats().reordered, 1);
    }

    #[test]
    fn a_cut_link_loses_what_is_sent_but_not_what_was_under_way() {
        let mut link = Link::new(slow(), 0);
        link.send(ms(0), 10, "before");
        link.send(ms(0), 10, "queued");
        link.set_conditions(Conditions {
            cut: true,
            ..slow()
        });
        link.send(ms(1), 10, "during");
        assert_eq!((link.under_way(), link.stats().lost), (2, 1));
        assert_eq!(arrivals(&mut link), [(60, "before"), (70, "queued")]);
    }

    #[test]
    fn a_copy_comes_after_what_it_is_a_copy_of_if_they_take_as_long() {
        let mut link = Link::new(
            Conditions {
                duplicate_probability: 1.0,
                ..latency(ms(50))
            },
            0,
        );
        link.send(ms(0), 100, "a");
        link.send(ms(0), 100, "b");
        assert_eq!(link.under_way(), 4);
        assert_eq!(
            arrivals(&mut link),
            [(50, "a"), (50, "a"), (50, "b"), (50, "b")]
        );
        assert_eq!(link.stats().reordered, 0);
    }

    #[test]
    fn a_trace_replaces_delays_and_losses_but_neither_copies_nor_the_queue() {
        let trace = Trace::from_csv("sent_ms,delay_ms\n0,30\n10,\n20,5\n".as_bytes()).unwrap();
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
        for (sent, what) in [(100, "first"), (110, "lost"), (120, "last"), (130, "again")] {
            link.send(ms(sent), 1, what);
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
    fn conditions_out_of_range_are_clamped() {
        let mut link = Link::new(
            Conditions {
                loss: Loss::Independent { probability: -1.0 },
                duplicate_probability: f64::NAN,
                ..latency(Duration::MAX)
            },
            0,
        );
        assert_eq!(link.conditions().check(), Ok(()));
        link.send(Duration::MAX, usize::MAX, "late");
        assert_eq!(
            link.receive_timed(Duration::MAX),
            Some((Duration::MAX, "late"))
        );
    }

    #[test]
    fn the_bad_state_lasts_through_a_change_of_its_probabilities_but_not_of_the_model() {
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
}
