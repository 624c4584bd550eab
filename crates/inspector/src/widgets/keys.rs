//! Keyboard keys, in the monospace font.

use bevy_egui::egui::{
    Align2, Color32, FontId, Painter, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

use super::{balanced, laid_out, width};
use crate::style::{GAP, Look, ROW, SMALL, egui_color};

/// Paints a key's name without a cap, at distance `x` from the left of its row.
pub fn key(painter: &Painter, row: Rect, x: f32, name: &str, color: Color32) {
    let at = pos2(row.left() + x, row.center().y);
    let font = FontId::monospace(SMALL);
    painter.text(at, Align2::LEFT_CENTER, name, font, color);
}

/// Draws keys with their caps, and a description that wraps. The description starts after the caps or at `column`
/// points from the left, whichever is farther right.
pub fn keys(ui: &mut Ui, width: f32, column: f32, names: &[&str], about: &str) -> Response {
    let look = Look::of(ui);
    let x = column.max(caps_width(ui, names) + GAP);
    let words = balanced(ui, about, SMALL, look.ink, width - x);
    let size = vec2(width, HEIGHT.max(words.size().y + GAP));
    let (row, response) = ui.allocate_exact_size(size, Sense::hover());
    let said = format!("{}: {about}", names.join(", "));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    names.iter().fold(0.0, |x, name| x + cap(ui.painter(), look, row, x, name) + GAP);
    let at = row.left_center() + vec2(x, -words.size().y / 2.0);
    ui.painter().galley(at, words, look.ink);
    response
}

/// Returns the width of such a row with its description in one line.
pub fn keys_width(ui: &Ui, names: &[&str], about: &str) -> f32 {
    // One extra point, so that rounding does not wrap the line.
    caps_width(ui, names) + GAP + width(ui, about, SMALL) + 1.0
}

fn caps_width(ui: &Ui, names: &[&str]) -> f32 {
    let caps = names.iter();
    caps.map(|name| cap_width(ui.painter(), name) + GAP).sum()
}

/// Paints a key's cap. Returns its width.
fn cap(painter: &Painter, look: Look, row: Rect, x: f32, name: &str) -> f32 {
    let width = cap_width(painter, name);
    let middle = pos2(row.left() + x + width / 2.0, row.center().y);
    let cap = Rect::from_center_size(middle, vec2(width, 18.0));
    let edge = Stroke::new(1.0, egui_color(look.colors().key_edge));
    painter.rect(cap, 3.0, look.raised, edge, StrokeKind::Inside);
    let galley = laid_out(painter, name, FontId::monospace(SMALL));
    painter.galley(middle - galley.size() / 2.0, galley, look.ink);
    width
}

fn cap_width(painter: &Painter, name: &str) -> f32 {
    let galley = laid_out(painter, name, FontId::monospace(SMALL));
    (galley.size().x + 10.0).max(20.0)
}

/// Height of a row with one line.
const HEIGHT: f32 = ROW;
