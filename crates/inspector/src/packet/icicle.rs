//! Painting of the icicle chart. Widths are proportional to bits.

use super::rows::Order;
use super::span::{Span, amount};
use crate::prelude::*;
use crate::widgets;

/// The top row: the packet's total bits, and a button that changes the order of the rows below.
pub(super) struct Top {
    pub(super) row: widgets::Row,
    /// Right end of its text, from the left edge of the row.
    used: f32,
}

impl Top {
    pub(super) fn draw(ui: &mut Ui, total: f64, order: &mut Order) -> Self {
        let look = Look::of(ui);
        let (bits, [name, _]) = (format!("{} bits", amount(total)), order.texts());
        let row = widgets::Row::button(ui, ROW, &format!("{bits}, {name}"), false);
        ui.painter().rect_filled(row.rect, 0.0, look.raised);
        let bits = row.text(ui, At::Left(6.0), bits, SMALL, look.ink);
        let after = At::Left(bits.right() - row.rect.left() + 8.0);
        let name = row.text(ui, after, name, SMALL, look.muted);
        let caret = pos2(name.right() + 10.0, row.rect.center().y + 1.0);
        triangle(ui.painter(), caret, vec2(8.0, 5.0), Vec2::DOWN, look.muted);
        if row.response.clicked() {
            *order = order.next();
        }
        let used = caret.x + 4.0 - row.rect.left();
        Self { row, used }
    }

    /// Paints a description of the hovered item at the right: the first of `texts` that fits.
    pub(super) fn say(&self, ui: &Ui, texts: &[impl AsRef<str>]) {
        let room = self.row.rect.width() - self.used - 18.0;
        let fits = |text: &&str| width(ui, text, SMALL) <= room;
        if let Some(words) = texts.iter().map(AsRef::as_ref).find(fits) {
            self.row.text(ui, At::Right(6.0), words, SMALL, Look::of(ui).muted);
        }
    }
}

pub(super) fn draw<'a>(
    ui: &mut Ui,
    rows: &'a [Vec<Span>],
    names: Names<'_>,
    highlight: Highlight,
) -> Option<&'a Span> {
    let last = rows.first()?.last()?;
    let total = last.start + last.bits;
    let (area, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::click_and_drag());
    // Stored as a fraction, so that the next packet shows the same part.
    let part = Zoom::new("bits of the packet's chart", MIN_PART, true).shown(ui, &response, area);
    let shown = part.start * total..part.end * total;
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut top = area.top();
    for (depth, spans) in rows.iter().enumerate() {
        let left = rows.len() - depth;
        let height = ((area.bottom() - top) / left as f32).ceil();
        let row = Row {
            painter: ui.painter_at(area),
            look: Look::of(ui),
            area: Rect::from_x_y_ranges(area.x_range(), top..=top + height - 1.0),
            shown: shown.clone(),
            names,
        };
        hovered = row.draw(ui, spans, pointer).or(hovered);
        // The second row from the bottom contains the bodies; the last one divides them into components.
        if left == 2 {
            row.frame_highlighted(spans, area.bottom(), highlight);
        }
        top += height;
    }
    hovered
}

struct Row<'a> {
    painter: Painter,
    look: Look,
    area: Rect,
    shown: Range<f64>,
    names: Names<'a>,
}

impl Row<'_> {
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

    fn draw<'s>(&self, ui: &Ui, spans: &'s [Span], pointer: Option<Pos2>) -> Option<&'s Span> {
        let mut hovered = None;
        // Start of a run of spans too narrow to see. They are drawn as one, so that they stay visible.
        let mut narrow = None;
        let first = spans.partition_point(|span| span.start + span.bits < self.shown.start);
        for (index, span) in spans.iter().enumerate().skip(first) {
            if span.start > self.shown.end {
                break;
            }
            let (left, right) = self.ends(span);
            let rect = self.rect(left, right);
            if pointer.is_some_and(|at| rect.contains(at) && at.x < right) {
                hovered = Some(span);
            }
            let from = narrow.take().unwrap_or(left);
            if right - from < MIN_WIDTH {
                narrow = Some(from);
                continue;
            }
            let is_narrow = right - left < MIN_WIDTH;
            let to = if is_narrow { right } else { left };
            if from < to {
                let color = self.color(span).gamma_multiply(0.8);
                self.painter.rect_filled(self.rect(from, to), 0.0, color);
            }
            if !is_narrow {
                self.paint(ui, rect, span, index % 2 == 1);
            }
        }
        if let Some(from) = narrow {
            self.painter.rect_filled(self.rect(from, from + 1.0), 0.0, self.look.quiet);
        }
        hovered
    }

    fn color(&self, span: &Span) -> Color32 {
        span.kind.map_or(self.look.line, |kind| self.look.kind(kind))
    }

    /// Paints a span. Spans too narrow for a gap alternate in shade instead. Labels without enough room are left out.
    fn paint(&self, ui: &Ui, rect: Rect, span: &Span, is_odd: bool) {
        let has_gap = rect.width() > 3.0;
        let shade = if has_gap || !is_odd { 1.0 } else { 0.75 };
        let filled = rect.with_max_x(rect.right() - f32::from(has_gap));
        self.painter.rect_filled(filled, 0.0, self.color(span).gamma_multiply(shade));
        let label = |kind| egui_color(self.look.colors().bit_kind_label(kind));
        let ink = span.kind.map_or(self.look.ink, label);
        let inside = filled.intersect(self.area);
        if inside.width() <= 16.0 || rect.height() < LINE {
            return;
        }
        let name = match (span.part, span.kind, span.body) {
            (Some(part), ..) => part.to_owned(),
            (None, _, Some(body)) => body.to_string(),
            (None, Some(kind), None) => self.names.kind(kind).into_owned(),
            (None, None, None) => return,
        };
        let of_name = width(ui, &name, SMALL);
        if of_name + 2.0 * PADDING > inside.width() {
            return;
        }
        text(&self.painter, inside, At::Left(PADDING), &name, SMALL, ink);
        let bits = amount(span.bits);
        let both = of_name + width(ui, &bits, SMALL) + 3.0 * PADDING;
        if both <= inside.width() {
            text(&self.painter, inside, At::Right(PADDING), bits, SMALL, ink);
        }
    }

    fn frame_highlighted(&self, spans: &[Span], bottom: f32, highlight: Highlight) {
        let lit = [highlight.hovered, highlight.selected];
        for span in spans.iter().filter(|span| span.body.is_some() && lit.contains(&span.body)) {
            let (left, right) = self.ends(span);
            let rect = self.rect(left - FRAME, right + FRAME).with_max_y(bottom);
            let stroke = Stroke::new(FRAME, self.look.ink);
            self.painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
    }
}

/// Logical points.
pub(super) const HEIGHT: f32 = 55.0;
const MIN_WIDTH: f32 = 1.0;
const FRAME: f32 = 2.0;
const PADDING: f32 = 5.0;

/// Smallest visible part of the packet, as a fraction.
const MIN_PART: f64 = 0.002;
