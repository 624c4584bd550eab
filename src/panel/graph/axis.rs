//! The choice of the vertical axis.

use serde::{Deserialize, Serialize};

use super::series::Series;
use crate::panel::widgets::Scale;
use crate::view::Side;

/// The scale of the graph's vertical axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    /// Logarithmic where the rates that are shown differ much, otherwise linear.
    #[default]
    Automatic,
    /// Linear from 0.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

impl Axis {
    /// All of them, in the order in which a click goes through them.
    pub(super) const ALL: [Self; 3] = [Self::Automatic, Self::Linear, Self::Logarithmic];

    /// The scale for these lines.
    pub(super) fn scale(self, lines: &[(Side, Series<'_>)]) -> Scale {
        let lines = || lines.iter().map(|(_, series)| series);
        let newest = lines().filter_map(|series| series.kbps.last());
        let newest = newest.map(|&kbps| (kbps, kbps));
        let all = lines().filter_map(|series| series.range_without_peaks);
        match self {
            Self::Automatic if !differ(newest, MUCH_BETWEEN_LANES) && !differ(all, MUCH_IN_ALL) => {
                Scale::Linear
            }
            Self::Linear => Scale::Linear,
            Self::Automatic | Self::Logarithmic => Scale::Logarithmic,
        }
    }
}

/// Whether the largest rate of these ranges is more than `factor` times the smallest. Headers alone are the least that
/// is sent.
fn differ(ranges: impl Iterator<Item = (f64, f64)>, factor: f64) -> bool {
    let whole = ranges.reduce(|all, range| (all.0.min(range.0), all.1.max(range.1)));
    whole.is_some_and(|(smallest, largest)| largest > factor * smallest.max(HEADERS_KBPS))
}

/// The axis is logarithmic if one lane now takes more than this many times what another does.
const MUCH_BETWEEN_LANES: f64 = 10.0;

/// Logarithmic too if the largest rate shown is more than this many times the smallest: more than from rest to a rolling ball
/// at one rung.
const MUCH_IN_ALL: f64 = 32.0;

/// Sixty headers of 28 bytes and a few more, kbps.
const HEADERS_KBPS: f64 = 15.0;

#[cfg(test)]
mod tests {
    use cubewire_scene::TICKS_PER_SECOND;

    use super::super::series::Point;
    use super::*;
    use crate::replication::{Accounting, PacketRecord, Sample};

    /// Ten seconds of packets of these bytes, after five of those.
    fn points(before: usize, after: usize) -> Vec<Point> {
        let second = u64::from(TICKS_PER_SECOND);
        let ticks = 0..15 * second;
        let points = ticks.map(|tick| {
            Point::from(&Sample {
                tick,
                snapshots: vec![PacketRecord {
                    payload_bytes: if tick < 5 * second { before } else { after },
                    ..PacketRecord::default()
                }],
                ..Sample::default()
            })
        });
        points.collect()
    }

    #[test]
    fn the_automatic_axis_is_logarithmic_while_rates_differ_much() {
        let steady = points(500, 500);
        let from_rest = points(4, 600);
        let from_above = points(36_000, 600);
        let all = 15 * TICKS_PER_SECOND as usize;
        let recent = 9 * TICKS_PER_SECOND as usize;
        let is_logarithmic = |lanes: &[(&[Point], usize)]| {
            let lines: Vec<_> = Side::ALL
                .into_iter()
                .zip(lanes)
                .map(|(side, (points, ticks))| {
                    (side, Series::new(points, *ticks, Accounting::PayloadAndUdp))
                })
                .collect();
            Axis::Automatic.scale(&lines) == Scale::Logarithmic
        };
        assert!(!is_logarithmic(&[(&steady, all)]));
        assert!(!is_logarithmic(&[(&from_rest, all)]));
        assert!(is_logarithmic(&[(&from_above, all)]));
        // The rates from before the switch have left the graph.
        assert!(!is_logarithmic(&[(&from_above, recent)]));
        let tenfold = points(36_000, 36_000);
        assert!(is_logarithmic(&[(&steady, recent), (&tenfold, recent)]));
        assert!(!is_logarithmic(&[(&steady, recent), (&from_above, recent)]));
    }
}
