//! The samples of a lane as JSON.

use std::io::{self, Write};

use cubewire_codec::{BitItem, Header};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::rows::COLUMNS;
use crate::replication::{PacketRecord, Sample};

/// Writes one JSON object per tick and line, with the columns of the table and the packets.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_json_lines(samples: &[Sample], out: &mut impl Write) -> io::Result<()> {
    for sample in samples {
        serde_json::to_writer(&mut *out, &Line(sample))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// JSON object of a tick.
struct Line<'a>(&'a Sample);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(sample) = self;
        let mut map = serializer.serialize_map(Some(COLUMNS.len() + 1))?;
        for column in &*COLUMNS {
            map.serialize_entry(&column.name, &(column.value)(sample))?;
        }
        let packets: Vec<_> = sample.snapshots.iter().map(PacketLine::from).collect();
        map.serialize_entry("packets", &packets)?;
        map.end()
    }
}

#[derive(Serialize)]
struct PacketLine {
    payload_bytes: usize,
    header: Option<HeaderLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<ItemLine>>,
}

#[derive(Serialize)]
struct HeaderLine {
    sequence: u16,
    /// Sequence of the baseline. `None` if the packet is relative to the initial state, or is not delta-encoded.
    baseline: Option<u16>,
    /// Stages as text, even if the packet inherits them from its baseline.
    stages: String,
}

/// Bits with the same purpose, in the order of the packet.
#[derive(Serialize)]
struct ItemLine {
    kind: &'static str,
    cube: Option<u16>,
    bits: f64,
    form: Option<&'static str>,
    /// Bits per component. Absent if the item has no components.
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<[f64; 3]>,
}

impl From<&PacketRecord> for PacketLine {
    fn from(packet: &PacketRecord) -> Self {
        let header = |header: Header| HeaderLine {
            sequence: header.sequence.0,
            baseline: header.baseline.sequence().map(|sequence| sequence.0),
            stages: packet.stages.to_string(),
        };
        let item = |item: BitItem| ItemLine {
            kind: item.kind.name(),
            cube: item.body,
            bits: item.bits,
            form: item.form.map(|form| form.name()),
            components: item.components,
        };
        let detail = packet.detail.as_ref();
        Self {
            payload_bytes: packet.payload_bytes,
            header: packet.header.map(header),
            items: detail.map(|detail| detail.items().map(item).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_packets_that_a_viewer_received_in_a_tick_are_summed_and_listed() {
        let packet = |payload_bytes| PacketRecord {
            payload_bytes,
            ..PacketRecord::default()
        };
        let sample = Sample {
            snapshots: vec![packet(97), packet(3)],
            ..Sample::default()
        };
        let mut json = Vec::new();
        write_json_lines(&[sample.clone(), sample], &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json.lines().count(), 2);
        for line in json.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["payload_bytes"], 100);
            assert_eq!(line["arrived_after_ticks"], Value::Null);
            assert_eq!(line["packets"][1]["payload_bytes"], 3);
            assert_eq!(line["packets"][1]["header"], Value::Null);
            assert!(line["packets"][1].get("items").is_none());
        }
    }
}
