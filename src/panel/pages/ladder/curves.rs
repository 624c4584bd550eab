//! The cost of each rung in the last seconds, as a curve that ends next to the row of its rung.

use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;
use cubewire_inspector::graph::{Point, Series};

use super::table::SCALE_KBPS;
use crate::panel::prelude::*;
use crate::panel::settings::MAX_GRAPH_SECONDS;
use crate::replication::{LiveLadder, StageCosts, TARGET_KBPS};

/// Draws the curves over a part of the table. They span as many seconds as the graph, but at least 20. `rows` are the y coordinates
/// of the rows, and `highlighted` is the rung of the hovered row. Returns the rung of the hovered curve, the text of its rate at the
/// pointer, and whether it was clicked.
pub(super) fn draw(
    ui: &mut Ui,
    plot: Rect,
    rows: &[f32],
    (graph_seconds, present): (u32, Stages),
    (shadow, highlighted): (&LiveLadder, Option<Rung>),
) -> Option<(Rung, String, bool)> {
    let newest = shadow.newest_tick()?;
    let response = ui.interact(plot, ui.id().with("curves"), Sense::click());
    response.widget_info(|| {
        let about = "Bandwidth of each rung over time, kbps on a logarithmic scale";
        WidgetInfo::labeled(WidgetType::Image, true, about)
    });
    let (look, seconds) = (Look::of(ui), graph_seconds.clamp(20, MAX_GRAPH_SECONDS));
    let chart = chart(ui, look, plot, seconds);
    let points = shadow.rows().iter().map(|rung| points(rung, newest));
    let points: Vec<_> = points.filter(|(_, points)| !points.is_empty()).collect();
    let ticks = (seconds * TICKS_PER_SECOND) as usize;
    let curves = points.iter().zip(rows).map(|((rung, points), row)| {
        let series = Series::new(points, ticks, TICKS_PER_SECOND);
        (*rung, series, *row)
    });
    let mut curves: Vec<(Rung, Series<'_>, f32)> = curves.collect();
    let pointed = response.hover_pos().and_then(|pointer| {
        let points = curves.iter().filter_map(|(rung, series, _)| {
            let index = series.index_at(chart.x_at(pointer.x))?;
            Some((*rung, -series.seconds(index), series.kbps[index]))
        });
        let distance = |kbps: f64| (chart.y_of(kbps) - pointer.y).abs();
        points.min_by(|a, b| distance(a.2).total_cmp(&distance(b.2)))
    });
    // Highlighted curves are drawn last.
    let highlighted = pointed.map(|it| it.0).or(highlighted);
    let rank = |rung: Rung| (Some(rung) == highlighted, rung.stages == present);
    curves.sort_by_key(|(rung, ..)| rank(*rung));
    for (rung, series, row) in &curves {
        let (width, color) = match rank(*rung) {
            (true, _) => (2.0, look.ink),
            (_, true) => (2.0, look.half),
            _ => (1.0, look.quiet),
        };
        let point = |index| (series.seconds(index), series.kbps[index]);
        chart.line(series.thinned().map(point), width, color);
        // Joins the end of the curve with its row.
        let end = chart.at(0.0, series.kbps[series.kbps.len() - 1]);
        ui.painter().line_segment([end, pos2(end.x + JOINT, *row)], Stroke::new(1.0, color));
    }
    let (rung, ago, kbps) = pointed?;
    let words = format!("{}: {} kbps, {ago:.1} s ago", rung.name, rounded(kbps));
    Some((rung, words, response.clicked()))
}

/// Draws the empty plot. The labels of its time axis are in the header.
fn chart(ui: &Ui, look: Look, plot: Rect, seconds: u32) -> Chart {
    let past = -f64::from(seconds)..=0.0;
    let chart = Chart::new(ui, plot, past.clone(), SCALE_KBPS, Scale::Logarithmic);
    let marks = [(10.0, ""), (100.0, "100"), (1e3, "1k"), (1e4, "10k")];
    chart.levels(ui, marks.map(|(kbps, words)| (kbps, words.to_owned())));
    let start = (Align::Min, *past.start());
    chart.level(past, TARGET_KBPS, Stroke::new(1.0, look.ink), Some(5.0));
    chart.label(ui, true, start, &format!("{seconds} s"), look.muted);
    chart.label(ui, true, (Align::Max, 0.0), "now", look.muted);
    chart
}

fn points(rung: &StageCosts<Rung>, newest: u64) -> (Rung, Vec<Point>) {
    let bytes = rung.history();
    let oldest = (newest + 1).saturating_sub(bytes.len() as u64);
    let points =
        (oldest..).zip(bytes).map(|(tick, bytes)| Point { tick, bytes, ..Point::default() });
    (rung.of, points.collect())
}

/// Distance between the plot and the figures, logical points.
const JOINT: f32 = 12.0;
