//! The row of a half: a bar for each column, and above it the marks of lost and late packets.

use bevy_egui::egui::{Rect, Ui, lerp, pos2, vec2};

use super::axis::TickAxis;
use super::columns::{Columns, height_of};
use crate::panel::lane::Measured;
use crate::panel::style::{Look, SMALL};
use crate::panel::widgets::{At, Pointing, ring, text, triangle};

pub(super) fn draw(ui: &Ui, row: Rect, lane: Option<&Measured<'_>>, axis: &TickAxis) {
    let look = Look::of(ui);
    let painter = ui.painter_at(row);
    painter.rect_filled(row, 0.0, look.sunken);
    let Some(lane) = lane else {
        let words = "the simulation: nothing sent";
        text(&painter, row, At::Left(8.0), words, SMALL, look.muted);
        return;
    };
    let bars = row.with_min_y(row.top() + MARKS);
    let columns = Columns::of(lane.meter, axis.from..axis.to, row.width());
    let mut free = row.left();
    for (column, x) in columns.iter() {
        let x = row.left() + x.start..=row.left() + x.end;
        let top = lerp(bars.bottom()..=bars.top(), height_of(column.kbps) as f32);
        if column.kbps > 0.0 {
            let bar = Rect::from_x_y_ranges(x.clone(), top..=bars.bottom());
            painter.rect_filled(bar, 0.0, look.of_half(lane.side));
        }
        // One mark a column, and none over another; what is lost counts more than what is late.
        let middle = (x.start() + x.end()) / 2.0;
        if middle - MARK / 2.0 < free || !(column.is_lost || column.is_late) {
            continue;
        }
        free = middle + MARK / 2.0;
        let at = pos2(middle, row.top() + MARKS / 2.0);
        if column.is_lost {
            triangle(
                &painter,
                at,
                vec2(MARK, MARK - 1.0),
                Pointing::Down,
                look.error,
            );
        } else {
            ring(&painter, at, MARK / 2.0 - 1.0, look.warning);
        }
    }
}

/// Logical points: the room for marks at the top of a row, and their size.
const MARKS: f32 = 10.0;
const MARK: f32 = 8.0;
