//! Controls in rows, each with a name at the left, and drop-down lists.

use bevy_egui::egui::{
    Align, ComboBox, DragValue, Layout, Response, Sense, Ui, UiBuilder, Widget, WidgetInfo,
    WidgetType, vec2,
};

use super::{At, Choice, Pointing, Row, field, segmented, text, triangle};
use crate::style::{CONTROL, GAP, Look, SMALL};

/// Creates the segments of a switch from values, names and hover texts.
pub fn choices<T, const N: usize>(of: [(T, &'static str, &'static str); N]) -> [Choice<T>; N] {
    of.map(|(value, name, about)| Choice::new(value, name, about))
}

/// Draws a name of width `label`, and a switch in the rest of the row. Returns the name's response.
pub fn switch<T: PartialEq + Clone>(
    ui: &mut Ui,
    label: f32,
    name: &str,
    value: &mut T,
    choices: &[Choice<T>],
) -> Response {
    let row = named(ui, label, name, SMALL, |ui| {
        segmented(ui, ui.available_width(), value, choices);
    });
    row.0
}

/// Draws a widget that is disabled if there is a refusal. Its hover text is the refusal followed by `about`.
pub fn unless(ui: &mut Ui, refusal: Option<&str>, about: &str, widget: impl Widget) -> Response {
    let shown = ui.add_enabled(refusal.is_none(), widget);
    let refused = format!("{} {about}", refusal.unwrap_or_default());
    shown.on_hover_text(about).on_disabled_hover_text(refused)
}

impl Row {
    /// Draws controls at the right end of the row, from right to left.
    pub fn controls<R>(&self, ui: &mut Ui, show: impl FnOnce(&mut Ui) -> R) -> R {
        let layout = Layout::right_to_left(Align::Center);
        let place = UiBuilder::new().max_rect(self.rect).layout(layout);
        let mut controls = ui.new_child(place);
        controls.spacing_mut().item_spacing.x = GAP;
        show(&mut controls)
    }
}

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

/// Repeats the layout in this frame if a click on this opens a list, because the first layout only determines the
/// list's size.
pub fn opens(response: &Response) {
    if response.clicked() {
        response.ctx.request_discard("a list opens");
    }
}

/// Draws a button with the current choice, which opens a list.
pub fn picker(
    ui: &mut Ui,
    id: &str,
    [width, height]: [f32; 2],
    chosen: &str,
    entries: impl FnOnce(&mut Ui),
) -> Response {
    let tint = Look::of(ui).tint;
    let picker = ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = height;
        let list = ComboBox::from_id_salt(id).selected_text(chosen);
        let list = list.icon(|ui, rect, visuals, _| {
            let (at, color) = (rect.center(), visuals.fg_stroke.color);
            triangle(ui.painter(), at, vec2(8.0, 5.0), Pointing::Down, color);
        });
        let list = list.width(width).truncate().show_ui(ui, |ui| {
            ui.visuals_mut().selection.bg_fill = tint;
            entries(ui);
        });
        list.response
    });
    opens(&picker.inner);
    picker.inner
}
