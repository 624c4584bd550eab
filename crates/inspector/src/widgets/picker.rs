//! Lists that open with a click.

use bevy_egui::egui::{ComboBox, Response, Ui, vec2};

use super::shapes::{Pointing, triangle};
use crate::style::Look;

/// Lays out once more in this frame if a click on this opens a list: the first layout only finds out its size.
pub fn opens(response: &Response) {
    if response.clicked() {
        response.ctx.request_discard("a list opens");
    }
}

/// A button with the present choice, of that width and height, which opens a list.
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
