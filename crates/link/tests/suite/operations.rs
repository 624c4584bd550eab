//! Random sequences of calls under random conditions.

use std::collections::HashMap;
use std::time::Duration;

use cubewire_link::{Conditions, Link};
use proptest::prelude::*;

use crate::strategies::any_conditions;

#[derive(Clone, Debug)]
enum Operation {
    Send { bytes: usize },
    Receive,
    Wait(Duration),
    Change(Box<Conditions>),
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        6 => (0_usize..3_000).prop_map(|bytes| Operation::Send { bytes }),
        4 => Just(Operation::Receive),
        4 => (0_u64..50_000).prop_map(|us| Operation::Wait(Duration::from_micros(us))),
        1 => any_conditions().prop_map(|conditions| Operation::Change(Box::new(conditions))),
    ];
    prop::collection::vec(operation, 1..200)
}

/// A link and the expected counts.
struct CheckedLink {
    link: Link<usize>,
    now: Duration,
    /// Time of sending of each packet, and whether it may arrive twice.
    sent: Vec<(Duration, bool)>,
    times_delivered: HashMap<usize, u32>,
    newest_arrival: Duration,
}

impl CheckedLink {
    fn receive(&mut self) {
        while let Some((at, number)) = self.link.receive_timed(self.now) {
            let (sent_at, may_arrive_twice) = self.sent[number];
            assert!((sent_at..=self.now).contains(&at));
            assert!(at >= self.newest_arrival);
            self.newest_arrival = at;
            let times = self.times_delivered.entry(number).or_default();
            *times += 1;
            assert!(*times <= 1 + u32::from(may_arrive_twice));
        }
        // Packets sent from now on may arrive at once, before packets in flight.
        self.newest_arrival = Duration::ZERO;
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Send { bytes } => {
                let may_arrive_twice = self.link.conditions().duplicate_probability > 0.0;
                self.link.send(self.now, bytes, self.sent.len());
                self.sent.push((self.now, may_arrive_twice));
            }
            Operation::Receive => self.receive(),
            Operation::Wait(time) => self.now += time,
            Operation::Change(conditions) => self.link.set_conditions(*conditions),
        }
        let stats = self.link.stats();
        let in_flight = self.link.in_flight() as u64;
        assert_eq!(stats.sent, self.sent.len() as u64);
        assert_eq!(
            stats.sent + stats.duplicated,
            stats.lost + stats.queue_dropped + stats.delivered + in_flight
        );
        assert_eq!(
            stats.delivered,
            self.times_delivered.values().map(|times| u64::from(*times)).sum::<u64>()
        );
        assert!(stats.reordered <= stats.delivered);
    }
}

proptest! {
    #[test]
    fn no_packet_arrives_early_or_too_often_and_the_counters_add_up(
        conditions in any_conditions(),
        seed: u64,
        operations in operations(),
    ) {
        let mut checked = CheckedLink {
            link: Link::new(conditions, seed),
            now: Duration::ZERO,
            sent: Vec::new(),
            times_delivered: HashMap::new(),
            newest_arrival: Duration::ZERO,
        };
        for operation in operations {
            checked.apply(operation);
        }
        checked.now = Duration::MAX;
        checked.apply(Operation::Receive);
        prop_assert_eq!(checked.link.in_flight(), 0);
    }

    #[test]
    fn clamped_conditions_are_in_range(conditions in any_conditions()) {
        let clamped = conditions.clone().clamped();
        prop_assert_eq!(clamped.check(), Ok(()));
        prop_assert_eq!(&clamped.clone().clamped(), &clamped);
        if conditions.check().is_ok() {
            prop_assert_eq!(clamped, conditions);
        }
    }
}
