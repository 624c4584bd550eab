//! State of widgets between frames, in egui's memory: computed values, and the visible part of a chart.

use std::ops::Range;

use bevy_egui::egui::{Id, Rect, Response, Ui};

/// Returns the cached value for `id` if its key is equal, otherwise calls `compute` and caches the result. Each `id`
/// has one value.
pub fn kept<K, V>(ui: &Ui, id: Id, key: K, compute: impl FnOnce() -> V) -> V
where
    K: Clone + PartialEq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let before: Option<(K, V)> = ui.data(|data| data.get_temp(id));
    if let Some((_, value)) = before.filter(|(of, _)| *of == key) {
        return value;
    }
    let value = compute();
    ui.data_mut(|data| data.insert_temp(id, (key, value.clone())));
    value
}

/// The visible part of a chart, stored in egui's memory as fractions of the whole.
#[derive(Clone, Copy, Debug)]
pub struct Zoom {
    id: Id,
    /// Smallest visible part, as a fraction.
    min_part: f64,
    /// Whether dragging moves the part.
    drags: bool,
}

impl Zoom {
    pub fn new(id: &'static str, min_part: f64, drags: bool) -> Self {
        Self { id: Id::new(id), min_part, drags }
    }

    /// Returns the visible part after applying the user's input. `area` is the chart's rectangle.
    pub fn shown(&self, ui: &Ui, response: &Response, area: Rect) -> Range<f64> {
        let mut shown = ui.data(|data| data.get_temp::<(f64, f64)>(self.id)).unwrap_or((0.0, 1.0));
        if response.double_clicked() {
            shown = (0.0, 1.0);
        }
        let width = shown.1 - shown.0;
        if self.drags && response.dragged() {
            let moved = f64::from(response.drag_delta().x / area.width()) * width;
            shown = (shown.0 - moved, shown.1 - moved);
        }
        if let Some(at) = response.hover_pos() {
            let steps = f64::from(ui.input(|input| input.smooth_scroll_delta().y)) / 100.0;
            if steps != 0.0 {
                let pivot = shown.0 + f64::from((at.x - area.left()) / area.width()) * width;
                let factor = 0.7_f64.powf(steps).clamp(self.min_part / width, 1.0 / width);
                shown = (pivot - (pivot - shown.0) * factor, pivot + (shown.1 - pivot) * factor);
            }
        }
        self.show(ui, shown.0..shown.1)
    }

    /// Shows this part, clamped to the chart. Returns the clamped part.
    pub fn show(&self, ui: &Ui, part: Range<f64>) -> Range<f64> {
        let width = (part.end - part.start).clamp(self.min_part, 1.0);
        let start = part.start.clamp(0.0, 1.0 - width);
        let shown = start..start + width;
        ui.data_mut(|data| data.insert_temp(self.id, (shown.start, shown.end)));
        shown
    }
}
