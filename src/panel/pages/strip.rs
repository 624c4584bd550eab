//! What the bits of a second are for, as one bar across the page.

use bevy_egui::egui::{Rect, Sense, Ui, WidgetInfo, WidgetType, vec2};
use cubewire_codec::BitKind;
use cubewire_palette::bit_kind_label;

use crate::panel::style::{CONTROL, Look, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, divider, heading, line, text, width};
use crate::replication::{Totals, grouped};
use crate::theme::egui_color;

/// Draws it if there is room for it above the end of the page. `second` is what it would show.
pub(super) fn draw_if_it_fits(ui: &mut Ui, second: impl FnOnce() -> Totals) {
    if page_left(ui) < HEIGHT {
        return;
    }
    let totals = second();
    if totals.snapshots == 0 {
        return;
    }
    let look = Look::of(ui);
    divider(ui);
    let bits = grouped(totals.per_snapshot(totals.ledger.total()));
    heading(
        ui,
        "Where the bits go, last second",
        format!("{bits} bits a packet"),
    );
    let words = match bar(ui, look, &totals) {
        None => "The Packet tab has every bit.".to_owned(),
        Some(kind) => format!(
            "{kind}, {:.1} %: {}",
            100.0 * totals.fraction(kind),
            terms::bit_kind(kind)
        ),
    };
    line(ui, words, look.muted);
}

/// A part for each kind, named where its name fits. Returns the kind that is pointed at.
fn bar(ui: &mut Ui, look: Look, totals: &Totals) -> Option<BitKind> {
    let size = vec2(ui.available_width(), CONTROL);
    let (bar, response) = ui.allocate_exact_size(size, Sense::hover());
    let about = "What the bits of a second are for";
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, about));
    let mut hovered = None;
    let mut left = bar.left();
    for kind in BitKind::DEMO {
        let share = totals.fraction(kind);
        let right = left + bar.width() * share as f32;
        if share > 0.0 {
            // A point of ground between two of them.
            let part = Rect::from_x_y_ranges(left..=(right - 1.0).max(left + 1.0), bar.y_range());
            let color = egui_color(look.theme.colors().bit_kind(kind));
            ui.painter().rect_filled(part, 0.0, color);
            let name = format!("{kind} {:.0} %", 100.0 * share);
            let fits = width(ui, &name, SMALL) + 12.0 <= part.width();
            if let Some(ink) = bit_kind_label(kind).filter(|_| fits) {
                let ink = egui_color(ink);
                text(ui.painter(), part, At::Left(6.0), name, SMALL, ink);
            }
        }
        let x = response.hover_pos().map(|at| at.x);
        if x.is_some_and(|x| (left..right).contains(&x)) {
            hovered = Some(kind);
        }
        left = right;
    }
    hovered
}

/// Of all of it, logical points.
const HEIGHT: f32 = 80.0;
