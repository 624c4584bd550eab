//! The choice of the vertical axis.

use serde::{Deserialize, Serialize};

use super::series::Series;
use crate::widgets::Scale;

/// The scale of the graph's vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Logarithmic if the displayed rates differ by a large factor, otherwise linear.
    #[default]
    Automatic,
    /// Linear from 0.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

impl Axis {
    /// All scales, in the order of repeated clicks.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::Linear, Self::Logarithmic];

    /// Returns its displayed name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "auto",
            Self::Linear => "linear",
            Self::Logarithmic => "log",
        }
    }

    /// Returns the scale for these lines.
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
    use super::super::series::Point;
    use super::*;

    /// Returns 5 seconds of packets with `before` bytes, followed by 10 seconds of packets with `after` bytes.
    fn points(before: usize, after: usize) -> Vec<Point> {
        let points = (0..15 * 60).map(|tick| Point {
            tick,
            bytes: if tick < 5 * 60 { before } else { after },
            ..Point::default()
        });
        points.collect()
    }

    #[test]
    fn the_automatic_axis_is_logarithmic_while_rates_differ_much() {
        let steady = points(528, 528);
        let from_rest = points(32, 628);
        let from_above = points(36_028, 628);
        let (all, recent) = (15 * 60, 9 * 60);
        let is_logarithmic = |lanes: &[(&Vec<Point>, usize)]| {
            let lines = lanes.iter();
            let lines: Vec<_> =
                lines.map(|(points, ticks)| Series::new(points, *ticks, 60)).collect();
            Axis::Automatic.scale(lines.iter()) == Scale::Logarithmic
        };
        assert!(!is_logarithmic(&[(&steady, all)]));
        assert!(!is_logarithmic(&[(&from_rest, all)]));
        assert!(is_logarithmic(&[(&from_above, all)]));
        // The graph no longer includes the rates before the switch.
        assert!(!is_logarithmic(&[(&from_above, recent)]));
        let tenfold = points(36_028, 36_028);
        assert!(is_logarithmic(&[(&steady, recent), (&tenfold, recent)]));
        assert!(!is_logarithmic(&[(&steady, recent), (&from_above, recent)]));
    }
}
