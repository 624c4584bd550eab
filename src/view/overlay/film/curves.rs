//! Measurements of the last seconds for the graph of a film: the bandwidths of all its lanes, or their errors.

use cubewire_codec::Stages;
use cubewire_codec::stages::Delta;
use cubewire_scene::TICKS_PER_SECOND;

use crate::replication::{
    Accounting, LaneMeter, LaneSettings, Sample, SenderSettings, TARGET_KBPS,
};

/// Length of the graph.
pub(super) const SECONDS: usize = 8;

pub(super) const TICKS: usize = SECONDS * TICKS_PER_SECOND as usize;

/// Distance of two points of a curve.
pub(super) const STEP_TICKS: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Kilobits per second.
    #[default]
    Bandwidth,
    /// Mean error of the interacting cubes, micrometres. An axis has no values between 0 and 1.
    Error,
}

/// A change of settings during a film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Simulation tick at which the new setting starts.
    pub tick: u64,
    /// Index of the half or column. `None` if all change.
    pub part: Option<usize>,
    pub title: String,
}

/// Curves of all lanes of a film on one scale, for the graph that all columns show together.
#[derive(Clone, Debug, Default)]
pub struct Curves {
    pub(super) quantity: Quantity,
    pub(super) is_logarithmic: bool,
    pub(super) curves: Vec<Curve>,
    /// Switches during the film, in ascending order of their ticks.
    pub flags: Vec<Flag>,
    /// Smallest upper end of the scale: the largest budget, and on a logarithmic scale also the target.
    least_peak: f64,
    peaks: Vec<Peak>,
}

/// Largest values of some stages of a half or column so far.
#[derive(Clone, Copy, Debug)]
struct Peak {
    part: usize,
    stages: Stages,
    largest: f64,
    /// Largest mean of a full second. 0 before the first one.
    settled: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Index of the half or column.
    pub(super) part: usize,
    pub(super) newest_tick: u64,
    pub(super) budget_kbps: Option<f64>,
    /// Means of one second at intervals of [`STEP_TICKS`], newest first. `None` without a measurement.
    pub(super) means: Vec<Option<f64>>,
}

impl Curves {
    /// Prepares the graph of a film that shows these lanes, at its start or after a switch.
    pub fn new<'a>(lanes: impl IntoIterator<Item = &'a LaneSettings>, flags: Vec<Flag>) -> Self {
        let lanes: Vec<_> = lanes.into_iter().collect();
        let quantity = Quantity::of(&lanes);
        let is_whole = |lane: &&LaneSettings| lane.sender.stages.options().delta == Delta::Off;
        let wholes = lanes.iter().copied().filter(is_whole).count();
        // Every cube costs more than ten times as much as the changed cubes. Otherwise the scale would change only when
        // a film switches from one to the other.
        let is_logarithmic = quantity == Quantity::Bandwidth && (1..lanes.len()).contains(&wholes);
        let budgets = lanes.iter().filter_map(|lane| lane.sender.kept_budget()).map(f64::from);
        let target = is_logarithmic.then_some(TARGET_KBPS);
        let least_peak = match quantity {
            Quantity::Bandwidth => budgets.chain(target).fold(0.0, f64::max),
            Quantity::Error => 0.0,
        };
        Self { quantity, is_logarithmic, flags, least_peak, ..Self::default() }
    }

    /// Sets the curves from the measurements of these lanes, each with the index of its half or column.
    pub fn show<'a>(&mut self, lanes: impl IntoIterator<Item = (usize, &'a LaneMeter)>) {
        self.curves = lanes.into_iter().filter_map(|lane| self.measure(lane)).collect();
        let visible = match self.quantity {
            Quantity::Bandwidth => 0.0,
            Quantity::Error => LEAST_ERROR,
        };
        let settled = self.peaks.iter().map(|peak| peak.settled).filter(|value| *value > 0.0);
        let settled: Vec<_> = settled.map(|value| value.max(visible)).collect();
        let least = settled.iter().copied().fold(f64::INFINITY, f64::min);
        self.is_logarithmic |= settled.iter().any(|value| *value > FACTOR * least);
    }

    fn measure(&mut self, (part, meter): (usize, &LaneMeter)) -> Option<Curve> {
        let samples: Vec<_> = meter.newest(TICKS + SECOND).collect();
        let newest = samples.last()?;
        let windows = samples.windows(SECOND).rev().step_by(STEP_TICKS);
        let means = windows.take(TICKS / STEP_TICKS + 1).map(|window| {
            let mean = self.quantity.mean(window)?;
            self.reach((part, window[SECOND - 1].stages), mean, self.quantity.is_settled(window));
            Some(mean)
        });
        let budget = newest.budget_kbps.filter(|_| newest.stages.can_be_partial());
        Some(Curve {
            part,
            newest_tick: newest.tick,
            budget_kbps: budget.map(f64::from),
            means: means.collect(),
        })
    }

    fn reach(&mut self, (part, stages): (usize, Stages), value: f64, is_settled: bool) {
        let settled = if is_settled { value } else { 0.0 };
        let mut peaks = self.peaks.iter_mut();
        match peaks.find(|peak| (peak.part, peak.stages) == (part, stages)) {
            Some(peak) => {
                peak.largest = peak.largest.max(value);
                peak.settled = peak.settled.max(settled);
            }
            None => self.peaks.push(Peak { part, stages, largest: value, settled }),
        }
    }

    /// Largest value of the film so far, which the scale covers.
    pub(super) fn peak(&self) -> f64 {
        self.peaks.iter().fold(self.least_peak, |largest, peak| largest.max(peak.largest))
    }
}

/// The scale is logarithmic if the values of two lanes, or of two stages of a lane, differ by more than this factor.
const FACTOR: f64 = 10.0;

/// Smallest error that counts for the scale, micrometres. Quantization alone makes errors of up to half a step, 1 mm.
const LEAST_ERROR: f64 = 1_000.0;

const SECOND: usize = TICKS_PER_SECOND as usize;

impl Quantity {
    /// Returns the quantity to compare lanes with these settings by: the error if they send the same or if each fills a
    /// budget, otherwise the bandwidth.
    fn of(lanes: &[&LaneSettings]) -> Self {
        let sends = |lane: &LaneSettings| SenderSettings { budget: None, ..lane.sender };
        let differ = lanes.windows(2).any(|pair| pair[0] != pair[1]);
        let is_sent_alike = lanes.windows(2).all(|pair| sends(pair[0]) == sends(pair[1]));
        let have_budgets = lanes.iter().all(|lane| lane.sender.kept_budget().is_some());
        if differ && (is_sent_alike || have_budgets) { Self::Error } else { Self::Bandwidth }
    }

    /// Whether the lane had the same settings, and an error if that is measured, throughout this second.
    fn is_settled(self, second: &[&Sample]) -> bool {
        let [oldest, .., newest] = second else { return false };
        let is_measured = self == Self::Bandwidth || oldest.replica_error.tick.is_some();
        is_measured && second.iter().all(|sample| sample.is_sent_like(newest))
    }

    /// Mean of one second. A bandwidth covers the time since a switch if that is shorter, but at least one send interval.
    fn mean(self, second: &[&Sample]) -> Option<f64> {
        let newest = second.last()?;
        match self {
            Self::Bandwidth => {
                let alike = second.iter().rev();
                let alike = alike.take_while(|sample| sample.is_sent_like(newest));
                let ticks = alike.count().max(newest.send_interval_ticks as usize);
                let sent = second[second.len().saturating_sub(ticks)..].iter();
                let bytes = sent.map(|sample| sample.bytes(Accounting::PayloadAndUdp));
                Some(crate::replication::kbps(bytes.sum(), ticks))
            }
            Self::Error => {
                let errors = second.iter().map(|sample| &sample.replica_error);
                let known = errors.filter(|error| error.tick.is_some());
                let known: Vec<_> = known.map(|error| 1e6 * f64::from(error.mean_m)).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;
    use cubewire_protocol::record::ReplicaError;

    use super::*;
    use crate::replication::sample;

    fn of(lanes: &[&str]) -> Curves {
        let lanes = lanes.iter().map(|lane| lane.parse::<LaneSettings>().unwrap());
        Curves::new(&lanes.collect::<Vec<_>>(), Vec::new())
    }

    #[test]
    fn lanes_that_differ_in_what_they_send_are_compared_by_bandwidth_and_others_by_error() {
        let error = |lanes: &[&str]| of(lanes).quantity == Quantity::Error;
        assert!(!error(&["rung:delta", "rung:predicted"]));
        assert!(!error(&["rung:delta,rate:10", "rung:delta,rate:60"]));
        assert!(!error(&["rung:delta,budget:64kbps", "rung:predicted"]));
        // One lane.
        assert!(!error(&["rung:delta,budget:64kbps"]));
        for differs in
            ["playout:adaptive", "interpolation:hermite", "link:loss=0.2", "budget:64kbps"]
        {
            assert!(error(&["rung:at-rest", &format!("rung:at-rest,{differs}")]), "{differs}");
        }
        assert!(error(&["rung:delta,budget:64kbps", "rung:predicted,budget:256kbps"]));
    }

    #[test]
    fn the_scale_is_logarithmic_where_values_differ_by_more_than_ten() {
        let lane = |payload_bytes: usize| {
            LaneMeter::from_samples((0..90).map(|tick| sample(tick, payload_bytes)))
        };
        for (bytes, is_logarithmic) in
            [([972, 472], false), ([4_972, 472], false), ([9_972, 472], true)]
        {
            let mut curves = of(&["rung:delta", "rung:predicted"]);
            curves.show(bytes.map(lane).iter().enumerate());
            assert_eq!(curves.is_logarithmic, is_logarithmic, "{bytes:?}");
            // The scale does not go back.
            curves.show([(0, &lane(472))]);
            assert_eq!((curves.is_logarithmic, curves.curves.len()), (is_logarithmic, 1));
        }
        let [absolute, mixed] = [["rung:at-rest", "rung:position"], ["rung:at-rest", "rung:index"]];
        // A budget does not count as a value.
        let mut held = of(&["rung:delta,budget:256kbps", "rung:predicted"]);
        held.show([(0, &lane(20))]);
        assert!(!held.is_logarithmic && held.peak() > 10.0 * 23.0);
        assert!(!of(&absolute).is_logarithmic);
        assert!(of(&mixed).is_logarithmic);
        assert_eq!(of(&mixed).peak(), TARGET_KBPS);
        assert_eq!(of(&["rung:delta,budget:64kbps", "rung:predicted"]).peak(), 64.0);
    }

    #[test]
    fn the_scale_ignores_the_first_second_of_stages_and_invisible_errors() {
        let mut curves = of(&["rung:delta", "rung:predicted"]);
        for (ticks, is_logarithmic) in [(69, false), (119, false), (120, true)] {
            let meter = LaneMeter::from_samples((0..ticks).map(|tick| {
                let (stages, payload_bytes) = match tick < 60 {
                    true => (ladder::DELTA.stages, 972),
                    false => (ladder::INDEX.stages, 2),
                };
                Sample { stages, ..sample(tick, payload_bytes) }
            }));
            curves.show([(0, &meter)]);
            assert_eq!(curves.is_logarithmic, is_logarithmic, "{ticks}");
        }
        let errors = [0.4, 5.0, 15.0].map(|millimetres: f32| {
            LaneMeter::from_samples((0..120).map(|tick| Sample {
                replica_error: ReplicaError {
                    tick: Some(tick as f64),
                    mean_m: millimetres / 1000.0,
                    ..Default::default()
                },
                ..sample(tick, 100)
            }))
        });
        let is_logarithmic = |least: usize, largest: usize| {
            let mut curves = of(&["rung:delta", "rung:delta,playout:adaptive"]);
            curves.show([(0, &errors[least]), (1, &errors[largest])]);
            curves.is_logarithmic
        };
        assert!(!is_logarithmic(0, 1) && !is_logarithmic(1, 2) && is_logarithmic(0, 2));
    }

    #[test]
    fn the_curve_falls_where_stages_are_switched() {
        let meter = LaneMeter::from_samples((0..300).map(|tick| {
            let (stages, payload_bytes) = match tick < 270 {
                true => (ladder::DELTA.stages, 972),
                false => (ladder::INDEX.stages, 472),
            };
            Sample { stages, ..sample(tick, payload_bytes) }
        }));
        let mut curves = of(&["rung:delta", "rung:index"]);
        curves.show([(1, &meter)]);
        let (after, before) = curves.curves[0].means.split_at(30 / STEP_TICKS);
        assert!(after.iter().all(|&kbps| kbps == Some(240.0)), "{after:?}");
        assert!(before.iter().all(|&kbps| kbps == Some(480.0)), "{before:?}");
    }

    #[test]
    fn an_error_is_the_mean_of_the_ticks_that_have_one() {
        let meter = LaneMeter::from_samples((0..120).map(|tick| {
            let known = (tick > 60 && tick % 2 == 0).then_some(0.0);
            let replica_error = ReplicaError { tick: known, mean_m: 0.002, ..Default::default() };
            Sample { replica_error, ..sample(tick, 100) }
        }));
        let mut curves = of(&["rung:delta", "rung:delta,playout:adaptive"]);
        curves.show([(0, &meter)]);
        let means = &curves.curves[0].means;
        let micrometres = means[0].unwrap();
        assert!((micrometres - 2_000.0).abs() < 0.1, "{micrometres}");
        // The first second has no measurement.
        assert_eq!(means.last().unwrap(), &None);
    }
}
