//! The newest ack and baseline, and counts of what the receiver decoded and rejected.

use bevy_egui::egui;
use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::{figure, terms};
use crate::replication::LaneMeter;

pub(super) fn draw(ui: &mut egui::Ui, meter: &LaneMeter, is_remote: bool) {
    let age = |age: Option<Option<u16>>| age.map_or_else(|| "–".to_owned(), baseline);
    let newest = meter.samples().back();
    let acked = newest.map(|sample| sample.acked_age_ticks);
    // Only the server knows which acks have arrived.
    if !is_remote {
        figure(ui, "newest ack", age(acked)).on_hover_text(terms::NEWEST_ACK);
    }
    let sent = meter.samples().iter().rev();
    let newest = sent.flat_map(|sample| &sample.snapshots).next();
    let named = newest.map(|packet| packet.reference_age_ticks());
    figure(ui, "baseline of the newest packet", age(named)).on_hover_text(terms::BASELINE);
    figure(ui, "received", format!("{} snapshots", meter.received))
        .on_hover_text("Decoded since the start.");
    figure(ui, "duplicates", format!("{} snapshots", meter.duplicates))
        .on_hover_text("Received more than once, and decoded once.");
    figure(ui, "rejected", format!("{} packets  ", meter.refused))
        .on_hover_text("Packets that could not be decoded, and changed nothing.");
    if let Some(refusal) = &meter.last_refusal {
        ui.weak(format!("Last rejection: {refusal}."));
    }
}

fn baseline(age_ticks: Option<u16>) -> String {
    match age_ticks {
        Some(ticks) => {
            let ms = 1_000 * u32::from(ticks) / TICKS_PER_SECOND;
            format!("{ticks} ticks, {ms} ms old")
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
