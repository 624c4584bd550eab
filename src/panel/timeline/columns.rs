//! Columns of the timeline. A column is one pixel wide, or one tick if a tick is wider.

use std::ops::RangeInclusive;

use crate::replication::{ArrivalCounts, LaneMeter, kbps};

/// Summary of the ticks of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// The bandwidth if every tick had the largest packet of the column; 0 without packets.
    pub(super) kbps: f64,
    pub(super) is_lost: bool,
    pub(super) is_late: bool,
}

/// Returns the columns of the ticks `shown` on `width` pixels, the oldest first, with the range of ticks of each.
pub(super) fn columns(
    meter: &LaneMeter,
    shown: &RangeInclusive<f64>,
    width: f32,
) -> Vec<(RangeInclusive<f64>, Column)> {
    let (from, to) = (*shown.start(), *shown.end());
    // Ticks per column, at least one.
    let each = ((to - from) / f64::from(width.ceil().max(1.0))).max(1.0);
    // The column depends only on the tick, so a tick stays in its column while the timeline moves.
    let column_of = |tick: f64| (tick / each).floor();
    let first = column_of(from);
    let count = ((to / each).ceil() - first).max(1.0) as usize;
    let mut columns = vec![Column::default(); count];
    let settled = meter.settled_tick();
    for sample in meter.samples() {
        let index = column_of(sample.tick as f64) - first;
        let column = columns.get_mut(index as usize);
        let Some(column) = column.filter(|_| index >= 0.0) else {
            continue;
        };
        for packet in &sample.snapshots {
            column.kbps = column.kbps.max(kbps(packet.article_bytes(), 1));
        }
        let mut arrivals = ArrivalCounts::default();
        arrivals.add(sample, settled);
        let [_, late, lost] = arrivals.0;
        column.is_late |= late > 0;
        column.is_lost |= lost > 0;
    }
    let columns = columns.into_iter().enumerate().map(|(index, column)| {
        let index = first + index as f64;
        (index * each..=(index + 1.0) * each, column)
    });
    columns.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::{ARRIVAL, meter_of};
    use crate::replication::{METER_TICKS, PacketArrival, PacketRecord};

    fn meter() -> LaneMeter {
        let (ticks, packet) = (METER_TICKS as u64, PacketRecord::default());
        meter_of(ticks, &packet, |tick, _, packet| {
            packet.payload_bytes = if tick == 1801 { 5_000 } else { 100 };
            let arrival = PacketArrival { is_late: tick == 100, ..ARRIVAL };
            packet.arrival = (tick != 1000 && tick < 3_590).then_some(arrival);
        })
    }

    #[test]
    fn a_column_has_the_largest_packet_and_every_mark_of_its_ticks() {
        let columns = columns(&meter(), &(0.0..=METER_TICKS as f64), 600.0);
        let columns: Vec<_> = columns.into_iter().map(|(_, column)| column).collect();
        assert_eq!(columns.len(), 600);
        let found = |is_found: fn(&Column) -> bool| -> Vec<usize> {
            (0..600).filter(|&index| is_found(&columns[index])).collect()
        };
        assert_eq!(found(|column| column.kbps > 100.0), [300]);
        assert_eq!(columns[300].kbps, 5_028.0 * 8.0 * 60.0 / 1000.0);
        // Packets that are still in flight do not count as lost.
        assert_eq!(found(|column| column.is_lost), [166]);
        assert_eq!(found(|column| column.is_late), [16]);
    }

    #[test]
    fn a_column_keeps_its_ticks_while_the_minute_moves_on() {
        let end = METER_TICKS as f64;
        let before = columns(&meter(), &(0.0..=end), 700.0);
        for ticks in 1..60 {
            let moved = f64::from(ticks);
            let after = columns(&meter(), &(moved..=end + moved), 700.0);
            let gone = before.iter().position(|column| column.0 == after[0].0);
            let gone = gone.expect("it was there before");
            let (whole, rest) = (before.len() - 1, gone + 1);
            assert_eq!(before[rest..whole], after[1..whole - gone], "{ticks}");
        }
    }

    #[test]
    fn zoomed_in_a_column_is_a_tick() {
        let columns = columns(&meter(), &(1790.5..=1820.5), 600.0);
        assert_eq!(columns.len(), 31);
        let peaks = columns.iter().filter(|(_, column)| column.kbps > 100.0);
        let peaks: Vec<_> = peaks.map(|(ticks, _)| ticks.clone()).collect();
        assert_eq!(peaks, [1801.0..=1802.0]);
    }
}
