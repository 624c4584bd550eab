//! An imperfect link in memory, one frame at a time.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What the link does to what it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    /// Fraction lost, each way.
    pub(crate) loss: f64,
    /// Fraction that arrives one to four frames late, each way.
    pub(crate) reorder: f64,
    /// Frames there and back.
    pub(crate) rtt_frames: u32,
    /// Seed of the accidents.
    pub(crate) seed: u64,
}

/// One direction of the link.
#[derive(Debug)]
pub(crate) struct Link<T> {
    conditions: Conditions,
    delay: u64,
    rng: ChaCha8Rng,
    sent: u64,
    /// By frame of delivery, then by order of sending.
    under_way: BTreeMap<(u64, u64), T>,
}

impl<T> Link<T> {
    /// The way there, `rtt_frames / 2` long.
    pub(crate) fn forth(conditions: Conditions) -> Self {
        Self::new(conditions, u64::from(conditions.rtt_frames / 2), 0)
    }

    /// The way back, as long as the rest.
    pub(crate) fn back(conditions: Conditions) -> Self {
        Self::new(conditions, u64::from(conditions.rtt_frames.div_ceil(2)), 1)
    }

    fn new(conditions: Conditions, delay: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(conditions.seed);
        rng.set_stream(stream);
        Self {
            conditions,
            delay,
            rng,
            sent: 0,
            under_way: BTreeMap::new(),
        }
    }

    /// Sends something in this frame.
    pub(crate) fn send(&mut self, frame: u64, what: T) {
        self.sent += 1;
        // Every packet draws the same numbers, so that one accident does not shift the next.
        let lost = self.rng.random_bool(self.conditions.loss);
        let late = self.rng.random_bool(self.conditions.reorder);
        let frames_late = self.rng.random_range(1..=4);
        if !lost {
            let frames = self.delay + if late { frames_late } else { 0 };
            self.under_way.insert((frame + frames, self.sent), what);
        }
    }

    /// The next thing that has arrived by this frame.
    pub(crate) fn receive(&mut self, frame: u64) -> Option<T> {
        let entry = self.under_way.first_entry()?;
        (entry.key().0 <= frame).then(|| entry.remove())
    }

    /// Whether nothing is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(loss: f64, reorder: f64) -> Conditions {
        Conditions {
            loss,
            reorder,
            rtt_frames: 7,
            seed: 1,
        }
    }

    #[test]
    fn both_ways_together_take_the_round_trip() {
        let mut forth = Link::forth(conditions(0.0, 0.0));
        let mut back = Link::back(conditions(0.0, 0.0));
        forth.send(10, "packet");
        assert_eq!(forth.receive(12), None);
        assert_eq!(forth.receive(13), Some("packet"));
        back.send(13, "ack");
        assert_eq!(back.receive(16), None);
        assert_eq!(back.receive(17), Some("ack"));
    }

    #[test]
    fn accidents_happen_as_often_as_asked() {
        let mut link = Link::forth(conditions(0.3, 0.2));
        for frame in 0..10_000 {
            link.send(frame, frame);
        }
        let (mut arrived, mut out_of_order, mut newest) = (0, 0, 0);
        while let Some(frame) = link.receive(u64::MAX) {
            arrived += 1;
            out_of_order += u32::from(frame < newest);
            newest = newest.max(frame);
        }
        assert!((6_800..7_200).contains(&arrived), "{arrived}");
        // Of 7 000 that arrive a fifth is late. A packet that is one frame late still comes before
        // the next; two, three or four frames late, it is overtaken if any of the one, two or
        // three after it is neither lost nor late, which has odds of 0.56, 0.81 and 0.91.
        assert!((730..870).contains(&out_of_order), "{out_of_order}");
    }
}
