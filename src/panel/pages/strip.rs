//! What the bits of a second are for, as one bar across the page.

use bevy_egui::egui::Ui;
use cubewire_codec::BitKind;

use crate::panel::style::{CONTROL, GAP, Look, page_left};
use crate::panel::terms;
use crate::panel::widgets::{divider, heading, line, stack};
use crate::replication::Totals;
use crate::theme::egui_color;
use crate::words::grouped;

/// Draws it if there is room for it above the end of the page. `second` is what it would show: the last one, or the one
/// before the moment of the past that is shown.
pub(super) fn draw_if_it_fits(ui: &mut Ui, moment: Option<u64>, second: impl FnOnce() -> Totals) {
    if page_left(ui) < HEIGHT {
        return;
    }
    let totals = second();
    if totals.snapshots == 0 {
        return;
    }
    let look = Look::of(ui);
    divider(ui);
    let title = match moment {
        Some(_) => "Bits of the second before this tick",
        None => "Bits of the last second",
    };
    let bits = grouped(totals.per_snapshot(totals.ledger.total()));
    heading(ui, title, format!("{bits} bits a packet"));
    ui.add_space(GAP);
    let parts = BitKind::DEMO.map(|kind| {
        let color = look.theme.colors().bit_kind(kind);
        (totals.ledger.kind(kind), egui_color(color))
    });
    let (_, hovered) = stack(ui, CONTROL, &parts);
    ui.add_space(GAP);
    let words = match hovered.map(|index| BitKind::DEMO[index]) {
        None => largest(&totals),
        Some(kind) => format!(
            "{kind}, {:.1} %: {}",
            100.0 * totals.fraction(kind),
            terms::bit_kind(kind)
        ),
    };
    line(ui, words, look.muted);
}

/// The kinds with the most bits.
fn largest(totals: &Totals) -> String {
    let mut kinds = BitKind::DEMO.map(|kind| (totals.fraction(kind), kind));
    kinds.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let words = kinds[..3]
        .iter()
        .filter(|(fraction, _)| *fraction > 0.0)
        .map(|(fraction, kind)| format!("{kind} {:.0} %", 100.0 * fraction));
    words.collect::<Vec<_>>().join(", ")
}

/// Of all of it, logical points.
const HEIGHT: f32 = 80.0;
