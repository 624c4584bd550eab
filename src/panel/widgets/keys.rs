//! Pictures of keys.

use bevy_egui::egui::{
    FontId, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2,
};

use super::{Pointing, triangle};
use crate::panel::style::{Look, SMALL};
use crate::theme::egui_color;

/// What is on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::panel) enum Cap<'a> {
    Arrow(Pointing),
    Text(&'a str),
}

/// Draws a key.
pub(in crate::panel) fn key_cap(ui: &mut Ui, cap: Cap<'_>) -> Response {
    let look = Look::of(ui);
    let font = FontId::monospace(SMALL);
    let name = match cap {
        Cap::Arrow(Pointing::Up) => "up",
        Cap::Arrow(Pointing::Down) => "down",
        Cap::Arrow(Pointing::Left) => "left",
        Cap::Arrow(Pointing::Right) => "right",
        Cap::Text(text) => text,
    };
    let galley = ui.painter().layout_no_wrap(name.to_owned(), font, look.ink);
    let width = match cap {
        Cap::Arrow(_) => MIN_WIDTH,
        Cap::Text(_) => (galley.size().x + 8.0).max(MIN_WIDTH),
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
    let painter = ui.painter();
    painter.rect_filled(rect, 3.0, look.raised);
    let edge = Stroke::new(1.0, egui_color(look.theme.colors().key_edge));
    painter.rect_stroke(rect, 3.0, edge, StrokeKind::Inside);
    match cap {
        Cap::Arrow(pointing) => {
            triangle(painter, rect.center(), vec2(8.0, 8.0), pointing, look.ink)
        }
        Cap::Text(_) => {
            let at = rect.center() - galley.size() / 2.0;
            painter.galley(at, galley, look.ink);
        }
    }
    response
}

/// Logical points.
const HEIGHT: f32 = 18.0;
const MIN_WIDTH: f32 = 20.0;
