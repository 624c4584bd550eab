//! Traffic of a film's lanes.

use bevy::prelude::*;
use cubewire_codec::Stages;

use crate::replication::{Accounting, Lane, LaneMeter, Sample, Totals};
use crate::view::Side;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sent {
    pub all: Totals,
    /// In the order of first use.
    by_stages: Vec<(Stages, Totals)>,
}

impl Sent {
    fn add(&mut self, sample: &Sample) {
        self.all.add(sample);
        let stages = sample.stages;
        let index = self.by_stages.iter().position(|(of, _)| *of == stages);
        let index = index.unwrap_or_else(|| {
            self.by_stages.push((stages, Totals::default()));
            self.by_stages.len() - 1
        });
        self.by_stages[index].1.add(sample);
    }

    /// Mean bandwidth in article accounting over the ticks with a lane, kilobits per second. `None` without a lane.
    pub fn mean_kbps(&self) -> Option<f64> {
        (self.all.ticks > 0).then(|| self.all.kbps(Accounting::PayloadAndUdp))
    }

    pub fn kbps_of_stages(&self) -> Vec<(Stages, f64)> {
        let kbps = |(stages, totals): &(Stages, Totals)| {
            let kbps = totals.kbps(Accounting::PayloadAndUdp);
            (*stages, kbps)
        };
        self.by_stages.iter().map(kbps).collect()
    }
}

/// Adds the last `ticks` samples of each half's lane to the entry of `sent` that `part` selects.
pub(super) fn count_newest(
    app: &mut App,
    ticks: usize,
    part: impl Fn(Side) -> usize,
    sent: &mut [Sent],
) {
    let world = app.world_mut();
    let mut lanes = world.query_filtered::<(&Side, &LaneMeter), With<Lane>>();
    for (&side, meter) in lanes.iter(world) {
        for sample in meter.newest(ticks) {
            sent[part(side)].add(sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::sample;

    #[test]
    fn what_was_sent_is_counted_by_stages() {
        let mut sent = Sent::default();
        assert_eq!((sent.mean_kbps(), sent.kbps_of_stages()), (None, vec![]));
        let [delta, index] = [ladder::DELTA.stages, ladder::INDEX.stages];
        for (stages, payload_bytes) in [(delta, 972), (index, 472), (delta, 972), (index, 472)] {
            sent.add(&Sample { stages, ..sample(0, payload_bytes) });
        }
        // With 28 bytes of headers, sixty times per second.
        assert_eq!(sent.kbps_of_stages(), [(delta, 480.0), (index, 240.0)]);
        assert_eq!(sent.mean_kbps(), Some(360.0));
    }
}
