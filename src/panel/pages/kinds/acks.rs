//! What the acks consist of, the newest ack and baseline, and counts of what the receiver decoded and rejected.

use bevy_egui::egui::{Sense, Ui, vec2};
use cubewire_inspector::words::{grouped, rounded};
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::lane::LaneView;
use crate::panel::terms;
use crate::panel::widgets::{figure, note};
use crate::replication::Totals;

/// The content of a tooltip.
pub(super) fn explain(ui: &mut Ui, totals: &Totals, lane: &LaneView<'_>) {
    ui.allocate_exact_size(vec2(WIDTH, 0.0), Sense::hover());
    ui.set_max_width(WIDTH);
    let meter = lane.meter;
    let age = |age: Option<Option<u16>>| age.map_or_else(|| "–".to_owned(), baseline);
    let acked = meter.samples().back().map(|sample| sample.acked_age_ticks);
    let mut sent = meter
        .samples()
        .iter()
        .rev()
        .flat_map(|sample| &sample.snapshots);
    let named = sent.next().map(|packet| packet.reference_age_ticks());
    for (name, value, unit, about) in [
        (
            "Acks of snapshots",
            rounded(totals.kbps_of(totals.traffic.ack_bytes)),
            "kbps",
            terms::SNAPSHOT_ACKS,
        ),
        (NEWEST, age(acked), "", terms::NEWEST_ACK),
        (
            "Baseline of the newest packet",
            age(named),
            "",
            terms::BASELINE,
        ),
    ] {
        // Only the server knows which acks have arrived.
        if name != NEWEST || !lane.peers.is_server() {
            figure(ui, name, value, unit);
            note(ui, about);
        }
    }
    let counts = [
        ("Decoded since the start", meter.received, "snapshots"),
        ("Duplicates", meter.duplicates, "snapshots"),
        ("Rejected", meter.refused, "packets"),
    ];
    for (name, count, unit) in counts {
        figure(ui, name, grouped(count as f64), unit);
    }
    if let Some(refusal) = &meter.last_refusal {
        note(ui, format!("Last rejection: {refusal}."));
    }
}

const NEWEST: &str = "Newest ack";

/// Logical points.
const WIDTH: f32 = 344.0;

fn baseline(age_ticks: Option<u16>) -> String {
    match age_ticks {
        Some(ticks) => {
            let ms = 1_000 * u32::from(ticks) / TICKS_PER_SECOND;
            format!("{}, {ms} ms old", terms::ticks(ticks.into()))
        }
        None => "none: initial state".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_age_of_a_baseline_is_shown_in_ticks_and_milliseconds() {
        assert_eq!(baseline(Some(6)), "6 ticks, 100 ms old");
        assert_eq!(baseline(None), "none: initial state");
    }
}
