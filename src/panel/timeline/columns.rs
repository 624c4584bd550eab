//! The columns of the timeline: one pixel wide, or one tick where those are wider.

use std::ops::Range;

use crate::replication::{Fate, LaneMeter, kbps};

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

/// Ticks in columns, the oldest first.
pub(super) struct Columns {
    columns: Vec<Column>,
    /// Where the first begins, and the width of each, in pixels.
    left: f32,
    width: f32,
}

impl Columns {
    /// The ticks `shown`, on `width` pixels.
    pub(super) fn of(meter: &LaneMeter, shown: Range<f64>, width: f32) -> Self {
        let ticks = shown.end - shown.start;
        let pixels = f64::from(width.ceil().max(1.0));
        // In ticks: the first column begins with a whole one.
        let each = (ticks / pixels).max(1.0);
        let oldest = (shown.start / each).floor() * each;
        let count = ((shown.end - oldest) / each).ceil().max(1.0) as usize;
        let mut columns = vec![Column::default(); count];
        let newest = meter.samples().back().map_or(0, |sample| sample.tick);
        for sample in meter.samples() {
            let since = sample.tick as f64 - oldest;
            let index = (since / each) as usize;
            if since < 0.0 || index >= columns.len() {
                continue;
            }
            let column = &mut columns[index];
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
        let pixels_per_tick = f64::from(width) / ticks;
        Self {
            columns,
            left: ((oldest - shown.start) * pixels_per_tick) as f32,
            width: (each * pixels_per_tick) as f32,
        }
    }

    /// The columns, and where each lies in pixels.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Column, Range<f32>)> {
        self.columns.iter().enumerate().map(|(index, column)| {
            let left = self.left + index as f32 * self.width;
            (column, left..left + self.width)
        })
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
    use crate::replication::{Arrival, METER_TICKS, PacketRecord, Sample};

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
        let columns = Columns::of(&meter(), 0.0..METER_TICKS as f64, 600.0);
        let columns: Vec<_> = columns.iter().map(|(column, _)| *column).collect();
        assert_eq!(columns.len(), 600);
        let peaks: Vec<_> = (0..600)
            .filter(|&index| columns[index].kbps > 100.0)
            .collect();
        assert_eq!(peaks, [300]);
        assert_eq!(columns[300].kbps, 5_028.0 * 8.0 * 60.0 / 1000.0);
        let lost: Vec<_> = (0..600).filter(|&index| columns[index].is_lost).collect();
        // What has not arrived yet may still do so.
        assert_eq!(lost, [166]);
        let late: Vec<_> = (0..600).filter(|&index| columns[index].is_late).collect();
        assert_eq!(late, [16]);
    }

    #[test]
    fn zoomed_in_a_column_is_a_tick() {
        let columns = Columns::of(&meter(), 1790.5..1820.5, 600.0);
        let peaks: Vec<_> = columns
            .iter()
            .filter(|(column, _)| column.kbps > 100.0)
            .map(|(_, x)| x)
            .collect();
        // 10.5 ticks of 20 pixels from the left.
        assert_eq!(peaks, [210.0..230.0]);
        assert_eq!(columns.iter().count(), 31);
    }

    #[test]
    fn the_scale_has_every_rung_on_it() {
        assert_eq!(height_of(0.0), 0.0);
        assert!(height_of(16.3) > 0.2);
        assert!(height_of(17_368.8) < 1.0);
    }
}
