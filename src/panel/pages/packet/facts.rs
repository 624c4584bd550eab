//! A packet in words: its baseline, what became of it, and its header.

use cubewire_codec::{BaselineId, BitKind, Header};
use cubewire_scene::TICKS_PER_SECOND;

use super::inspected::Inspected;
use crate::replication::{Fate, PacketRecord, Sample, rung_or_stages};

/// The baseline of the packet, and what became of it.
pub(super) fn words(sample: &Sample, packet: &PacketRecord, what: &Inspected<'_>) -> String {
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

/// What the header says, as one sentence, and how many bits it takes.
pub(super) fn header(header: &Header, packet: &PacketRecord) -> String {
    let sequence = header.sequence.0;
    let reference = header.baseline.sequence();
    let reference = reference.map_or_else(String::new, |of| format!(" relative to {},", of.0));
    let inherits = matches!(header.baseline, BaselineId::Named { stages: None, .. });
    let of = if inherits {
        "those of the baseline's packet, "
    } else {
        ""
    };
    let stages = rung_or_stages(packet.stages);
    let bits = packet.ledger.kind(BitKind::Header);
    format!(
        "Header: sequence {sequence},{reference} stages: {of}{stages}. {bits} bits of the packet."
    )
}

#[cfg(test)]
mod tests {
    use cubewire_codec::{Sequence, ladder};

    use super::*;

    #[test]
    fn a_header_is_a_sentence() {
        let packet = PacketRecord {
            stages: ladder::DELTA.stages,
            ..PacketRecord::default()
        };
        let words = |sequence, baseline| {
            let sequence = Sequence(sequence);
            header(&Header { sequence, baseline }, &packet)
        };
        let (sequence, stages) = (Sequence(1), None);
        let named = words(7, BaselineId::Named { sequence, stages });
        let expected =
            "Header: sequence 7, relative to 1, stages: those of the baseline's packet, delta.";
        assert!(named.starts_with(expected), "{named}");
        let stages = ladder::DELTA.stages;
        let initial = words(0, BaselineId::Initial { stages });
        assert!(
            initial.starts_with("Header: sequence 0, stages: delta."),
            "{initial}"
        );
    }
}
