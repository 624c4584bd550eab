//! Samples of a lane as a table.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::LazyLock;

use cubewire_codec::BitKind;
use cubewire_scene::TICKS_PER_SECOND;
use serde_json::Value;

use crate::replication::{PacketRecord, ReplicaError, Sample, Totals, rung_or_stages};

pub struct Column {
    pub name: Cow<'static, str>,
    value: Box<dyn Fn(&Sample) -> Value + Send + Sync>,
}

/// All columns in order. Packet values are null in a tick without a snapshot. If a viewer received several snapshots in
/// a tick, the values are sums, or values of the newest snapshot.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let mut columns = vec![
        column("tick", |sample| sample.tick.into()),
        column("seconds", |sample| seconds(sample.tick).into()),
        column("rung", |sample| rung_or_stages(sample.stages).into()),
        packets("payload_bytes", |totals| totals.payload_bytes.into()),
        packets("article_bytes", |totals| totals.article_bytes.into()),
        column("wire_bytes", |sample| sample.traffic.wire_bytes.into()),
    ];
    columns.extend(BitKind::DEMO.map(|kind| {
        packets(format!("{kind}_bits"), move |totals| {
            // A viewer does not know the bits of every packet.
            let is_known = totals.ledger.total() > 0.0;
            is_known.then(|| totals.ledger.kind(kind)).into()
        })
    }));
    columns.extend([
        packets("changed_cubes", |totals| totals.changed_bodies.into()),
        packets("sent_cubes", |totals| totals.sent_bodies.into()),
        newest("reference_age_ticks", |packet| packet.reference_age_ticks().into()),
        column("acked_age_ticks", |sample| sample.acked_age_ticks.into()),
        newest("arrived_after_ticks", |packet| {
            packet.arrival.map(|arrival| arrival.after_ticks).into()
        }),
        newest("late", |packet| flag(packet.arrival.is_some_and(|arrival| arrival.is_late))),
        column("lost_datagrams", |sample| sample.lost.into()),
        column("buffered", |sample| sample.buffered.into()),
        column("playout_delay_ms", |sample| {
            rounded(sample.playout_delay.as_secs_f64() * 1000.0).into()
        }),
        column("starved", |sample| flag(sample.is_starved())),
        error("mean_error_mm", |error| error.mean_m * 1000.0),
        error("max_error_mm", |error| error.max_m * 1000.0),
        error("mean_error_degrees", |error| error.mean_degrees),
        error("max_error_degrees", |error| error.max_degrees),
    ]);
    columns
});

fn column(
    name: impl Into<Cow<'static, str>>,
    value: impl Fn(&Sample) -> Value + Send + Sync + 'static,
) -> Column {
    Column { name: name.into(), value: Box::new(value) }
}

fn packets(
    name: impl Into<Cow<'static, str>>,
    value: impl Fn(&Totals) -> Value + Send + Sync + 'static,
) -> Column {
    column(name, move |sample| match sample.snapshots.is_empty() {
        true => Value::Null,
        false => value(&Totals::of([sample])),
    })
}

fn newest(name: &'static str, value: fn(&PacketRecord) -> Value) -> Column {
    column(name, move |sample| sample.snapshots.last().map_or(Value::Null, value))
}

fn error(name: &'static str, value: fn(&ReplicaError) -> f32) -> Column {
    column(name, move |sample| {
        let error = &sample.replica_error;
        let value = || rounded(value(error).into());
        error.tick.map(|_| value()).into()
    })
}

fn flag(is_set: bool) -> Value {
    u8::from(is_set).into()
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn seconds(tick: u64) -> f64 {
    rounded(tick as f64 / f64::from(TICKS_PER_SECOND))
}

fn text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

pub struct CsvRows<W: Write>(csv::Writer<W>);

impl<W: Write> CsvRows<W> {
    pub fn begin(out: W) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(COLUMNS.iter().map(|column| &*column.name))?;
        Ok(Self(writer))
    }

    pub fn add(&mut self, sample: &Sample) -> io::Result<()> {
        let values = COLUMNS.iter().map(|column| text((column.value)(sample)));
        Ok(self.0.write_record(values)?)
    }

    pub fn finish(self) -> io::Result<W> {
        self.0.into_inner().map_err(|error| error.into_error())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubewire_codec::Stages;
    use cubewire_scene::TICK;

    use super::*;
    use crate::replication::PacketArrival;

    fn cells(sample: &Sample) -> Vec<String> {
        let mut rows = CsvRows::begin(Vec::new()).unwrap();
        rows.add(sample).unwrap();
        let table = String::from_utf8(rows.finish().unwrap()).unwrap();
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].split(',').count(), COLUMNS.len());
        lines[1].split(',').map(str::to_owned).collect()
    }

    #[test]
    fn no_column_is_there_twice() {
        let names: HashSet<_> = COLUMNS.iter().map(|column| &column.name).collect();
        assert_eq!(names.len(), COLUMNS.len());
    }

    #[test]
    fn a_row_has_what_is_known_of_its_tick() {
        let packet = |payload_bytes| PacketRecord { payload_bytes, ..PacketRecord::default() };
        let silent = Sample { tick: 90, lost: 2, starved: TICK, ..Sample::default() };
        let several = Sample { snapshots: vec![packet(97), packet(3)], ..Sample::default() };
        let stages = "position=quantized-256+velocity=omitted";
        let arrival = Some(PacketArrival { after_ticks: 3, is_late: true });
        let sent = Sample {
            stages: stages.parse::<Stages>().unwrap(),
            snapshots: vec![PacketRecord { arrival, ..packet(97) }],
            replica_error: ReplicaError {
                tick: Some(1.0),
                mean_m: 0.0015,
                ..ReplicaError::default()
            },
            ..Sample::default()
        };
        for (sample, wanted) in [
            (
                silent,
                &[
                    ("tick", "90"),
                    ("seconds", "1.5"),
                    ("rung", "uncompressed"),
                    ("payload_bytes", ""),
                    ("article_bytes", ""),
                    ("wire_bytes", "0"),
                    ("header_bits", ""),
                    ("changed_cubes", ""),
                    ("late", ""),
                    ("arrived_after_ticks", ""),
                    ("lost_datagrams", "2"),
                    ("starved", "1"),
                    ("mean_error_mm", ""),
                ][..],
            ),
            // Packets that arrived in one tick are summed.
            (several, &[("payload_bytes", "100")]),
            (
                sent,
                &[
                    ("rung", "velocity=omitted+position=quantized-256"),
                    ("payload_bytes", "97"),
                    ("article_bytes", "125"),
                    ("position_bits", ""),
                    ("reference_age_ticks", ""),
                    ("arrived_after_ticks", "3"),
                    ("late", "1"),
                    ("mean_error_mm", "1.5"),
                    ("max_error_mm", "0.0"),
                ],
            ),
        ] {
            let cells = cells(&sample);
            for (name, wanted) in wanted {
                let index = COLUMNS.iter().position(|column| column.name == *name);
                assert_eq!(cells[index.unwrap()], *wanted, "{name}");
            }
        }
    }
}
