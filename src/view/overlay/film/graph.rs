//! The graph of a film: the bandwidths of the last seconds.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Align2, Pos2, Rect, Shape, Stroke, pos2, vec2};
use cubewire_inspector::widgets::Scale;
use cubewire_inspector::words::short;
use cubewire_palette::Rgb;
use cubewire_scene::TICKS_PER_SECOND;

use super::super::headline::OverlayLane;
use super::super::text::Pen;
use super::FLAGS;
use crate::replication::{Accounting, LaneMeter, TARGET_KBPS};
use crate::theme::egui_color;
use crate::view::overlay::Overlay;
use crate::view::side::Side;

pub(super) const SECONDS: usize = 8;

const TICKS: usize = SECONDS * TICKS_PER_SECOND as usize;

/// Lower end of the logarithmic scale, and smallest upper end of the linear one, kilobits per second.
const FROM_KBPS: f64 = 10.0;

/// Distance of two points of a line.
const STEP_TICKS: usize = 3;

/// Width left of the plot for the labels, in multiples of the type size.
pub(super) const LEFT: f32 = 4.0;

/// Distance of the plot from the top edge of the band, points.
pub(super) const TOP: f32 = 10.0;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Simulation tick at which the new setting starts.
    pub tick: u64,
    pub side: Side,
    pub title: String,
}

impl Pen<'_> {
    /// Bandwidths to mark with a dashed line, and a description of the graph. The bandwidths are the budgets or else the
    /// target, if the graph reaches it.
    pub(super) fn dashes(
        &self,
        graph: &Graph,
        lanes: &[OverlayLane<'_>],
    ) -> (Vec<(f64, Rgb)>, &'static str) {
        let colors = self.colors();
        let budgets = lanes.iter().filter_map(|lane| {
            let kbps = lane.settings.sender.kept_budget()?;
            Some((f64::from(kbps), lane.side.color_of(colors)))
        });
        let budgets: Vec<_> = budgets.collect();
        match budgets.is_empty() {
            false => (budgets, "kbps; dashes: budget"),
            true if graph.ends.contains(&TARGET_KBPS) => {
                let dashes = vec![(TARGET_KBPS, colors.ink)];
                (dashes, "kbps; dashes: target 256")
            }
            true => (Vec::new(), "kbps"),
        }
    }

    pub(super) fn plot(
        &self,
        graph: &Graph,
        lanes: &[OverlayLane<'_>],
        dashes: &[(f64, Rgb)],
        flags: &[Flag],
    ) {
        let colors = self.colors();
        let (plot, small) = (graph.plot, self.sizes.small);
        self.painter.rect_filled(plot, 0.0, egui_color(colors.sunken));
        let line = Stroke::new(1.0, egui_color(colors.line));
        for kbps in graph.marks(small) {
            let y = graph.height(kbps);
            self.painter.hline(plot.x_range(), y, line);
            let label = (&*short(kbps), small, colors.muted);
            self.write(pos2(plot.min.x - 6.0, y), Align2::RIGHT_CENTER, label);
        }
        for &(kbps, color) in dashes {
            let y = graph.height(kbps);
            let line = [pos2(plot.min.x, y), pos2(plot.max.x, y)];
            let stroke = Stroke::new(1.0, egui_color(color));
            self.painter.extend(Shape::dashed_line(&line, stroke, 5.0, 3.0));
        }
        for lane in lanes {
            let color = egui_color(lane.side.color_of(colors));
            self.painter.line(graph.points(lane.meter), Stroke::new(2.0, color));
        }
        let newest = lanes.iter().filter_map(|lane| lane.meter.newest_tick());
        if let Some(now) = newest.max() {
            self.flags(plot, now, flags);
        }
    }

    /// Paints a line through the plot for each switch of the last seconds, with its title above, to the right or to the
    /// left. Without room next to a newer flag, only the line is painted.
    fn flags(&self, plot: Rect, now: u64, flags: &[Flag]) {
        let (colors, small) = (self.colors(), self.sizes.small);
        let mut right = plot.max.x;
        for flag in flags.iter().rev().filter(|flag| flag.tick <= now) {
            let x = plot.max.x - (now - flag.tick) as f32 / TICKS as f32 * plot.width();
            if x < plot.min.x {
                break;
            }
            let color = flag.side.color_of(colors);
            let stroke = Stroke::new(1.0, egui_color(color));
            let width = self.width(&flag.title, small) + 8.0;
            let left = x.min(right - width);
            let top = plot.min.y - FLAGS;
            let has_room = left + width >= x && left >= plot.min.x;
            let end = if has_room { top } else { plot.min.y };
            self.painter.vline(x, end..=plot.max.y, stroke);
            if has_room {
                let cloth = Rect::from_min_size(pos2(left, top), vec2(width, FLAGS));
                self.painter.rect_filled(cloth, 2.0, stroke.color);
                let title = (&*flag.title, small, colors.ground);
                self.write(cloth.center(), Align2::CENTER_CENTER, title);
                right = left - 2.0;
            }
        }
    }

    /// Paints the labels below a plot: its start, its end, and the description `what`.
    pub(super) fn times(&self, plot: Rect, what: &str) {
        let small = self.sizes.small;
        let y = plot.max.y + 3.0;
        let write = |x, anchor, text: &str| {
            let part = (text, small, self.colors().muted);
            self.write(pos2(x, y), anchor, part)
        };
        let start = write(plot.min.x, Align2::LEFT_TOP, &format!("{SECONDS} s ago"));
        let end = write(plot.max.x, Align2::RIGHT_TOP, "now");
        // The longest text that fits.
        let what = [what, "kbps"].into_iter().find(|text| {
            let width = self.width(text, small);
            let from = plot.center().x - width / 2.0;
            from > start.max.x + small && from + width < end.min.x - small
        });
        if let Some(what) = what {
            write(plot.center().x, Align2::CENTER_TOP, what);
        }
    }
}

pub(super) struct Graph {
    plot: Rect,
    scale: Scale,
    ends: RangeInclusive<f64>,
}

impl Graph {
    /// Creates a plot that reaches the largest bandwidth of the film so far. A linear scale starts at 0, so that heights
    /// are in proportion.
    pub(super) fn new(plot: Rect, overlay: &Overlay) -> Self {
        let scale = match overlay.is_logarithmic {
            true => Scale::Logarithmic,
            false => Scale::Linear,
        };
        Self { plot, scale, ends: scale.ends(FROM_KBPS, overlay.peak_kbps.max(FROM_KBPS)) }
    }

    fn height(&self, kbps: f64) -> f32 {
        let share = self.scale.fraction(kbps, &self.ends);
        self.plot.max.y - share as f32 * self.plot.height()
    }

    /// Labelled values, largest first, as far as labels of height `size` have room.
    fn marks(&self, size: f32) -> Vec<f64> {
        let mut marks = vec![*self.ends.end()];
        for kbps in self.scale.marks(&self.ends).into_iter().rev().skip(1) {
            let above = marks.last().map_or(0.0, |&above| self.height(above));
            if self.height(kbps) - above >= size {
                marks.push(kbps);
            }
        }
        marks
    }

    fn points(&self, meter: &LaneMeter) -> Vec<Pos2> {
        let plot = self.plot;
        let points = means(meter).into_iter().enumerate().map(|(index, kbps)| {
            let ago = (index * STEP_TICKS) as f32 / TICKS as f32;
            pos2(plot.max.x - ago * plot.width(), self.height(kbps))
        });
        let mut points: Vec<_> = points.collect();
        points.reverse();
        points
    }
}

/// Mean bandwidths of the graph, newest first. Each covers one second, or the time since a switch if that is shorter,
/// but at least one send interval.
fn means(meter: &LaneMeter) -> Vec<f64> {
    let second = TICKS_PER_SECOND as usize;
    let samples: Vec<_> = meter.newest(TICKS + second).collect();
    let means = samples.windows(second).rev().step_by(STEP_TICKS);
    let means = means.take(TICKS / STEP_TICKS + 1).map(|window| {
        let newest = window[second - 1];
        let alike = window.iter().rev();
        let alike = alike.take_while(|sample| sample.is_sent_like(newest));
        let ticks = alike.count().max(newest.send_interval_ticks as usize);
        let sent = window[second - ticks.min(second)..].iter();
        let bytes = sent.map(|sample| sample.bytes(Accounting::PayloadAndUdp));
        crate::replication::kbps(bytes.sum(), ticks)
    });
    means.collect()
}

/// Largest mean bandwidth in a film's graph, kilobits per second, or 0 without samples.
pub fn peak_kbps(meter: &LaneMeter) -> f64 {
    means(meter).into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::{Sample, sample};

    fn graph(peak_kbps: f64, is_logarithmic: bool) -> Graph {
        let plot = Rect::from_min_size(pos2(80.0, 0.0), vec2(500.0, 108.0));
        let overlay = Overlay { peak_kbps, is_logarithmic, ..Overlay::default() };
        Graph::new(plot, &overlay)
    }

    #[test]
    fn the_graph_ends_now_and_at_a_round_number_above_what_is_shown() {
        let meter = LaneMeter::from_samples((0..900).map(|tick| sample(tick, 492)));
        let peak = peak_kbps(&meter);
        assert!((249.0..250.0).contains(&peak), "{peak}");
        for is_logarithmic in [false, true] {
            let graph = graph(peak, is_logarithmic);
            let points = graph.points(&meter);
            assert_eq!(points.last().unwrap().x, graph.plot.max.x);
            let start = points[0].x - graph.plot.min.x;
            assert!((0.0..5.0).contains(&start), "{start}");
            // Just below the target.
            assert!(points.iter().all(|at| at.y == points[0].y));
            assert!(points[0].y > graph.height(TARGET_KBPS));
            assert_eq!([graph.height(1.0e-9), graph.height(1e6)], [108.0, 0.0]);
        }
        for (largest, end, logarithmic) in
            [(0.0, 15.0, 100.0), (32.0, 40.0, 100.0), (17_369.0, 20_000.0, 100_000.0)]
        {
            assert_eq!(*graph(largest, false).ends.end(), end);
            assert_eq!(*graph(largest, true).ends.end(), logarithmic);
        }
    }

    #[test]
    fn three_times_as_much_is_three_times_as_high() {
        let graph = graph(17_369.0, false);
        let high = |kbps| graph.plot.max.y - graph.height(kbps);
        assert!((high(15_000.0) / high(5_000.0) - 3.0).abs() < 1e-4);
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
        let means = means(&meter);
        let (after, before) = means.split_at(30 / STEP_TICKS);
        assert!(after.iter().all(|&kbps| kbps == 240.0), "{after:?}");
        assert!(before.iter().all(|&kbps| kbps == 480.0), "{before:?}");
    }

    #[test]
    fn the_marks_of_the_graph_do_not_overlap() {
        for (largest, is_logarithmic) in
            [(20.0, false), (64.0, true), (256.0, false), (17_369.0, true), (17_369.0, false)]
        {
            for size in [14.0, 18.0] {
                let scale = graph(largest, is_logarithmic);
                let marks = scale.marks(size);
                assert!(marks.len() >= 2, "{marks:?}");
                let heights: Vec<_> = marks.iter().map(|&kbps| scale.height(kbps)).collect();
                assert!(heights.windows(2).all(|two| two[1] - two[0] >= size));
            }
        }
    }
}
