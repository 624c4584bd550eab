//! A packet in words: its baseline, and what became of it.

use cubewire_scene::TICKS_PER_SECOND;

use super::inspected::Inspected;
use crate::panel::terms;
use crate::replication::{Fate, PacketRecord, Sample};

/// The baseline of the packet, and what became of it.
pub(super) fn words(sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) -> String {
    let baseline = match packet.reference_age_ticks().map(u64::from) {
        Some(age) => {
            let baseline = sample.tick.saturating_sub(age);
            format!("Baseline {baseline}, {} older.", terms::ticks(age))
        }
        None if packet.stages.uses_baseline() => "Relative to the initial state.".to_owned(),
        None => "Relative to nothing.".to_owned(),
    };
    let fate = match (&packet.detail, what.moment) {
        (Some(_), _) => fate(sample, packet, what),
        (None, Some(_)) => "Its bytes are not recorded any more.".to_owned(),
        // Recording begins just now.
        (None, None) if what.meter.detail_bytes() == 0 => {
            "Its bytes are recorded from the next one on.".to_owned()
        }
        (None, None) => "Its bytes are not recorded.".to_owned(),
    };
    format!("{baseline} {fate}")
}

fn fate(sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) -> String {
    let newest = what.meter.samples().back().map_or(0, |sample| sample.tick);
    let ticks = |ticks: u16| terms::ticks(ticks.into());
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
