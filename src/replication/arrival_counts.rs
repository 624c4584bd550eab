//! What has become of snapshots.

use std::iter::Sum;

use cubewire_scene::TICKS_PER_SECOND;

use super::meter::{LaneMeter, Sample};
use super::packet::Fate;

/// How many snapshots arrived in time, how many late, and how many were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrivalCounts(pub [usize; 3]);

impl ArrivalCounts {
    /// Those of the last seconds, but not of a link as it was before.
    #[must_use]
    pub fn in_span(meter: &LaneMeter, seconds: u32) -> Self {
        let newest = meter.newest_tick().unwrap_or(0);
        let mut sum = Self::default();
        for sample in meter.newest((seconds * TICKS_PER_SECOND) as usize) {
            if sample.tick >= meter.link_since {
                sum.add(sample, newest);
            }
        }
        sum
    }

    /// The share that was lost.
    #[must_use]
    pub fn lost_percent(self) -> f64 {
        self.percent(2)
    }

    /// The share of one of the three counts.
    #[must_use]
    pub fn percent(self, index: usize) -> f64 {
        let all: usize = self.0.iter().sum();
        100.0 * self.0[index] as f64 / all.max(1) as f64
    }

    /// Adds a tick's.
    pub fn add(&mut self, sample: &Sample, newest: u64) {
        let [in_time, late, lost] = &mut self.0;
        // What the link has lost is known at once, other losses after a while.
        for packet in &sample.snapshots {
            match packet.fate(sample.tick, newest) {
                Fate::Arrived(arrival) if arrival.is_late => *late += 1,
                Fate::Arrived(_) => *in_time += 1,
                Fate::Lost => *lost += 1,
                Fate::OnItsWay => *lost += usize::from(sample.lost > 0),
            }
        }
        // A viewer has no snapshot of a tick whose packet was lost.
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
