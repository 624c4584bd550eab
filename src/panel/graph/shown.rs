//! What the graph shows, as figures: for pictures and tables of it.

use std::ops::RangeInclusive;

use super::lines::{Lines, accounting};
use super::points;
use crate::panel::lane::Measured;
use crate::panel::settings::PanelState;
use crate::panel::widgets::Scale;
use crate::replication::Accounting;
use crate::theme::Theme;
use crate::view::Side;

/// The bandwidth graph as the panel shows it, with its settings, and frozen if it is.
#[derive(Clone, Debug)]
pub struct ShownGraph {
    /// Its colours.
    pub theme: Theme,
    /// How it counts bytes.
    pub accounting: Accounting,
    /// How far it goes back.
    pub seconds: f64,
    /// A line for each lane, the left one first.
    pub lines: Vec<ShownLine>,
    /// The times at which stages were switched, and the names of the rungs that follow.
    pub switches: Vec<(f64, &'static str)>,
    scale: Scale,
    ends: RangeInclusive<f64>,
}

/// The line of a lane. Times are relative to the newest tick, seconds: 0 or less.
#[derive(Clone, Debug)]
pub struct ShownLine {
    /// The half of the lane.
    pub side: Side,
    /// Every tick, oldest first.
    pub points: Vec<ShownPoint>,
    /// Budgets: from when to when, and their kilobits a second.
    pub budgets: Vec<(RangeInclusive<f64>, f64)>,
    /// When packets were lost.
    pub losses: Vec<f64>,
    /// Peaks above the scale: when, and their rates in kilobits a second.
    pub peaks: Vec<(f64, f64)>,
}

/// The rate at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownPoint {
    /// The tick.
    pub tick: u64,
    /// Its time.
    pub seconds: f64,
    /// The rate, smoothed, kilobits a second.
    pub kbps: f64,
}

impl ShownGraph {
    /// The graph of these lanes, in that state of the panel.
    #[must_use]
    pub fn of(state: &PanelState, lanes: &[Measured<'_>]) -> Self {
        let points = points(state, lanes);
        let lines = Lines::shown(state, &points);
        let top = *lines.ends.end();
        let shown = lines.series.iter().map(|(side, series)| {
            let rate = |index| ShownPoint {
                tick: series.tick(index),
                seconds: series.seconds(index),
                kbps: series.kbps(index),
            };
            ShownLine {
                side: *side,
                points: (0..series.len()).map(rate).collect(),
                budgets: series.budgets().collect(),
                losses: series.losses().collect(),
                peaks: series.peaks_above(top).collect(),
            }
        });
        let switches = lines.switches().into_iter();
        Self {
            theme: state.theme,
            accounting: accounting(&points),
            seconds: lines.seconds,
            lines: shown.collect(),
            switches: switches.map(|switch| (-switch.ago, switch.to)).collect(),
            scale: lines.scale,
            ends: lines.ends.clone(),
        }
    }

    /// Where a rate is on the vertical axis, linear or logarithmic: from 0 at the bottom to 1 at the top.
    #[must_use]
    pub fn height(&self, kbps: f64) -> f64 {
        self.scale.fraction(kbps, &self.ends)
    }

    /// The rates that are marked on the vertical axis, in ascending order.
    #[must_use]
    pub fn marks(&self) -> Vec<f64> {
        self.scale.marks(&self.ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::graph::axis::Axis;
    use crate::replication::{LaneMeter, PacketRecord, Sample};

    fn meter(payload_bytes: usize) -> LaneMeter {
        LaneMeter::from_samples((0..900).map(|tick| Sample {
            tick,
            snapshots: vec![PacketRecord {
                payload_bytes,
                ..PacketRecord::default()
            }],
            ..Sample::default()
        }))
    }

    #[test]
    fn it_is_the_graph_of_the_panel() {
        let meters = [meter(97), meter(997)];
        let lanes: Vec<_> = Side::ALL
            .into_iter()
            .zip(&meters)
            .map(|(side, meter)| Measured {
                side,
                meter,
                settings: None,
            })
            .collect();
        let state = PanelState {
            axis: Axis::Linear,
            graph_seconds: 10,
            ..PanelState::default()
        };
        let graph = ShownGraph::of(&state, &lanes);
        for (line, kbps) in graph.lines.iter().zip([60.0, 492.0]) {
            assert_eq!(line.points.len(), 600);
            assert_eq!(line.points[599].tick, 899);
            assert!(
                line.points
                    .iter()
                    .all(|point| (point.kbps - kbps).abs() < 1e-9)
            );
        }
        assert_eq!((graph.height(0.0), graph.height(1e9)), (0.0, 1.0));
        assert_eq!(graph.marks()[..3], [0.0, 200.0, 400.0]);

        let state = PanelState {
            axis: Axis::Logarithmic,
            ..state
        };
        let graph = ShownGraph::of(&state, &lanes);
        assert_eq!(graph.marks(), [10.0, 100.0, 1000.0]);
        let tenfold = graph.height(500.0) - graph.height(50.0);
        assert!((tenfold - 0.5).abs() < 1e-9, "{tenfold}");
    }
}
