//! The timeline: the last minute of the lanes in the halves, below the view.
//!
//! The vertical axis is logarithmic from 1 kbps to 20 Mbps. It is fixed, so that bars keep their height. The time span
//! doubles each time it is full, up to a minute. The wheel zooms in. A column of several ticks shows the largest packet.

mod keys;
mod ticks;
mod words;

use super::flags::{flags, paint as flag, switches};
use super::lane::Past;
use crate::panel::prelude::*;

pub(super) use keys::step;

pub(super) struct Strip<'a> {
    /// The halves from left to right. A half without a lane shows the simulation; it is omitted in a low window.
    halves: Vec<(Side, Option<Measured<'a>>)>,
    past: Past,
    newest: Option<u64>,
    /// Whether the game is paused or a tick of the past is shown.
    stands: bool,
    /// Height of a row, logical points.
    row: f32,
}

impl<'a> Strip<'a> {
    pub(super) fn of(lane: &LaneView<'a>, state: &PanelState) -> Self {
        let has_simulation = lane.status.plays && !state.is_low;
        let halves = Side::ALL.into_iter().filter_map(|side| {
            let measured = lane.shown.iter().find(|measured| measured.side == side);
            (measured.is_some() || has_simulation).then(|| (side, measured.cloned()))
        });
        Self {
            halves: halves.collect(),
            past: lane.past,
            newest: lane.meter.newest_tick(),
            stands: lane.past.moment.is_some() || lane.status.is_paused,
            row: if state.is_low { 24.0 } else { 32.0 },
        }
    }

    fn lanes(&self) -> impl Iterator<Item = &Measured<'a>> {
        self.halves.iter().filter_map(|(_, lane)| lane.as_ref())
    }

    fn height(&self) -> f32 {
        self.halves.len() as f32 * (self.row + BETWEEN) - BETWEEN
    }
}

/// Draws the timeline. Returns its height and the tick that the user selected. A drag with Shift sets `range`.
pub(super) fn draw(
    root: &mut Ui,
    strip: &Strip<'_>,
    range: &mut Option<[u64; 2]>,
) -> (f32, Option<u64>) {
    let margin = Margin { bottom: 4, ..Margin::symmetric(MARGIN as i8, 8) };
    let height = margin.sum().y + ROW + LINE + 4.0 + strip.height() + LINE;
    let edge = Panel::bottom(Id::new("timeline"));
    let (rect, chosen) = docked(root, edge, Some(height), margin, |ui| {
        let all = ui.max_rect();
        let edge = Stroke::new(1.0, Look::of(ui).line);
        ui.painter().hline(all.left() - MARGIN..=all.right() + MARGIN, all.top() - 7.5, edge);
        draw_rows(ui, all, strip, range)
    });
    (rect.height(), chosen)
}

/// Draws the title, the flags, a row for each half with its totals at the right, and the times. Returns the selected tick.
fn draw_rows(
    ui: &mut Ui,
    all: Rect,
    strip: &Strip<'_>,
    range: &mut Option<[u64; 2]>,
) -> Option<u64> {
    let newest = strip.newest?;
    let look = Look::of(ui);
    let (first_row, below) = all.split_top_bottom_at_y(all.top() + ROW);
    let left = below.with_max_x(below.right() - TOTALS);
    let above = Rect::from_min_size(left.min + vec2(0.0, 2.0), vec2(left.width(), LINE));
    let graph = Rect::from_min_size(
        above.left_bottom() + vec2(0.0, 2.0),
        vec2(left.width(), strip.height()),
    );
    let response = ui.interact(graph, ui.id().with("minute"), Sense::click_and_drag());
    let past = strip.past;
    // A lane that started again has no older ticks, but the lane in the other half may have some.
    let first = past.first.unwrap_or(newest).min(newest);
    let recorded = strip.lanes().filter_map(|lane| lane.meter.samples().front());
    let oldest = recorded.map(|sample| sample.tick).fold(first, u64::min);
    let shown = ticks::visible(ui, &response, graph, oldest..=newest, past.moment, *range);
    let chart = Chart::over(ui, graph, shown);
    // While the game runs, a single click may begin a double click, which zooms out.
    let is_touched = response.dragged() || (response.clicked() && strip.stands);
    let touched = is_touched.then(|| touch(ui, &response, &chart, first..=newest, range)).flatten();
    let row = |index| {
        let top = graph.top() + index as f32 * (strip.row + BETWEEN);
        Rect::from_x_y_ranges(graph.x_range(), top..=top + strip.row)
    };
    let rows: Vec<Rect> = (0..strip.halves.len()).map(row).collect();
    for (row, (_, lane)) in rows.iter().zip(&strip.halves) {
        match lane {
            Some(lane) => draw_row(ui, *row, lane, &chart.x),
            None => {
                ui.painter().rect_filled(*row, 0.0, look.sunken);
                let from = chart.x_of(first as f64).max(row.left());
                reason(ui, row.with_min_x(from), "simulation only, no packets");
            }
        }
    }
    let unknown = *chart.x.start()..=first as f64;
    if unknown.start() < unknown.end() {
        chart.veil(unknown, 0.0, look.ink.gamma_multiply(0.12));
        reason(ui, graph.with_max_x(chart.x_of(oldest as f64)), "not yet recorded");
    }
    if let Some(range) = range {
        chart.veil(range[0] as f64..=(range[1] + 1) as f64, 0.0, look.ink.gamma_multiply(0.18));
    }
    marks(ui, above, &chart, strip, newest);
    title(ui, first_row, strip, newest.saturating_sub(first));
    words::times(ui, &chart, newest);
    let summed = range.unwrap_or_else(|| {
        let oldest = chart.x.start().floor() as u64;
        [oldest.max(first), (chart.x.end().ceil() as u64).saturating_sub(1).min(newest)]
    });
    let beside = below.with_min_x(graph.right() + MARGIN);
    words::totals(ui, beside, &rows, strip, (summed, range.is_some()));
    let mut told = response;
    // Tooltips are placed outside this rectangle.
    told.interact_rect = all.expand2(vec2(0.0, 8.0));
    tell(strip, &chart, &told, newest);
    touched
}

fn reason(ui: &Ui, part: Rect, why: &str) {
    if width(ui, why, SMALL) + 16.0 < part.width() {
        text(ui.painter(), part, At::Left(8.0), why, SMALL, Look::of(ui).muted);
    }
}

fn draw_row(ui: &Ui, row: Rect, lane: &Measured<'_>, shown: &RangeInclusive<f64>) {
    let look = Look::of(ui);
    let painter = ui.painter_at(row);
    painter.rect_filled(row, 0.0, look.sunken);
    let bars = row.with_min_y(row.top() + MARKS);
    let bars = Chart::new(ui, bars, shown.clone(), SCALE, Scale::Logarithmic);
    let mut free = row.left();
    for (ticks, column) in ticks::columns(lane.meter, shown, row.width()) {
        let middle = bars.x_of((ticks.start() + ticks.end()) / 2.0);
        if column.kbps > 0.0 {
            bars.bar(ticks, column.kbps, lane.side.color_in(look));
        }
        // One mark per column, and marks do not overlap. Losses take precedence over late packets.
        if middle - MARK / 2.0 < free || !(column.is_lost || column.is_late) {
            continue;
        }
        free = middle + MARK / 2.0;
        let at = pos2(middle, row.top() + MARKS / 2.0);
        if column.is_lost {
            triangle(&painter, at, vec2(MARK, MARK - 1.0), Vec2::DOWN, look.error);
        } else {
            painter.circle_stroke(at, MARK / 2.0 - 1.0, (2.0, look.warning));
        }
    }
}

fn marks(ui: &Ui, above: Rect, chart: &Chart, strip: &Strip<'_>, newest: u64) {
    let moment = strip.past.moment;
    let shown = moment.unwrap_or(newest) as f64 + 0.5;
    let stages = strip.lanes().map(|lane| lane.meter.samples().iter().map(|sample| sample.stages));
    let mut switches =
        switches(stages, |ago| chart.x_of(newest as f64 - ago * f64::from(TICKS_PER_SECOND)));
    switches.retain(|switch| above.x_range().contains(switch.x));
    let label = moment.map(|tick| {
        let words = words::moment(tick, newest);
        let half = width(ui, &words, SMALL) / 2.0 + 6.0;
        // `clamp` would panic in a row that is narrower than the label.
        let x = within(chart.x_of(shown), above.left() + half, above.right() - half);
        (Rect::from_center_size(pos2(x, above.center().y), vec2(2.0 * half, LINE)), words)
    });
    // Leaves out flags behind the label.
    let occupied = label.as_ref().map(|(rect, _)| rect.x_range().expand(FLAG));
    flags(ui, above, chart, &switches, occupied.unwrap_or(Rangef::NOTHING));
    chart.upright(shown, Stroke::new(2.0, Look::of(ui).ink));
    if let Some((rect, words)) = label {
        flag(ui, rect, &words);
    }
}

/// Shows a tooltip with a line for each lane, without delay. It is above the timeline, so that it covers no bars.
fn tell(strip: &Strip<'_>, chart: &Chart, response: &Response, newest: u64) {
    if let Some(hovered) = response.hover_pos() {
        let tick = chart.x_at(hovered.x).floor() as i64;
        response.show_tooltip_ui(|ui| {
            ui.set_max_width(response.interact_rect.width());
            for measured in strip.lanes() {
                ui.label(words::describe(measured, tick, newest));
            }
        });
    }
}

fn title(ui: &Ui, row: Rect, strip: &Strip<'_>, recorded: u64) {
    let look = Look::of(ui);
    let painter = ui.painter();
    let left = words::legend(ui, row);
    let name = text(painter, row, At::Left(0.0), "Timeline", BODY, look.ink);
    let room = left - name.right() - 28.0;
    let mut hints = words::hints(strip, recorded).into_iter();
    if let Some(hint) = hints.find(|hint| width(ui, hint, SMALL) <= room) {
        text(painter, row, At::Left(name.width() + 12.0), hint, SMALL, look.muted);
    }
}

/// Returns the tick under the pointer. While dragging with Shift, sets `range` from the start of the drag to this tick.
fn touch(
    ui: &Ui,
    response: &Response,
    chart: &Chart,
    known: RangeInclusive<u64>,
    range: &mut Option<[u64; 2]>,
) -> Option<u64> {
    // Positions outside of the recorded ticks select the first or the last one.
    let tick_at = |x: f32| (chart.x_at(x).floor() as u64).clamp(*known.start(), *known.end());
    let tick = tick_at(response.interact_pointer_pos()?.x);
    let id = response.id.with("begin of the range");
    if response.drag_started() {
        let begin =
            ui.input(|input| input.pointer.press_origin().filter(|_| input.modifiers.shift));
        ui.data_mut(|data| data.insert_temp(id, begin.map(|at| tick_at(at.x))));
    }
    let begin = ui.data(|data| data.get_temp::<Option<u64>>(id)).flatten();
    if response.dragged()
        && let Some(begin) = begin
    {
        *range = Some([begin.min(tick), begin.max(tick)]);
    }
    Some(tick)
}

const SCALE: RangeInclusive<f64> = 1.0..=20_000.0;

/// Gap between rows, and width of the totals, logical points.
const BETWEEN: f32 = 4.0;
const TOTALS: f32 = 140.0;

/// Logical points: height for marks at the top of a row, and size of a mark.
const MARKS: f32 = 10.0;
const MARK: f32 = 8.0;

/// Half of a flag with the gap next to it, logical points.
const FLAG: f32 = 16.0;
