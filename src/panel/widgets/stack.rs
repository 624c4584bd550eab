//! Bars that are divided into parts, and ramps of colours.

use bevy_egui::egui::epaint::Mesh;
use bevy_egui::egui::{self, Color32, Painter, Rect, Response, Sense, Shape, Ui, vec2};

/// A bar across the page, divided in proportion to these values, with a point of ground between the parts. Returns its
/// response, and the index of the part under the pointer.
pub(in crate::panel) fn stack(
    ui: &mut Ui,
    height: f32,
    parts: &[(f64, Color32)],
) -> (Response, Option<usize>) {
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

/// A rectangle whose colour goes through these in equal steps, from left to right.
pub(in crate::panel) fn ramp(painter: &Painter, rect: Rect, colors: &[Color32]) {
    let mut mesh = Mesh::default();
    let last = colors.len().saturating_sub(1).max(1) as f32;
    for (index, &color) in colors.iter().enumerate() {
        let x = egui::lerp(rect.x_range(), index as f32 / last);
        mesh.colored_vertex(egui::pos2(x, rect.top()), color);
        mesh.colored_vertex(egui::pos2(x, rect.bottom()), color);
        if index > 0 {
            let at = 2 * index as u32;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    painter.add(Shape::mesh(mesh));
}
