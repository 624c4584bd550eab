//! The line of the bandwidth graph: samples in kilobits a second, smoothed and downsampled.

use std::ops::RangeInclusive;
use std::sync::Arc;

use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;

use crate::replication::{Accounting, Sample, kbps};

/// Length of the moving average, in ticks up to and including the current one: a second, as for the figures
/// next to the graph, so that the end of a line agrees with them. A multiple of every send interval, so that a
/// constant rate is a level line.
pub(in crate::panel) const SMOOTHING_TICKS: usize = TICKS_PER_SECOND as usize;

/// The samples of a lane, reduced to what the graph needs.
pub(in crate::panel) type Points = Arc<[Point]>;

/// A sample, reduced to what the graph needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::panel) struct Point {
    pub(super) tick: u64,
    pub(super) stages: Stages,
    article_bytes: usize,
    wire_bytes: usize,
    pub(super) budget_kbps: Option<u32>,
    has_losses: bool,
}

impl Point {
    const fn bytes(&self, accounting: Accounting) -> usize {
        match accounting {
            Accounting::PayloadAndUdp => self.article_bytes,
            Accounting::OnTheWire => self.wire_bytes,
        }
    }
}

impl From<&Sample> for Point {
    fn from(sample: &Sample) -> Self {
        Self {
            tick: sample.tick,
            stages: sample.stages,
            article_bytes: sample.bytes(Accounting::PayloadAndUdp),
            wire_bytes: sample.bytes(Accounting::OnTheWire),
            budget_kbps: sample.budget_kbps,
            has_losses: sample.lost > 0,
        }
    }
}

/// The newest points with their smoothed rates, indexed from the oldest.
#[derive(Clone, Debug)]
pub(super) struct Series<'a> {
    pub(super) points: &'a [Point],
    pub(super) kbps: Vec<f64>,
    /// Minimum and maximum rate, kbps; none if there are no points.
    pub(super) range: Option<(f64, f64)>,
    /// The range without peaks, if the largest rates of two smoothing windows, which a single packet may have caused,
    /// are more than twice as large as all others.
    pub(super) range_without_peaks: Option<(f64, f64)>,
}

impl<'a> Series<'a> {
    /// The newest `ticks` of `points`. Older points are only used for smoothing.
    pub(super) fn new(points: &'a [Point], ticks: usize, accounting: Accounting) -> Self {
        let bytes: Vec<usize> = points.iter().map(|point| point.bytes(accounting)).collect();
        let mut kbps = smooth(&bytes);
        let before = points.len().saturating_sub(ticks);
        kbps.drain(..before);
        let mut series = Self {
            points: &points[before..],
            range: kbps.iter().fold(None, |range, &kbps| {
                let (low, high) = range.unwrap_or((kbps, kbps));
                Some((kbps.min(low), kbps.max(high)))
            }),
            range_without_peaks: None,
            kbps,
        };
        series.range_without_peaks = series.without_peaks();
        series
    }

    fn without_peaks(&self) -> Option<(f64, f64)> {
        let (smallest, peak) = self.range?;
        let mut sorted = self.kbps.clone();
        let index = sorted.len().saturating_sub(1 + 2 * SMOOTHING_TICKS);
        let (_, &mut largest, _) = sorted.select_nth_unstable_by(index, f64::total_cmp);
        // Rates after a switch to stages that cost more are here to stay.
        let is_peak = peak > 2.0 * largest && !self.rises_after_switch(largest);
        Some((smallest, if is_peak { largest } else { peak }))
    }

    /// Whether the newest rate is above this one, and stages were switched in the last two smoothing windows.
    fn rises_after_switch(&self, kbps: f64) -> bool {
        let (Some(newest), Some(&rate)) = (self.points.last(), self.kbps.last()) else {
            return false;
        };
        let recent = self.points.len().saturating_sub(2 * SMOOTHING_TICKS);
        let mut recent = self.points[recent..].iter();
        rate > kbps && recent.any(|point| point.stages != newest.stages)
    }

    /// Runs of points above a rate: the time and the rate of the largest of each.
    pub(super) fn peaks_above(&self, kbps: f64) -> impl Iterator<Item = (f64, f64)> {
        let runs = self.kbps.chunk_by(move |&a, &b| (a > kbps) == (b > kbps));
        let mut end = 0;
        let peaks = runs.filter_map(move |run| {
            let first = end;
            end += run.len();
            let by_rate = |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1);
            let (index, &largest) = run.iter().enumerate().max_by(by_rate)?;
            Some((self.seconds(first + index), largest))
        });
        peaks.filter(move |&(_, largest)| largest > kbps)
    }

    /// Times at which packets were lost.
    pub(super) fn losses(&self) -> impl Iterator<Item = f64> {
        let indices = 0..self.points.len();
        let lost = indices.filter(|&index| self.points[index].has_losses);
        lost.map(|index| self.seconds(index))
    }

    /// Budgets: from when to when, and their kilobits a second.
    pub(super) fn budgets(&self) -> impl Iterator<Item = (RangeInclusive<f64>, f64)> {
        let runs = self.points.chunk_by(|a, b| a.budget_kbps == b.budget_kbps);
        let mut end = 0;
        runs.filter_map(move |run| {
            let first = end;
            end += run.len();
            let times = self.seconds(first)..=self.seconds(end - 1);
            Some((times, run[0].budget_kbps?.into()))
        })
    }

    /// The budget now, kilobits a second.
    pub(super) fn newest_budget(&self) -> Option<u32> {
        self.points.last()?.budget_kbps
    }

    /// Time of a point relative to the newest, seconds: 0 or less.
    pub(super) fn seconds(&self, index: usize) -> f64 {
        let back = self.points.len() - 1 - index;
        -(back as f64) / f64::from(TICKS_PER_SECOND)
    }

    /// The index of the point nearest to that time, if the series goes back that far.
    pub(super) fn index_at(&self, seconds: f64) -> Option<usize> {
        let back = (-seconds * f64::from(TICKS_PER_SECOND)).round().max(0.0);
        let newest = self.points.len().checked_sub(1)?;
        newest.checked_sub(back as usize)
    }

    /// The indices of at most [`MAX_POINTS`] points and the newest. They are chosen by tick, so that the
    /// line does not flicker as it scrolls.
    pub(super) fn thinned(&self) -> impl Iterator<Item = usize> {
        let stride = self.points.len().div_ceil(MAX_POINTS).max(1) as u64;
        let newest = self.points.len().saturating_sub(1);
        let kept =
            move |&index: &usize| index == newest || self.points[index].tick.is_multiple_of(stride);
        (0..self.points.len()).filter(kept)
    }
}

/// The mean over the [`SMOOTHING_TICKS`] up to each tick, or over fewer near the start.
pub(in crate::panel) fn smooth(bytes: &[usize]) -> Vec<f64> {
    let mut sum = 0;
    let smoothed = bytes.iter().enumerate().map(|(index, &now)| {
        sum += now;
        if index >= SMOOTHING_TICKS {
            sum -= bytes[index - SMOOTHING_TICKS];
        }
        kbps(sum, SMOOTHING_TICKS.min(index + 1))
    });
    smoothed.collect()
}

/// Points of a line, at most: more would not be visible on the screen.
const MAX_POINTS: usize = 600;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::{PacketRecord, SEND_INTERVALS, Traffic};

    fn points(ticks: u64) -> Vec<Point> {
        let samples = (0..ticks).map(|tick| Sample {
            tick: 1_000 + tick,
            snapshots: vec![PacketRecord {
                payload_bytes: 97,
                ..PacketRecord::default()
            }],
            traffic: Traffic {
                wire_bytes: 250,
                ..Traffic::default()
            },
            ..Sample::default()
        });
        samples.map(|sample| Point::from(&sample)).collect()
    }

    #[test]
    fn smoothing_keeps_a_constant_rate() {
        let points = points(100);
        let article = Series::new(&points, 60, Accounting::PayloadAndUdp);
        assert_eq!(article.kbps.len(), 60);
        assert!(article.kbps.iter().all(|kbps| (kbps - 60.0).abs() < 1e-9));
        let wire = Series::new(&points, 60, Accounting::OnTheWire);
        let (smallest, largest) = wire.range.unwrap();
        assert!(largest - smallest < 1e-9 && (largest - 120.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_large_packet_is_spread_over_the_window() {
        let mut bytes = vec![0; 100];
        bytes[10] = 6_000;
        let smoothed = smooth(&bytes);
        assert_eq!(smoothed[9], 0.0);
        assert!((smoothed[59] - kbps(100, 1)).abs() < 1e-9);
        assert!((smoothed[69] - kbps(100, 1)).abs() < 1e-9);
        assert_eq!(smoothed[70], 0.0);
        // Near the start the window is shorter.
        assert!((smoothed[10] - kbps(6_000, 11)).abs() < 1e-9);
    }

    #[test]
    fn a_constant_rate_is_a_level_line_at_every_send_interval() {
        for interval in SEND_INTERVALS {
            let sent = |tick: usize| {
                if tick.is_multiple_of(interval as usize) {
                    100
                } else {
                    0
                }
            };
            let bytes: Vec<usize> = (0..200).map(sent).collect();
            let level = kbps(100, interval as usize);
            let smoothed = &smooth(&bytes)[SMOOTHING_TICKS..];
            assert!(smoothed.iter().all(|kbps| (kbps - level).abs() < 1e-9));
        }
    }

    #[test]
    fn a_long_series_is_downsampled_and_keeps_its_newest_point() {
        let many = points(3_600);
        let series = Series::new(&many, 3_600, Accounting::PayloadAndUdp);
        let indices: Vec<usize> = series.thinned().collect();
        assert!((599..=601).contains(&indices.len()), "{}", indices.len());
        assert_eq!(indices.last(), Some(&3_599));

        let later = Series::new(&many[1..], 3_599, Accounting::PayloadAndUdp);
        let ticks = |series: &Series<'_>| -> Vec<u64> {
            let indices = series.thinned();
            indices.map(|index| series.points[index].tick).collect()
        };
        assert_eq!(ticks(&series)[10..500], ticks(&later)[10..500]);

        let few = points(30);
        let series = Series::new(&few, 600, Accounting::PayloadAndUdp);
        assert_eq!(series.thinned().count(), 30);
        let nothing = Series::new(&[], 600, Accounting::PayloadAndUdp);
        assert_eq!((nothing.thinned().count(), nothing.range), (0, None));
    }

    #[test]
    fn a_time_maps_to_the_nearest_point() {
        let points = points(120);
        let series = Series::new(&points, 120, Accounting::PayloadAndUdp);
        for index in [0, 1, 60, 119] {
            assert_eq!(series.index_at(series.seconds(index)), Some(index));
        }
        assert_eq!(series.index_at(0.5), Some(119));
        assert_eq!(series.index_at(-2.1), None);
        let nothing = Series::new(&[], 600, Accounting::PayloadAndUdp);
        assert_eq!(nothing.index_at(0.0), None);
    }

    #[test]
    fn a_single_large_packet_does_not_set_the_scale_and_is_reported_as_a_peak() {
        let mut points = points(400);
        points[3].article_bytes = 140_000;
        let series = Series::new(&points, 400, Accounting::PayloadAndUdp);
        let (_, largest) = series.range.unwrap();
        assert!(largest > 1_000.0);
        let (_, usual) = series.range_without_peaks.unwrap();
        assert!((usual - 60.0).abs() < 1e-9);
        let peaks: Vec<_> = series.peaks_above(100.0).collect();
        assert_eq!(peaks.len(), 1);
        assert_eq!(peaks[0].1, largest);
        assert_eq!(series.peaks_above(largest).count(), 0);
    }

    #[test]
    fn rates_after_a_switch_set_the_scale_at_once() {
        let mut points = points(400);
        for point in &mut points[370..] {
            point.stages = ladder::POSITION.stages;
            point.article_bytes = 140_000;
        }
        let series = Series::new(&points, 400, Accounting::PayloadAndUdp);
        assert_eq!(series.range_without_peaks, series.range);
        // Without a switch, it is a peak.
        for point in &mut points {
            point.stages = ladder::POSITION.stages;
        }
        let series = Series::new(&points, 400, Accounting::PayloadAndUdp);
        assert_ne!(series.range_without_peaks, series.range);
    }

    #[test]
    fn budgets_and_losses_are_where_the_samples_have_them() {
        let mut points = points(121);
        for (index, point) in points.iter_mut().enumerate() {
            point.has_losses = index == 60;
            point.budget_kbps = match index {
                ..31 => None,
                31..61 => Some(64),
                _ => Some(32),
            };
        }
        let series = Series::new(&points, 121, Accounting::PayloadAndUdp);
        let budgets: Vec<_> = series.budgets().collect();
        let first = series.seconds(31)..=series.seconds(60);
        let second = series.seconds(61)..=0.0;
        assert_eq!(budgets, [(first, 64.0), (second, 32.0)]);
        assert_eq!(series.newest_budget(), Some(32));
        assert_eq!(series.losses().collect::<Vec<_>>(), [-1.0]);
    }
}
