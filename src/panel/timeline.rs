//! The timeline: the last minute of what the halves show, below them.
//!
//! The vertical scale is fixed, so that nothing jumps: logarithmic from 1 kbps to 20 Mbps. The wheel zooms into
//! the minute. A column of several ticks shows the largest packet among them.

mod axis;
mod columns;
mod keys;
mod row;
mod totals;
mod words;

use std::ops::RangeInclusive;

use bevy_egui::egui::{
    Align2, Frame, Id, Margin, Panel, Rect, Response, Sense, Stroke, Ui, pos2, vec2,
};
use cubewire_scene::TICKS_PER_SECOND;

use super::lane::{LaneView, Measured, Past};
use super::settings::TickRange;
use super::style::{BODY, LINE, Look, MARGIN, ROW, SMALL};
use super::widgets::{At, Switch, flag, flags, say_flag, text, width};
use crate::replication::rung_name;
use crate::view::Side;
use axis::TickAxis;

pub(super) use keys::step;

/// What the timeline draws.
pub(super) struct Strip<'a> {
    /// The halves from left to right; without a lane, the simulation.
    halves: Vec<(Side, Option<Measured<'a>>)>,
    past: Past,
    /// The newest tick of the selected lane.
    newest: Option<u64>,
    /// Whether the game stands still.
    stands: bool,
}

impl<'a> Strip<'a> {
    pub(super) fn of(lane: &LaneView<'a>) -> Self {
        let halves = Side::ALL.into_iter().filter_map(|side| {
            let measured = lane.shown.iter().find(|measured| measured.side == side);
            (measured.is_some() || lane.status.plays).then(|| (side, measured.cloned()))
        });
        Self {
            halves: halves.collect(),
            past: lane.past,
            newest: lane.meter.samples().back().map(|sample| sample.tick),
            stands: lane.past.moment.is_some() || lane.status.is_paused,
        }
    }

    fn lanes(&self) -> impl Iterator<Item = &Measured<'a>> {
        self.halves.iter().filter_map(|(_, lane)| lane.as_ref())
    }

    /// The switches of stages in all lanes, oldest first.
    fn switches(&self, axis: &TickAxis, newest: u64) -> Vec<Switch> {
        let mut switches = Vec::new();
        for lane in self.lanes() {
            let samples = lane.meter.samples();
            let pairs = samples.iter().zip(samples.iter().skip(1));
            let changed = pairs.filter(|(before, after)| before.stages != after.stages);
            switches.extend(changed.map(|(before, after)| Switch {
                x: axis.x_of(after.tick),
                number: None,
                ago: newest.saturating_sub(after.tick) as f64 / f64::from(TICKS_PER_SECOND),
                from: rung_name(before.stages),
                to: rung_name(after.stages),
            }));
        }
        switches.retain(|switch| (axis.left..axis.right).contains(&switch.x));
        switches.sort_by(|a, b| a.x.total_cmp(&b.x));
        switches
    }
}

/// The rectangles of the parts.
#[derive(Clone, Copy, Debug)]
struct Parts {
    title: Rect,
    flags: Rect,
    /// The rows of all halves.
    graph: Rect,
    times: Rect,
    /// Right of the rows.
    totals: Rect,
}

impl Parts {
    fn of(all: Rect, rows: usize) -> Self {
        let right = all.right() - TOTALS;
        let row = |top: f32, height: f32| {
            Rect::from_min_max(pos2(all.left(), top), pos2(right, top + height))
        };
        let title = row(all.top(), ROW).with_max_x(all.right());
        let flags = row(title.bottom() + 2.0, LINE);
        let graph = row(
            flags.bottom() + 2.0,
            rows as f32 * (HEIGHT + BETWEEN) - BETWEEN,
        );
        let times = row(graph.bottom(), LINE);
        let totals = Rect::from_min_max(
            pos2(right + MARGIN, graph.top()),
            pos2(all.right(), times.bottom()),
        );
        Self {
            title,
            flags,
            graph,
            times,
            totals,
        }
    }

    /// The row of a half.
    fn row(&self, index: usize) -> Rect {
        let top = self.graph.top() + index as f32 * (HEIGHT + BETWEEN);
        Rect::from_x_y_ranges(self.graph.x_range(), top..=top + HEIGHT)
    }
}

/// Draws the strip. Returns its height, and the tick that the user went to. A drag with Shift sets the range.
pub(super) fn draw(
    root: &mut Ui,
    strip: &Strip<'_>,
    range: &mut Option<TickRange>,
) -> (f32, Option<u64>) {
    let look = Look::of(root);
    let rows = strip.halves.len();
    let height = 8.0 + ROW + LINE + 4.0 + rows as f32 * (HEIGHT + BETWEEN) + LINE;
    let margin = Margin {
        left: MARGIN as i8,
        right: MARGIN as i8,
        top: 8,
        bottom: 0,
    };
    let mut chosen = None;
    let panel = Panel::bottom(Id::new("timeline"))
        .resizable(false)
        .show_separator_line(false)
        .exact_size(height)
        .frame(Frame::new().fill(look.ground).inner_margin(margin));
    let panel = panel.show(root, |ui| {
        let all = ui.max_rect();
        let edge = Stroke::new(1.0, look.line);
        let whole = all.left() - MARGIN..=all.right() + MARGIN;
        ui.painter().hline(whole, all.top() - 7.5, edge);
        chosen = draw_parts(ui, &Parts::of(all, rows), strip, range);
    });
    (panel.response.rect.height(), chosen)
}

fn draw_parts(
    ui: &mut Ui,
    parts: &Parts,
    strip: &Strip<'_>,
    range: &mut Option<TickRange>,
) -> Option<u64> {
    let newest = strip.newest?;
    let look = Look::of(ui);
    let graph = parts.graph;
    let response = ui.interact(graph, ui.id().with("minute"), Sense::click_and_drag());
    let past = strip.past;
    let axis = axis::shown(ui, &response, graph, newest, past.moment, *range);
    // A lane that has begun anew has no tick of before.
    let first = past.first.unwrap_or(newest).min(newest);
    // A click could be the first of a double click, which fits the zoom.
    let touched = if response.dragged() || (response.clicked() && strip.stands) {
        touch(ui, &response, &axis, first..=newest, range)
    } else {
        None
    };
    for (index, (_, lane)) in strip.halves.iter().enumerate() {
        row::draw(ui, parts.row(index), lane.as_ref(), &axis);
    }
    let painter = ui.painter_at(graph);
    // What cannot be shown any more.
    let unknown = Rect::from_x_y_ranges(graph.min.x..=axis.x_of(first), graph.y_range());
    painter.rect_filled(unknown, 0.0, look.ink.gamma_multiply(0.12));
    if let Some(range) = range {
        let marked = Rect::from_x_y_ranges(
            axis.x_of(range.first)..=axis.x_of(range.last + 1),
            graph.y_range(),
        );
        painter.rect_filled(marked, 0.0, look.ink.gamma_multiply(0.18));
    }
    let shown = axis.middle_of(past.moment.unwrap_or(newest));
    let label = past.moment.map(|tick| words::moment(tick, newest));
    let label = label.map(|words| (label_rect(ui, parts.flags, shown, &words), words));
    let mut switches = strip.switches(&axis, newest);
    // No flag stands behind the label.
    let free = label
        .as_ref()
        .map(|(rect, _)| rect.expand2(vec2(FLAG, 0.0)));
    switches.retain(|switch| free.is_none_or(|rect| !rect.x_range().contains(switch.x)));
    let flagged = flags(ui, parts.flags, &switches);
    for &x in &flagged.at {
        painter.vline(x, graph.y_range(), Stroke::new(1.0, look.quiet));
    }
    painter.vline(shown, graph.y_range(), Stroke::new(2.0, look.ink));
    if let Some((rect, words)) = label {
        flag(ui, rect, &words);
    }
    match &flagged.said {
        Some(said) => say_flag(ui, parts.title, said),
        None => title(ui, parts.title, strip, newest.saturating_sub(first)),
    }
    words::times(ui, parts.times, &axis, newest);
    totals::draw(
        ui,
        parts,
        strip,
        range.unwrap_or_else(|| axis.range(first..=newest)),
        range.is_some(),
    );
    tell(strip, &axis, &response, newest);
    touched
}

/// What the pointer is over, lane by lane.
fn tell(strip: &Strip<'_>, axis: &TickAxis, response: &Response, newest: u64) {
    if let Some(hovered) = response.hover_pos() {
        let tick = axis.tick_at(hovered.x);
        response.clone().on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(320.0);
            for measured in strip.lanes() {
                ui.label(words::describe(measured, tick, newest));
            }
        });
    }
}

/// Where a label is that stands over a point, inside the row.
fn label_rect(ui: &Ui, row: Rect, x: f32, words: &str) -> Rect {
    let wide = width(ui, words, SMALL) + 12.0;
    let (from, to) = (row.left() + wide / 2.0, row.right() - wide / 2.0);
    // The row may be narrower than the label.
    let center = x.min(to).max(from);
    Align2::CENTER_CENTER.anchor_size(pos2(center, row.center().y), vec2(wide, LINE))
}

/// What is shown, how to move in it, and what the marks mean.
fn title(ui: &Ui, row: Rect, strip: &Strip<'_>, recorded: u64) {
    let look = Look::of(ui);
    let painter = ui.painter();
    let left = words::legend(ui, row);
    let name = text(painter, row, At::Left(0.0), "Last minute", BODY, look.ink);
    let room = left - name.right() - 28.0;
    let hints = words::hints(strip, recorded);
    let fits = hints.iter().find(|hint| width(ui, hint, SMALL) <= room);
    if let Some(hint) = fits {
        let at = At::Left(name.width() + 12.0);
        text(painter, row, at, hint, SMALL, look.muted);
    }
}

/// The tick that the user goes to: with Shift, as the end of a range that begins where the drag did.
fn touch(
    ui: &Ui,
    response: &Response,
    axis: &TickAxis,
    known: RangeInclusive<u64>,
    range: &mut Option<TickRange>,
) -> Option<u64> {
    let tick_at = |x: f32| axis.tick_at(x).clamp(*known.start(), *known.end());
    let tick = tick_at(response.interact_pointer_pos()?.x);
    let id = response.id.with("begin of the range");
    if response.drag_started() {
        let begin = ui.input(|input| {
            let pressed = input.pointer.press_origin();
            pressed.filter(|_| input.modifiers.shift)
        });
        let begin = begin.map(|at| tick_at(at.x));
        ui.data_mut(|data| data.insert_temp(id, begin));
    }
    let begin = ui.data(|data| data.get_temp::<Option<u64>>(id)).flatten();
    if response.dragged()
        && let Some(begin) = begin
    {
        *range = Some(TickRange::between(begin, tick));
    }
    Some(tick)
}

/// Logical points.
const HEIGHT: f32 = 32.0;
const BETWEEN: f32 = 4.0;
const TOTALS: f32 = 140.0;

/// Half of a flag with the space beside it, logical points.
const FLAG: f32 = 16.0;
