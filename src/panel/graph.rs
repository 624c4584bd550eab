//! The bandwidth graph: kilobits a second over the last seconds. Nothing is written in the plot: its legend, the flags
//! of switches, its axis and its times have rows of their own.

pub(super) mod axis;
mod lines;
pub(super) mod series;

use bevy_egui::egui::{
    Align, Color32, Layout, Rect, Response, Sense, Stroke, Ui, UiBuilder, pos2, vec2,
};
use cubewire_scene::TICKS_PER_SECOND;

use super::lane::Measured;
use super::settings::{MAX_GRAPH_SECONDS, PanelState};
use super::style::{GAP, LINE, Look, ROW, SMALL};
use super::widgets::{
    AXIS, At, Chart, Pointing, chip, flags, legend, legend_width, switches, text, triangle, within,
};
use crate::replication::TARGET_KBPS;
use crate::view::Side;
use crate::words::{grouped, rounded};
use axis::Axis;
use lines::Lines;
use series::{Point, Points};

pub(super) use series::{SMOOTHING_TICKS, smooth};

/// Height of all rows but the plot, logical points.
pub(super) const AROUND_PLOT: f32 = ROW + GAP + LINE + 2.0 + LINE;

/// Draws the graph with its legend, its options and its flags, `height` logical points high in all.
///
/// `moment` is the tick of the past that the views show.
pub(super) fn draw(
    ui: &mut Ui,
    state: &mut PanelState,
    lanes: &[Measured<'_>],
    moment: Option<u64>,
    height: f32,
) {
    let size = vec2(ui.available_width(), height);
    let (all, response) = ui.allocate_exact_size(size, Sense::hover());
    let (top, rest) = all.split_top_bottom_at_y(all.top() + ROW);
    let above = Rect::from_min_size(
        pos2(rest.left() + AXIS, rest.top() + GAP),
        vec2(rest.width() - AXIS, LINE),
    );
    let plot = above
        .with_min_y(above.bottom() + 2.0)
        .with_max_y(all.bottom() - LINE);
    let points = points(state, lanes);
    let lines = Lines::new(&points, state.graph_seconds, state.axis);
    let look = Look::of(ui);
    let chart = paint(ui, plot, look, &lines, moment);
    let stages = lines.series.iter().map(|(_, series)| {
        let points = series.points.iter();
        points.map(|point| point.stages)
    });
    let switches = switches(stages, |ago| chart.x_of(-ago));
    let occupied = flags(ui, above, &chart, &switches);
    peak(ui, above, &chart, &lines, &occupied);
    times(ui, &chart, state);
    let chips = options(ui, state, lanes, top);
    let words = top.with_max_x(chips.left() - GAP);
    let hovered = response.hover_pos().filter(|at| plot.contains(*at));
    if let Some(said) = hovered.and_then(|at| rates(&lines, chart.x_at(at.x))) {
        text(ui.painter(), words, At::Left(0.0), said, SMALL, look.ink);
    } else {
        entries(ui, words, look, &lines);
    }
    about(ui, words, &response);
}

/// Paints the plot with its vertical axis, the lines, the moment that the views show, and losses.
fn paint(ui: &Ui, plot: Rect, look: Look, lines: &Lines<'_>, moment: Option<u64>) -> Chart {
    let chart = Chart::new(
        ui,
        plot,
        -lines.seconds..=0.0,
        lines.ends.clone(),
        lines.scale,
    );
    chart.axis(ui);
    lines.draw(&chart, look, 2.0);
    if let Some(seconds) = moment.and_then(|tick| lines.seconds_of(tick)) {
        chart.upright(seconds, Stroke::new(2.0, look.ink));
    }
    losses(&chart, look, lines);
    chart
}

/// Draws the graph without legend, options and flags, as high as there is room.
pub(super) fn draw_slim(
    ui: &mut Ui,
    state: &PanelState,
    lanes: &[Measured<'_>],
    moment: Option<u64>,
) {
    let all = ui.max_rect();
    let plot = all
        .with_min_x(all.left() + AXIS)
        .with_max_y(all.bottom() - LINE);
    let points = points(state, lanes);
    let lines = Lines::new(&points, state.graph_seconds, state.axis);
    let chart = paint(ui, plot, Look::of(ui), &lines, moment);
    let past = format!("{} s ago", state.graph_seconds);
    let what = format!("kbps; dashes: target {TARGET_KBPS:.0}");
    chart.times(ui, [&past, &what, "now"]);
}

/// What the legend means.
fn about(ui: &Ui, words: Rect, response: &Response) {
    let legend = ui.interact(words, response.id.with("legend"), Sense::hover());
    legend.on_hover_text(
        "Kilobits a second, mean of a second, as the article counts: the payload of each snapshot and 28 bytes of IP and \
         UDP headers. With a budget, which no second exceeds: every byte on the wire. A flag: stages were switched, to the \
         rung of that number. A triangle on the floor: packets were lost.",
    );
}

/// The points that the graph shows, and those before them that it needs for smoothing.
fn points(state: &PanelState, lanes: &[Measured<'_>]) -> Vec<(Side, Vec<Point>)> {
    let wanted = (state.graph_seconds * TICKS_PER_SECOND) as usize + SMOOTHING_TICKS - 1;
    match &state.frozen {
        Some(frozen) => {
            let newest = frozen.iter().map(|(side, points)| {
                let before = points.len().saturating_sub(wanted);
                (*side, points[before..].to_vec())
            });
            newest.collect()
        }
        None => {
            let newest = lanes.iter().map(|lane| {
                let points = lane.meter.newest(wanted).map(Point::from);
                (lane.side, points.collect())
            });
            newest.collect()
        }
    }
}

/// The names of the lines: as many words as there is room for.
fn entries(ui: &Ui, row: Rect, look: Look, lines: &Lines<'_>) {
    let lanes = lines.series.iter().map(|(side, _)| {
        let name = match lines.series.len() {
            1 if lines.has_budget() => "wire",
            1 => "replica",
            _ => side.name(),
        };
        (name.to_owned(), look.of_half(*side), None)
    });
    let lanes: Vec<_> = lanes.collect();
    let budgets = lines.series.iter();
    let budgets = budgets.filter_map(|(_, series)| Some(series.newest_budget()?.to_string()));
    let budgets = budgets.collect::<Vec<_>>().join(", ");
    let target = format!("{TARGET_KBPS:.0}");
    let words = [
        (format!("target {target} kbps"), Some("budget ")),
        (format!("target {target}"), Some("budget ")),
        (target.clone(), Some("budget ")),
        (target.clone(), Some("")),
        (target, None),
    ];
    let all = words.into_iter().map(|(target, budget)| {
        let mut entries = lanes.clone();
        entries.push((target, look.ink, Some(5.0)));
        if let Some(budget) = budget.filter(|_| !budgets.is_empty()) {
            entries.push((format!("{budget}{budgets}"), look.warning, None));
        }
        entries
    });
    let mut all: Vec<_> = all.collect();
    let room = |entries: &Vec<(String, Color32, Option<f32>)>| {
        let widths = entries.iter().map(|(name, ..)| legend_width(ui, name));
        widths.sum::<f32>() <= row.width()
    };
    let fits = all.iter().position(room).unwrap_or(all.len() - 1);
    let mut x = 0.0;
    for (name, color, dash) in all.swap_remove(fits) {
        x = legend(ui.painter(), row, x, &name, color, dash);
    }
}

/// Chips at the right end of the row: the scale, the span, and whether the graph stands still. A click takes the next.
fn options(ui: &mut Ui, state: &mut PanelState, lanes: &[Measured<'_>], row: Rect) -> Rect {
    let layout = Layout::right_to_left(Align::Center);
    let builder = UiBuilder::new().max_rect(row).layout(layout);
    let mut ui = ui.new_child(builder);
    ui.spacing_mut().item_spacing.x = GAP;
    let is_frozen = state.frozen.is_some();
    let freeze = chip(&mut ui, ROW, 4, "freeze", is_frozen)
        .on_hover_text("Stops the graph. The game goes on.");
    if freeze.clicked() {
        state.frozen = (!is_frozen).then(|| {
            let points = |lane: &Measured<'_>| -> Points {
                lane.meter.samples().iter().map(Point::from).collect()
            };
            lanes.iter().map(|lane| (lane.side, points(lane))).collect()
        });
    }
    let span = format!("{} s", state.graph_seconds);
    let span = chip(&mut ui, ROW, 4, &span, false)
        .on_hover_text("How far the graph goes back: 10, 20, 30 or 60 seconds.");
    if span.clicked() {
        let next = SPANS.into_iter().find(|span| *span > state.graph_seconds);
        state.graph_seconds = next.unwrap_or(SPANS[0]);
    }
    let name = match state.axis {
        Axis::Automatic => "auto",
        Axis::Linear => "linear",
        Axis::Logarithmic => "log",
    };
    let scale = chip(&mut ui, ROW, 4, name, false).on_hover_text(
        "The vertical axis: linear, logarithmic, or by itself: logarithmic while the rates that are shown differ much.",
    );
    if scale.clicked() {
        let index = Axis::ALL.iter().position(|axis| *axis == state.axis);
        state.axis = Axis::ALL[index.map_or(0, |index| (index + 1) % Axis::ALL.len())];
    }
    ui.min_rect()
}

const SPANS: [u32; 4] = [10, 20, 30, MAX_GRAPH_SECONDS];

/// Triangles on the floor where packets were lost.
fn losses(chart: &Chart, look: Look, lines: &Lines<'_>) {
    for (_, series) in &lines.series {
        for seconds in series.losses() {
            let at = pos2(chart.x_of(seconds), chart.rect.bottom() - 3.0);
            triangle(
                chart.painter(),
                at,
                vec2(6.0, 6.0),
                Pointing::Up,
                look.error,
            );
        }
    }
}

/// The largest peak out of scale, in the row of the flags, unless one of those is near.
fn peak(ui: &Ui, row: Rect, chart: &Chart, lines: &Lines<'_>, occupied: &[f32]) {
    let look = Look::of(ui);
    let peaks = lines
        .series
        .iter()
        .flat_map(|(_, series)| series.peaks_above(*lines.ends.end()));
    let Some((seconds, kbps)) = peaks.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    let x = within(chart.x_of(seconds), row.left() + 6.0, row.right() - 60.0);
    if occupied.iter().any(|flag| (flag - x).abs() < PEAK_APART) {
        return;
    }
    let at = pos2(x, row.center().y);
    triangle(ui.painter(), at, vec2(8.0, 6.0), Pointing::Up, look.muted);
    let beside = row.with_min_x(x + 8.0);
    text(
        ui.painter(),
        beside,
        At::Left(0.0),
        grouped(kbps),
        SMALL,
        look.muted,
    );
}

/// The ends and the middle of the time axis.
fn times(ui: &Ui, chart: &Chart, state: &PanelState) {
    let (seconds, half) = (state.graph_seconds, state.graph_seconds / 2);
    let (past, now) = match state.frozen {
        Some(_) => (format!("{seconds} s earlier"), "frozen"),
        None => (format!("{seconds} s ago"), "now"),
    };
    chart.times(ui, [&past, &format!("{half} s"), now]);
}

/// When, and the rate of each lane then.
fn rates(lines: &Lines<'_>, seconds: f64) -> Option<String> {
    let mut said = Vec::new();
    let mut ago = None;
    for (side, series) in &lines.series {
        let Some(index) = series.index_at(seconds) else {
            continue;
        };
        ago = Some(-series.seconds(index));
        let kbps = rounded(series.kbps[index]);
        said.push(match lines.series.len() {
            1 => format!("{kbps} kbps"),
            _ => format!("{} {kbps}", side.name()),
        });
    }
    let counted = if lines.has_budget() {
        " on the wire"
    } else {
        ""
    };
    Some(format!("{:.1} s ago: {}{counted}", ago?, said.join(", ")))
}

/// Logical points from a flag within which a peak is left out.
const PEAK_APART: f32 = 40.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{PacketRecord, Sample};

    #[test]
    fn hovering_says_when_and_the_rates_then() {
        let points = || -> Vec<Point> {
            let samples = (500..620).map(|tick| Sample {
                tick,
                snapshots: vec![PacketRecord {
                    payload_bytes: 97,
                    ..PacketRecord::default()
                }],
                ..Sample::default()
            });
            samples.map(|sample| Point::from(&sample)).collect()
        };
        let lanes = [(Side::Right, points())];
        let lines = Lines::new(&lanes, 2, Axis::Linear);
        assert_eq!(rates(&lines, -1.0).as_deref(), Some("1.0 s ago: 60.0 kbps"));
        assert_eq!(rates(&lines, -5.0), None);
        let lanes = [(Side::Left, points()), (Side::Right, points())];
        let lines = Lines::new(&lanes, 2, Axis::Linear);
        let both = "1.0 s ago: left 60.0, right 60.0";
        assert_eq!(rates(&lines, -1.0).as_deref(), Some(both));
    }
}
