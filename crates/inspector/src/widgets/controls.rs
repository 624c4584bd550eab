//! Controls in rows, and their choices.

use bevy_egui::egui::{Align, Layout, Response, Ui, UiBuilder, Widget};

use super::{Choice, Row, named, segmented};
use crate::style::{GAP, SMALL};

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
