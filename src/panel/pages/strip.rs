//! What the bits of a second are for, as one bar across the page.

use bevy_egui::egui::Ui;
use cubewire_codec::BitKind;
use cubewire_inspector::kinds::{Bits, bar};

use crate::panel::lane::LaneView;
use crate::panel::style::{Look, page_left};
use crate::panel::terms;
use crate::panel::widgets::{divider, line};
use crate::replication::Totals;

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
    let (_, hovered) = bar(ui, title, bits(&totals));
    let words = hovered.map_or_else(|| largest(&totals), |kind| about(kind, &totals));
    line(ui, words, Look::of(ui).muted);
}

/// The bits of these packets.
pub(super) const fn bits(totals: &Totals) -> Bits<'_> {
    Bits {
        ledger: &totals.ledger,
        packets: totals.snapshots,
        kinds: &BitKind::DEMO,
    }
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
