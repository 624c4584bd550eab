//! Rows with a name at the left and a control at the right.

use bevy_egui::egui::{
    Align, DragValue, Layout, Response, Sense, Ui, WidgetInfo, WidgetType, vec2,
};

use super::{At, field, text};
use crate::style::{CONTROL, Look, SMALL};

/// Draws a name of width `label` with font size `size`, and controls in the rest of the row.
pub fn named<R>(
    ui: &mut Ui,
    label: f32,
    name: &str,
    size: f32,
    controls: impl FnOnce(&mut Ui) -> R,
) -> (Response, R) {
    let look = Look::of(ui);
    let whole = vec2(ui.available_width(), CONTROL);
    let row = ui.allocate_ui_with_layout(whole, Layout::left_to_right(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let (rect, response) = ui.allocate_exact_size(vec2(label, CONTROL), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, name));
        text(ui.painter(), rect, At::Left(0.0), name, size, look.ink);
        ui.spacing_mut().item_spacing.x = 8.0;
        (response, controls(ui))
    });
    row.inner
}

/// Draws a name, a number field and its unit, with this total width. Units are aligned between rows.
pub fn entry(ui: &mut Ui, width: f32, name: &str, value: DragValue<'_>, unit: &str) -> Response {
    let size = vec2(width, CONTROL);
    let layout = Layout::left_to_right(Align::Center);
    let row = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(width);
        let label = width - FIELD - UNIT;
        named(ui, label, name, SMALL, |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            field(ui, name, FIELD, value, unit)
        })
    });
    let (label, field) = row.inner;
    label.union(field)
}

/// Widths in logical points.
const FIELD: f32 = 44.0;
const UNIT: f32 = 52.0;
