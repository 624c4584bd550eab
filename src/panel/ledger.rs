//! The payload of the last second by kind of bits, and mean sizes.

use bevy_egui::egui::{self, Color32};
use cubewire_codec::BitKind;
use cubewire_scene::TICKS_PER_SECOND;

use super::{figure, tooltips};
use crate::replication::{Accounting, LaneMeter, Totals};

pub(super) fn draw(ui: &mut egui::Ui, meter: &LaneMeter) {
    let totals = Totals::of(meter.newest(TICKS_PER_SECOND as usize));
    if totals.snapshots == 0 {
        ui.weak("Nothing was sent in the last second.");
        return;
    }
    ui.weak("Payload of the last second:");
    bar(ui, &totals);
    legend(ui, &totals);
    ui.separator();
    figures(ui, &totals);
}

fn bar(ui: &mut egui::Ui, totals: &Totals) {
    let size = egui::vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let painter = ui.painter_at(rect);
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut left = rect.left();
    for kind in BitKind::ALL {
        let right = left + rect.width() * totals.fraction(kind) as f32;
        let part = egui::Rect::from_x_y_ranges(left..=right, rect.y_range());
        painter.rect_filled(part, 0.0, color(kind));
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(kind);
        }
        left = right;
    }
    if let Some(kind) = hovered {
        let percent = 100.0 * totals.fraction(kind);
        let about = tooltips::bit_kind(kind);
        response.on_hover_text_at_pointer(format!("{kind}: {percent:.1} %\n{about}"));
    }
}

fn legend(ui: &mut egui::Ui, totals: &Totals) {
    let legend = egui::Grid::new("bit_kinds").num_columns(4);
    legend.min_col_width(0.0).show(ui, |ui| {
        for kind in BitKind::ALL {
            let side = ui.text_style_height(&egui::TextStyle::Body) * 0.7;
            let (rect, _) = ui.allocate_exact_size(egui::vec2(side, side), egui::Sense::hover());
            ui.painter().rect_filled(rect, 2.0, color(kind));
            ui.label(kind.name())
                .on_hover_text(tooltips::bit_kind(kind));
            ui.monospace(format!("{:5.1} %", 100.0 * totals.fraction(kind)));
            let bits = totals.per_snapshot(totals.ledger.kind(kind));
            ui.monospace(format!("{bits:8.1} bits a packet"));
            ui.end_row();
        }
    });
}

fn figures(ui: &mut egui::Ui, totals: &Totals) {
    let per_cube = totals.bits_per_sent_cube();
    figure(
        ui,
        if totals.sent_cubes == totals.changed_cubes {
            "per changed cube"
        } else {
            "per sent cube"
        },
        per_cube.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.1} bits")),
    );
    let changed = totals.per_snapshot(totals.changed_cubes as f64);
    figure(ui, "changed cubes, mean", format!("{changed:.1} cubes"));
    let payload = totals.per_snapshot(totals.payload_bytes as f64);
    figure(
        ui,
        "packet size, mean (payload)",
        format!("{payload:.1} bytes"),
    );
    figure(
        ui,
        "packet size, peak (payload)",
        format!("{} bytes", totals.max_payload_bytes),
    );
    let packets = totals.packets_per_second();
    figure(ui, "packets", format!("{packets:.0} a second"));
    let acks = |bytes| totals.kbps_of(bytes);
    for (name, kbps, about) in [
        (
            "article accounting",
            totals.kbps(Accounting::Article),
            tooltips::accounting(Accounting::Article),
        ),
        (
            "wire accounting",
            totals.kbps(Accounting::Wire),
            tooltips::accounting(Accounting::Wire),
        ),
        (
            "snapshot acks, wire",
            acks(totals.traffic.ack_bytes),
            tooltips::SNAPSHOT_ACKS,
        ),
        (
            "transport acks, wire",
            acks(totals.traffic.transport_ack_bytes),
            tooltips::TRANSPORT_ACKS,
        ),
    ] {
        figure(ui, name, format!("{kbps:.1} kbps")).on_hover_text(about);
    }
}

/// The palette of Okabe and Ito, with grey for black, which is invisible on a dark panel.
const fn color(kind: BitKind) -> Color32 {
    match kind {
        BitKind::Header => Color32::from_rgb(0xCC, 0x79, 0xA7),
        BitKind::Selection => Color32::from_rgb(0xE6, 0x9F, 0x00),
        BitKind::Interacting => Color32::from_rgb(0xD5, 0x5E, 0x00),
        BitKind::Flags => Color32::from_rgb(0xF0, 0xE4, 0x42),
        BitKind::Position => Color32::from_rgb(0x56, 0xB4, 0xE9),
        BitKind::Orientation => Color32::from_rgb(0x00, 0x9E, 0x73),
        BitKind::Velocity => Color32::from_rgb(0x00, 0x72, 0xB2),
        BitKind::Check => Color32::from_rgb(0xE8, 0xE8, 0xE8),
        BitKind::Padding => Color32::from_rgb(0x99, 0x99, 0x99),
    }
}

/// Logical points.
const BAR_HEIGHT: f32 = 18.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_distinct_color() {
        for (place, kind) in BitKind::ALL.into_iter().enumerate() {
            let others = &BitKind::ALL[..place];
            assert!(others.iter().all(|&other| color(other) != color(kind)));
        }
    }
}
