//! What has come back.

use bevy_egui::egui;
use cubewire_scene::TICKS_PER_SECOND;

use super::figure;
use crate::replication::LaneMeter;

pub(super) fn draw(ui: &mut egui::Ui, meter: &LaneMeter, is_remote: bool) {
    let age = |age: Option<Option<u16>>| age.map_or_else(|| "–".to_owned(), baseline);
    let newest = meter.samples().back();
    let acked = newest.map(|sample| sample.baseline_age_ticks);
    // Which acks have arrived, the server alone knows.
    if !is_remote {
        figure(ui, "newest ack", age(acked));
    }
    let mut sent = meter.samples().iter().rev();
    let sent = sent.find(|sample| sample.snapshots > 0);
    let named = sent.map(|sample| sample.reference_age_ticks);
    figure(ui, "baseline of the packet", age(named));
    figure(ui, "received", format!("{} snapshots", meter.received));
    figure(ui, "received again", meter.duplicates.to_string());
    figure(ui, "refused", format!("{} packets", meter.refused));
    if let Some(refusal) = &meter.last_refusal {
        ui.weak(format!("The last because {refusal}."));
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
    fn a_baseline_is_as_old_as_its_ticks() {
        assert_eq!(baseline(Some(6)), "6 ticks, 100 ms old");
        assert_eq!(baseline(None), "none: initial state");
    }
}
