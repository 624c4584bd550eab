//! Drop-down lists.

use bevy_egui::egui::{ComboBox, Response, Ui, vec2};

use super::shapes::{Pointing, triangle};
use crate::style::Look;

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
    let look = Look::of(ui);
    let picker = ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = height;
        let list = ComboBox::from_id_salt(id)
            .selected_text(chosen)
            .width(width)
            .truncate()
            .icon(|ui, rect, visuals, _| {
                let color = visuals.fg_stroke.color;
                let size = vec2(8.0, 5.0);
                triangle(ui.painter(), rect.center(), size, Pointing::Down, color);
            });
        list.show_ui(ui, |ui| {
            ui.visuals_mut().selection.bg_fill = look.tint;
            entries(ui);
        })
    });
    opens(&picker.inner.response);
    picker.inner.response
}
