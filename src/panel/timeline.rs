//! The timeline: the last minute of the lanes that are shown, below the views.
//!
//! The scale is fixed, so that nothing jumps: a minute wide, and logarithmic from 1 kbps to 20 Mbps. A column
//! of several ticks shows the largest packet among them.

mod columns;
mod keys;

use bevy_egui::egui::{
    self, Align2, Color32, FontId, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2,
};
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;

use super::{LaneView, Measured, style};
use crate::replication::{Fate, METER_TICKS, TARGET_KBPS, rung_name};
use crate::theme::{Theme, egui_color};
use columns::{Columns, height_of};

pub(super) use keys::step;

/// What the timeline shows beside the meters of the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// The tick of the past that the views show.
    pub moment: Option<u64>,
    /// The oldest tick that they can show.
    pub first: Option<u64>,
    /// Bytes of memory of the whole history.
    pub memory_bytes: usize,
}

/// What the timeline draws.
pub(super) struct Strip<'a> {
    lanes: Vec<Measured<'a>>,
    past: Past,
    /// The newest tick of the selected lane.
    newest: Option<u64>,
}

impl<'a> Strip<'a> {
    pub(super) fn of(lane: &LaneView<'a>) -> Self {
        Self {
            lanes: lane.shown.clone(),
            past: lane.past,
            newest: lane.meter.samples().back().map(|sample| sample.tick),
        }
    }
}

/// Draws the strip. Returns its height, and the tick that the user went to.
pub(super) fn draw(root: &mut Ui, theme: Theme, strip: &Strip<'_>) -> (f32, Option<u64>) {
    let rows = strip.lanes.len().max(1) as f32;
    let height = ROW_HEIGHT * rows + TEXT_HEIGHT + 2.0 * MARGIN;
    let mut chosen = None;
    let panel = egui::Panel::bottom(egui::Id::new("timeline"))
        .resizable(false)
        .exact_size(height)
        .show(root, |ui| {
            chosen = draw_rows(ui, theme, strip);
        });
    (panel.response.rect.height(), chosen)
}

fn draw_rows(ui: &mut Ui, theme: Theme, strip: &Strip<'_>) -> Option<u64> {
    let newest = strip.newest?;
    let size = vec2(ui.available_width(), ui.available_height());
    let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    let (text, graph) = area.split_top_bottom_at_y(area.min.y + TEXT_HEIGHT);
    let oldest = newest.saturating_sub(METER_TICKS as u64);
    let x_of = |tick: u64| {
        let fraction = tick.saturating_sub(oldest) as f32 / METER_TICKS as f32;
        egui::lerp(graph.x_range(), fraction)
    };
    let tick_at = |x: f32| {
        let fraction = egui::remap_clamp(x, graph.x_range(), 0.0..=1.0);
        oldest + (fraction * METER_TICKS as f32).round() as u64
    };

    let row_height = graph.height() / strip.lanes.len().max(1) as f32;
    for (row, measured) in strip.lanes.iter().enumerate() {
        let top = graph.min.y + row as f32 * row_height;
        let row = Rect::from_x_y_ranges(graph.x_range(), top..=top + row_height - ROW_GAP);
        draw_row(ui, theme, row, measured, oldest, x_of);
    }
    let past = strip.past;
    let colors = theme.colors();
    let first = past.first.unwrap_or(newest).max(oldest);
    // What cannot be shown any more, or was before the recording.
    let unknown = Rect::from_x_y_ranges(graph.min.x..=x_of(first), graph.y_range());
    ui.painter()
        .rect_filled(unknown, 0.0, style::tint(colors, colors.ink, 0.12));

    let ink = egui_color(colors.ink);
    let shown = past.moment.unwrap_or(newest);
    let stroke = Stroke::new(2.0, ink);
    ui.painter().vline(x_of(shown), graph.y_range(), stroke);
    caption(ui, theme, text, past, newest, first);

    let pointer = response.interact_pointer_pos();
    if let Some(hovered) = response.hover_pos() {
        let tick = tick_at(hovered.x);
        response.clone().on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(320.0);
            for measured in &strip.lanes {
                ui.label(describe(measured, tick, newest));
            }
        });
    }
    let is_touched = response.clicked() || response.dragged();
    pointer
        .filter(|_| is_touched)
        .map(|at| tick_at(at.x).clamp(first, newest))
}

fn draw_row(
    ui: &Ui,
    theme: Theme,
    row: Rect,
    measured: &Measured<'_>,
    oldest: u64,
    x_of: impl Fn(u64) -> f32,
) {
    let colors = theme.colors();
    let painter = ui.painter();
    painter.rect_filled(row, 0.0, egui_color(colors.surface));
    let y_of = |kbps: f64| egui::lerp(row.bottom()..=row.top(), height_of(kbps) as f32);
    let line = Stroke::new(1.0, style::tint(colors, colors.ink, 0.25));
    for kbps in [10.0, 100.0, 1_000.0, 10_000.0] {
        painter.hline(row.x_range(), y_of(kbps), line);
    }
    let target = Stroke::new(1.0, egui_color(colors.ink));
    painter.extend(egui::Shape::dashed_line(
        &[
            pos2(row.left(), y_of(TARGET_KBPS)),
            pos2(row.right(), y_of(TARGET_KBPS)),
        ],
        target,
        4.0,
        4.0,
    ));
    let color = style::half(colors, measured.side);
    let columns = Columns::of(measured.meter, oldest, row.width().ceil() as usize);
    let warning = egui_color(colors.warning);
    let error = egui_color(colors.error);
    for (place, column) in columns.iter().enumerate() {
        let x = row.left() + place as f32;
        let bar = |from: f32, to: f32, color: Color32| {
            let bar = Rect::from_x_y_ranges(x..=x + 1.0, to..=from);
            painter.rect_filled(bar, 0.0, color);
        };
        if column.kbps > 0.0 {
            bar(row.bottom(), y_of(column.kbps), color.gamma_multiply(0.75));
        }
        // Lost ones hang from the top, late ones stand at the bottom.
        if column.is_lost {
            bar(row.top() + MARK, row.top(), error);
        }
        if column.is_late {
            bar(row.bottom(), row.bottom() - MARK, warning);
        }
    }
    let ink = egui_color(colors.ink);
    let font = FontId::proportional(10.0);
    let mut free = row.left();
    for (tick, stages) in switches(measured, oldest) {
        let x = x_of(tick);
        painter.vline(x, row.y_range(), Stroke::new(1.0, ink));
        if x >= free {
            let at = pos2(x + 2.0, row.top());
            let drawn = painter.text(at, Align2::LEFT_TOP, rung_name(stages), font.clone(), ink);
            free = drawn.right() + 4.0;
        }
    }
    painter.rect_stroke(
        row,
        0.0,
        Stroke::new(1.0, style::tint(colors, colors.ink, 0.3)),
        StrokeKind::Inside,
    );
}

/// Ticks in which the stages of a lane changed, and what they became.
fn switches(measured: &Measured<'_>, oldest: u64) -> Vec<(u64, Stages)> {
    let samples = measured.meter.samples();
    let pairs = samples.iter().zip(samples.iter().skip(1));
    pairs
        .filter(|(before, after)| before.stages != after.stages && after.tick >= oldest)
        .map(|(_, after)| (after.tick, after.stages))
        .collect()
}

/// The line above the rows: the time that is shown, what the keys do, and the memory.
fn caption(ui: &Ui, theme: Theme, area: Rect, past: Past, newest: u64, first: u64) {
    let colors = theme.colors();
    let font = FontId::proportional(11.0);
    let painter = ui.painter();
    let (text, color) = match past.moment {
        Some(tick) => (
            format!(
                "{:.2} s ago, tick {tick} · ← → one tick, with Shift a second · Esc or P plays on",
                seconds(newest.saturating_sub(tick))
            ),
            egui_color(colors.ink),
        ),
        None => (
            "the last minute, kbps · drag or pause to go back · ▔ lost ▁ late".to_owned(),
            egui_color(colors.muted),
        ),
    };
    let drawn = painter.text(
        area.left_center(),
        Align2::LEFT_CENTER,
        text,
        font.clone(),
        color,
    );
    let memory = past.memory_bytes as f64 / f64::from(1 << 20);
    let recorded = seconds(newest.saturating_sub(first));
    let memory = format!("{memory:.1} of 64 MiB");
    let muted = egui_color(colors.muted);
    // The longest that fits beside it.
    for text in [format!("{recorded:.0} s recorded, {memory}"), memory] {
        let galley = painter.layout_no_wrap(text, font.clone(), muted);
        let at = area.right_center() - vec2(galley.size().x, galley.size().y / 2.0);
        if at.x > drawn.right() + MARGIN {
            painter.galley(at, galley, muted);
            break;
        }
    }
}

/// A tick of a lane in words.
fn describe(measured: &Measured<'_>, tick: u64, newest: u64) -> String {
    let ago = seconds(newest.saturating_sub(tick));
    let side = measured.side.name();
    let Some(sample) = measured.meter.at(tick) else {
        return format!("{side}, {ago:.2} s ago: not recorded");
    };
    let rung = rung_name(sample.stages);
    let Some(packet) = sample.snapshots.first() else {
        return format!("{side}, {ago:.2} s ago: {rung}, no packet in this tick");
    };
    let arrival = match packet.fate(tick, newest) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("arrived {} ticks later, too late", arrival.after_ticks)
        }
        Fate::Arrived(arrival) => format!("arrived {} ticks later", arrival.after_ticks),
        Fate::Lost => "lost".to_owned(),
        Fate::OnItsWay => "on its way".to_owned(),
    };
    let bytes = packet.payload_bytes;
    let changed = packet.changed_cubes;
    format!(
        "{side}, {ago:.2} s ago: {rung}, {bytes} bytes payload, {changed} cubes changed, {arrival}"
    )
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_SECOND)
}

/// Logical points.
const ROW_HEIGHT: f32 = 34.0;
const ROW_GAP: f32 = 2.0;
const TEXT_HEIGHT: f32 = 16.0;
const MARGIN: f32 = 4.0;
const MARK: f32 = 6.0;
