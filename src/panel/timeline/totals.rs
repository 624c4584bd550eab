//! Totals of the marked range or of the visible part, right of the rows.

use std::ptr;

use bevy_egui::egui::{Rect, Sense, Ui, WidgetInfo, WidgetType};
use cubewire_inspector::words::grouped;
use cubewire_scene::TICKS_PER_SECOND;

use super::Strip;
use crate::panel::kept::kept;
use crate::panel::style::{BODY, LINE, Look, SMALL};
use crate::panel::widgets::{At, text};
use crate::replication::{Accounting, ArrivalCounts, LaneMeter, Totals};

/// Draws the totals of each row next to it, and their time span below.
pub(super) fn draw(
    ui: &Ui,
    area: Rect,
    rows: &[Rect],
    strip: &Strip<'_>,
    (range, is_marked): ([u64; 2], bool),
) {
    let look = Look::of(ui);
    let painter = ui.painter();
    // The visible part moves with every tick, so its totals change only four times a second to stay legible.
    let each = if is_marked { 1 } else { UPDATE_TICKS };
    let mut seconds = None;
    for ((side, lane), row) in strip.halves.iter().zip(rows) {
        let Some(lane) = lane else {
            continue;
        };
        let id = ui.id().with(("totals", side));
        let newest = lane.meter.newest_tick();
        let key = (
            ptr::from_ref(lane.meter).addr(),
            [each, range[0] / each, range[1] / each],
            newest.map(|tick| tick / UPDATE_TICKS),
        );
        let of = kept(ui, id, key, || Sums::of(lane.meter, range));
        let beside = Rect::from_x_y_ranges(area.x_range(), row.y_range());
        let response = ui.interact(beside, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, of.words()));
        let (rate, marks) = beside.split_top_bottom_at_fraction(0.5);
        if of.totals.ticks > 0 {
            let kbps = grouped(of.totals.kbps(Accounting::PayloadAndUdp));
            let color = side.color_in(look);
            let number = text(painter, rate, At::Left(0.0), kbps, BODY, color);
            let after = number.width() + 4.0;
            text(painter, rate, At::Left(after), "kbps", SMALL, look.muted);
            text(painter, marks, At::Left(0.0), of.marks(), SMALL, look.ink);
        } else {
            let nothing = "not recorded";
            text(painter, rate, At::Left(0.0), nothing, SMALL, look.muted);
        }
        seconds = Some(of.seconds());
        response.on_hover_text(of.words());
    }
    if let Some(seconds) = seconds {
        let below = area.with_min_y(area.bottom() - LINE);
        let what = if is_marked { "marked" } else { "shown" };
        let words = format!("in the {seconds:.1} s {what}");
        text(painter, below, At::Left(0.0), words, SMALL, look.muted);
    }
}

/// A quarter of a second.
const UPDATE_TICKS: u64 = TICKS_PER_SECOND as u64 / 4;

/// Totals of a lane in a range of ticks.
#[derive(Clone, Debug)]
struct Sums {
    totals: Totals,
    arrivals: ArrivalCounts,
}

impl Sums {
    fn of(meter: &LaneMeter, [first, last]: [u64; 2]) -> Self {
        let samples = || {
            let samples = meter.back_from(Some(last));
            samples.take_while(|sample| sample.tick >= first)
        };
        Self { totals: meter.sum(samples()), arrivals: ArrivalCounts::of(meter, samples()) }
    }

    fn marks(&self) -> String {
        let [_, late, lost] = self.arrivals.0;
        format!("{lost} lost, {late} late")
    }

    fn seconds(&self) -> f64 {
        self.totals.ticks as f64 / f64::from(TICKS_PER_SECOND)
    }

    fn words(&self) -> String {
        let totals = &self.totals;
        if totals.ticks == 0 {
            return "not recorded".to_owned();
        }
        let mean = totals.payload_bytes as f64 / totals.snapshots.max(1) as f64;
        format!(
            "{:.2} s: {} packets, {} bytes of payload, mean {mean:.1}, largest {}; {:.1} kbps; {}",
            self.seconds(),
            totals.snapshots,
            totals.payload_bytes,
            totals.max_payload_bytes,
            totals.kbps(Accounting::PayloadAndUdp),
            self.marks(),
        )
    }
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::tests::{ARRIVAL, meter_of};
    use crate::replication::{PacketArrival, PacketRecord, Sample};

    #[test]
    fn a_range_has_the_totals_of_its_ticks_alone() {
        let meter = meter_of(600, &PacketRecord::default(), |tick, sample, packet| {
            sample.stages = ladder::DELTA.stages;
            packet.payload_bytes = if tick == 120 { 400 } else { 100 };
            let arrival = PacketArrival { is_late: tick == 121, ..ARRIVAL };
            packet.arrival = (tick != 119).then_some(arrival);
        });
        let words = |meter: &LaneMeter, range| Sums::of(meter, range).words();
        // 60 packets with 28 bytes of headers each in a second.
        let expected = "1.00 s: 60 packets, 6300 bytes of payload, mean 105.0, largest 400; 63.8 kbps; 0 lost, 1 late";
        assert_eq!(words(&meter, [120, 179]), expected);
        let one_more = words(&meter, [119, 179]);
        assert!(one_more.contains("61 packets"), "{one_more}");
        assert!(one_more.ends_with("1 lost, 1 late"), "{one_more}");
        // Ticks that are no longer recorded do not count as time.
        let younger =
            LaneMeter::from_samples((5..600).map(|tick| Sample { tick, ..Sample::default() }));
        let older = words(&younger, [0, 9]);
        assert!(older.starts_with("0.08 s: 0 packets"), "{older}");
        let none = words(&meter, [700, 710]);
        assert_eq!(none, "not recorded");
    }
}
