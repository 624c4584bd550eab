//! The layout of the ladder's table: in each row a key, a name, a bar on a logarithmic scale, and columns of figures. The target is
//! a dashed line through all bars.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Color32, Rangef, Rect, Shape, Stroke, Ui, pos2};
use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;

use crate::panel::style::{BODY, GAP, LINE, Look, ROW, SMALL, page_left};
use crate::panel::widgets::{At, Row, Scale, key};
use crate::replication::TARGET_KBPS;

/// Positions in a row. Bars take the width that the columns leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    width: f32,
    columns: usize,
    /// Width of a column.
    column: f32,
}

impl Table {
    /// The largest number of columns in a page of this width.
    pub(super) fn most_columns(width: f32) -> usize {
        ((width - LEFT - LAST) / MIN_COLUMN).max(1.0) as usize
    }

    /// A table that is as wide as the page, with this number of columns.
    pub(super) fn new(width: f32, columns: usize) -> Self {
        let room = (width - LEFT - LAST) / columns as f32;
        Self {
            width,
            columns,
            column: room.min(COLUMN),
        }
    }

    /// The right end of the bars.
    fn right(self) -> f32 {
        let columns = self.columns as f32 * self.column;
        self.width - LAST - columns - BETWEEN
    }

    /// Whether there is room for bars.
    fn has_bars(self) -> bool {
        self.right() - LEFT >= MIN_WIDTH
    }

    /// The position of a bandwidth, from the left end of a row.
    fn at(self, kbps: f64) -> f32 {
        let room = (self.right() - LEFT).max(MIN_WIDTH);
        LEFT + room * Scale::Logarithmic.fraction(kbps, &SCALE_KBPS) as f32
    }

    /// The right end of a column.
    fn end_of(self, column: usize) -> At {
        At::Right(LAST + (self.columns - 1 - column) as f32 * self.column)
    }

    /// The part between names and columns for curves through rows of these heights.
    pub(super) fn plot(self, left: f32, rows: Rangef) -> Rect {
        let (from, to) = (LEFT + LABELS, self.right());
        Rect::from_x_y_ranges(left + from..=left + to, rows)
    }

    /// The names of the columns, and marks of the scale unless curves take its place. `about` is the tooltip.
    pub(super) fn header(self, ui: &mut Ui, names: &[&str], has_scale: bool, about: String) {
        let look = Look::of(ui);
        let row = Row::show(ui, LINE, &["rung", &names.join(", ")].join(", "));
        let muted = |at, words: &str| {
            row.text(ui, at, words, SMALL, look.muted);
        };
        muted(At::Left(NAME), "rung");
        for (column, name) in names.iter().enumerate() {
            muted(self.end_of(column), name);
        }
        if has_scale && self.has_bars() {
            let at = At::Center(self.at(TARGET_KBPS));
            row.text(ui, at, format!("{TARGET_KBPS:.0}"), SMALL, look.ink);
            // Short bars leave room for the target alone.
            if self.at(10_000.0) - LEFT > MARKS {
                muted(At::Left(LEFT), "10");
                muted(At::Center(self.at(10_000.0)), "10k");
            }
        }
        row.response.on_hover_text(about);
    }

    /// Paints the bar of a rung. It follows changes within 150 ms.
    pub(super) fn bar(self, ui: &Ui, row: &Row, name: &str, kbps: f64, color: Color32) {
        if !self.has_bars() {
            return;
        }
        // A frame that is longer than that has no time to follow.
        let is_slow = ui.input(|input| input.stable_dt) >= GLIDE;
        let seconds = if is_slow { 0.0 } else { GLIDE };
        let (id, end) = (ui.id().with(name), self.at(kbps));
        let end = ui.ctx().animate_value_with_time(id, end, seconds);
        row.bar(ui, LEFT, end.max(LEFT + MIN_BAR), color);
    }

    /// Paints the figure of a column.
    pub(super) fn figure(self, ui: &Ui, row: &Row, column: usize, (words, color): (&str, Color32)) {
        row.text(ui, self.end_of(column), words, SMALL, color);
    }

    /// Paints the target as a dashed line through these rows.
    pub(super) fn target(self, ui: &Ui, rows: Rangef) {
        if self.has_bars() {
            let x = ui.cursor().left() + self.at(TARGET_KBPS);
            let stroke = Stroke::new(1.0, Look::of(ui).ink);
            let line = [pos2(x, rows.min), pos2(x, rows.max)];
            let dashes = Shape::dashed_line(&line, stroke, 3.0, 3.0);
            ui.painter().extend(dashes);
        }
    }
}

/// The row of a rung, with its key before its name, marked if it is the one that is shown. A click selects it.
pub(super) fn rung(
    ui: &mut Ui,
    height: f32,
    (rung, rung_key): (&Rung, &str),
    shown: Stages,
    stages: &mut Stages,
) -> Row {
    let look = Look::of(ui);
    let row = Row::button(ui, height, rung.name, rung.stages == shown);
    if row.response.clicked() {
        *stages = rung.stages;
    }
    key(ui.painter(), row.rect, RUNG_KEY, rung_key, look.muted);
    row.text(ui, At::Left(NAME), rung.name, BODY, look.ink);
    row
}

/// The height of a row if this number of rows fills the page above what takes `below`.
pub(super) fn height(ui: &Ui, rows: usize, below: f32) -> f32 {
    let room = page_left(ui) - LINE - below;
    (room / rows as f32).floor().clamp(ROW, MAX_ROW)
}

/// The ends of the scale.
pub(super) const SCALE_KBPS: RangeInclusive<f64> = 10.0..=20_000.0;

/// Seconds that a bar takes to its new length.
const GLIDE: f32 = 0.15;

/// Logical points, from the left end of a row: behind its switch a rung's key and name; its bar, and the labels of curves.
const RUNG_KEY: f32 = 16.0;
const NAME: f32 = 38.0;
const LEFT: f32 = 172.0;
const LABELS: f32 = 24.0;

/// Logical points, from the right: the last column, the width of a column at most and at least, and the space between a bar and
/// the columns.
const LAST: f32 = 4.0;
const COLUMN: f32 = 54.0;
const MIN_COLUMN: f32 = 45.0;
const BETWEEN: f32 = 8.0;

/// Logical points.
const MIN_WIDTH: f32 = 24.0;
const MIN_BAR: f32 = 2.0;
const MAX_ROW: f32 = ROW + GAP;

/// Width from which the ends of the scale are marked, too, logical points.
const MARKS: f32 = 70.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_where_the_figures_begin_and_have_their_least_width() {
        for (width, columns, right) in [
            (376.0, 2, 256.0),
            (376.0, 1, 310.0),
            (100.0, 2, LEFT + MIN_WIDTH),
        ] {
            let table = Table::new(width, columns);
            assert_eq!((table.at(0.0), table.at(1e9)), (LEFT, right));
        }
        assert_eq!([376.0, 328.0, 100.0].map(Table::most_columns), [4, 3, 1]);
        let has_bars = [1, 2, 3, 4].map(|columns| Table::new(376.0, columns).has_bars());
        assert_eq!(has_bars, [true, true, true, false]);
    }
}
