//! Words of a line, and what can be copied.

use std::time::Duration;

use bevy_egui::egui::text::{LayoutJob, TextWrapping};
use bevy_egui::egui::{
    Color32, FontId, Id, Label, Response, RichText, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    WidgetType, vec2,
};

use super::{At, Kind, Row, button, text};
use crate::display;
use crate::panel::style::{BODY, BUTTON, Look, SMALL};

/// A line of 12 points, cut at the end of the page.
pub(in crate::panel) fn line(ui: &mut Ui, words: impl Into<String>, color: Color32) -> Response {
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).truncate())
}

/// Words of 12 points that warn, which wrap.
pub(in crate::panel) fn warning(ui: &mut Ui, words: impl Into<String>) -> Response {
    let color = Look::of(ui).warning;
    let words = RichText::new(words).size(SMALL).color(color);
    ui.add(Label::new(words).wrap())
}

/// The name of what stands at its right, in a row of controls.
pub(in crate::panel) fn label(ui: &mut Ui, width: f32, name: &str) -> Response {
    let look = Look::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, BUTTON), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
    text(ui.painter(), rect, At::Left(0.0), name, BODY, look.ink);
    response
}

/// A line of code, in a sunken field of that width. What does not fit is told under the pointer.
pub(in crate::panel) fn code(ui: &mut Ui, width: f32, words: &str) -> Response {
    let look = Look::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, BUTTON), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, words));
    let painter = ui.painter();
    painter.rect_filled(rect, 3.0, look.sunken);
    let edge = Stroke::new(1.0, look.line);
    painter.rect_stroke(rect, 3.0, edge, StrokeKind::Inside);
    let inside = rect.shrink2(vec2(8.0, 0.0));
    let font = FontId::monospace(SMALL);
    let mut job = LayoutJob::simple_singleline(words.to_owned(), font, look.ink);
    job.wrap = TextWrapping::truncate_at_width(inside.width());
    let galley = painter.layout_job(job);
    let is_cut = galley.elided;
    let at = inside.left_center() - vec2(0.0, galley.size().y / 2.0);
    painter.galley(at, galley, look.ink);
    match is_cut {
        true => response.on_hover_text(words),
        false => response,
    }
}

/// A button that copies this text, and says so for a while.
pub(in crate::panel) fn copy_button(ui: &mut Ui, width: f32, name: &str, copied: &str) -> Response {
    let id = Id::new((name, "copied"));
    let now = ui.input(|input| input.time);
    let copied_at: Option<f64> = ui.data(|data| data.get_temp(id));
    let is_fresh = copied_at.is_some_and(|at| now - at < COPIED_TIME.as_secs_f64());
    let name = if is_fresh { "Copied" } else { name };
    let response = button(ui, width, name, "", Kind::Usual { is_on: false });
    if response.clicked() {
        display::copy(ui.ctx(), copied);
        ui.data_mut(|data| data.insert_temp(id, now));
    }
    response
}

/// How long a button says that it has copied.
const COPIED_TIME: Duration = Duration::from_secs(2);

impl Row {
    /// A row that can only be pointed at, marked if it is about what is shown.
    pub(in crate::panel) fn marked(ui: &mut Ui, height: f32, name: &str, is_marked: bool) -> Self {
        Self::new(ui, height, name, Sense::hover(), is_marked)
    }
}
