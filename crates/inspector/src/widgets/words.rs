//! Words in a line, and in several.

use std::sync::Arc;

use bevy_egui::egui::{
    Color32, FontId, Galley, Label, Response, RichText, Sense, Ui, WidgetInfo, WidgetType, vec2,
};

use super::{At, Row, text};
use crate::style::{BODY, BUTTON, Look, SMALL};

/// A line of 12 points, cut at the end of the page.
pub fn line(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).truncate())
}

/// Words of 12 points that warn, which wrap.
pub fn warning(ui: &mut Ui, words: impl Into<String>) -> Response {
    let color = Look::of(ui).warning;
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).wrap())
}

/// The name of what stands at its right, in a row of controls.
pub fn label(ui: &mut Ui, width: f32, name: &str) -> Response {
    let look = Look::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, BUTTON), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
    text(ui.painter(), rect, At::Left(0.0), name, BODY, look.ink);
    response
}

/// Lays out words in as few rows as that width has room for, all about as long, so that none has a single word.
pub fn balanced(ui: &Ui, words: &str, size: f32, color: Color32, width: f32) -> Arc<Galley> {
    let font = FontId::proportional(size);
    let laid_out = |width: f32| {
        ui.painter()
            .layout(words.to_owned(), font.clone(), color, width)
    };
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

impl Row {
    /// A row that can only be pointed at, marked if it is about what is shown.
    pub fn marked(ui: &mut Ui, height: f32, name: &str, is_marked: bool) -> Self {
        Self::new(ui, height, name, Sense::hover(), is_marked)
    }
}
