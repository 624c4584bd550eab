//! The bandwidth graph: kilobits per second over the last seconds. The plot has no text inside: the legend, the marks above
//! the plot, the axis and the times have separate rows and columns.

mod lines;
mod series;

use lines::BUDGET_DASH;
pub use lines::{Axis, Line, Lines, Source, Span};
pub use series::{Point, Series};

use crate::prelude::*;

/// Height of all rows except the plot, in logical points.
pub const AROUND_PLOT: f32 = ROW + GAP + LINE + 2.0 + LINE;

#[derive(Debug)]
pub struct Frame {
    /// Row of the legend and of the graph's controls.
    pub top: Rect,
    /// Row of the marks, directly above the plot.
    pub above: Rect,
    pub chart: Chart,
}

#[derive(Clone, Debug, Default)]
pub struct Above {
    /// Right edge of the space for the legend.
    pub legend_end: f32,
    /// Horizontal positions of the marks above the plot.
    pub marks: Vec<f32>,
    /// Description of the mark under the pointer, shown in place of the legend.
    pub said: Option<String>,
}

/// Draws the graph in a frame of `height` logical points. `more` draws additional contents of the frame. Returns the response
/// of the frame and the rectangle of the legend.
///
/// `moment` is the past tick that is displayed elsewhere; the graph marks it. A frozen graph ends in the past.
pub fn draw(
    ui: &mut Ui,
    height: f32,
    lines: &Lines<'_>,
    moment: Option<u64>,
    is_frozen: bool,
    more: impl FnOnce(&mut Ui, &Frame) -> Above,
) -> (Response, Rect) {
    let size = vec2(ui.available_width(), height);
    let (all, response) = ui.allocate_exact_size(size, Sense::hover());
    let (top, rest) = all.split_top_bottom_at_y(all.top() + ROW);
    let above = Rect::from_min_size(
        pos2(rest.left() + AXIS, rest.top() + GAP),
        vec2(rest.width() - AXIS, LINE),
    );
    let plot = above.with_min_y(above.bottom() + 2.0).with_max_y(all.bottom() - LINE);
    let chart = paint(ui, plot, LINE, lines, moment);
    let frame = Frame { top, above, chart };
    let above = more(ui, &frame);
    peak(ui, &frame, lines, &above.marks);
    let seconds = lines.seconds;
    let (past, now) = match is_frozen {
        true => (format!("{seconds} s earlier"), "frozen"),
        false => (format!("{seconds} s ago"), "now"),
    };
    frame.chart.times(ui, [&past, &format!("{} s", seconds / 2.0), now]);
    let words = top.with_max_x(above.legend_end);
    let hovered = response.hover_pos().filter(|at| plot.contains(*at));
    match above.said.or_else(|| rates(lines, frame.chart.x_at(hovered?.x))) {
        Some(said) => {
            let ink = Look::of(ui).ink;
            // Clipped, so that a long description does not cover the controls at its right.
            text(&ui.painter_at(words), words, At::Left(0.0), said, SMALL, ink);
        }
        None => entries(ui, words, lines),
    }
    (response, words)
}

/// Paints the plot with its vertical axis, lines, losses and the marked `moment`. `above` is the free space above the plot, in
/// points.
pub fn paint(ui: &Ui, plot: Rect, above: f32, lines: &Lines<'_>, moment: Option<u64>) -> Chart {
    let look = Look::of(ui);
    let (past, kbps) = (-lines.seconds..=0.0, lines.ends.clone());
    let mut chart = Chart::new(ui, plot, past, kbps, lines.scale);
    chart.above = above;
    chart.axis(ui);
    // A triangle for each tick with a lost packet. Painted first, because lines can be at the bottom of the plot, too.
    for seconds in lines.all.iter().flat_map(|line| line.series.losses()) {
        let at = pos2(chart.x_of(seconds), plot.bottom() - 3.0);
        triangle(&chart.painter, at, vec2(6.0, 6.0), Vec2::UP, look.error);
    }
    lines.draw(&chart, look, 2.0);
    if let Some(seconds) = moment.and_then(|tick| lines.seconds_of(tick)) {
        chart.upright(seconds, Stroke::new(2.0, look.ink));
    }
    chart
}

/// Paints the legend: the names of the lines, and as much about the target and the budgets as fits.
fn entries(ui: &Ui, row: Rect, lines: &Lines<'_>) {
    let look = Look::of(ui);
    let names = lines.all.iter().map(|line| (line.source.name.clone(), line.source.color, None));
    let budgets = Some(lines.budgets()).filter(|budgets| !budgets.is_empty());
    let forms = [
        ("target ", " kbps", Some("budget ")),
        ("target ", "", Some("budget ")),
        ("", "", Some("budget ")),
        ("", "", Some("")),
        ("", "", None),
    ];
    let forms = forms.map(|(before, after, name)| {
        let target = lines.target.map(|target| format!("{before}{target:.0}{after}"));
        let budget = name.zip(budgets.as_ref()).map(|(name, budgets)| format!("{name}{budgets}"));
        let target = target.map(|target| (target, look.ink, Some(5.0)));
        let budget = budget.map(|budget| (budget, look.warning, Some(BUDGET_DASH)));
        names.clone().chain(target).chain(budget).collect::<Vec<_>>()
    });
    let fits = |entries: &&Vec<(String, _, _)>| {
        entries.iter().map(|(name, ..)| legend_width(ui, name)).sum::<f32>() <= row.width()
    };
    let mut x = 0.0;
    for entry in forms.iter().find(fits).unwrap_or(&forms[4]) {
        x = legend(ui.painter(), row, x, entry);
    }
}

/// Paints the rate of the largest peak beyond the axis, in the row above the plot, unless a mark in this row is near.
fn peak(ui: &Ui, frame: &Frame, lines: &Lines<'_>, occupied: &[f32]) {
    let (look, row, chart) = (Look::of(ui), &frame.above, &frame.chart);
    let peaks = lines.all.iter().flat_map(|line| line.series.peaks_above(*lines.ends.end()));
    let Some((seconds, kbps)) = peaks.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let x = within(chart.x_of(seconds), row.left() + 6.0, row.right() - 60.0);
    if occupied.iter().any(|mark| (mark - x).abs() < 40.0) {
        return;
    }
    triangle(ui.painter(), pos2(x, row.center().y), vec2(8.0, 6.0), Vec2::UP, look.muted);
    text(ui.painter(), *row, At::Left(x + 8.0 - row.left()), grouped(kbps), SMALL, look.muted);
}

/// Returns the time of the nearest point and the rate of each line, as text.
fn rates(lines: &Lines<'_>, seconds: f64) -> Option<String> {
    let mut said = Vec::new();
    let mut ago = None;
    for Line { source, series } in &lines.all {
        let Some(index) = series.index_at(seconds) else { continue };
        ago = Some(-series.seconds(index));
        let kbps = rounded(series.kbps[index]);
        said.push(match lines.all.len() {
            1 => format!("{kbps} kbps"),
            _ => format!("{} {kbps}", source.name),
        });
    }
    let (said, counted) = (said.join(", "), lines.counted());
    Some(format!("{:.1} s ago: {said}{counted}", ago?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a line with copies of a point, one for each of these ticks.
    fn steady(name: &str, ticks: Range<u64>, point: Point) -> Source {
        Source {
            name: name.to_owned(),
            points: ticks.map(|tick| Point { tick, ..point }).collect(),
            asked_kbps: point.budget_kbps,
            ..Source::default()
        }
    }

    const SPAN: Span = Span { seconds: 2, ticks_per_second: 60, axis: Axis::Linear, target: None };

    #[test]
    fn hovering_says_when_and_the_rates_then() {
        let point = Point { bytes: 125, ..Point::default() };
        let both = ["left", "right"].map(|name| steady(name, 500..620, point));
        let said = |sources, seconds| rates(&Lines::new(sources, SPAN), seconds);
        assert_eq!(said(&both[1..], -1.0).as_deref(), Some("1.0 s ago: 60.0 kbps"));
        assert_eq!(said(&both[1..], -5.0), None);
        assert_eq!(said(&both, -1.0).as_deref(), Some("1.0 s ago: left 60.0, right 60.0"));
    }

    #[test]
    fn axis_follows_the_requested_budget() {
        let target = Some(256.0);
        // The granted budget, the requested one, the target; and the end of the axis, the target and the budgets drawn.
        for (granted, asked, span_target, end, drawn, names) in [
            (None, None, target, 300.0, target, ""),
            (Some(32), Some(32), target, 40.0, None, "32"),
            (Some(512), Some(512), target, 600.0, target, "512"),
            (Some(5_000), None, None, 40.0, None, ""),
            (Some(20), None, None, 40.0, None, "20"),
        ] {
            let point = Point { bytes: 60, budget_kbps: granted, ..Point::default() };
            let mut source = steady("", 0..120, point);
            source.asked_kbps = asked;
            let sources = [source];
            let lines = Lines::new(&sources, Span { target: span_target, ..SPAN });
            let found = (*lines.ends.end(), lines.target, &*lines.budgets());
            assert_eq!(found, (end, drawn, names), "{granted:?}");
        }
    }

    #[test]
    fn legend_names_drawn_budgets_or_their_range() {
        for (budgets, names) in
            [(&[Some(64), Some(32), Some(48)][..], "32–64"), (&[Some(64), None], "64")]
        {
            let mut source = steady("", 0..0, Point::default());
            source.asked_kbps = budgets[0];
            for (index, &budget_kbps) in (0..).zip(budgets) {
                let point = Point { bytes: 60, budget_kbps, ..Point::default() };
                source.points.extend(steady("", 40 * index..40 * (index + 1), point).points);
            }
            let sources = [source];
            let lines = Lines::new(&sources, SPAN);
            let counted = match budgets.last() {
                Some(Some(_)) => " on the wire",
                _ => "",
            };
            assert_eq!((&*lines.budgets(), lines.counted()), (names, counted));
        }
    }
}
