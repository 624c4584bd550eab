//! What the pages about rungs have in common: a bar in each row, on one logarithmic scale, the target through all of
//! them, and two columns of figures.

use std::ops::RangeInclusive;

use bevy_egui::egui::{
    Color32, Rangef, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

use crate::panel::style::{BODY, GAP, LINE, Look, ROW, SMALL, page_left};
use crate::panel::widgets::{At, Row, Scale, key, text};
use crate::replication::TARGET_KBPS;
use crate::words::{factor, rounded};

/// Where the bars are in each row, and the first column of figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bars {
    /// From the left end of the row.
    name: f32,
    width: f32,
    /// From the right end of the row.
    figure: f32,
}

impl Bars {
    /// Bars for a page whose figures end `figure` before the right end of its rows, and take up to `room`.
    pub(super) fn of(ui: &Ui, figure: f32, room: f32) -> Self {
        let width = ui.available_width() - LEFT - figure - room;
        Self {
            name: NAME,
            width: width.max(MIN_WIDTH),
            figure,
        }
    }

    /// The same where no keys stand before the names.
    pub(super) const fn without_keys(self) -> Self {
        Self { name: KEY, ..self }
    }

    /// The position of a bandwidth, from the left end of a row.
    fn at(&self, kbps: f64) -> f32 {
        LEFT + self.width * Scale::Logarithmic.fraction(kbps, &SCALE_KBPS) as f32
    }

    /// The names of the columns, and marks of the scale; `about` is told under the pointer.
    pub(super) fn header(&self, ui: &mut Ui, names: [&str; 3], about: &str) {
        let look = Look::of(ui);
        let size = vec2(ui.available_width(), LINE);
        let (row, response) = ui.allocate_exact_size(size, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, names.join(", ")));
        let target = format!("{TARGET_KBPS:.0}");
        // Where the bars are short, the target alone.
        let has_room = self.at(10_000.0) - LEFT > MARKS;
        let [low, high] = if has_room { ["10", "10k"] } else { [""; 2] };
        for (at, words, color) in [
            (At::Left(self.name), names[0], look.muted),
            (At::Left(LEFT), low, look.muted),
            (At::Center(self.at(TARGET_KBPS)), &target, look.ink),
            (At::Center(self.at(10_000.0)), high, look.muted),
            (At::Right(self.figure), names[1], look.muted),
            (At::Right(LAST), names[2], look.muted),
        ] {
            text(ui.painter(), row, at, words, SMALL, color);
        }
        response.on_hover_text(about);
    }

    /// Paints the bar of a row from one bandwidth to another, which follow what changes within 150 ms. No other row of
    /// the page has that name.
    pub(super) fn bar(
        &self,
        ui: &Ui,
        row: &Row,
        name: &str,
        ends: [f64; 2],
        color: Color32,
        edge: Stroke,
    ) {
        let ends = ends.map(|kbps| self.at(kbps));
        let ends = [0, 1].map(|index| {
            let id = ui.id().with((name, index));
            ui.ctx().animate_value_with_time(id, ends[index], GLIDE)
        });
        let from = ends[0].min(ends[1]);
        let to = ends[0].max(ends[1]).max(from + MIN_BAR);
        row.bar(ui, from, to, color);
        let left = row.rect.left();
        let middle = row.rect.center().y;
        let bar = Rect::from_x_y_ranges(left + from..=left + to, middle - 6.0..=middle + 6.0);
        ui.painter()
            .rect_stroke(bar, 1.0, edge, StrokeKind::Outside);
    }

    /// How long the bar is, in whole points.
    pub(super) fn length(&self, ends: [f64; 2]) -> u32 {
        (self.at(ends[1]) - self.at(ends[0])).abs().round() as u32
    }

    /// Paints the figures of a row.
    pub(super) fn figures(&self, ui: &Ui, row: &Row, [first, last]: [(String, Color32); 2]) {
        row.text(ui, At::Right(self.figure), first.0, SMALL, first.1);
        row.text(ui, At::Right(LAST), last.0, SMALL, last.1);
    }

    /// The target, as a dashed line through these rows.
    pub(super) fn target(&self, ui: &Ui, rows: Rangef) {
        let x = ui.cursor().left() + self.at(TARGET_KBPS);
        let stroke = Stroke::new(1.0, Look::of(ui).ink);
        let line = [pos2(x, rows.min), pos2(x, rows.max)];
        ui.painter()
            .extend(Shape::dashed_line(&line, stroke, 3.0, 3.0));
    }
}

/// Paints the name of a rung in its row, behind its key.
pub(super) fn name(ui: &Ui, row: &Row, rung_key: &str, name: &str) {
    let look = Look::of(ui);
    key(ui.painter(), row.rect, KEY, rung_key, look.muted);
    row.text(ui, At::Left(NAME), name, BODY, look.ink);
}

/// The height of rows that fill the page, as many as that, above what takes `below`.
pub(super) fn height(ui: &Ui, rows: usize, below: f32) -> f32 {
    let room = page_left(ui) - LINE - below;
    (room / rows as f32).floor().clamp(ROW, MAX_ROW)
}

/// A difference with its sign; what is shown as zero has none.
pub(super) fn signed(kbps: f64) -> String {
    match kbps {
        _ if kbps.abs() < SHOWN_AS_ZERO => "0".to_owned(),
        ..0.0 => rounded(kbps),
        _ => format!("+{}", rounded(kbps)),
    }
}

/// A factor from one rung to the next: they are small, and told apart by two decimals.
pub(super) fn step(times: f64) -> String {
    match times {
        ..9.995 => format!("{times:.2}×"),
        _ => factor(times),
    }
}

/// The ends of the scale.
pub(super) const SCALE_KBPS: RangeInclusive<f64> = 10.0..=20_000.0;

/// A difference below this is not one, kbps.
pub(super) const SHOWN_AS_ZERO: f64 = 0.05;

/// Seconds that a bar takes to its new length.
const GLIDE: f32 = 0.15;

/// Logical points, from the left end of a row: its key, its name, its bar. From the right: the last figure.
pub(super) const KEY: f32 = 2.0;
const NAME: f32 = 26.0;
const LEFT: f32 = 172.0;
const LAST: f32 = 4.0;

/// Logical points.
const MIN_WIDTH: f32 = 24.0;
const MIN_BAR: f32 = 2.0;
const MAX_ROW: f32 = ROW + GAP;

/// Width from which the ends of the scale are marked, too, logical points.
const MARKS: f32 = 70.0;

#[cfg(test)]
mod tests {
    use super::*;

    const BARS: Bars = Bars {
        name: NAME,
        width: 96.0,
        figure: 54.0,
    };

    #[test]
    fn a_decade_of_the_scale_is_as_long_as_the_next() {
        let decade = BARS.at(400.0) - BARS.at(40.0);
        assert!((BARS.at(4000.0) - BARS.at(400.0) - decade).abs() < 0.01);
        assert_eq!((BARS.at(0.0), BARS.at(1e9)), (LEFT, LEFT + 96.0));
        assert_eq!(BARS.length([40.0, 400.0]), BARS.length([400.0, 40.0]));
    }

    #[test]
    fn a_difference_has_a_sign_unless_it_is_zero() {
        let signed = [12.34, -0.26, -0.04, -5_352.0].map(signed);
        assert_eq!(signed, ["+12.3", "−0.3", "0", "−5\u{2009}352"]);
    }

    #[test]
    fn a_step_has_two_decimals_unless_it_is_large() {
        assert_eq!([0.97, 9.994, 9.996].map(step), ["0.97×", "9.99×", "10×"]);
    }
}
