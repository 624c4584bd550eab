//! Lines and paragraphs of text.

use std::sync::Arc;

use bevy_egui::egui::{Color32, FontId, Galley, Label, Response, RichText, Ui, vec2};

use super::width;
use crate::style::{LINE, Look, SMALL};

/// Draws a line of 12-point text, truncated at the page's edge.
pub fn line(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).truncate())
}

/// Draws wrapping 12-point text.
pub fn wrapped(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).wrap())
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
    let color = Look::of(ui).muted;
    wrapped(ui, words, color)
}

/// Lays out text in as few lines as the width allows, of similar lengths, so that no line has a single word.
pub fn balanced(ui: &Ui, words: &str, size: f32, color: Color32, width: f32) -> Arc<Galley> {
    let font = FontId::proportional(size);
    let laid_out = |width: f32| ui.painter().layout(words.to_owned(), font.clone(), color, width);
    let rows = laid_out(width).rows.len();
    let (mut narrow, mut wide) = (0.0, width);
    while rows > 1 && wide - narrow > 4.0 {
        let middle = (narrow + wide) / 2.0;
        match laid_out(middle).rows.len() > rows {
            true => narrow = middle,
            false => wide = middle,
        }
    }
    laid_out(wide)
}
