//! Controls in rows, and what can be chosen with them.

use bevy_egui::egui::{Align, Layout, Response, Ui, UiBuilder, Widget};

use super::{Choice, Row, named, segmented};
use crate::style::{GAP, SMALL};

/// Segments of a switch: the value, the name, and what is told under the pointer.
pub fn choices<T, const N: usize>(of: [(T, &'static str, &'static str); N]) -> [Choice<T>; N] {
    of.map(|(value, name, about)| Choice::new(value, name, about))
}

/// A name that takes `label` of the width, and a switch in the rest of the row. Returns the response of the name.
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

/// A widget that can be pressed unless something speaks against it, which is told under the pointer before what it does.
pub fn unless(ui: &mut Ui, refusal: Option<&str>, about: &str, widget: impl Widget) -> Response {
    let shown = ui.add_enabled(refusal.is_none(), widget);
    let refused = format!("{} {about}", refusal.unwrap_or_default());
    shown.on_hover_text(about).on_disabled_hover_text(refused)
}

impl Row {
    /// Controls at its right end, the last one first.
    pub fn controls<R>(&self, ui: &mut Ui, show: impl FnOnce(&mut Ui) -> R) -> R {
        let layout = Layout::right_to_left(Align::Center);
        let place = UiBuilder::new().max_rect(self.rect).layout(layout);
        let mut controls = ui.new_child(place);
        controls.spacing_mut().item_spacing.x = GAP;
        show(&mut controls)
    }
}
