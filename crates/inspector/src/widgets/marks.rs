//! Labels of a plot at arbitrary values.

use bevy_egui::egui::{Color32, Rect, Stroke, Ui, pos2, vec2};

use super::chart::{AXIS, Chart};
use super::{At, text};
use crate::style::{LINE, Look, SMALL};

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
            let stroke = Stroke::new(1.0, look.line);
            self.painter().hline(self.rect.x_range(), y, stroke);
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

    /// Draws a label above or below the plot, at a value of the horizontal axis.
    pub fn label(&self, ui: &Ui, is_above: bool, at: Label, words: &str, color: Color32) {
        let corner = match is_above {
            true => self.rect.left_top() - vec2(0.0, LINE),
            false => self.rect.left_bottom(),
        };
        let row = Rect::from_min_size(corner, vec2(self.rect.width(), LINE));
        let x = |value| self.x_of(value) - self.rect.left();
        let at = match at {
            Label::Around(value) => At::Center(x(value)),
            Label::EndsAt(value) => At::Right(self.rect.width() - x(value)),
            Label::BeginsAt(value) => At::Left(x(value)),
        };
        text(ui.painter(), row, at, words, SMALL, color);
    }
}

/// Position of a label relative to its value.
#[derive(Clone, Copy, Debug)]
pub enum Label {
    Around(f64),
    EndsAt(f64),
    BeginsAt(f64),
}
