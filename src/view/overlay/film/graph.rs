//! The graph of a film: one plot for all its halves or columns.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Align2, Pos2, Rect, Shape, Stroke, pos2, vec2};
use cubewire_inspector::widgets::Scale;
use cubewire_inspector::words::short;
use cubewire_palette::Rgb;

use super::super::text::Pen;
use super::FLAGS;
use super::curves::{Curve, Curves, Quantity, SECONDS, STEP_TICKS, TICKS};
use crate::replication::TARGET_KBPS;
use crate::theme::egui_color;

/// Width left of the plot for the labels, in multiples of the type size.
pub(super) const LEFT: f32 = 4.0;

impl Pen<'_> {
    /// Paints the graph into `rect`.
    pub(super) fn plot(&self, rect: Rect, curves: &Curves) {
        let (plot, colors, small) = (Plot::new(rect, curves), self.colors(), self.sizes.small);
        self.painter.rect_filled(rect, 0.0, egui_color(colors.sunken));
        let line = Stroke::new(1.0, egui_color(colors.line));
        for value in plot.marks(small) {
            let y = plot.height(value);
            self.painter.hline(rect.x_range(), y, line);
            let label = (&*label(curves.quantity, value), small, colors.muted);
            self.write(pos2(rect.min.x - 6.0, y), Align2::RIGHT_CENTER, label);
        }
        for (kbps, part) in dashes(curves) {
            let y = plot.height(kbps);
            let line = [pos2(rect.min.x, y), pos2(rect.max.x, y)];
            let stroke = Stroke::new(1.0, egui_color(self.color_of(part)));
            self.painter.extend(Shape::dashed_line(&line, stroke, 5.0, 3.0));
        }
        for curve in &curves.curves {
            let stroke = Stroke::new(2.0, egui_color(colors.column(curve.part)));
            for line in plot.lines(curve) {
                self.painter.line(line, stroke);
            }
        }
        self.flags(rect, curves);
    }

    /// Colour of a half or column. `None` is for marks that belong to all of them.
    fn color_of(&self, part: Option<usize>) -> Rgb {
        let colors = self.colors();
        part.map_or(colors.ink, |part| colors.column(part))
    }

    /// Paints a line through the plot for each switch of the last seconds, with its title above, to the right or to the
    /// left. Without room next to a newer flag, only the line is painted.
    fn flags(&self, plot: Rect, curves: &Curves) {
        let (colors, small) = (self.colors(), self.sizes.small);
        let Some(now) = curves.curves.iter().map(|curve| curve.newest_tick).max() else { return };
        let mut right = plot.max.x;
        for flag in curves.flags.iter().rev().filter(|flag| flag.tick <= now) {
            let x = plot.max.x - (now - flag.tick) as f32 / TICKS as f32 * plot.width();
            if x < plot.min.x {
                break;
            }
            let stroke = Stroke::new(1.0, egui_color(self.color_of(flag.part)));
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
}

/// Text of a value at an axis, in kilobits per second or millimetres.
fn label(quantity: Quantity, value: f64) -> String {
    match (quantity, value / 1000.0) {
        (Quantity::Bandwidth, _) => short(value),
        (Quantity::Error, millimetres) if millimetres < 10.0 => millimetres.to_string(),
        (Quantity::Error, millimetres) => short(millimetres),
    }
}

/// Description of a graph.
pub(super) fn about(curves: &Curves) -> String {
    let what = match (curves.quantity, &dashes(curves)[..]) {
        (Quantity::Error, _) => "mean error, mm",
        (Quantity::Bandwidth, []) => "kbps",
        (Quantity::Bandwidth, [(_, None), ..]) => "kbps; dashes: target 256",
        (Quantity::Bandwidth, [(_, Some(_)), ..]) => "kbps; dashes: budget",
    };
    format!("last {SECONDS} s, {what}")
}

/// Returns a scale that reaches the largest value of the film so far, and its ends. A linear scale starts at 0, so that
/// heights are in proportion.
fn axis(curves: &Curves) -> (Scale, RangeInclusive<f64>) {
    let scale = if curves.is_logarithmic { Scale::Logarithmic } else { Scale::Linear };
    // Lower end of a logarithmic scale, and smallest upper end of a linear one.
    let from = match curves.quantity {
        Quantity::Bandwidth => 10.0,
        Quantity::Error => 100.0,
    };
    let ends = scale.ends(from, curves.peak().max(from));
    (scale, ends)
}

/// Bandwidths to mark with a dashed line, and the index of the half or column that they belong to: the budgets, or else the
/// target, if the graph reaches it.
fn dashes(curves: &Curves) -> Vec<(f64, Option<usize>)> {
    if curves.quantity == Quantity::Error {
        return Vec::new();
    }
    let budgets = curves.curves.iter().filter_map(|curve| {
        let kbps = curve.budget_kbps?;
        Some((kbps, Some(curve.part)))
    });
    let budgets: Vec<_> = budgets.collect();
    match budgets.is_empty() && axis(curves).1.contains(&TARGET_KBPS) {
        true => vec![(TARGET_KBPS, None)],
        false => budgets,
    }
}

struct Plot {
    rect: Rect,
    scale: Scale,
    ends: RangeInclusive<f64>,
}

impl Plot {
    fn new(rect: Rect, curves: &Curves) -> Self {
        let (scale, ends) = axis(curves);
        Self { rect, scale, ends }
    }

    fn height(&self, value: f64) -> f32 {
        let share = self.scale.fraction(value, &self.ends);
        self.rect.max.y - share as f32 * self.rect.height()
    }

    /// Labelled values, largest first, as far as labels of height `size` have room.
    fn marks(&self, size: f32) -> Vec<f64> {
        let mut marks = vec![*self.ends.end()];
        for value in self.scale.marks(&self.ends).into_iter().rev().skip(1) {
            let above = marks.last().map_or(0.0, |&above| self.height(above));
            if self.height(value) - above >= size {
                marks.push(value);
            }
        }
        marks
    }

    /// The pieces of a curve without a gap.
    fn lines(&self, curve: &Curve) -> Vec<Vec<Pos2>> {
        let points: Vec<_> = (0..)
            .zip(&curve.means)
            .map(|(index, &mean)| {
                let ago = (index * STEP_TICKS) as f32 / TICKS as f32;
                Some(pos2(self.rect.max.x - ago * self.rect.width(), self.height(mean?)))
            })
            .collect();
        let pieces = points.split(Option::is_none).map(|piece| piece.iter().flatten().copied());
        pieces.map(Iterator::collect).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{LaneMeter, LaneSettings, sample};

    /// Graph of one lane with this many bytes a packet, next to an expensive one if it is logarithmic.
    fn curves(payload_bytes: usize, is_logarithmic: bool) -> Curves {
        let lanes: [LaneSettings; 2] =
            ["rung:predicted", if is_logarithmic { "rung:at-rest" } else { "rung:delta" }]
                .map(|lane| lane.parse().unwrap());
        let mut curves = Curves::new(&lanes, Vec::new());
        curves.show([(
            0,
            &LaneMeter::from_samples((0..900).map(|tick| sample(tick, payload_bytes))),
        )]);
        curves
    }

    fn plot(curves: &Curves) -> Plot {
        Plot::new(Rect::from_min_size(pos2(80.0, 0.0), vec2(500.0, 108.0)), curves)
    }

    #[test]
    fn the_graph_ends_now_and_at_a_round_number_above_what_is_shown() {
        for is_logarithmic in [false, true] {
            let curves = curves(492, is_logarithmic);
            let plot = plot(&curves);
            let points = &plot.lines(&curves.curves[0])[0];
            assert_eq!(points[0].x, plot.rect.max.x);
            assert_eq!(points.last().unwrap().x, plot.rect.min.x);
            // Just below the target.
            assert!(points.iter().all(|at| at.y == points[0].y));
            assert!(points[0].y > plot.height(TARGET_KBPS));
            assert_eq!([plot.height(1.0e-9), plot.height(1e6)], [108.0, 0.0]);
        }
        // With 28 bytes of headers, 480 bits a byte and second.
        for (payload_bytes, end, logarithmic) in
            [(2, 20.0, 1_000.0), (39, 40.0, 1_000.0), (36_157, 20_000.0, 100_000.0)]
        {
            assert_eq!(*plot(&curves(payload_bytes, false)).ends.end(), end);
            assert_eq!(*plot(&curves(payload_bytes, true)).ends.end(), logarithmic);
        }
    }

    #[test]
    fn three_times_as_much_is_three_times_as_high() {
        let plot = plot(&curves(36_157, false));
        let high = |kbps| plot.rect.max.y - plot.height(kbps);
        assert!((high(15_000.0) / high(5_000.0) - 3.0).abs() < 1e-4);
    }

    #[test]
    fn the_marks_of_the_graph_do_not_overlap() {
        for (payload_bytes, is_logarithmic) in
            [(10, false), (64, true), (500, false), (36_157, true), (36_157, false)]
        {
            for size in [14.0, 18.0] {
                let plot = plot(&curves(payload_bytes, is_logarithmic));
                let marks = plot.marks(size);
                assert!(marks.len() >= 2, "{marks:?}");
                let heights: Vec<_> = marks.iter().map(|&kbps| plot.height(kbps)).collect();
                assert!(heights.windows(2).all(|two| two[1] - two[0] >= size));
            }
        }
    }

    #[test]
    fn a_graph_says_what_its_dashes_are() {
        assert_eq!(about(&curves(39, false)), "last 8 s, kbps");
        assert_eq!(about(&curves(492, false)), "last 8 s, kbps; dashes: target 256");
        assert_eq!(label(Quantity::Error, 500.0), "0.5");
        assert_eq!(label(Quantity::Error, 20_000.0), "20");
    }

    #[test]
    fn a_curve_has_a_gap_where_nothing_was_measured() {
        let mut curves = curves(492, false);
        curves.curves[0].means = vec![Some(1.0), Some(2.0), None, Some(3.0)];
        let lengths = plot(&curves).lines(&curves.curves[0]).into_iter().map(|line| line.len());
        assert!(lengths.eq([2, 1]));
    }
}
