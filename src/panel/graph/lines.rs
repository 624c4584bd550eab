//! The lines of the lanes, on the axis that they share.

use std::ops::RangeInclusive;

use bevy_egui::egui::Stroke;
use cubewire_codec::ladder;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{Line, LineStyle, PlotPoints, PlotUi, Polygon, VLine};

use super::scale::Scale;
use super::series::{Point, Series};
use crate::panel::settings::PanelState;
use crate::panel::style;
use crate::replication::{Accounting, TARGET_KBPS};
use crate::theme::{Theme, egui_color};
use crate::view::Side;

/// How far the graph goes back.
pub(super) const fn ticks(state: &PanelState) -> usize {
    state.graph_seconds as usize * TICKS_PER_SECOND as usize
}

/// The newest `ticks` of each lane, smoothed.
pub(super) fn series(
    lanes: &[(Side, Vec<Point>)],
    ticks: usize,
    accounting: Accounting,
) -> Vec<(Side, Series<'_>)> {
    let series = lanes.iter().map(|(side, points)| {
        let series = Series::new(points, ticks, accounting);
        (*side, series)
    });
    series.collect()
}

/// The lines of all lanes, and the axis that they share.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    pub(super) series: Vec<(Side, Series<'a>)>,
    /// How far the graph goes back.
    pub(super) seconds: f64,
    pub(super) scale: Scale,
    pub(super) heights: RangeInclusive<f64>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(series: Vec<(Side, Series<'a>)>, ticks: usize, logarithmic: bool) -> Self {
        let scale = Scale { logarithmic };
        let range = series.iter().filter_map(|(_, series)| {
            // A single packet, such as the first one of a lane, does not squash all others.
            Some(if logarithmic {
                series.range()?
            } else {
                series.range_without_peaks()?
            })
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
            seconds: ticks as f64 / f64::from(TICKS_PER_SECOND),
            scale,
            heights: scale.heights(smallest, largest),
        }
    }

    /// The lines as the graph shows them; `points` are [its own](super::points).
    pub(super) fn shown(state: &PanelState, points: &'a [(Side, Vec<Point>)]) -> Self {
        let series = series(points, ticks(state), state.accounting);
        let logarithmic = state.axis.is_logarithmic(&series);
        Self::new(series, ticks(state), logarithmic)
    }

    /// Where a tick lies, if the graph goes back that far.
    pub(super) fn seconds_of(&self, tick: u64) -> Option<f64> {
        let (_, series) = self.series.first()?;
        let newest = series.tick(series.len().checked_sub(1)?);
        let seconds = (tick as f64 - newest as f64) / f64::from(TICKS_PER_SECOND);
        (-self.seconds..=0.0).contains(&seconds).then_some(seconds)
    }

    pub(super) fn draw(&self, plot: &mut PlotUi<'_>, theme: Theme, width: f32) {
        let colors = theme.colors();
        let [ink, muted] = [colors.ink, colors.muted].map(egui_color);
        // Not beyond the newest point, where a small graph has its labels.
        let target = self.scale.height(TARGET_KBPS);
        let target = Line::new("target", vec![[-self.seconds, target], [0.0, target]])
            .color(ink)
            .style(LineStyle::dashed_dense());
        plot.line(target.allow_hover(false));
        // What one lane may take, another may exceed.
        let has_veil = self.series.len() == 1;
        for (side, series) in &self.series {
            for (times, kbps) in series.budgets() {
                let (from, to) = (*times.start(), *times.end());
                let height = self.scale.height(kbps);
                if has_veil {
                    let top = 2.0 * self.heights.end();
                    let veil = vec![[from, height], [to, height], [to, top], [from, top]];
                    let veil = Polygon::new("above the budget", veil)
                        .fill_color(ink.gamma_multiply(VEIL))
                        .stroke(Stroke::NONE);
                    plot.polygon(veil.allow_hover(false));
                }
                let line = vec![[from, height], [to, height]];
                let budget = Line::new("budget", line).color(ink).width(2.0);
                plot.line(budget.allow_hover(false));
            }
            for index in series.switches() {
                let switch = VLine::new("stages switched", series.seconds(index)).color(muted);
                plot.vline(switch.allow_hover(false));
            }
            let line: PlotPoints<'_> = series
                .thinned()
                .map(|index| [series.seconds(index), self.scale.height(series.kbps(index))])
                .collect();
            let line = Line::new(side.name(), line)
                .color(style::half(colors, *side))
                .width(width);
            plot.line(line.allow_hover(false));
        }
    }

    /// The times of switches and the names of the rungs that follow, unless they would overlap the next.
    pub(super) fn switch_labels(&self) -> Vec<(f64, &'static str)> {
        let mut labels: Vec<(f64, &'static str)> = Vec::new();
        for (_, series) in &self.series {
            for index in series.switches() {
                let rung = ladder::rung_of(series.stages(index));
                let name = rung.map_or("custom", |rung| rung.name);
                labels.push((series.seconds(index), name));
            }
        }
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        let starts: Vec<f64> = labels.iter().skip(1).map(|label| label.0).collect();
        let fits = |(index, label): (usize, (f64, &'static str))| {
            let end = starts.get(index).copied().unwrap_or(0.0);
            let width = self.seconds * LABEL_SHARE * label.1.len() as f64;
            (end - label.0 >= width).then_some(label)
        };
        labels.into_iter().enumerate().filter_map(fits).collect()
    }

    /// The rates at the ends of the lines, and the target, each with its height; far enough apart to be
    /// read on a graph of `points` logical points.
    pub(super) fn labels(&self, points: f32) -> Vec<(String, f64, Option<Side>)> {
        let mut labels = vec![(format!("{TARGET_KBPS:.0}"), TARGET_KBPS, None)];
        for (side, series) in &self.series {
            if let Some(kbps) = series.newest_kbps() {
                labels.push((format!("{kbps:.0}"), kbps, Some(*side)));
            }
        }
        for (_, height, _) in &mut labels {
            *height = self.scale.height(*height);
        }
        labels.sort_by(|a, b| a.1.total_cmp(&b.1));
        let span = self.heights.end() - self.heights.start();
        let apart = span * f64::from(LABEL_SIZE / points);
        let mut lowest = self.heights.start() + apart / 2.0;
        for (_, height, _) in &mut labels {
            *height = height.max(lowest);
            lowest = *height + apart;
        }
        labels
    }
}

/// Share of the graph's width that a letter of a label takes, about.
const LABEL_SHARE: f64 = 0.018;

/// Opacity of what is above a budget.
const VEIL: f32 = 0.06;

/// Font size of the labels of a small graph, logical points.
pub(super) const LABEL_SIZE: f32 = 12.0;
