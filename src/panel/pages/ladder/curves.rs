//! What each rung cost in the last seconds: a curve that ends beside the row of its rung.

use bevy_egui::egui::{
    Color32, Pos2, Rect, Response, Sense, Stroke, Ui, WidgetInfo, WidgetType, pos2,
};
use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;
use cubewire_inspector::graph::{Point, Series};
use cubewire_inspector::words::rounded;
use cubewire_scene::TICKS_PER_SECOND;

use super::table::SCALE_KBPS;
use crate::panel::settings::MAX_GRAPH_SECONDS;
use crate::panel::style::Look;
use crate::panel::widgets::{Chart, Label, Scale};
use crate::replication::{ShadowLadder, ShadowRung, TARGET_KBPS};

/// Draws the curves in a part of the table. They go back as far as the graph, but at least 20 seconds. `rows` are the heights of
/// the rows in the order of the rungs, and `highlighted` is the rung whose row is pointed at. Returns the rung of the curve that is
/// pointed at with the rate there, and whether it was clicked.
pub(super) fn draw(
    ui: &mut Ui,
    plot: Rect,
    rows: &[f32],
    (graph_seconds, present): (u32, Stages),
    (shadow, highlighted): (&ShadowLadder, Option<Rung>),
) -> Option<(Rung, String, bool)> {
    let look = Look::of(ui);
    let newest = shadow.newest_tick()?;
    let seconds = graph_seconds.clamp(MIN_SECONDS, MAX_GRAPH_SECONDS);
    let response = ui.interact(plot, ui.id().with("curves"), Sense::click());
    response.widget_info(|| {
        let about = "What each rung cost over time, kbps on a logarithmic scale";
        WidgetInfo::labeled(WidgetType::Image, true, about)
    });
    let chart = chart(ui, plot, seconds);
    let rungs = shadow.rungs().iter().zip(rows);
    let curves = rungs.map(|(rung, row)| Curve::new(rung, newest, seconds, (present, *row)));
    let mut curves: Vec<_> = curves.filter(|curve| !curve.points.is_empty()).collect();
    let pointed = nearest(&curves, &chart, &response);
    let pointed_rung = pointed.as_ref().map(|it| it.0);
    // What is highlighted lies over the others.
    let rank = |curve: &Curve| {
        let is_highlighted = Some(curve.rung) == pointed_rung.or(highlighted);
        (is_highlighted, curve.is_present)
    };
    curves.sort_by_key(rank);
    for curve in &curves {
        let (width, color) = match rank(curve) {
            (true, _) => (2.0, look.ink),
            (_, true) => (2.0, look.half),
            _ => (1.0, look.quiet),
        };
        curve.draw(ui, &chart, width, color);
    }
    pointed.map(|(rung, words)| (rung, words, response.clicked()))
}

/// An empty plot. The ends of the time are in the row above it, beside the names of the columns.
fn chart(ui: &Ui, plot: Rect, seconds: u32) -> Chart {
    let look = Look::of(ui);
    let past = -f64::from(seconds)..=0.0;
    let chart = Chart::new(ui, plot, past.clone(), SCALE_KBPS, Scale::Logarithmic);
    let marks = [
        (10.0, "10"),
        (100.0, "100"),
        (1_000.0, "1k"),
        (10_000.0, "10k"),
    ];
    chart.levels(ui, marks.map(|(kbps, words)| (kbps, words.to_owned())));
    let target = Stroke::new(1.0, look.ink);
    chart.level(past, TARGET_KBPS, target, Some(5.0));
    let ago = format!("{seconds} s");
    let start = Label::BeginsAt(-f64::from(seconds));
    for (at, words) in [(start, &*ago), (Label::EndsAt(0.0), "now")] {
        chart.label(ui, true, at, words, look.muted);
    }
    chart
}

/// The rate of a rung.
#[derive(Clone, Debug)]
struct Curve {
    rung: Rung,
    is_present: bool,
    /// Seconds before the newest tick, 0 or less, and kbps; oldest first.
    points: Vec<(f64, f64)>,
    /// Height of the row of its rung on the screen.
    row: f32,
}

impl Curve {
    /// The newest seconds, up to tick `newest`.
    fn new(rung: &ShadowRung, newest: u64, seconds: u32, (present, row): (Stages, f32)) -> Self {
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
            rung: rung.rung(),
            is_present: rung.rung().stages == present,
            points: series.thinned().map(point).collect(),
            row,
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

    fn draw(&self, ui: &Ui, chart: &Chart, width: f32, color: Color32) {
        chart.line(self.points.iter().copied(), width, color);
        // From the end of the curve to the cost in its row, which may be higher or lower.
        let end = chart.at(0.0, self.newest_kbps());
        let joint = [end, pos2(end.x + JOINT, self.row)];
        ui.painter().line_segment(joint, Stroke::new(1.0, color));
    }
}

/// The rung of the curve that is nearest to the pointer, and its rate there.
fn nearest(curves: &[Curve], chart: &Chart, response: &Response) -> Option<(Rung, String)> {
    let pointer: Pos2 = response.hover_pos()?;
    let points = curves.iter().filter_map(|curve| {
        let point = curve.at(chart.x_at(pointer.x))?;
        let distance = (chart.y_of(point.1) - pointer.y).abs();
        Some((curve.rung, point, distance))
    });
    let (rung, (seconds, kbps), _) = points.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let when = match seconds < 0.0 {
        true => format!("{:.1} s ago", -seconds),
        false => "now".to_owned(),
    };
    Some((
        rung,
        format!("{}: {} kbps, {when}", rung.name, rounded(kbps)),
    ))
}

/// Seconds that the curves go back, at least.
const MIN_SECONDS: u32 = 20;

/// From the plot to the costs, logical points.
const JOINT: f32 = 12.0;

#[cfg(test)]
mod tests {
    use super::*;
    use cubewire_codec::ladder;

    #[test]
    fn a_curve_shows_the_last_seconds_and_ends_with_the_rate_now() {
        let shadow = ShadowLadder::of_bytes(2_000, |index, _| 40_000 / (index + 1));
        let newest = shadow.newest_tick().unwrap();
        let curve = |rung| Curve::new(rung, newest, 20, (ladder::DELTA.stages, 0.0));
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
        assert_eq!(present[0].rung, ladder::DELTA);
    }
}
