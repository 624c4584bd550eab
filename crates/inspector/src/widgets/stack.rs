//! Stacked bars.

use bevy_egui::egui::{Color32, Rect, Response, Sense, Ui, vec2};

/// Draws a bar across the page, divided in proportion to the values, with gaps of one point. Returns its response, and
/// the index of the part under the pointer.
pub fn stack(ui: &mut Ui, height: f32, parts: &[(f64, Color32)]) -> (Response, Option<usize>) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let total: f64 = parts.iter().map(|(value, _)| value).sum();
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut left = rect.left();
    for (index, &(value, color)) in parts.iter().enumerate() {
        if value <= 0.0 {
            continue;
        }
        let right = left + rect.width() * (value / total) as f32;
        let painted = (right - 1.0).max(left + 1.0);
        let part = Rect::from_x_y_ranges(left..=painted, rect.y_range());
        ui.painter().rect_filled(part, 0.0, color);
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(index);
        }
        left = right;
    }
    (response, hovered)
}
