//! Fates of several snapshots.

use std::iter::Sum;

use super::packet::Fate;
use super::{Record, Sample};

/// Number of snapshots that arrived in time, that arrived late, and that were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts(pub [usize; 3]);

impl ArrivalCounts {
    /// Counts the snapshots in samples of a record.
    pub fn of<'a>(record: &Record, samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let settled = record.settled_tick();
        let mut sum = Self::default();
        for sample in samples {
            sum.add(sample, settled);
        }
        sum
    }

    /// Percentage of lost snapshots, 0 to 100.
    #[must_use]
    pub fn lost_percent(self) -> f64 {
        self.percent(2)
    }

    /// Percentage of one of the three counts, 0 to 100.
    #[must_use]
    pub fn percent(self, index: usize) -> f64 {
        let all: usize = self.0.iter().sum();
        100.0 * self.0[index] as f64 / all.max(1) as f64
    }

    /// Adds a sample of a record with this [settled tick](Record::settled_tick).
    pub fn add(&mut self, sample: &Sample, settled: u64) {
        let [in_time, late, lost] = &mut self.0;
        // Losses of the simulated link are known at once, other losses after a while.
        for packet in &sample.snapshots {
            match packet.fate(sample.tick, settled) {
                Fate::Arrived(arrival) if arrival.is_late => *late += 1,
                Fate::Arrived(_) => *in_time += 1,
                Fate::Lost => *lost += 1,
                Fate::InFlight => *lost += usize::from(sample.lost > 0),
            }
        }
        // At a viewer, a lost packet leaves the tick without a snapshot.
        if sample.snapshots.is_empty() {
            *lost += sample.lost;
        }
    }
}

impl Sum for ArrivalCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |Self(sum), Self(more)| {
            Self([0, 1, 2].map(|index| sum[index] + more[index]))
        })
    }
}
