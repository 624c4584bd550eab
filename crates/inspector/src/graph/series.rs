//! The rates of a line of the bandwidth graph, in kilobits per second, smoothed and downsampled.

use std::ops::RangeInclusive;

use cubewire_codec::Stages;
use cubewire_protocol::record::kbps;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    pub tick: u64,
    pub bytes: usize,
    pub budget_kbps: Option<u32>,
    pub has_losses: bool,
    pub stages: Stages,
}

/// The newest points and their smoothed rates, oldest first.
#[derive(Clone, Debug)]
pub struct Series<'a> {
    pub points: &'a [Point],
    pub kbps: Vec<f64>,
    /// Minimum and maximum rate, in kbps. `None` if there are no points.
    pub range: Option<(f64, f64)>,
    /// The range without peaks. Peaks are the largest rates, as many as two smoothing windows have, because a single packet
    /// affects a whole window. They are excluded if the maximum is more than twice the largest other rate.
    pub range_without_peaks: Option<(f64, f64)>,
    ticks_per_second: u32,
}

impl<'a> Series<'a> {
    /// Returns the series of the newest `ticks` points. Older points are only used for smoothing.
    pub fn new(points: &'a [Point], ticks: usize, ticks_per_second: u32) -> Self {
        let bytes: Vec<usize> = points.iter().map(|point| point.bytes).collect();
        let mut kbps = smooth(&bytes, ticks_per_second);
        let before = points.len().saturating_sub(ticks);
        kbps.drain(..before);
        let rates = kbps.iter().copied();
        let mut series = Self {
            points: &points[before..],
            range: rates.clone().reduce(f64::min).zip(rates.reduce(f64::max)),
            range_without_peaks: None,
            kbps,
            ticks_per_second,
        };
        series.range_without_peaks = series.without_peaks();
        series
    }

    fn without_peaks(&self) -> Option<(f64, f64)> {
        let (smallest, peak) = self.range?;
        let mut sorted = self.kbps.clone();
        let index = sorted.len().saturating_sub(1 + 2 * self.ticks_per_second as usize);
        let (_, &mut largest, _) = sorted.select_nth_unstable_by(index, f64::total_cmp);
        // The newest rate may last, so it is always within the range.
        let is_over = self.kbps.last().is_none_or(|&newest| newest <= largest);
        Some((smallest, if peak > 2.0 * largest && is_over { largest } else { peak }))
    }

    /// Returns the time and the rate of the largest point in each run of points above a rate.
    pub fn peaks_above(&self, kbps: f64) -> impl Iterator<Item = (f64, f64)> {
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

    pub fn losses(&self) -> impl Iterator<Item = f64> {
        let indices = 0..self.points.len();
        indices.filter(|&index| self.points[index].has_losses).map(|index| self.seconds(index))
    }

    /// Returns the budgets, each with its time span in seconds and its rate in kilobits per second.
    pub fn budgets(&self) -> impl Iterator<Item = (RangeInclusive<f64>, f64)> {
        let runs = self.points.chunk_by(|a, b| a.budget_kbps == b.budget_kbps);
        let mut end = 0;
        runs.filter_map(move |run| {
            let first = end;
            end += run.len();
            Some((self.seconds(first)..=self.seconds(end - 1), run[0].budget_kbps?.into()))
        })
    }

    /// Returns the time of a point relative to the newest, in seconds: 0 or less.
    pub fn seconds(&self, index: usize) -> f64 {
        let back = self.points.len() - 1 - index;
        -(back as f64) / f64::from(self.ticks_per_second)
    }

    /// Returns the index of the point nearest to a time. `None` if the time is before the oldest point.
    pub fn index_at(&self, seconds: f64) -> Option<usize> {
        let back = (-seconds * f64::from(self.ticks_per_second)).round().max(0.0);
        self.points.len().checked_sub(1)?.checked_sub(back as usize)
    }

    /// Returns the indices of at most [`MAX_POINTS`] points, plus the newest. They are chosen by tick number, so that the line
    /// does not flicker while it scrolls.
    pub fn thinned(&self) -> impl Iterator<Item = usize> {
        let stride = self.points.len().div_ceil(MAX_POINTS).max(1) as u64;
        let newest = self.points.len().saturating_sub(1);
        let kept =
            move |&index: &usize| index == newest || self.points[index].tick.is_multiple_of(stride);
        (0..self.points.len()).filter(kept)
    }
}

/// Returns the mean rate over the second that ends with each tick, in kilobits per second. The figures next to the graph use
/// the same mean. Ticks before the first count as 0 bytes. One second is a multiple of each send interval, so a constant rate
/// gives a horizontal line.
fn smooth(bytes: &[usize], ticks_per_second: u32) -> Vec<f64> {
    let window = ticks_per_second as usize;
    let mut sum = 0;
    let smoothed = bytes.iter().enumerate().map(|(index, &now)| {
        sum += now;
        if index >= window {
            sum -= bytes[index - window];
        }
        kbps(sum, window, ticks_per_second)
    });
    smoothed.collect()
}

/// Limit of the points of a line. More would not be visible on a screen.
const MAX_POINTS: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    fn points(ticks: u64) -> Vec<Point> {
        let points =
            (0..ticks).map(|tick| Point { tick: 1_000 + tick, bytes: 125, ..Point::default() });
        points.collect()
    }

    #[test]
    fn large_packet_is_spread_over_the_window() {
        let mut bytes = vec![0; 100];
        bytes[10] = 6_000;
        let (smoothed, spread) = (smooth(&bytes, 60), kbps(100, 1, 60));
        // The window is not shorter near the start.
        for (index, rate) in [(9, 0.0), (10, spread), (59, spread), (69, spread), (70, 0.0)] {
            assert!((smoothed[index] - rate).abs() < 1e-9, "{index}");
        }
    }

    #[test]
    fn constant_rate_gives_level_line_at_every_interval() {
        for (interval, ticks_per_second) in
            [(1, 30), (1, 60), (2, 60), (3, 60), (4, 60), (6, 60), (12, 60)]
        {
            let mut points = points(200);
            for (tick, point) in points.iter_mut().enumerate() {
                point.bytes = 100 * usize::from(tick.is_multiple_of(interval));
            }
            let series = Series::new(&points, 140, ticks_per_second);
            assert_eq!(series.kbps.len(), 140);
            let level = kbps(100, interval, ticks_per_second);
            assert!(series.kbps.iter().all(|kbps| (kbps - level).abs() < 1e-9), "{interval}");
        }
    }

    #[test]
    fn long_series_is_downsampled_but_keeps_newest_point() {
        let many = points(3_600);
        let series = Series::new(&many, 3_600, 60);
        let indices: Vec<usize> = series.thinned().collect();
        assert!((599..=601).contains(&indices.len()), "{}", indices.len());
        assert_eq!(indices.last(), Some(&3_599));

        let later = Series::new(&many[1..], 3_599, 60);
        let ticks = |series: &Series<'_>| -> Vec<u64> {
            series.thinned().map(|index| series.points[index].tick).collect()
        };
        assert_eq!(ticks(&series)[10..500], ticks(&later)[10..500]);

        assert_eq!(Series::new(&points(30), 600, 60).thinned().count(), 30);
        let nothing = Series::new(&[], 600, 60);
        assert_eq!((nothing.thinned().count(), nothing.range), (0, None));
    }

    #[test]
    fn a_time_maps_to_the_nearest_point() {
        let points = points(120);
        let series = Series::new(&points, 120, 60);
        for index in [0, 1, 60, 119] {
            assert_eq!(series.index_at(series.seconds(index)), Some(index));
        }
        assert_eq!(series.index_at(0.5), Some(119));
        assert_eq!(series.index_at(-2.1), None);
        assert_eq!(Series::new(&[], 600, 60).index_at(0.0), None);
    }

    #[test]
    fn large_packet_is_a_peak_outside_the_scale() {
        let mut points = points(400);
        points[3].bytes = 140_000;
        let series = Series::new(&points, 400, 60);
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
    fn the_newest_rate_sets_the_scale_at_once() {
        let mut points = points(400);
        for point in &mut points[370..] {
            point.bytes = 140_000;
        }
        let series = Series::new(&points[..380], 380, 60);
        assert_eq!(series.range_without_peaks, series.range);
        for point in &mut points[375..] {
            point.bytes = 0;
        }
        let series = Series::new(&points, 400, 60);
        assert_eq!(series.range_without_peaks, series.range);
        points.extend(points[..100].to_vec());
        let series = Series::new(&points, 500, 60);
        assert_ne!(series.range_without_peaks, series.range);
    }

    #[test]
    fn budgets_and_losses_keep_the_times_of_samples() {
        let mut points = points(121);
        for (index, point) in points.iter_mut().enumerate() {
            point.has_losses = index == 60;
            point.budget_kbps = match index {
                ..31 => None,
                31..61 => Some(64),
                _ => Some(32),
            };
        }
        let series = Series::new(&points, 121, 60);
        let budgets: Vec<_> = series.budgets().collect();
        let first = series.seconds(31)..=series.seconds(60);
        assert_eq!(budgets, [(first, 64.0), (series.seconds(61)..=0.0, 32.0)]);
        assert_eq!(series.losses().collect::<Vec<_>>(), [-1.0]);
    }
}
