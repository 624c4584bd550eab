//! The row of a lane: a bar for each column, marks for lost and late packets, and the switches of stages.

use bevy_egui::egui::{self, Align2, Color32, Rect, Stroke, StrokeKind, Ui, pos2};
use cubewire_codec::Stages;

use super::TickAxis;
use super::columns::{Columns, height_of};
use crate::panel::lane::Measured;
use crate::panel::style;
use crate::replication::{TARGET_KBPS, rung_name};
use crate::theme::{Theme, egui_color};

pub(super) fn draw(ui: &Ui, theme: Theme, row: Rect, measured: &Measured<'_>, axis: &TickAxis) {
    let colors = theme.colors();
    let painter = ui.painter_at(row);
    painter.rect_filled(row, 0.0, egui_color(colors.surface));
    let y_of = |kbps: f64| egui::lerp(row.bottom()..=row.top(), height_of(kbps) as f32);
    let line = Stroke::new(1.0, style::tint(colors, colors.ink, 0.25));
    for kbps in [10.0, 100.0, 1_000.0, 10_000.0] {
        painter.hline(row.x_range(), y_of(kbps), line);
    }
    let target = Stroke::new(1.0, egui_color(colors.ink));
    painter.extend(egui::Shape::dashed_line(
        &[
            pos2(row.left(), y_of(TARGET_KBPS)),
            pos2(row.right(), y_of(TARGET_KBPS)),
        ],
        target,
        4.0,
        4.0,
    ));
    let color = style::half(colors, measured.side);
    let columns = Columns::of(measured.meter, axis.from..axis.to, row.width());
    let warning = egui_color(colors.warning);
    let error = egui_color(colors.error);
    for (column, x) in columns.iter() {
        let x = row.left() + x.start..=row.left() + x.end;
        let bar = |from: f32, to: f32, color: Color32| {
            let bar = Rect::from_x_y_ranges(x.clone(), to..=from);
            painter.rect_filled(bar, 0.0, color);
        };
        if column.kbps > 0.0 {
            bar(row.bottom(), y_of(column.kbps), color.gamma_multiply(0.75));
        }
        // Lost ones hang from the top, late ones stand at the bottom.
        if column.is_lost {
            bar(row.top() + MARK, row.top(), error);
        }
        if column.is_late {
            bar(row.bottom(), row.bottom() - MARK, warning);
        }
    }
    let ink = egui_color(colors.ink);
    let mut free = row.left();
    for (tick, stages) in switches(measured, axis) {
        let x = axis.x_of(tick);
        painter.vline(x, row.y_range(), Stroke::new(1.0, ink));
        if x >= free {
            let at = pos2(x + 3.0, row.top());
            let name = rung_name(stages);
            let rect = style::text_over(&painter, theme, at, Align2::LEFT_TOP, name, 10.0);
            free = rect.right() + 4.0;
        }
    }
    let edge = Stroke::new(1.0, style::tint(colors, colors.ink, 0.3));
    painter.rect_stroke(row, 0.0, edge, StrokeKind::Inside);
}

/// Ticks in which the stages of a lane changed, and what they became.
fn switches(measured: &Measured<'_>, axis: &TickAxis) -> Vec<(u64, Stages)> {
    let samples = measured.meter.samples();
    let pairs = samples.iter().zip(samples.iter().skip(1));
    pairs
        .filter(|(before, after)| before.stages != after.stages)
        .filter(|(_, after)| (axis.from..axis.to).contains(&(after.tick as f64)))
        .map(|(_, after)| (after.tick, after.stages))
        .collect()
}

/// Logical points.
const MARK: f32 = 6.0;
