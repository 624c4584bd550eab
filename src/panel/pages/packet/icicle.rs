//! Paints the icicle chart: width in proportion to bits.

use std::ops::Range;

use bevy_egui::egui::{
    self, Align2, Color32, FontId, Pos2, Rect, Sense, Stroke, StrokeKind, Ui, pos2, vec2,
};
use cubewire_palette::bit_kind;

use super::rows::Span;
use crate::history::Selection;
use crate::panel::style;
use crate::panel::zoom::Zoom;
use crate::theme::{Theme, egui_color};

/// Draws the rows, and returns the span under the pointer.
pub(super) fn draw(
    ui: &mut Ui,
    theme: Theme,
    rows: &[Vec<Span>],
    selection: &Selection,
) -> Option<Span> {
    let total = rows.first()?.first()?.bits;
    let size = vec2(ui.available_width(), ROW_HEIGHT * rows.len() as f32);
    let (area, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    // As a fraction, so that the next packet shows the same part.
    let part = Zoom::new("bits of the packet's chart", MIN_PART, true).shown(ui, &response, area);
    let shown = part.start * total..part.end * total;
    let painter = ui.painter_at(area);
    let pointer = response.hover_pos();
    let mut hovered = None;
    for (depth, spans) in rows.iter().enumerate() {
        let top = area.top() + depth as f32 * ROW_HEIGHT;
        let row = Row {
            painter: &painter,
            theme,
            area: Rect::from_x_y_ranges(area.x_range(), top..=top + ROW_HEIGHT - 1.0),
            shown: shown.clone(),
        };
        hovered = row.draw(spans, pointer).or(hovered);
        row.light(spans, selection);
    }
    if let Some(span) = &hovered {
        response.on_hover_text_at_pointer(span.words());
    }
    hovered
}

/// A row of the chart.
struct Row<'a> {
    painter: &'a egui::Painter,
    theme: Theme,
    area: Rect,
    /// The bits that are in sight.
    shown: Range<f64>,
}

impl Row<'_> {
    /// Left and right end of a span.
    fn ends(&self, span: &Span) -> (f32, f32) {
        let x_of = |bit: f64| {
            let fraction = (bit - self.shown.start) / (self.shown.end - self.shown.start);
            self.area.left() + (fraction * f64::from(self.area.width())) as f32
        };
        (x_of(span.start), x_of(span.start + span.bits))
    }

    fn rect(&self, left: f32, right: f32) -> Rect {
        Rect::from_x_y_ranges(left..=right, self.area.y_range())
    }

    /// Draws the spans, and returns the one under the pointer.
    fn draw(&self, spans: &[Span], pointer: Option<Pos2>) -> Option<Span> {
        let mut hovered = None;
        // Spans too narrow to see are drawn as one, so that none is lost.
        let mut narrow: Option<(f32, f32)> = None;
        let first = spans.partition_point(|span| span.start + span.bits < self.shown.start);
        for (index, span) in spans.iter().enumerate().skip(first) {
            if span.start > self.shown.end {
                break;
            }
            let (left, right) = self.ends(span);
            let rect = self.rect(left, right);
            if pointer.is_some_and(|at| rect.contains(at) && at.x < right) {
                hovered = Some(span.clone());
            }
            if right - left < MIN_WIDTH {
                let from = narrow.map_or(left, |(from, _)| from);
                narrow = Some((from, right));
                if right - from < MIN_WIDTH {
                    continue;
                }
            }
            if let Some((from, to)) = narrow.take() {
                let color = color(self.theme, span).gamma_multiply(0.8);
                self.painter.rect_filled(self.rect(from, to), 0.0, color);
                if right - left < MIN_WIDTH {
                    continue;
                }
            }
            paint(self.painter, self.theme, rect, span, index % 2 == 1);
        }
        if let Some((from, to)) = narrow {
            let colors = self.theme.colors();
            let color = style::tint(colors, colors.ink, 0.4);
            let rect = self.rect(from, to.max(from + 1.0));
            self.painter.rect_filled(rect, 0.0, color);
        }
        hovered
    }

    /// Frames the spans of the cubes that are hovered or selected.
    fn light(&self, spans: &[Span], selection: &Selection) {
        let ink = egui_color(self.theme.colors().ink);
        let lit = spans.iter().filter(|span| {
            span.cube.is_some() && (span.cube == selection.hovered || span.cube == selection.cube)
        });
        for span in lit {
            let (left, right) = self.ends(span);
            let rect = self.rect(left, right.max(left + 2.0));
            let stroke = Stroke::new(2.0, ink);
            self.painter
                .rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
    }
}

fn color(theme: Theme, span: &Span) -> Color32 {
    match span.kind {
        Some(kind) => egui_color(bit_kind(kind)),
        None => style::tint(theme.colors(), theme.colors().ink, 0.25),
    }
}

/// Neighbours too narrow for a gap between them differ in their shade.
fn paint(painter: &egui::Painter, theme: Theme, rect: Rect, span: &Span, is_odd: bool) {
    let fill = color(theme, span);
    let has_gap = rect.width() > GAP_WIDTH;
    let gap = if has_gap { 0.5 } else { 0.0 };
    let shade = if has_gap || !is_odd { 1.0 } else { 0.75 };
    let shaded = fill.gamma_multiply(shade);
    painter.rect_filled(rect.shrink2(vec2(gap, 0.0)), 0.0, shaded);
    if rect.width() < LABEL_WIDTH {
        return;
    }
    let name = match (span.part, span.kind, span.cube) {
        (Some(part), ..) => part.to_owned(),
        (None, _, Some(cube)) => cube.to_string(),
        (None, Some(kind), None) => kind.name().to_owned(),
        (None, None, None) => format!("{:.0} bits", span.bits),
    };
    let text = match fill.intensity() > 0.45 {
        true => Color32::BLACK,
        false => Color32::WHITE,
    };
    let clip = painter.clip_rect().intersect(rect);
    let at = pos2(clip.left() + 3.0, rect.center().y);
    painter.with_clip_rect(clip).text(
        at,
        Align2::LEFT_CENTER,
        name,
        FontId::proportional(10.0),
        text,
    );
}

/// Logical points.
const ROW_HEIGHT: f32 = 20.0;
const MIN_WIDTH: f32 = 1.0;
const GAP_WIDTH: f32 = 6.0;
const LABEL_WIDTH: f32 = 20.0;

/// The smallest part of the packet that fills the chart.
const MIN_PART: f64 = 0.002;
