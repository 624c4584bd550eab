//! The lines of the lanes, on the axis that they share.

use std::ops::RangeInclusive;

use bevy_egui::egui::Stroke;
use cubewire_scene::TICKS_PER_SECOND;

use super::axis::Axis;
use super::series::{Point, Series};
use crate::panel::style::Look;
use crate::panel::widgets::{Chart, Scale};
use crate::replication::{Accounting, TARGET_KBPS};
use crate::view::Side;

/// The lines of all lanes, and the axis that they share.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) series: Vec<(Side, Series<'a>)>,
    /// How far the graph goes back.
    pub(super) seconds: f64,
    pub(super) scale: Scale,
    /// The ends of the axis, kbps.
    pub(super) ends: RangeInclusive<f64>,
}

impl<'a> Lines<'a> {
    /// The lines of the newest `seconds`.
    pub(super) fn new(lanes: &'a [(Side, Vec<Point>)], seconds: u32, axis: Axis) -> Self {
        let ticks = (seconds * TICKS_PER_SECOND) as usize;
        // That of the article, unless a lane has a budget, which counts every byte on the wire.
        let mut newest = lanes.iter().filter_map(|(_, points)| points.last());
        let accounting = match newest.any(|point| point.budget_kbps.is_some()) {
            true => Accounting::OnTheWire,
            false => Accounting::PayloadAndUdp,
        };
        let series = lanes.iter().map(|(side, points)| {
            let series = Series::new(points, ticks, accounting);
            (*side, series)
        });
        let series: Vec<_> = series.collect();
        let scale = axis.scale(&series);
        let range = series.iter().filter_map(|(_, series)| match scale {
            Scale::Logarithmic => series.range,
            // A single packet, such as the first one of a lane, does not squash all others.
            Scale::Linear => series.range_without_peaks,
        });
        let budgets = series.iter().flat_map(|(_, series)| series.budgets());
        let budgets = budgets.map(|(_, kbps)| (kbps, kbps));
        let (smallest, largest) = range
            .chain(budgets)
            .fold((TARGET_KBPS, TARGET_KBPS), |(low, high), range| {
                (range.0.min(low), range.1.max(high))
            });
        Self {
            series,
            seconds: f64::from(seconds),
            scale,
            ends: scale.ends(smallest, largest),
        }
    }

    /// Where a tick lies, if the graph goes back that far.
    pub(super) fn seconds_of(&self, tick: u64) -> Option<f64> {
        let (_, series) = self.series.first()?;
        let newest = series.points.last()?.tick;
        let seconds = (tick as f64 - newest as f64) / f64::from(TICKS_PER_SECOND);
        (-self.seconds..=0.0).contains(&seconds).then_some(seconds)
    }

    pub(super) fn has_budget(&self) -> bool {
        let mut series = self.series.iter();
        series.any(|(_, series)| series.newest_budget().is_some())
    }

    pub(super) fn draw(&self, chart: &Chart, look: Look, width: f32) {
        let whole = -self.seconds..=0.0;
        let target = Stroke::new(1.0, look.ink);
        chart.level(whole, TARGET_KBPS, target, Some(5.0));
        // What one lane may take, another may exceed.
        let has_veil = self.series.len() == 1;
        for (side, series) in &self.series {
            for (times, kbps) in series.budgets() {
                if has_veil {
                    chart.veil(times.clone(), kbps, look.warning.gamma_multiply(VEIL));
                }
                let budget = Stroke::new(2.0, look.warning);
                chart.level(times, kbps, budget, None);
            }
            let points = series.thinned();
            let points = points.map(|index| (series.seconds(index), series.kbps[index]));
            chart.line(points, width, side.color_in(look));
        }
    }
}

/// Opacity of what is above a budget.
const VEIL: f32 = 0.1;
