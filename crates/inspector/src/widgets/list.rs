//! Scrolling lists.

use std::ops::Range;

use bevy_egui::egui::{ScrollArea, Sense, Ui, UiBuilder, vec2};

use crate::style::MARGIN;

/// Draws a scrolling list of equally high rows. `show` draws the visible ones. The scroll bar is in the margin.
pub fn list(
    ui: &mut Ui,
    id: &'static str,
    height: f32,
    row: f32,
    count: usize,
    show: impl FnOnce(&mut Ui, Range<usize>),
) {
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
    let wide = rect.with_max_x(rect.right() + MARGIN);
    let mut child = ui.new_child(UiBuilder::new().id_salt(id).max_rect(wide));
    let spacing = child.spacing_mut();
    spacing.item_spacing.y = 0.0;
    // Without fading, the last row stays readable.
    spacing.scroll.fade.strength = 0.0;
    ScrollArea::vertical()
        .id_salt(id)
        .max_height(height)
        .min_scrolled_height(height)
        .auto_shrink(false)
        .show_rows(&mut child, row, count, |ui, shown| {
            ui.set_max_width(width);
            show(ui, shown);
        });
}
