//! Keys of the keyboard, in the mono face.

use bevy_egui::egui::{
    Align2, Color32, FontId, Painter, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, pos2, vec2,
};

use super::{At, laid_out, text, width};
use crate::style::{Look, SMALL, egui_color};

/// The name of a key without a cap, that far from the left of its row.
pub fn key(painter: &Painter, row: Rect, x: f32, name: &str, color: Color32) {
    let at = pos2(row.left() + x, row.center().y);
    let font = FontId::monospace(SMALL);
    painter.text(at, Align2::LEFT_CENTER, name, font, color);
}

/// A row of keys with their caps, and what they do.
pub fn keys(ui: &mut Ui, width: f32, names: &[&str], about: &str) -> Response {
    let look = Look::of(ui);
    let (row, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    let said = format!("{}: {about}", names.join(", "));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    let x = caps(ui, row, names);
    text(ui.painter(), row, At::Left(x + 4.0), about, SMALL, look.ink);
    response
}

/// Paints the caps of keys from the left of a row. Returns where they end.
pub fn caps(ui: &Ui, row: Rect, names: &[&str]) -> f32 {
    let look = Look::of(ui);
    let caps = names.iter();
    caps.fold(0.0, |x, name| {
        x + cap(ui.painter(), look, row, x, name) + 4.0
    })
}

/// How wide such a row is.
pub fn keys_width(ui: &Ui, names: &[&str], about: &str) -> f32 {
    let caps = names.iter().map(|name| cap_width(ui.painter(), name) + 4.0);
    caps.sum::<f32>() + 4.0 + width(ui, about, SMALL)
}

/// A key's cap. Returns its width.
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

/// Height of a row of keys, logical points.
const HEIGHT: f32 = 22.0;
