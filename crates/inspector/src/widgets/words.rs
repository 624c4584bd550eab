//! Lines and paragraphs of text, and keyboard keys.

use crate::prelude::*;

/// Draws a line of 12-point text, truncated at the page's edge.
pub fn line(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    ui.add(Label::new(RichText::new(words).size(SMALL).color(color)).truncate())
}

pub fn wrapped(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    ui.add(Label::new(RichText::new(words).size(SMALL).color(color)).wrap())
}

/// Draws wrapping 12-point text, with the height of the longest of `all`, so that other texts in its place do not move
/// the content below.
pub fn reserved<'w>(
    ui: &mut Ui,
    words: &str,
    color: Color32,
    all: impl IntoIterator<Item = &'w str>,
) -> Response {
    let across = ui.available_width();
    let rows = |words| (width(ui, words, SMALL) / across).ceil();
    let height = LINE * all.into_iter().map(rows).fold(1.0, f32::max);
    let place = ui.allocate_ui(vec2(across, height), |ui| {
        ui.set_min_height(height);
        wrapped(ui, words, color)
    });
    place.inner
}

/// Draws muted, wrapping 12-point text.
pub fn note(ui: &mut Ui, words: impl Into<String>) -> Response {
    wrapped(ui, words, Look::of(ui).muted)
}

/// Draws text in as few lines as there is room for, of similar lengths.
pub fn paragraph(ui: &mut Ui, words: &str, size: f32, color: Color32) -> Response {
    ui.add(Label::new(balanced(ui, words, size, color, ui.available_width())))
}

/// Lays out text in as few lines as the width allows, of similar lengths, so that no line has a single word.
fn balanced(ui: &Ui, words: &str, size: f32, color: Color32, width: f32) -> Arc<Galley> {
    let font = FontId::proportional(size);
    let laid_out = |width: f32| ui.painter().layout(words.to_owned(), font.clone(), color, width);
    let rows = laid_out(width).rows.len();
    let (mut narrow, mut wide) = (0.0, width);
    while rows > 1 && wide - narrow > 4.0 {
        let middle = (narrow + wide) / 2.0;
        if laid_out(middle).rows.len() > rows { narrow = middle } else { wide = middle }
    }
    laid_out(wide)
}

/// Paints a key's name without a cap, at distance `x` from the left of its row.
pub fn key(painter: &Painter, row: Rect, x: f32, name: &str, color: Color32) {
    let at = pos2(row.left() + x, row.center().y);
    painter.text(at, Align2::LEFT_CENTER, name, FontId::monospace(SMALL), color);
}

/// Draws keys with their caps, and a description that wraps at `width`. The description starts after the caps or at
/// `column` points from the left, whichever is farther right.
pub fn keys(ui: &mut Ui, width: f32, column: f32, names: &[&str], about: &str) -> Response {
    let look = Look::of(ui);
    let name = |name: &&str| laid_out(ui.painter(), name, FontId::monospace(SMALL));
    let caps: Vec<_> = names.iter().map(name).collect();
    let width_of = |cap: &Galley| (cap.size().x + 10.0).max(20.0) + GAP;
    let x = column.max(caps.iter().map(|cap| width_of(cap)).sum::<f32>() + GAP);
    let words = balanced(ui, about, SMALL, look.ink, width - x);
    let size = vec2(x + words.size().x, ROW.max(words.size().y + GAP));
    let (row, response) = ui.allocate_exact_size(size, Sense::hover());
    let said = format!("{}: {about}", names.join(", "));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    let (painter, mut left) = (ui.painter(), row.left());
    let edge = Stroke::new(1.0, egui_color(look.colors().key_edge));
    for cap in caps {
        let size = vec2(width_of(&cap) - GAP, 18.0);
        let place = Rect::from_min_size(pos2(left, row.center().y - 9.0), size);
        left += width_of(&cap);
        painter.rect(place, 3.0, look.raised, edge, StrokeKind::Inside);
        painter.galley(place.center() - cap.size() / 2.0, cap, look.ink);
    }
    painter.galley(row.left_center() + vec2(x, -words.size().y / 2.0), words, look.ink);
    response
}
