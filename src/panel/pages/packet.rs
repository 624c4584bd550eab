//! A packet, bit by bit: its header in words, an icicle chart of what its bits are for, and its bytes.

mod header;
mod hex;
mod icicle;
pub(in crate::panel) mod inspected;
pub(in crate::panel) mod rows;

use bevy_egui::egui::{self, RichText};
use cubewire_codec::BitKind;

use super::cube;
use crate::history::Selection;
use crate::panel::settings::PanelState;
use crate::panel::style;
use crate::replication::{Fate, PacketRecord, Sample};
use inspected::Inspected;
use rows::Order;

pub(super) fn draw(
    ui: &mut egui::Ui,
    state: &mut PanelState,
    selection: &mut Selection,
    what: &Inspected<'_>,
) {
    let mut samples = what.meter.back_from(what.moment);
    let newest = samples.find_map(|sample| Some((sample, sample.snapshots.first()?)));
    let Some((sample, packet)) = newest else {
        ui.weak("No packet is recorded yet.");
        return;
    };
    ui.spacing_mut().item_spacing.y = 3.0;
    summary(ui, sample, packet, what);
    let Some(detail) = packet.detail.as_deref() else {
        ui.weak("The bytes of this packet are not recorded any more.");
        return;
    };
    if let Some(header) = &packet.header {
        ui.label(header::words(header, packet))
            .on_hover_text(format!(
                "{} bits of the packet.",
                packet.ledger.kind(BitKind::Header)
            ));
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for order in Order::ALL {
            ui.selectable_value(&mut state.packet_order, order, order.name())
                .on_hover_text(order.about());
        }
        ui.weak("wheel zooms, drag moves, double-click fits");
    });
    let rows = rows::rows(detail, state.packet_order);
    let hovered = icicle::draw(ui, state.theme, &rows, selection);
    if let Some(span) = &hovered {
        selection.hovered = span.cube;
    }
    let words = hovered.as_ref().map_or_else(
        || "Hover a part: its cube lights up in both halves.".to_owned(),
        rows::Span::words,
    );
    ui.label(RichText::new(words).small());
    // What is left of the page, or little, where a cube is below.
    let height = match selection.cube {
        Some(_) => HEX_HEIGHT,
        None => (style::page_left(ui) - HINT_HEIGHT).max(HEX_HEIGHT),
    };
    hex::draw(ui, state.theme, detail, height, hovered.as_ref(), selection);
    if let Some(index) = selection.cube {
        ui.separator();
        cube::draw(ui, state.theme, index, selection, what);
    } else {
        ui.weak("Click a cube, in either half, for its last 60 packets.");
    }
}

/// Logical points.
const HEX_HEIGHT: f32 = 66.0;
const HINT_HEIGHT: f32 = 24.0;

fn summary(ui: &mut egui::Ui, sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) {
    let newest = what.meter.samples().back().map_or(0, |sample| sample.tick);
    let arrival = match packet.fate(sample.tick, newest) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("came too late, after {} ticks", arrival.after_ticks)
        }
        Fate::Arrived(arrival) => format!("came after {} ticks", arrival.after_ticks),
        Fate::Lost => "was lost".to_owned(),
        Fate::OnItsWay => "is on its way".to_owned(),
    };
    let bits = packet.ledger.total();
    ui.label(format!(
        "Tick {}: {} bytes, {bits:.0} bits, {} cubes; {arrival}.",
        sample.tick, packet.payload_bytes, packet.sent_cubes
    ));
}
