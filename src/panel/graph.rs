//! The bandwidth graph of the displayed lanes: the inspector's graph, with flags for changes of stages and with options.

use cubewire_inspector::graph::{self, Above, Axis, Lines, Point, Source, Span};

use super::flags::{flags, switches};
use super::settings::MAX_GRAPH_SECONDS;
use crate::panel::prelude::*;
use crate::replication::METER_TICKS;

pub(super) use graph::AROUND_PLOT;

/// Draws the graph with legend, options and flags. `height` is the total height, logical points. `moment` is the displayed
/// tick of the past.
pub(super) fn draw(
    ui: &mut Ui,
    state: &mut PanelState,
    lanes: &[Measured<'_>],
    moment: Option<u64>,
    height: f32,
) {
    let sources = sources(ui, state, lanes);
    let lines = Lines::new(&sources, span(state));
    let is_frozen = state.frozen.is_some();
    let (response, words) = graph::draw(ui, height, &lines, moment, is_frozen, |ui, frame| {
        let stages =
            lines.all.iter().map(|line| line.series.points.iter().map(|point| point.stages));
        let switches = switches(stages, |ago| frame.chart.x_of(-ago));
        let (marks, said) = flags(ui, frame.above, &frame.chart, &switches, Rangef::NOTHING);
        Above { legend_end: options(ui, state, lanes, frame.top).left() - GAP, marks, said }
    });
    ui.interact(words, response.id.with("legend"), Sense::hover()).on_hover_text(
        "Kilobits per second, mean of one second, counted as in the article: the payload of each snapshot and 28 \
         bytes of IP and UDP headers. With a budget: every byte on the wire. A flag marks a change of stages, with \
         the number of the new rung. A triangle at the bottom marks lost packets.",
    );
}

/// Draws only the plot, at the full available height.
pub(super) fn draw_slim(
    ui: &mut Ui,
    state: &PanelState,
    lanes: &[Measured<'_>],
    moment: Option<u64>,
) {
    let all = ui.max_rect();
    let plot = all.with_min_x(all.left() + AXIS).with_max_y(all.bottom() - LINE);
    let sources = sources(ui, state, lanes);
    let lines = Lines::new(&sources, span(state));
    let chart = graph::paint(ui, plot, 0.0, &lines, moment);
    let past = format!("{} s ago", state.graph_seconds.0);
    let mut what = format!("kbps{}", lines.counted());
    if let Some(target) = lines.target {
        what += &format!("; dashes: target {target:.0}");
    }
    let budgets = lines.budgets();
    if !budgets.is_empty() {
        what += &format!("; dots: budget {budgets}");
    }
    chart.times(ui, [&past, &what, "now"]);
}

const fn span(state: &PanelState) -> Span {
    Span {
        seconds: state.graph_seconds.0,
        ticks_per_second: TICKS_PER_SECOND,
        axis: state.axis,
        target: Some(TARGET_KBPS),
    }
}

fn points(lanes: &[Measured<'_>], ticks: usize) -> Vec<(Side, Arc<[Point]>)> {
    // With a budget, which limits the bytes on the wire, these bytes count; otherwise as in the article.
    let mut newest = lanes.iter().filter_map(|lane| lane.meter.samples().back());
    let by = match newest.any(|sample| sample.budget_kbps.is_some()) {
        true => Accounting::OnTheWire,
        false => Accounting::PayloadAndUdp,
    };
    let point = |sample: &Sample| Point {
        tick: sample.tick,
        bytes: sample.bytes(by),
        budget_kbps: sample.budget_kbps,
        has_losses: sample.lost > 0,
        stages: sample.stages,
    };
    lanes.iter().map(|lane| (lane.side, lane.meter.newest(ticks).map(point).collect())).collect()
}

/// Returns the lines of the graph: the visible points, and the older second that smoothing needs.
fn sources(ui: &Ui, state: &PanelState, lanes: &[Measured<'_>]) -> Vec<Source> {
    let wanted = ((state.graph_seconds.0 + 1) * TICKS_PER_SECOND) as usize - 1;
    let lines = state.frozen.clone().unwrap_or_else(|| points(lanes, wanted));
    let (count, look) = (lines.len(), Look::of(ui));
    let lines = lines.into_iter().map(|(side, points)| {
        let budget = points.last().and_then(|point| point.budget_kbps);
        let name = match count {
            1 if budget.is_some() => "on the wire",
            1 => "replica",
            _ => side.name(),
        };
        let lane = lanes.iter().find(|lane| lane.side == side);
        Source {
            name: name.to_owned(),
            color: side.color_in(look),
            points: points[points.len().saturating_sub(wanted)..].to_vec(),
            asked_kbps: lane.and_then(|lane| lane.settings.sender.kept_budget()),
        }
    });
    lines.collect()
}

fn options(ui: &mut Ui, state: &mut PanelState, lanes: &[Measured<'_>], row: Rect) -> Rect {
    let mut ui = row_in(ui, row, Align::Max);
    ui.spacing_mut().item_spacing.x = GAP;
    let mut option = |name: &str, is_on, about| {
        chip(&mut ui, ROW, 4, name, is_on).on_hover_text(about).clicked()
    };
    let is_frozen = state.frozen.is_some();
    if option("freeze", is_frozen, "Stops the graph. The game goes on.") {
        state.frozen = (!is_frozen).then(|| points(lanes, METER_TICKS));
    }
    let span = format!("{} s", state.graph_seconds.0);
    if option(&span, false, "How far the graph goes back: 10, 20, 30 or 60 seconds.") {
        let next = [20, 30, MAX_GRAPH_SECONDS].into_iter().find(|&it| it > state.graph_seconds.0);
        state.graph_seconds.0 = next.unwrap_or(10);
    }
    if option(state.axis.name(), false, ABOUT_AXIS) {
        let index = Axis::ALL.iter().position(|axis| *axis == state.axis);
        state.axis = Axis::ALL[index.map_or(0, |index| (index + 1) % Axis::ALL.len())];
    }
    ui.min_rect()
}

const ABOUT_AXIS: &str = "The vertical axis: linear, logarithmic, or automatic: logarithmic while the displayed \
    rates differ much.";
