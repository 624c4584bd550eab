//! Measured bandwidth and replica error of each combination of stages that was used.

use bevy::prelude::*;
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;

use crate::replication::{Accounting, LaneMeter};
use crate::view::Selected;

/// Largest number of remembered combinations.
const MAX_TRIED: usize = 200;

/// Ticks with the same stages before a measurement counts: a round trip, and a second of packets.
const SETTLING_TICKS: usize = 90;

/// Reciprocal weight of a new value in the exponential moving averages.
const AVERAGED: f64 = 60.0;

/// Measured bandwidth and error of a combination of stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::panel) struct Tradeoff {
    pub(in crate::panel) stages: Stages,
    /// Bandwidth in article accounting, kbps.
    pub(in crate::panel) kbps: f64,
    /// Mean distance of the interacting cubes from the simulation, millimetres.
    pub(in crate::panel) mm: f64,
    /// Mean angle between replica and simulation, degrees.
    pub(in crate::panel) degrees: f64,
}

/// Every combination of stages that was used since the start, the most recent last.
#[derive(Resource, Clone, Debug, Default)]
pub struct Tradeoffs(pub(in crate::panel) Vec<Tradeoff>);

impl Tradeoffs {
    /// Averages the new values into the entry of the same stages and moves it to the end. Drops the oldest entry if full.
    fn add(&mut self, new: Tradeoff) {
        let known = self.0.iter().position(|tried| tried.stages == new.stages);
        let mut tried = known.map_or(new, |index| self.0.remove(index));
        let mean = |old: f64, new: f64| old + (new - old) / AVERAGED;
        tried.kbps = mean(tried.kbps, new.kbps);
        tried.mm = mean(tried.mm, new.mm);
        tried.degrees = mean(tried.degrees, new.degrees);
        if self.0.len() == MAX_TRIED {
            self.0.remove(0);
        }
        self.0.push(tried);
    }
}

/// Records the selected lane's bandwidth and error while its stages are unchanged and the error is not 0.
pub(in crate::panel) fn record(
    lane: Option<Single<&LaneMeter, With<Selected>>>,
    mut tradeoffs: ResMut<Tradeoffs>,
) {
    let Some(meter) = lane.map(Single::into_inner) else {
        return;
    };
    let mut samples = meter.newest(SETTLING_TICKS);
    let Some(newest) = meter.samples().back() else {
        return;
    };
    let (stages, replica_error) = (newest.stages, newest.replica_error);
    let has_settled =
        samples.len() == SETTLING_TICKS && samples.all(|sample| sample.stages == stages);
    if has_settled && replica_error.tick.is_some() && replica_error.mean_m > 0.0 {
        tradeoffs.add(Tradeoff {
            stages,
            kbps: meter.kbps(Accounting::PayloadAndUdp),
            mm: f64::from(replica_error.mean_m) * 1000.0,
            degrees: f64::from(replica_error.mean_degrees),
        });
    }
}

const _: () = assert!(SETTLING_TICKS > TICKS_PER_SECOND as usize);

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::LADDER;

    use super::*;

    fn tried(stages: Stages, kbps: f64) -> Tradeoff {
        Tradeoff { stages, kbps, mm: 1.0, degrees: 0.1 }
    }

    #[test]
    fn every_combination_has_one_point_which_follows_the_figures_and_the_newest_are_kept() {
        let mut tradeoffs = Tradeoffs::default();
        for rung in LADDER {
            tradeoffs.add(tried(rung.stages, 100.0));
        }
        for _ in 0..600 {
            tradeoffs.add(tried(LADDER[3].stages, 200.0));
        }
        assert_eq!(tradeoffs.0.len(), LADDER.len());
        let newest = tradeoffs.0.last().unwrap();
        assert_eq!(newest.stages, LADDER[3].stages);
        assert!((newest.kbps - 200.0).abs() < 1.0);
        let bits: Vec<u8> = (2..=15).collect();
        for stages in Stages::every_legal(&bits).take(500) {
            tradeoffs.add(tried(stages, 100.0));
        }
        assert_eq!(tradeoffs.0.len(), MAX_TRIED);
    }
}
