//! What has come back, and the link that it came over.

use std::time::Duration;

use bevy_egui::egui;
use cubewire_link::Conditions;
use cubewire_scene::TICKS_PER_SECOND;

use super::figure;
use crate::replication::LaneMeter;

pub(super) fn draw(ui: &mut egui::Ui, link: &mut Conditions, meter: &LaneMeter) {
    let newest = meter.samples().back();
    let age = |age: Option<Option<u16>>| age.map_or_else(|| "–".to_owned(), baseline);
    let acked = newest.map(|sample| sample.baseline_age_ticks);
    figure(ui, "newest ack", age(acked));
    let named = newest.map(|sample| sample.reference_age_ticks);
    figure(ui, "baseline of the packet", age(named));
    figure(ui, "received", format!("{} snapshots", meter.received));
    figure(ui, "refused", format!("{} packets", meter.refused));
    if let Some(refusal) = &meter.last_refusal {
        ui.weak(format!("The last because {refusal}."));
    }
    ui.checkbox(&mut link.cut, "Cut the link")
        .on_hover_text("What is sent from now on is lost, both ways. What is under way arrives.");
    let mut round_trip_ms = round_trip_ms(link.latency);
    let slider = egui::Slider::new(&mut round_trip_ms, 0..=MAX_ROUND_TRIP_MS)
        .clamping(egui::SliderClamping::Edits)
        .suffix(" ms")
        .text("round trip");
    let slider = ui
        .add(slider)
        .on_hover_text("Half of it each way. The article uses 100 ms.");
    if slider.changed() {
        link.latency = latency(round_trip_ms);
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

/// To the nearest millisecond.
fn round_trip_ms(latency: Duration) -> u64 {
    (2 * latency + Duration::from_micros(500)).as_millis() as u64
}

fn latency(round_trip_ms: u64) -> Duration {
    Duration::from_millis(round_trip_ms) / 2
}

/// A slider needs an end.
const MAX_ROUND_TRIP_MS: u64 = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_is_twice_the_latency() {
        for ms in [0, 1, 99, 100, 500] {
            assert_eq!(round_trip_ms(latency(ms)), ms);
        }
        assert_eq!(latency(101), Duration::from_micros(50_500));
    }

    #[test]
    fn a_baseline_is_as_old_as_its_ticks() {
        assert_eq!(baseline(Some(6)), "6 ticks, 100 ms old");
        assert_eq!(baseline(None), "none: initial state");
    }
}
