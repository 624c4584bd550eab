//! The payload of the last second by kind of bits, what it comes to, and the acks.

use bevy_egui::egui;
use cubewire_codec::BitKind;
use cubewire_palette::bit_kind;

use super::acks;
use crate::panel::settings::PanelState;
use crate::panel::{figure, terms};
use crate::replication::{Accounting, LaneMeter, Totals};
use crate::theme::egui_color;
use crate::view::CubeColors;

pub(in crate::panel) fn draw(
    ui: &mut egui::Ui,
    state: &mut PanelState,
    meter: &LaneMeter,
    moment: Option<u64>,
    is_remote: bool,
) {
    let totals = Totals::of(meter.second_until(moment));
    ui.spacing_mut().item_spacing.y = 3.0;
    if totals.snapshots == 0 {
        ui.weak(match moment {
            Some(_) => "Nothing was sent in the second before what the views show.",
            None => "Nothing was sent in the last second.",
        });
    } else {
        ui.weak(match moment {
            Some(_) => "Payload of the second before what the views show, by what the bits are for",
            None => "Payload of the last second, by what the bits are for",
        });
        bar(ui, &totals);
        legend(ui, &totals);
    }
    ui.separator();
    colors(ui, state, is_remote);
    ui.separator();
    rates(ui, &totals);
    ui.separator();
    sizes(ui, &totals);
    ui.separator();
    acks::draw(ui, meter, is_remote);
}

/// What the colours of the cubes show.
fn colors(ui: &mut egui::Ui, state: &mut PanelState, is_remote: bool) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.label("Cubes: ");
        for colors in CubeColors::ALL {
            let is_known = !(is_remote && colors.is_of_sender());
            let button = egui::Button::selectable(state.colors == colors, colors.name());
            let button = ui
                .add_enabled(is_known, button)
                .on_hover_text(terms::cube_colors(colors))
                .on_disabled_hover_text("Only the sender knows.");
            if button.clicked() {
                state.colors = colors;
            }
        }
        ui.toggle_value(&mut state.fixed_scale, "fixed")
            .on_hover_text(
                "0 to 128 bits, 64 mm, 16°, 64 ticks. Otherwise the scale ends at a power of two.",
            );
    });
}

fn bar(ui: &mut egui::Ui, totals: &Totals) {
    let size = egui::vec2(ui.available_width(), BAR_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let painter = ui.painter_at(rect);
    let pointer = response.hover_pos();
    let mut hovered = None;
    let mut left = rect.left();
    for kind in BitKind::DEMO {
        let right = left + rect.width() * totals.fraction(kind) as f32;
        let part = egui::Rect::from_x_y_ranges(left..=right, rect.y_range());
        painter.rect_filled(part, 0.0, egui_color(bit_kind(kind)));
        if pointer.is_some_and(|pointer| (left..right).contains(&pointer.x)) {
            hovered = Some(kind);
        }
        left = right;
    }
    if let Some(kind) = hovered {
        let percent = 100.0 * totals.fraction(kind);
        let about = terms::bit_kind(kind);
        response.on_hover_text_at_pointer(format!("{kind}: {percent:.1} %\n{about}"));
    }
}

fn legend(ui: &mut egui::Ui, totals: &Totals) {
    let legend = egui::Grid::new("bit_kinds").num_columns(4);
    legend.min_col_width(0.0).show(ui, |ui| {
        for kind in BitKind::DEMO {
            // Only packets for a receiver that simulates have these.
            if matches!(kind, BitKind::Inputs | BitKind::State) && totals.ledger.kind(kind) == 0.0 {
                continue;
            }
            let side = ui.text_style_height(&egui::TextStyle::Body) * 0.7;
            let (rect, _) = ui.allocate_exact_size(egui::vec2(side, side), egui::Sense::hover());
            ui.painter()
                .rect_filled(rect, 2.0, egui_color(bit_kind(kind)));
            ui.label(kind.name()).on_hover_text(terms::bit_kind(kind));
            ui.monospace(format!("{:5.1} %", 100.0 * totals.fraction(kind)));
            let bits = totals.per_snapshot(totals.ledger.kind(kind));
            ui.monospace(format!("{bits:8.1} bits a packet"));
            ui.end_row();
        }
    });
}

/// Kilobits a second in each accounting, and those of the acks.
fn rates(ui: &mut egui::Ui, totals: &Totals) {
    let acks = |bytes| totals.kbps_of(bytes);
    for (name, kbps, about) in [
        (
            "snapshots, article accounting",
            totals.kbps(Accounting::PayloadAndUdp),
            terms::accounting(Accounting::PayloadAndUdp),
        ),
        (
            "snapshots, on the wire",
            totals.kbps(Accounting::OnTheWire),
            terms::accounting(Accounting::OnTheWire),
        ),
        (
            "acks of snapshots, on the wire",
            acks(totals.traffic.ack_bytes),
            terms::SNAPSHOT_ACKS,
        ),
        (
            "the transport's own acks, on the wire",
            acks(totals.traffic.transport_ack_bytes),
            terms::TRANSPORT_ACKS,
        ),
    ] {
        figure(ui, name, format!("{kbps:.1} kbps")).on_hover_text(about);
    }
}

fn sizes(ui: &mut egui::Ui, totals: &Totals) {
    let per_cube = totals.bits_per_sent_cube();
    figure(
        ui,
        "a cube in a packet takes",
        per_cube.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.1} bits ")),
    )
    .on_hover_text(
        "Mean over all cubes that a packet contains: the changed ones, or all of them without delta \
         encoding.",
    );
    let changed = totals.per_snapshot(totals.changed_cubes as f64);
    figure(ui, "changed cubes, mean", format!("{changed:.1} cubes"))
        .on_hover_text("Cubes that differ from the baseline.");
    let payload = totals.per_snapshot(totals.payload_bytes as f64);
    figure(ui, "payload, mean", format!("{payload:.1} bytes")).on_hover_text(terms::PAYLOAD);
    let peak = totals.max_payload_bytes;
    figure(ui, "payload, largest", format!("{peak} bytes"))
        .on_hover_text("The largest packet of the last second.");
    let packets = totals.packets_per_second();
    figure(ui, "datagrams", format!("{packets:.0} /s   "))
        .on_hover_text("Snapshots of more than 1200 bytes take several.");
}

/// Logical points.
const BAR_HEIGHT: f32 = 16.0;
