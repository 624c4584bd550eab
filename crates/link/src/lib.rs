//! A network link in memory: what is sent at one end comes out at the other some time later.
//!
//! Time is passed in, so that a link behaves the same on any clock. One [`Link`] is one direction.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a link does to what it carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Time from sending to delivery.
    pub latency: Duration,
    /// Whether the cable is cut: what is sent then is lost. What was under way still arrives.
    pub cut: bool,
}

/// One direction of a link that carries `T`s.
#[derive(Clone, Debug)]
pub struct Link<T> {
    conditions: Conditions,
    sent: u64,
    /// By time of delivery, then in the order of sending.
    under_way: BTreeMap<(Duration, u64), T>,
}

impl<T> Link<T> {
    /// An empty link.
    #[must_use]
    pub const fn new(conditions: Conditions) -> Self {
        Self {
            conditions,
            sent: 0,
            under_way: BTreeMap::new(),
        }
    }

    /// What it does to what it carries.
    #[must_use]
    pub const fn conditions(&self) -> Conditions {
        self.conditions
    }

    /// Changes the conditions for what is sent from now on.
    pub const fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Sends something.
    pub fn send(&mut self, now: Duration, what: T) {
        if !self.conditions.cut {
            self.sent += 1;
            let deliver_at = now + self.conditions.latency;
            self.under_way.insert((deliver_at, self.sent), what);
        }
    }

    /// Takes out the next thing that has arrived by `now`; call it until there is none.
    pub fn receive(&mut self, now: Duration) -> Option<T> {
        let entry = self.under_way.first_entry()?;
        (entry.key().0 <= now).then(|| entry.remove())
    }

    /// How many things are under way.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn link(latency: Duration) -> Link<&'static str> {
        Link::new(Conditions {
            latency,
            cut: false,
        })
    }

    #[test]
    fn things_arrive_after_the_latency_and_not_before() {
        let mut link = link(ms(50));
        link.send(ms(10), "a");
        assert_eq!(link.receive(ms(59)), None);
        assert_eq!(link.receive(ms(60)), Some("a"));
        assert_eq!(link.receive(ms(60)), None);
    }

    #[test]
    fn things_of_one_time_arrive_in_the_order_of_sending() {
        let mut link = link(ms(50));
        for what in ["a", "b", "c"] {
            link.send(ms(0), what);
        }
        let arrived: Vec<_> = std::iter::from_fn(|| link.receive(ms(50))).collect();
        assert_eq!(arrived, ["a", "b", "c"]);
    }

    #[test]
    fn a_shorter_latency_overtakes() {
        let mut link = link(ms(50));
        link.send(ms(0), "slow");
        link.set_conditions(Conditions {
            latency: ms(10),
            cut: false,
        });
        link.send(ms(20), "fast");
        assert_eq!(link.receive(ms(100)), Some("fast"));
        assert_eq!(link.receive(ms(100)), Some("slow"));
    }

    #[test]
    fn a_cut_link_loses_what_is_sent_but_not_what_was_under_way() {
        let mut link = link(ms(50));
        link.send(ms(0), "before");
        link.set_conditions(Conditions {
            latency: ms(50),
            cut: true,
        });
        link.send(ms(1), "during");
        assert_eq!(link.under_way(), 1);
        assert_eq!(link.receive(ms(100)), Some("before"));
        assert_eq!(link.receive(ms(100)), None);
    }
}
