//! Labels of a plot at arbitrary values, painted symbols, which do not depend on the font's glyphs, and stacked bars.

use crate::prelude::*;

impl Chart {
    /// Draws horizontal lines from the bottom up, each with a label left of the plot unless it would overlap the label
    /// below.
    pub fn levels(&self, ui: &Ui, marks: impl IntoIterator<Item = (f64, String)>) {
        let look = Look::of(ui);
        // The lowest label may extend below the plot: the labels there start at the plot's left edge.
        let top = self.rect.top() + (LINE / 2.0 - self.above).max(0.0);
        let mut free = f32::INFINITY;
        for (y, label) in marks {
            let y = self.y_of(y);
            self.painter().hline(self.rect.x_range(), y, Stroke::new(1.0, look.line));
            let middle = y.max(top);
            if label.is_empty() || middle + LINE * 0.75 > free {
                continue;
            }
            free = middle - LINE * 0.25;
            let row = Rect::from_min_max(
                pos2(self.rect.left() - AXIS, middle - LINE / 2.0),
                pos2(self.rect.left() - 6.0, middle + LINE / 2.0),
            );
            text(ui.painter(), row, At::Right(0.0), label, SMALL, look.muted);
        }
    }

    /// Draws a label above or below the plot, aligned to a value of the horizontal axis.
    pub fn label(
        &self,
        ui: &Ui,
        is_above: bool,
        (align, x): (Align, f64),
        words: &str,
        color: Color32,
    ) {
        let corner = match is_above {
            true => self.rect.left_top() - vec2(0.0, LINE),
            false => self.rect.left_bottom(),
        };
        let row = Rect::from_min_size(corner, vec2(self.rect.width(), LINE));
        let x = self.x_of(x) - self.rect.left();
        let at = match align {
            Align::Min => At::Left(x),
            Align::Center => At::Center(x),
            Align::Max => At::Right(self.rect.width() - x),
        };
        text(ui.painter(), row, at, words, SMALL, color);
    }
}

/// Paints a filled triangle around a point. `direction` is a unit vector along an axis.
pub fn triangle(painter: &Painter, center: Pos2, size: Vec2, direction: Vec2, color: Color32) {
    let half = size / 2.0;
    let (tip, across) = (half * direction, half * vec2(direction.y.abs(), direction.x.abs()));
    let points = vec![center + tip, center - tip + across, center - tip - across];
    painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
}

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
        ui.painter().rect_filled(Rect::from_x_y_ranges(left..=painted, rect.y_range()), 0.0, color);
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(index);
        }
        left = right;
    }
    (response, hovered)
}
