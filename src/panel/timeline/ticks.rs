//! The visible part of the recorded ticks, and its columns, which are one pixel wide, or one tick if a tick is wider.

use crate::panel::prelude::*;
use crate::replication::{ArrivalCounts, METER_TICKS, kbps};

/// Returns the visible part of the [whole] time span. The wheel zooms, a double click zooms out, and F zooms to `range`. The
/// part follows `moment`, and is the whole again when the game resumes. The ends may be between two ticks. The first tick is
/// negative until the whole is full, so that the newest tick is always at the right.
pub(super) fn visible(
    ui: &Ui,
    response: &Response,
    graph: Rect,
    recorded: RangeInclusive<u64>,
    moment: Option<u64>,
    range: Option<[u64; 2]>,
) -> RangeInclusive<f64> {
    let (first, newest) = recorded.into_inner();
    let whole = whole(newest - first + 1) as f64;
    let oldest = newest as f64 + 1.0 - whole;
    let fraction = |tick: u64| (tick as f64 - oldest) / whole;
    let zoom = Zoom::new("time of the timeline", MIN_TICKS / whole, false);
    let mut part = zoom.shown(ui, response, graph);
    let id = response.id.with("moment in sight, and the whole");
    let before = ui.data(|data| data.get_temp::<(Option<u64>, f64)>(id));
    let (before, whole_before) = before.unwrap_or((None, whole));
    ui.data_mut(|data| data.insert_temp(id, (moment, whole)));
    if whole != whole_before && part != (0.0..1.0) {
        let kept = |end: f64| 1.0 - (1.0 - end) * whole_before / whole;
        part = zoom.show(ui, kept(part.start)..kept(part.end));
    }
    if moment != before {
        let width = part.end - part.start;
        let [from, to] = moment.map_or([0.0, 1.0], |tick| [fraction(tick), fraction(tick + 1)]);
        if moment.is_none() {
            part = zoom.show(ui, 0.0..1.0);
        } else if from < part.start {
            part = zoom.show(ui, from..from + width);
        } else if to > part.end {
            part = zoom.show(ui, to - width..to);
        }
    }
    let wants_keys = ui.ctx().egui_wants_keyboard_input();
    let is_fitted = !wants_keys && ui.input(|input| input.key_pressed(Key::F));
    if let Some([first, last]) = range.filter(|_| is_fitted) {
        part = zoom.show(ui, fraction(first)..fraction(last + 1));
    }
    let tick = |fraction: f64| oldest + fraction * whole;
    tick(part.start)..=tick(part.end)
}

/// Returns the time span in ticks: an eighth, a quarter or half of a minute while the recorded ticks fit, then a minute.
fn whole(recorded: u64) -> u64 {
    let parts = [8, 4, 2].map(|part| METER_TICKS as u64 / part);
    parts.into_iter().find(|ticks| recorded <= *ticks).unwrap_or(METER_TICKS as u64)
}

/// Shortest visible time span: half a second.
const MIN_TICKS: f64 = 30.0;

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
    let mut columns = vec![Column::default(); ((to / each).ceil() - first).max(1.0) as usize];
    let settled = meter.settled_tick();
    for sample in meter.samples() {
        let index = column_of(sample.tick as f64) - first;
        let column = columns.get_mut(index as usize);
        let Some(column) = column.filter(|_| index >= 0.0) else { continue };
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
    use crate::replication::{METER_TICKS, PacketArrival};

    #[test]
    fn full_timeline_doubles_its_time_span() {
        let minute = METER_TICKS as u64;
        let mut spans: Vec<u64> = (1..2 * minute).map(whole).collect();
        for (recorded, span) in (1..).zip(&spans) {
            assert!(recorded.min(minute) <= *span, "{recorded} in {span}");
        }
        spans.dedup();
        assert_eq!(spans, [450, 900, 1_800, 3_600]);
    }

    fn meter() -> LaneMeter {
        let (ticks, packet) = (METER_TICKS as u64, PacketRecord::default());
        meter_of(ticks, &packet, |tick, _, packet| {
            packet.payload_bytes = if tick == 1801 { 5_000 } else { 100 };
            let arrival = PacketArrival { is_late: tick == 100, ..ARRIVAL };
            packet.arrival = (tick != 1000 && tick < 3_590).then_some(arrival);
        })
    }

    #[test]
    fn column_shows_largest_packet_and_every_mark() {
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
    fn columns_keep_their_ticks_while_time_passes() {
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
