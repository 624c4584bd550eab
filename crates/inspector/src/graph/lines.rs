//! The lines of the graph and their common axis.

use serde::{Deserialize, Serialize};

use super::series::{Point, Series};
use crate::prelude::*;

#[derive(Clone, Debug, Default)]
pub struct Source {
    pub name: String,
    pub color: Color32,
    /// One point per tick, oldest first.
    pub points: Vec<Point>,
    /// Requested budget, kbps. It sets the scale of the axis; a granted budget does not.
    pub asked_kbps: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Line<'a> {
    pub source: &'a Source,
    pub series: Series<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Length of the graph, in seconds.
    pub seconds: u32,
    pub ticks_per_second: u32,
    pub axis: Axis,
    /// Rate to mark with a dashed line, in kbps.
    pub target: Option<f64>,
}

#[derive(Clone, Debug)]
pub struct Lines<'a> {
    pub all: Vec<Line<'a>>,
    /// Length of the graph, in seconds.
    pub seconds: f64,
    pub scale: Scale,
    /// Ends of the axis, in kbps.
    pub ends: RangeInclusive<f64>,
    /// [`Span::target`], or `None` if it is beyond the axis.
    pub target: Option<f64>,
    ticks_per_second: u32,
}

impl<'a> Lines<'a> {
    pub fn new(sources: &'a [Source], span: Span) -> Self {
        let ticks = (span.seconds * span.ticks_per_second) as usize;
        let all = sources.iter().map(|source| Line {
            source,
            series: Series::new(&source.points, ticks, span.ticks_per_second),
        });
        let all: Vec<_> = all.collect();
        let scale = span.axis.scale(all.iter().map(|line| &line.series));
        let ranges = all.iter().filter_map(|line| match scale {
            Scale::Logarithmic => line.series.range,
            // A single large packet, such as the first one of a lane, must not compress all other rates.
            Scale::Linear => line.series.range_without_peaks,
        });
        let asked = sources.iter().filter_map(|source| source.asked_kbps);
        let asked: Vec<f64> = asked.map(f64::from).collect();
        // With a budget, the axis follows the budget. A target far above it would flatten the lines.
        let target = span.target.filter(|_| asked.is_empty());
        let level = asked.into_iter().chain(target);
        let (smallest, largest) = ranges
            .chain(level.map(|kbps| (kbps, kbps)))
            .reduce(|all, range| (all.0.min(range.0), all.1.max(range.1)))
            .unwrap_or_default();
        let ends = scale.ends(smallest, largest);
        Self {
            seconds: f64::from(span.seconds),
            scale,
            target: span.target.filter(|target| ends.contains(target)),
            ends,
            ticks_per_second: span.ticks_per_second,
            all,
        }
    }

    /// Returns the time of a tick relative to the newest, in seconds, if it is in the graph.
    pub fn seconds_of(&self, tick: u64) -> Option<f64> {
        let newest = self.all.first()?.series.points.last()?.tick;
        let seconds = (tick as f64 - newest as f64) / f64::from(self.ticks_per_second);
        (-self.seconds..=0.0).contains(&seconds).then_some(seconds)
    }

    /// Returns the budgets within the axis, each with its time span in seconds and its rate in kbps.
    fn drawn(&self, line: &Line<'_>) -> impl Iterator<Item = (RangeInclusive<f64>, f64)> {
        line.series.budgets().filter(|(_, kbps)| self.ends.contains(kbps))
    }

    /// Returns the drawn budgets in kbps as text: one or two values, or the range of more. Empty without a budget.
    pub fn budgets(&self) -> String {
        let drawn = self.all.iter().flat_map(|line| self.drawn(line));
        let mut kbps: Vec<f64> = drawn.map(|(_, kbps)| kbps).collect();
        kbps.dedup();
        match kbps[..] {
            [] => String::new(),
            [one] => one.to_string(),
            [one, other] => format!("{one}, {other}"),
            _ => {
                kbps.sort_by(f64::total_cmp);
                format!("{}–{}", kbps[0], kbps[kbps.len() - 1])
            }
        }
    }

    /// Returns the text after the unit. With a budget, the rates include all bytes on the wire, because a budget does.
    pub fn counted(&self) -> &'static str {
        let mut newest = self.all.iter().filter_map(|line| line.series.points.last());
        if newest.any(|point| point.budget_kbps.is_some()) { " on the wire" } else { "" }
    }

    pub fn draw(&self, chart: &Chart, look: Look, width: f32) {
        if let Some(target) = self.target {
            chart.level(-self.seconds..=0.0, target, Stroke::new(1.0, look.ink), Some(5.0));
        }
        // A budget is per line, so the area above it cannot be shaded if there are several lines.
        let has_veil = self.all.len() == 1;
        for line in &self.all {
            let Line { source, series } = line;
            for (times, kbps) in self.drawn(line) {
                if has_veil {
                    chart.veil(times.clone(), kbps, look.warning.gamma_multiply(0.1));
                }
                chart.level(times, kbps, Stroke::new(2.0, look.warning), Some(BUDGET_DASH));
            }
            let points = series.thinned().map(|index| (series.seconds(index), series.kbps[index]));
            chart.line(points, width, source.color);
        }
    }
}

/// Length of a budget's dashes, in logical points. The dashes distinguish a budget from a line of a similar colour.
pub(super) const BUDGET_DASH: f32 = 2.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Logarithmic if the displayed rates differ by a large factor, otherwise linear.
    #[default]
    Automatic,
    Linear,
    Logarithmic,
}

impl Axis {
    /// All scales, in the order of repeated clicks.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Linear, Self::Logarithmic];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "auto",
            Self::Linear => "linear",
            Self::Logarithmic => "log",
        }
    }

    pub fn scale<'s>(self, lines: impl Iterator<Item = &'s Series<'s>> + Clone) -> Scale {
        let newest = lines.clone().filter_map(|series| series.kbps.last());
        let newest = newest.map(|&kbps| (kbps, kbps));
        let all = lines.filter_map(|series| series.range_without_peaks);
        match self {
            Self::Automatic if !differ(newest, MUCH_BETWEEN_LANES) && !differ(all, MUCH_IN_ALL) => {
                Scale::Linear
            }
            Self::Linear => Scale::Linear,
            Self::Automatic | Self::Logarithmic => Scale::Logarithmic,
        }
    }
}

/// Returns whether the largest rate of these ranges is more than `factor` times the smallest. Rates below the rate of headers
/// count as [`HEADERS_KBPS`].
fn differ(ranges: impl Iterator<Item = (f64, f64)>, factor: f64) -> bool {
    let whole = ranges.reduce(|all, range| (all.0.min(range.0), all.1.max(range.1)));
    whole.is_some_and(|(smallest, largest)| largest > factor * smallest.max(HEADERS_KBPS))
}

/// The axis is logarithmic if the newest rates of two lanes differ by more than this factor.
const MUCH_BETWEEN_LANES: f64 = 10.0;

/// The axis is also logarithmic if the largest and the smallest rate differ by more than this factor. It is above the factor
/// between rest and a rolling ball at one rung.
const MUCH_IN_ALL: f64 = 32.0;

/// Rate of sixty packets per second with headers of 28 bytes and little else, in kbps.
const HEADERS_KBPS: f64 = 15.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns 5 seconds of packets with `before` bytes, followed by 10 seconds of packets with `after` bytes.
    fn points(before: usize, after: usize) -> Vec<Point> {
        let bytes = |tick| if tick < 5 * 60 { before } else { after };
        let point = |tick| Point { tick, bytes: bytes(tick), ..Point::default() };
        (0..15 * 60).map(point).collect()
    }

    #[test]
    fn automatic_axis_is_logarithmic_if_rates_differ_much() {
        let (steady, from_rest, from_above) =
            (points(528, 528), points(32, 628), points(36_028, 628));
        let (all, recent) = (15 * 60, 9 * 60);
        // In the recent ticks, the graph no longer includes the rates before the switch.
        for (lanes, ticks, scale) in [
            (&[&steady][..], all, Scale::Linear),
            (&[&from_rest], all, Scale::Linear),
            (&[&from_above], all, Scale::Logarithmic),
            (&[&from_above], recent, Scale::Linear),
            (&[&steady, &points(36_028, 36_028)], recent, Scale::Logarithmic),
            (&[&steady, &from_above], recent, Scale::Linear),
        ] {
            let series: Vec<_> = lanes.iter().map(|lane| Series::new(lane, ticks, 60)).collect();
            assert_eq!(Axis::Automatic.scale(series.iter()), scale);
        }
    }
}
