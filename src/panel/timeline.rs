//! The timeline: the last minute of the lanes that are shown, below the views.
//!
//! The vertical scale is fixed, so that nothing jumps: logarithmic from 1 kbps to 20 Mbps. The wheel zooms into
//! the minute. A column of several ticks shows the largest packet among them.

mod columns;
mod keys;
mod range;
mod row;
mod words;

use bevy_egui::egui::{self, Key, Rect, Response, Sense, Stroke, Ui, vec2};

use super::lane::{LaneView, Measured, Past};
use super::settings::TickRange;
use super::style;
use super::zoom::Zoom;
use crate::replication::METER_TICKS;
use crate::theme::{Theme, egui_color};

pub(super) use keys::step;

/// What the timeline draws.
pub(super) struct Strip<'a> {
    lanes: Vec<Measured<'a>>,
    past: Past,
    /// The newest tick of the selected lane.
    newest: Option<u64>,
    /// Whether the game stands still.
    stands: bool,
}

impl<'a> Strip<'a> {
    pub(super) fn of(lane: &LaneView<'a>) -> Self {
        Self {
            lanes: lane.shown.clone(),
            past: lane.past,
            newest: lane.meter.samples().back().map(|sample| sample.tick),
            stands: lane.past.moment.is_some() || lane.status.is_paused,
        }
    }
}

/// The ticks that are shown, and where they lie.
#[derive(Clone, Copy, Debug)]
struct TickAxis {
    /// May lie between two ticks.
    from: f64,
    to: f64,
    left: f32,
    right: f32,
}

impl TickAxis {
    /// Where a tick begins.
    fn x_of(&self, tick: u64) -> f32 {
        self.x_at(tick as f64)
    }

    fn middle_of(&self, tick: u64) -> f32 {
        self.x_at(tick as f64 + 0.5)
    }

    fn x_at(&self, tick: f64) -> f32 {
        let fraction = (tick - self.from) / (self.to - self.from);
        egui::lerp(self.left..=self.right, fraction as f32)
    }

    fn is_zoomed(&self) -> bool {
        self.to - self.from < METER_TICKS as f64
    }

    fn tick_at(&self, x: f32) -> u64 {
        let fraction = egui::remap_clamp(x, self.left..=self.right, 0.0..=1.0);
        // What lies before the first tick is the first.
        egui::lerp(self.from..=self.to, f64::from(fraction)).floor() as u64
    }
}

/// Draws the strip. Returns its height, and the tick that the user went to. A drag with Shift sets the range.
pub(super) fn draw(
    root: &mut Ui,
    theme: Theme,
    strip: &Strip<'_>,
    range: &mut Option<TickRange>,
) -> (f32, Option<u64>) {
    let rows = strip.lanes.len().max(1) as f32;
    let height = ROW_HEIGHT * rows + TEXT_HEIGHT + 2.0 * MARGIN;
    let mut chosen = None;
    let panel = egui::Panel::bottom(egui::Id::new("timeline"))
        .resizable(false)
        .exact_size(height)
        .show(root, |ui| {
            chosen = draw_rows(ui, theme, strip, range);
        });
    (panel.response.rect.height(), chosen)
}

fn draw_rows(
    ui: &mut Ui,
    theme: Theme,
    strip: &Strip<'_>,
    range: &mut Option<TickRange>,
) -> Option<u64> {
    let newest = strip.newest?;
    let size = vec2(ui.available_width(), ui.available_height());
    let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let (text, graph) = area.split_top_bottom_at_y(area.min.y + TEXT_HEIGHT);
    let past = strip.past;
    let axis = axis(ui, &response, graph, newest, past.moment, *range);
    let first = past.first.unwrap_or(newest);
    // A click could be the first of a double click, which fits the zoom.
    let touched = if response.dragged() || (response.clicked() && strip.stands) {
        touch(ui, &response, &axis, first..=newest, range)
    } else {
        None
    };
    let row_height = graph.height() / strip.lanes.len().max(1) as f32;
    let rows = strip.lanes.iter().enumerate().map(|(row, measured)| {
        let top = graph.min.y + row as f32 * row_height;
        let row = Rect::from_x_y_ranges(graph.x_range(), top..=top + row_height - ROW_GAP);
        (row, measured)
    });
    for (row, measured) in rows.clone() {
        row::draw(ui, theme, row, measured, &axis);
    }
    let colors = theme.colors();
    let painter = ui.painter_at(graph);
    // What cannot be shown any more, or was before the recording.
    let unknown = Rect::from_x_y_ranges(graph.min.x..=axis.x_of(first), graph.y_range());
    painter.rect_filled(unknown, 0.0, style::tint(colors, colors.ink, 0.12));
    // Its totals may reach over what is unknown.
    if let Some(range) = range {
        for (row, measured) in rows {
            range::draw(ui, theme, row, measured, &axis, *range);
        }
    }

    let shown = past.moment.unwrap_or(newest);
    let stroke = Stroke::new(2.0, egui_color(colors.ink));
    painter.vline(axis.middle_of(shown), graph.y_range(), stroke);
    words::caption(ui, theme, text, past, &axis, first..=newest);

    if let Some(hovered) = response.hover_pos() {
        let tick = axis.tick_at(hovered.x);
        response.on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(320.0);
            for measured in &strip.lanes {
                ui.label(words::describe(measured, tick, newest));
            }
        });
    }
    touched
}

/// What is shown of the last minute, after wheel and double click, or F, which fits the range. It follows the
/// moment, and is all of the minute again when the game resumes.
fn axis(
    ui: &Ui,
    response: &Response,
    graph: Rect,
    newest: u64,
    moment: Option<u64>,
    range: Option<TickRange>,
) -> TickAxis {
    // Negative in the first minute, so that the newest tick is always at the right.
    let oldest = newest as f64 + 1.0 - METER_TICKS as f64;
    let fraction = |tick: u64| (tick as f64 - oldest) / METER_TICKS as f64;
    let zoom = Zoom::new("time of the timeline", MIN_PART, false);
    let mut part = zoom.shown(ui, response, graph);
    let id = response.id.with("moment in sight");
    let before = ui.data(|data| data.get_temp::<Option<u64>>(id)).flatten();
    if moment != before {
        ui.data_mut(|data| data.insert_temp(id, moment));
        let width = part.end - part.start;
        part = match moment {
            None => zoom.show(ui, 0.0..1.0),
            Some(tick) if fraction(tick) < part.start => {
                zoom.show(ui, fraction(tick)..fraction(tick) + width)
            }
            Some(tick) if fraction(tick + 1) > part.end => {
                zoom.show(ui, fraction(tick + 1) - width..fraction(tick + 1))
            }
            Some(_) => part,
        };
    }
    let wants_keys = ui.ctx().egui_wants_keyboard_input();
    let is_fitted = !wants_keys && ui.input(|input| input.key_pressed(Key::F));
    if let Some(range) = range.filter(|_| is_fitted) {
        part = zoom.show(ui, fraction(range.first)..fraction(range.last + 1));
    }
    let tick = |fraction: f64| oldest + fraction * METER_TICKS as f64;
    TickAxis {
        from: tick(part.start),
        to: tick(part.end),
        left: graph.left(),
        right: graph.right(),
    }
}

/// The tick that the user goes to: with Shift, as the end of a range that begins where the drag did.
fn touch(
    ui: &Ui,
    response: &Response,
    axis: &TickAxis,
    known: std::ops::RangeInclusive<u64>,
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
const ROW_HEIGHT: f32 = 34.0;
const ROW_GAP: f32 = 2.0;
const TEXT_HEIGHT: f32 = 16.0;
const MARGIN: f32 = 4.0;

/// Half a second.
const MIN_PART: f64 = 30.0 / METER_TICKS as f64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_column_is_its_tick() {
        let axis = TickAxis {
            from: 1790.5,
            to: 1820.5,
            left: 100.0,
            right: 700.0,
        };
        for tick in [1791, 1801, 1819] {
            let half = axis.middle_of(tick) - axis.x_of(tick);
            assert!((half - 10.0).abs() < 1e-3, "{half}");
            for part in [0.1, 5.0, 10.0, 15.0, 19.9] {
                assert_eq!(axis.tick_at(axis.x_of(tick) + part), tick, "{part}");
            }
        }
    }
}
