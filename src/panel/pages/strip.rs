//! What the bits of a second are for, as one bar across the page.

use bevy_egui::egui::{Response, Ui};
use cubewire_codec::BitKind;

use crate::panel::lane::LaneView;
use crate::panel::style::{CONTROL, GAP, Look, page_left};
use crate::panel::terms;
use crate::panel::widgets::{divider, heading, line, stack};
use crate::replication::Totals;
use crate::words::grouped;

/// Draws it if there is room for it above the end of the page: of the last second, or of the one before the moment of the
/// past that is shown.
pub(super) fn draw_if_it_fits(ui: &mut Ui, lane: &LaneView<'_>) {
    if page_left(ui) < HEIGHT {
        return;
    }
    let Some(totals) = lane.second().filter(|second| second.snapshots > 0) else {
        return;
    };
    divider(ui);
    let title = match lane.past.moment {
        Some(_) => "Bits of the second before this tick",
        None => "Bits of the last second",
    };
    let (_, hovered) = bar(ui, title, &totals);
    let words = hovered.map_or_else(|| largest(&totals), |kind| about(kind, &totals));
    line(ui, words, Look::of(ui).muted);
}

/// The bits of a packet below that title, and a bar of their kinds. Returns its response, and the kind under the pointer.
pub(super) fn bar(ui: &mut Ui, title: &str, totals: &Totals) -> (Response, Option<BitKind>) {
    let look = Look::of(ui);
    let bits = grouped(totals.per_snapshot(totals.ledger.total()));
    heading(ui, title, format!("{bits} bits a packet"));
    ui.add_space(GAP);
    let parts = BitKind::DEMO.map(|kind| (totals.ledger.kind(kind), look.kind(kind)));
    let (response, hovered) = stack(ui, CONTROL, &parts);
    ui.add_space(GAP);
    (response, hovered.map(|index| BitKind::DEMO[index]))
}

/// A kind, its share, and what its bits are for.
pub(super) fn about(kind: BitKind, totals: &Totals) -> String {
    let percent = 100.0 * totals.fraction(kind);
    format!("{kind}, {percent:.1} %: {}", terms::bit_kind(kind))
}

/// The kinds with the most bits.
fn largest(totals: &Totals) -> String {
    let mut kinds = BitKind::DEMO.map(|kind| (totals.fraction(kind), kind));
    kinds.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let kinds = kinds[..3].iter().filter(|(fraction, _)| *fraction > 0.0);
    let words = kinds.map(|(fraction, kind)| format!("{kind} {:.0} %", 100.0 * fraction));
    words.collect::<Vec<_>>().join(", ")
}

/// Of all of it, logical points.
const HEIGHT: f32 = 80.0;
