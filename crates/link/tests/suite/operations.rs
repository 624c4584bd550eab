//! Any calls in any order, under any conditions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubewire_link::{Bandwidth, Conditions, Jitter, Link, Loss, Reordering, Trace};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    Send { bytes: usize },
    Receive,
    Wait(Duration),
    Change(Box<Conditions>),
}

fn delay() -> impl Strategy<Value = Duration> {
    prop_oneof![
        9 => (0_u64..500_000).prop_map(Duration::from_micros),
        1 => Just(Duration::MAX),
    ]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => Just(0.0),
        8 => 0.0..1.0_f64,
        1 => prop_oneof![Just(1.0), Just(-1.0), Just(2.0), Just(f64::NAN), Just(f64::INFINITY)],
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::None),
        delay().prop_map(|spread| Jitter::Uniform { spread }),
        (delay(), -1.0..5.0_f64).prop_map(|(median, sigma)| Jitter::LogNormal { median, sigma }),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        Just(Loss::None),
        probability().prop_map(|probability| Loss::Independent { probability }),
        (probability(), -1.0..9.0_f64).prop_map(|(fraction, burst)| Loss::bursts(fraction, burst)),
        [probability(), probability(), probability(), probability()].prop_map(
            |[to_bad, to_good, loss_in_good, loss_in_bad]| Loss::GilbertElliott {
                to_bad,
                to_good,
                loss_in_good,
                loss_in_bad,
            }
        ),
    ]
}

fn reordering() -> impl Strategy<Value = Reordering> {
    (probability(), delay(), delay()).prop_map(|(probability, min_delay, max_delay)| Reordering {
        probability,
        min_delay,
        max_delay,
    })
}

fn bandwidth() -> impl Strategy<Value = Bandwidth> {
    (0_u64..1_000_000, 0_usize..10_000).prop_map(|(bits_per_second, queue_bytes)| Bandwidth {
        bits_per_second,
        queue_bytes,
    })
}

fn trace() -> impl Strategy<Value = Arc<Trace>> {
    prop::collection::vec(prop::option::of(0_u32..500), 1..20).prop_map(|delays| {
        let mut text = String::from("sent_ms,delay_ms\n");
        for (entry, delay) in delays.into_iter().enumerate() {
            let delay = delay.map_or(String::new(), |delay| delay.to_string());
            text.push_str(&format!("{},{delay}\n", 10 * entry));
        }
        Arc::new(Trace::from_csv(text.as_bytes()).unwrap())
    })
}

/// In range and out of it.
fn conditions() -> impl Strategy<Value = Conditions> {
    (
        (delay(), jitter(), loss(), probability()),
        prop::option::of(reordering()),
        prop::option::of(bandwidth()),
        prop::bool::weighted(0.1),
        prop::option::weighted(0.2, trace()),
    )
        .prop_map(|(simple, reordering, bandwidth, cut, trace)| Conditions {
            latency: simple.0,
            jitter: simple.1,
            loss: simple.2,
            duplicate_probability: simple.3,
            reordering,
            bandwidth,
            cut,
            trace,
        })
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        6 => (0_usize..3_000).prop_map(|bytes| Operation::Send { bytes }),
        4 => Just(Operation::Receive),
        4 => (0_u64..50_000).prop_map(|us| Operation::Wait(Duration::from_micros(us))),
        1 => conditions().prop_map(|conditions| Operation::Change(Box::new(conditions))),
    ];
    prop::collection::vec(operation, 1..200)
}

/// A link, and what it must have done.
struct Watched {
    link: Link<usize>,
    now: Duration,
    /// When each packet was sent, and whether it may come twice.
    sent: Vec<(Duration, bool)>,
    times_delivered: HashMap<usize, u32>,
    newest_arrival: Duration,
}

impl Watched {
    fn receive(&mut self) {
        while let Some((at, number)) = self.link.receive_timed(self.now) {
            let (sent_at, may_come_twice) = self.sent[number];
            assert!((sent_at..=self.now).contains(&at));
            assert!(at >= self.newest_arrival);
            self.newest_arrival = at;
            let times = self.times_delivered.entry(number).or_default();
            *times += 1;
            assert!(*times <= 1 + u32::from(may_come_twice));
        }
        // What is sent from now on may take no time at all, and what is under way has yet to come.
        self.newest_arrival = Duration::ZERO;
    }

    fn operate(&mut self, operation: Operation) {
        match operation {
            Operation::Send { bytes } => {
                let may_come_twice = self.link.conditions().duplicate_probability > 0.0;
                self.link.send(self.now, bytes, self.sent.len());
                self.sent.push((self.now, may_come_twice));
            }
            Operation::Receive => self.receive(),
            Operation::Wait(time) => self.now += time,
            Operation::Change(conditions) => self.link.set_conditions(*conditions),
        }
        let stats = self.link.stats();
        let under_way = self.link.under_way() as u64;
        assert_eq!(stats.sent, self.sent.len() as u64);
        assert_eq!(
            stats.sent + stats.duplicated,
            stats.lost + stats.queue_dropped + stats.delivered + under_way
        );
        assert_eq!(
            stats.delivered,
            self.times_delivered
                .values()
                .map(|times| u64::from(*times))
                .sum::<u64>()
        );
        assert!(stats.reordered <= stats.delivered);
    }
}

proptest! {
    #[test]
    fn nothing_comes_early_or_too_often_and_every_packet_is_accounted_for(
        conditions in conditions(),
        seed: u64,
        operations in operations(),
    ) {
        let mut watched = Watched {
            link: Link::new(conditions, seed),
            now: Duration::ZERO,
            sent: Vec::new(),
            times_delivered: HashMap::new(),
            newest_arrival: Duration::ZERO,
        };
        for operation in operations {
            watched.operate(operation);
        }
        watched.now = Duration::MAX;
        watched.operate(Operation::Receive);
        prop_assert_eq!(watched.link.under_way(), 0);
        prop_assert_eq!(watched.link.queued_bytes(), 0);
    }

    #[test]
    fn any_conditions_are_in_range_once_clamped(conditions in conditions()) {
        let clamped = conditions.clone().clamped();
        prop_assert_eq!(clamped.check(), Ok(()));
        if conditions.check().is_ok() {
            prop_assert_eq!(clamped, conditions);
        }
    }
}
