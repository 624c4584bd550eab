//! A packet, bit by bit: an icicle chart of what its bits are for, its bytes, and the selected cube.

mod cube;
mod fate;
mod share;

use std::ptr;

use bevy_egui::egui::Ui;
use cubewire_codec::Plan;
use cubewire_inspector::names::Names;
use cubewire_inspector::packet::{self, CHART, HEX_ROW, Order, Shown};
use cubewire_inspector::words::grouped;
use cubewire_scene::CUBES;

use crate::panel::lane::LaneView;
use crate::panel::style::{GAP, LINE, page_left};
use crate::panel::widgets::{heading, note};
use crate::replication::PacketDetail;

pub(super) fn draw(ui: &mut Ui, order: &mut Order, lane: &mut LaneView<'_>) {
    let mut samples = lane.meter.back_from(lane.past.moment);
    let newest = samples.find_map(|sample| Some((sample, sample.snapshots.first()?)));
    let Some((sample, packet)) = newest else {
        note(ui, "No packet is recorded yet.");
        return;
    };
    let title = format!(
        "Tick {}: {} bytes for {} of {CUBES} cubes",
        sample.tick,
        grouped(packet.payload_bytes as f64),
        packet.sent_cubes
    );
    heading(ui, &title, "");
    note(ui, fate::words(lane, sample, packet));
    let Some(detail) = packet.detail.as_deref() else {
        return;
    };
    ui.add_space(GAP);
    let plan = Plan::cubes();
    let shown = Shown {
        id: identity(sample.tick, detail),
        bytes: detail.bytes(),
        items: detail.items(),
        names: Names::of_cubes(&plan),
        hex_height: hex_height(ui, lane),
    };
    let selection = &mut *lane.selection;
    selection.lit(|lit| packet::draw(ui, order, shown, lit));
    match lane.selection.cube {
        Some(index) => cube::draw(ui, index, lane),
        None => {
            ui.add_space(GAP);
            note(ui, "Click a cube, in either half, for its last 60 packets.");
        }
    }
}

/// What tells a packet from all others that are recorded: its tick, and where its detail lies.
fn identity(tick: u64, detail: &PacketDetail) -> (u64, usize) {
    (tick, ptr::from_ref(detail).addr())
}

/// The height of the bytes: four rows, and of a higher page half of what is left by the cube, or all of it.
fn hex_height(ui: &Ui, lane: &LaneView<'_>) -> f32 {
    let left = page_left(ui) - CHART - HEX_ROWS * HEX_ROW;
    let spare = match lane.selection.cube {
        Some(cube) => (left - cube::height(lane.standing(cube))) / 2.0,
        None => left - LINE - GAP,
    };
    let more = (spare / HEX_ROW).floor().max(0.0);
    (HEX_ROWS + more) * HEX_ROW
}

/// Rows of bytes at least.
const HEX_ROWS: f32 = 4.0;
