//! A packet in words: its baseline, and what became of it.

use cubewire_scene::TICKS_PER_SECOND;

use crate::panel::lane::LaneView;
use crate::panel::terms;
use crate::replication::{Fate, PacketRecord, Sample};

/// The baseline of the packet, and what became of it.
pub(super) fn words(lane: &LaneView<'_>, sample: &Sample, packet: &PacketRecord) -> String {
    let baseline = match packet.reference_age_ticks().map(u64::from) {
        Some(age) => {
            let baseline = sample.tick.saturating_sub(age);
            format!("Baseline {baseline}, {} older.", terms::ticks(age))
        }
        None if packet.stages.uses_baseline() => "Relative to the initial state.".to_owned(),
        None => "Relative to nothing.".to_owned(),
    };
    let fate = match (&packet.detail, lane.past.moment) {
        (Some(_), _) => return format!("{baseline} {}", fate(lane, sample, packet)),
        (None, Some(_)) => "not recorded any more",
        // Recording begins just now.
        (None, None) if lane.meter.detail_bytes() == 0 => "recorded from the next one on",
        (None, None) => "not recorded",
    };
    format!("{baseline} Its bytes are {fate}.")
}

fn fate(lane: &LaneView<'_>, sample: &Sample, packet: &PacketRecord) -> String {
    match packet.fate(sample.tick, lane.now()) {
        Fate::Arrived(arrival) => {
            let late = if arrival.is_late { "too late, " } else { "" };
            let ticks = terms::ticks(arrival.after_ticks.into());
            format!("Arrived {late}after {ticks}.")
        }
        Fate::Lost => "Lost.".to_owned(),
        Fate::OnItsWay => {
            // As long as the newest that has arrived.
            let packets = lane.meter.samples().iter().rev();
            let mut packets = packets.flat_map(|sample| &sample.snapshots);
            let arrival = packets.find_map(|packet| packet.arrival);
            let due = arrival.map(|arrival| sample.tick + u64::from(arrival.after_ticks));
            match due.and_then(|due| due.checked_sub(lane.now())) {
                Some(left) if left > 0 => {
                    let ms = 1_000 * left / u64::from(TICKS_PER_SECOND);
                    format!("On its way; arrives in about {ms} ms.")
                }
                _ => "On its way.".to_owned(),
            }
        }
    }
}
