//! A packet, bit by bit: an icicle chart of what its bits are for, its bytes, and the selected cube.

mod cube;
mod header;
mod hex;
mod icicle;
pub(in crate::panel) mod inspected;
pub(in crate::panel) mod rows;
mod share;

use bevy_egui::egui::Ui;
use cubewire_codec::BitKind;
use cubewire_scene::{CUBES, TICKS_PER_SECOND};

use crate::history::Selection;
use crate::panel::style::{GAP, LINE, page_left};
use crate::panel::widgets::{heading, note};
use crate::replication::{Fate, PacketRecord, Sample, grouped};
use hex::Pointed;
use icicle::Top;
use inspected::Inspected;
use rows::Order;

pub(super) fn draw(
    ui: &mut Ui,
    order: &mut Order,
    selection: &mut Selection,
    what: &Inspected<'_>,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let mut samples = what.meter.back_from(what.moment);
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
    let header = packet.header.as_ref().map(|header| {
        let bits = packet.ledger.kind(BitKind::Header);
        format!(
            "{} {bits} bits of the packet.",
            header::words(header, packet)
        )
    });
    let line = note(ui, facts(sample, packet, what));
    if let Some(header) = header {
        line.on_hover_text(header);
    }
    let Some(detail) = packet.detail.as_deref() else {
        return;
    };
    ui.add_space(GAP);
    let top = Top::draw(ui, packet.ledger.total(), order);
    ui.add_space(1.0);
    let rows = rows::rows(detail, *order);
    let in_chart = icicle::draw(ui, &rows[1..], selection);
    ui.add_space(2.0 * GAP);
    if let Some(span) = &in_chart {
        selection.hovered = span.cube;
    }
    let height = hex_height(ui, selection, what);
    let pointed = hex::draw(ui, detail, height, in_chart.as_ref(), selection);
    let pointed = in_chart.map(Pointed::Span).or(pointed);
    match &pointed {
        Some(Pointed::Span(span)) => {
            selection.hovered = span.cube;
            top.say(ui, &span.words());
        }
        Some(Pointed::Shared) => top.say(ui, &["shared by arithmetically coded bins"]),
        None if top.is_hovered() => top.say(ui, &[order.offer()]),
        None => top.say(
            ui,
            &[
                "wheel zooms, drag moves, double click fits",
                "wheel zooms, drag moves",
            ],
        ),
    }
    match selection.cube {
        Some(index) => cube::draw(ui, index, selection, what),
        None => {
            ui.add_space(GAP);
            note(ui, "Click a cube, in either half, for its last 60 packets.");
        }
    }
}

/// The height of the bytes: four rows, and of a higher page half of what is left by the cube, or all of it.
fn hex_height(ui: &Ui, selection: &Selection, what: &Inspected<'_>) -> f32 {
    let spare = match selection.cube {
        Some(cube) => {
            let below = cube::height(what.standings.get(cube).copied());
            (page_left(ui) - below - HEX_ROWS * hex::ROW_HEIGHT) / 2.0
        }
        None => page_left(ui) - LINE - GAP - HEX_ROWS * hex::ROW_HEIGHT,
    };
    let more = (spare / hex::ROW_HEIGHT).floor().max(0.0);
    (HEX_ROWS + more) * hex::ROW_HEIGHT
}

/// Rows of bytes at least.
const HEX_ROWS: f32 = 4.0;

/// The baseline of the packet, and what became of it.
fn facts(sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) -> String {
    let baseline = match packet.reference_age_ticks().map(u64::from) {
        Some(age) => {
            let ticks = if age == 1 { "tick" } else { "ticks" };
            let baseline = sample.tick.saturating_sub(age);
            format!("Baseline {baseline}, {age} {ticks} older.")
        }
        None if packet.stages.uses_baseline() => "Relative to the initial state.".to_owned(),
        None => "Relative to nothing.".to_owned(),
    };
    let fate = match (&packet.detail, what.moment) {
        (Some(_), _) => fate(sample, packet, what),
        (None, None) => "Its bytes are recorded from the next one on.".to_owned(),
        (None, Some(_)) => "Its bytes are not recorded any more.".to_owned(),
    };
    format!("{baseline} {fate}")
}

fn fate(sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) -> String {
    let newest = what.meter.samples().back().map_or(0, |sample| sample.tick);
    let ticks = |ticks: u16| match ticks {
        1 => "1 tick".to_owned(),
        ticks => format!("{ticks} ticks"),
    };
    match packet.fate(sample.tick, newest) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("Arrived too late, after {}.", ticks(arrival.after_ticks))
        }
        Fate::Arrived(arrival) => format!("Arrived after {}.", ticks(arrival.after_ticks)),
        Fate::Lost => "Lost.".to_owned(),
        Fate::OnItsWay => {
            // As long as the newest that has arrived.
            let packets = what.meter.samples().iter().rev();
            let mut packets = packets.flat_map(|sample| &sample.snapshots);
            let arrival = packets.find_map(|packet| packet.arrival);
            let due = arrival.map(|arrival| sample.tick + u64::from(arrival.after_ticks));
            match due.and_then(|due| due.checked_sub(newest)) {
                Some(left) if left > 0 => {
                    let ms = 1_000 * left / u64::from(TICKS_PER_SECOND);
                    format!("On its way; arrives in about {ms} ms.")
                }
                _ => "On its way.".to_owned(),
            }
        }
    }
}
