//! The horizontal axis of bars that show bandwidths.

use bevy_egui::egui::{self, Rect, Shape, Stroke, pos2};

use crate::replication::TARGET_KBPS;

/// The ends of the scale.
pub(super) const SCALE_KBPS: [f64; 2] = [4.0, 20_000.0];

/// A logarithmic axis, from left to right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) left: f32,
    pub(super) right: f32,
}

impl Axis {
    /// The position of a bandwidth, logical points.
    pub(super) fn at(self, kbps: f64) -> f32 {
        let decades = |kbps: f64| (kbps / SCALE_KBPS[0]).log10();
        let fraction = decades(kbps.max(SCALE_KBPS[0])) / decades(SCALE_KBPS[1]);
        self.left + (self.right - self.left) * (fraction as f32).min(1.0)
    }

    /// The bar from one bandwidth to another, in a row. It is never too narrow to be seen.
    pub(super) fn bar(self, row: Rect, from: f64, to: f64) -> Rect {
        let (from, to) = (self.at(from), self.at(to));
        let (left, right) = (from.min(to), from.max(to));
        let middle = 0.5 * (left + right);
        let half = (0.5 * (right - left)).max(0.5 * MIN_BAR);
        Rect::from_x_y_ranges(
            middle - half..=middle + half,
            row.top() + BAR_GAP..=row.bottom() - BAR_GAP,
        )
    }

    /// The target, drawn through the bars.
    pub(super) fn target(self, ui: &egui::Ui, top: f32, bottom: f32) {
        let x = self.at(TARGET_KBPS);
        let stroke = Stroke::new(1.0, ui.visuals().text_color());
        let line = [pos2(x, top), pos2(x, bottom)];
        ui.painter()
            .extend(Shape::dashed_line(&line, stroke, 3.0, 3.0));
    }
}

/// Logical points.
const MIN_BAR: f32 = 1.5;
const BAR_GAP: f32 = 3.5;

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis {
        left: 100.0,
        right: 200.0,
    };

    #[test]
    fn a_bar_reaches_from_one_bandwidth_to_the_other_in_either_direction() {
        let row = Rect::from_x_y_ranges(0.0..=390.0, 20.0..=40.0);
        for (from, to) in [(400.0, 40.0), (40.0, 400.0)] {
            let bar = AXIS.bar(row, from, to);
            assert!((bar.left() - AXIS.at(40.0)).abs() < 0.01);
            assert!((bar.right() - AXIS.at(400.0)).abs() < 0.01);
        }
        assert!((AXIS.bar(row, 40.0, 40.0).width() - MIN_BAR).abs() < 0.01);
        assert_eq!((AXIS.at(0.0), AXIS.at(1e9)), (100.0, 200.0));
    }
}
