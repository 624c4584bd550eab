//! The page *One packet*: an icicle chart of the uses of its bits, its bytes, and the selected cube.

mod cube;

use std::ptr;

use cubewire_inspector::packet::{self, CHART, HEX_ROW, Order, PacketView};

use super::millis;
use crate::panel::prelude::*;
use crate::replication::{Fate, PacketDetail};

pub(super) fn draw(ui: &mut Ui, order: &mut Order, lane: &mut LaneView<'_>) {
    let mut samples = lane.meter.back_from(lane.past.moment);
    let newest = samples.find_map(|sample| Some((sample, sample.snapshots.first()?)));
    let Some((sample, packet)) = newest else {
        note(ui, "No packet recorded yet.");
        return;
    };
    let title = format!(
        "Tick {}: {} bytes for {} of {CUBES} cubes",
        grouped(sample.tick as f64),
        grouped(packet.payload_bytes as f64),
        packet.sent_bodies
    );
    heading(ui, &title, "");
    note(ui, fate_words(lane, sample, packet));
    let Some(detail) = packet.detail.as_deref() else { return };
    ui.add_space(GAP);
    let shown = PacketView {
        id: identity(sample.tick, detail),
        bytes: detail.bytes(),
        items: detail.items(),
        names: terms::names(),
        hex_height: hex_height(ui, lane),
    };
    let selection = &mut *lane.selection;
    selection.highlight(|highlight| packet::draw(ui, order, shown, highlight));
    match lane.selection.cube {
        Some(index) => cube::draw(ui, index, lane),
        None => {
            ui.add_space(GAP);
            note(ui, "Click a cube, in either half, for its last 60 packets.");
        }
    }
}

fn fate_words(lane: &LaneView<'_>, sample: &Sample, packet: &PacketRecord) -> String {
    let baseline = match packet.reference_age_ticks().map(u64::from) {
        Some(age) => {
            let baseline = grouped(sample.tick.saturating_sub(age) as f64);
            format!("Baseline {baseline}, {} older.", ticks(age))
        }
        None if packet.stages.uses_baseline() => "Relative to the initial state.".to_owned(),
        None => "Without a baseline.".to_owned(),
    };
    let fate = match (&packet.detail, lane.past.moment) {
        (Some(_), _) => return format!("{baseline} {}", fate(lane, sample, packet)),
        (None, Some(_)) => "no longer recorded",
        // No packet is recorded yet, so the recording has just started.
        (None, None) if lane.meter.detail_bytes() == 0 => "recorded from the next packet on",
        (None, None) => "not recorded",
    };
    format!("{baseline} Its bytes are {fate}.")
}

fn fate(lane: &LaneView<'_>, sample: &Sample, packet: &PacketRecord) -> String {
    match packet.fate(sample.tick, lane.meter.settled_tick()) {
        Fate::Arrived(arrival) => {
            let late = if arrival.is_late { "too late, " } else { "" };
            let ticks = ticks(arrival.after_ticks.into());
            format!("Arrived {late}after {ticks}.")
        }
        Fate::Lost => "Lost.".to_owned(),
        Fate::InFlight => {
            // Assumes the transit time of the newest packet that has arrived.
            let arrival = lane.meter.packets().rev().find_map(|packet| packet.arrival);
            let due = arrival.map(|arrival| sample.tick + u64::from(arrival.after_ticks));
            match due.and_then(|due| due.checked_sub(lane.now())) {
                Some(left) if left > 0 => {
                    format!("On its way; arrives in about {} ms.", millis(left))
                }
                _ => "On its way.".to_owned(),
            }
        }
    }
}

/// Returns a key that is unique among recorded packets: the tick and the address of the detail.
fn identity(tick: u64, detail: &PacketDetail) -> (u64, usize) {
    (tick, ptr::from_ref(detail).addr())
}

/// Returns the height of the hex view: four rows, plus three quarters of the room that the selected cube leaves, or all room
/// without a selected cube.
fn hex_height(ui: &Ui, lane: &LaneView<'_>) -> f32 {
    let left = page_left(ui) - CHART - HEX_ROWS * HEX_ROW;
    let spare = match lane.selection.cube {
        Some(cube) => 0.75 * (left - cube::height(lane.send_state(cube))),
        None => left - LINE - GAP,
    };
    (HEX_ROWS + (spare / HEX_ROW).floor().max(0.0)) * HEX_ROW
}

/// Smallest number of rows in the hex view.
const HEX_ROWS: f32 = 4.0;
