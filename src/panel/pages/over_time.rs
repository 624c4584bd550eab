//! What each rung cost in the last seconds, as curves that are named at the right.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Color32, Pos2, Rect, Sense, Stroke, Ui, WidgetInfo, WidgetType, pos2, vec2};
use cubewire_codec::Stages;
use cubewire_inspector::graph::{Point, Series};
use cubewire_inspector::words::rounded;
use cubewire_scene::TICKS_PER_SECOND;

use super::bars::SCALE_KBPS;
use crate::panel::settings::MAX_GRAPH_SECONDS;
use crate::panel::style::{LINE, Look, SMALL, page_left};
use crate::panel::widgets::{AXIS, At, Chart, Scale, legend, line, text};
use crate::replication::{ShadowLadder, ShadowRung, TARGET_KBPS};

/// Draws curves that go back as far as the graph, but at least 20 seconds.
pub(super) fn draw(ui: &mut Ui, graph_seconds: u32, present: Stages, shadow: &ShadowLadder) {
    let look = Look::of(ui);
    let Some(newest) = shadow.newest_tick() else {
        line(ui, "Measuring …", look.muted);
        return;
    };
    let seconds = graph_seconds.clamp(MIN_SECONDS, MAX_GRAPH_SECONDS);
    let across = ui.available_width();
    let (row, said) = ui.allocate_exact_size(vec2(across, LINE), Sense::hover());
    ui.add_space(GAP);
    let height = (page_left(ui) - LINE - GAP).max(MIN_HEIGHT);
    let (all, response) = ui.allocate_exact_size(vec2(across, height), Sense::hover());
    response.widget_info(|| {
        let about = "What each rung cost over time, kbps on a logarithmic scale";
        WidgetInfo::labeled(WidgetType::Image, true, about)
    });
    let plot = all.with_min_x(all.left() + AXIS + 6.0);
    let plot = plot.with_max_x(all.right() - NAMES);
    let past = -f64::from(seconds)..=0.0;
    let chart = Chart::new(ui, plot, past.clone(), SCALE_KBPS, Scale::Logarithmic);
    chart.axis(ui);
    let target = Stroke::new(1.0, look.ink);
    chart.level(past, TARGET_KBPS, target, Some(5.0));
    let rungs = shadow.rungs().iter();
    let curves = rungs.map(|rung| Curve::new(rung, newest, seconds, present));
    let mut curves: Vec<_> = curves.filter(|curve| !curve.points.is_empty()).collect();
    // Named where they end, as far as the names do not overlap.
    curves.sort_by(|a, b| b.newest_kbps().total_cmp(&a.newest_kbps()));
    let ends = curves.iter().map(|curve| chart.y_of(curve.newest_kbps()));
    let range = (plot.top() + 0.5 * APART)..=(plot.bottom() - 0.5 * APART);
    let heights = spread(ends.collect(), APART, range);
    for (curve, y) in curves.iter_mut().zip(heights) {
        curve.name_y = y;
    }
    let hovered = response
        .hover_pos()
        .and_then(|at| nearest(&curves, &chart, at));
    // What is highlighted lies over the others.
    let rank = |curve: &Curve| {
        (
            Some(curve.name) == hovered.as_ref().map(|it| it.0),
            curve.is_present,
        )
    };
    curves.sort_by_key(rank);
    for curve in &curves {
        let (width, color, name) = match rank(curve) {
            (true, _) => (2.0, look.ink, look.ink),
            (_, true) => (2.0, look.half, look.half),
            _ => (1.0, look.quiet, look.muted),
        };
        curve.draw(ui, &chart, width, color, name);
    }
    ui.add_space(LINE);
    chart.ago(ui, seconds);
    let words = hovered.map_or_else(|| "kbps. Point at a curve.".to_owned(), |(_, words)| words);
    said.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &words));
    text(ui.painter(), row, At::Left(0.0), words, SMALL, look.ink);
    let target = format!("target {TARGET_KBPS:.0}");
    let x = row.width() - NAMES + NAME;
    legend(ui.painter(), row, x, &target, look.ink, Some(3.0));
}

/// The rate of a rung.
#[derive(Clone, Debug)]
struct Curve {
    name: &'static str,
    is_present: bool,
    /// Seconds before the newest tick, 0 or less, and kbps; oldest first.
    points: Vec<(f64, f64)>,
    /// Height of its name on the screen.
    name_y: f32,
}

impl Curve {
    /// The newest seconds, up to tick `newest`.
    fn new(rung: &ShadowRung, newest: u64, seconds: u32, present: Stages) -> Self {
        let bytes = rung.history();
        let oldest = (newest + 1).saturating_sub(bytes.len() as u64);
        let ticks = (oldest..).zip(bytes);
        let points = ticks.map(|(tick, bytes)| Point {
            tick,
            bytes,
            ..Point::default()
        });
        let points: Vec<_> = points.collect();
        let ticks = (seconds * TICKS_PER_SECOND) as usize;
        let series = Series::new(&points, ticks, TICKS_PER_SECOND);
        let point = |index| (series.seconds(index), series.kbps[index]);
        Self {
            name: rung.rung().name,
            is_present: rung.rung().stages == present,
            points: series.thinned().map(point).collect(),
            name_y: 0.0,
        }
    }

    /// The point nearest to that time, if the curve goes back that far.
    fn at(&self, seconds: f64) -> Option<(f64, f64)> {
        let index = self.points.partition_point(|point| point.0 < seconds);
        let found = self.points.get(index).or(self.points.last()).copied();
        found.filter(|_| self.points[0].0 <= seconds + 0.5)
    }

    fn newest_kbps(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.1)
    }

    fn draw(&self, ui: &Ui, chart: &Chart, width: f32, color: Color32, name: Color32) {
        chart.line(self.points.iter().copied(), width, color);
        // From the end of the curve to its name, which may be higher or lower.
        let (end, y) = (chart.at(0.0, self.newest_kbps()), self.name_y);
        let joint = [end, pos2(end.x + NAME - 3.0, y)];
        ui.painter().line_segment(joint, Stroke::new(1.0, color));
        let row = Rect::from_center_size(pos2(end.x, y), vec2(0.0, LINE));
        text(ui.painter(), row, At::Left(NAME), self.name, SMALL, name);
    }
}

/// The name of the curve that is nearest to the pointer, itself or by its name, and what it says there.
fn nearest(curves: &[Curve], chart: &Chart, pointer: Pos2) -> Option<(&'static str, String)> {
    let seconds = chart.x_at(pointer.x);
    let is_name = pointer.x > chart.rect.right();
    let points = curves.iter().filter_map(|curve| {
        let point = curve.at(seconds)?;
        let height = if is_name {
            curve.name_y
        } else {
            chart.y_of(point.1)
        };
        Some((curve.name, point, (height - pointer.y).abs()))
    });
    let (name, (seconds, kbps), _) = points.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let when = match seconds < 0.0 {
        true => format!("{:.1} s ago", -seconds),
        false => "now".to_owned(),
    };
    Some((name, format!("{name}: {} kbps, {when}", rounded(kbps))))
}

/// Moves ascending heights as little as it takes for them to be `apart`, within a range if they fit.
fn spread(mut heights: Vec<f32>, apart: f32, range: RangeInclusive<f32>) -> Vec<f32> {
    let (mut lowest, mut highest) = range.into_inner();
    for height in &mut heights {
        *height = height.max(lowest);
        lowest = *height + apart;
    }
    for height in heights.iter_mut().rev() {
        *height = height.min(highest);
        highest = *height - apart;
    }
    heights
}

/// Seconds that the curves go back, at least.
const MIN_SECONDS: u32 = 20;

/// Logical points: the width of the names, from the plot to a name, and between two of them.
const NAMES: f32 = 132.0;
const NAME: f32 = 14.0;
const APART: f32 = 14.0;
const MIN_HEIGHT: f32 = 260.0;
const GAP: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use cubewire_codec::ladder;

    #[test]
    fn names_do_not_overlap_and_stay_in_order() {
        let heights = vec![1.0, 1.0, 1.01, 1.02, 3.0, 4.0];
        let spread = spread(heights, 0.1, 1.0..=4.0);
        let mut pairs = spread.windows(2);
        assert!(
            pairs.all(|pair| pair[1] - pair[0] > 0.1 - 1e-5),
            "{spread:?}"
        );
        assert_eq!([spread[0], spread[4], spread[5]], [1.0, 3.0, 4.0]);
    }

    #[test]
    fn a_curve_shows_the_last_seconds_and_ends_with_the_rate_now() {
        let shadow = ShadowLadder::of_bytes(2_000, |index, _| 40_000 / (index + 1));
        let newest = shadow.newest_tick().unwrap();
        let curve = |rung| Curve::new(rung, newest, 20, ladder::DELTA.stages);
        let curves: Vec<_> = shadow.rungs().iter().map(curve).collect();
        assert_eq!(curves.len(), ladder::all().count());
        let curve = &curves[0];
        let (first, last) = (curve.points[0], *curve.points.last().unwrap());
        assert!((-20.0..-19.5).contains(&first.0), "{first:?}");
        assert_eq!(last.0, 0.0);
        assert!((last.1 - 40_000.0 * 8.0 * 60.0 / 1_000.0).abs() < 1e-6);
        assert_eq!(curve.at(-25.0), None);
        assert_eq!(curve.at(3.0), Some(last));
        let present: Vec<_> = curves.iter().filter(|curve| curve.is_present).collect();
        assert_eq!(present.len(), 1);
        assert_eq!(present[0].name, "delta");
    }
}
