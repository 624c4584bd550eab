//! A packet, bit by bit: an icicle chart of what its bits are for, its bytes, and the selected cube.

mod cube;
mod fate;
mod hex;
mod icicle;
pub(in crate::panel) mod rows;
mod share;
mod span;

use std::ptr;
use std::sync::Arc;

use bevy_egui::egui::{Id, Ui};
use cubewire_scene::CUBES;

use crate::panel::kept::kept;
use crate::panel::lane::LaneView;
use crate::panel::style::{GAP, LINE, page_left};
use crate::panel::widgets::{heading, note};
use crate::replication::PacketDetail;
use crate::words::grouped;
use hex::Bits;
use icicle::Top;
use rows::Order;

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
    let top = Top::draw(ui, packet.ledger.total(), order);
    ui.add_space(1.0);
    let key = (identity(sample.tick, detail), *order);
    let id = Id::new("rows and bits of the packet");
    let parts = kept(ui, id, key, || {
        Arc::new((rows::rows(detail, *order), Bits::of(detail)))
    });
    let (rows, bits) = &*parts;
    let in_chart = icicle::draw(ui, rows, lane.selection);
    ui.add_space(2.0 * GAP);
    if let Some(span) = in_chart {
        lane.selection.hovered = span.cube;
    }
    let height = hex_height(ui, lane);
    let in_bytes = hex::draw(ui, detail.bytes(), bits, height, in_chart, lane.selection);
    match in_chart.map(Some).or(in_bytes) {
        Some(Some(span)) => {
            lane.selection.hovered = span.cube;
            top.say(ui, &span.words());
        }
        Some(None) => top.say(ui, &["shared by several values, in fractions of a bit"]),
        None if top.is_hovered() => top.say(ui, &[order.texts()[1]]),
        None => {
            let [long, short] = ["wheel zooms, drag moves", "double click fits"];
            top.say(ui, &[&format!("{long}, {short}"), long]);
        }
    }
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
    let left = page_left(ui) - HEX_ROWS * hex::ROW_HEIGHT;
    let spare = match lane.selection.cube {
        Some(cube) => (left - cube::height(lane.standing(cube))) / 2.0,
        None => left - LINE - GAP,
    };
    let more = (spare / hex::ROW_HEIGHT).floor().max(0.0);
    (HEX_ROWS + more) * hex::ROW_HEIGHT
}

/// Rows of bytes at least.
const HEX_ROWS: f32 = 4.0;
