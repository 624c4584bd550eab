//! The columns of the timeline, each one pixel wide.

use crate::replication::{Fate, LaneMeter, METER_TICKS, kbps};

/// The scale of the timeline, kbps.
const MIN_KBPS: f64 = 1.0;
const MAX_KBPS: f64 = 20_000.0;

/// What happened in the ticks of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// The rate if every tick had the largest payload of the column; 0 if nothing was sent.
    pub(super) kbps: f64,
    pub(super) is_lost: bool,
    pub(super) is_late: bool,
}

/// The last minute in columns, the oldest first.
pub(super) struct Columns(Vec<Column>);

impl Columns {
    pub(super) fn of(meter: &LaneMeter, oldest: u64, width: usize) -> Self {
        let mut columns = vec![Column::default(); width.max(1)];
        let last = columns.len() - 1;
        let newest = meter.samples().back().map_or(0, |sample| sample.tick);
        for sample in meter.samples() {
            let Some(since) = sample.tick.checked_sub(oldest) else {
                continue;
            };
            let place = since as usize * columns.len() / METER_TICKS;
            let column = &mut columns[place.min(last)];
            let bytes = sample.snapshots.iter().map(|packet| packet.article_bytes());
            let rate = kbps(bytes.max().unwrap_or(0), 1);
            column.kbps = column.kbps.max(rate);
            for packet in &sample.snapshots {
                match packet.fate(sample.tick, newest) {
                    Fate::Arrived(arrival) => column.is_late |= arrival.is_late,
                    Fate::Lost => column.is_lost = true,
                    Fate::OnItsWay => {}
                }
            }
        }
        Self(columns)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Column> {
        self.0.iter()
    }
}

/// Where a rate lies on the scale, 0 to 1.
pub(super) fn height_of(kbps: f64) -> f64 {
    let height = (kbps / MIN_KBPS).log10() / (MAX_KBPS / MIN_KBPS).log10();
    height.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{Arrival, PacketRecord, Sample};

    fn meter() -> LaneMeter {
        LaneMeter::from_samples((0..METER_TICKS as u64).map(|tick| {
            let arrival = Arrival {
                after_ticks: 6,
                is_late: tick == 100,
            };
            Sample {
                tick,
                snapshots: vec![PacketRecord {
                    payload_bytes: if tick == 1801 { 5_000 } else { 100 },
                    arrival: (tick != 1000 && tick < 3_590).then_some(arrival),
                    ..PacketRecord::default()
                }],
                ..Sample::default()
            }
        }))
    }

    #[test]
    fn a_column_has_the_largest_packet_and_every_mark_of_its_ticks() {
        let columns: Vec<_> = Columns::of(&meter(), 0, 600).iter().copied().collect();
        assert_eq!(columns.len(), 600);
        let peaks: Vec<_> = (0..600)
            .filter(|&place| columns[place].kbps > 100.0)
            .collect();
        assert_eq!(peaks, [300]);
        assert_eq!(columns[300].kbps, 5_028.0 * 8.0 * 60.0 / 1000.0);
        let lost: Vec<_> = (0..600).filter(|&place| columns[place].is_lost).collect();
        // What has not arrived yet may still do so.
        assert_eq!(lost, [166]);
        let late: Vec<_> = (0..600).filter(|&place| columns[place].is_late).collect();
        assert_eq!(late, [16]);
    }

    #[test]
    fn the_scale_has_every_rung_on_it() {
        assert_eq!(height_of(0.0), 0.0);
        assert!(height_of(16.3) > 0.2);
        assert!(height_of(17_368.8) < 1.0);
    }
}
