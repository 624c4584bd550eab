//! Texts of the timeline, and the totals of the marked range or of the visible part, right of the rows.

use std::ptr;

use super::Strip;
use crate::panel::flags::paint as flag;
use crate::panel::prelude::*;
use crate::replication::{ArrivalCounts, Fate};

/// Texts about the recording and about the controls, the longest first.
pub(super) fn hints(strip: &Strip<'_>, recorded: u64) -> [String; 3] {
    let memory = strip.past.memory_bytes as f64 / f64::from(1 << 20);
    let memory = format!("{memory:.0} of 64 MiB");
    if strip.stands {
        let keys = "← → a tick, Shift a second, comma and full stop a packet";
        return [
            format!("{keys} · Shift and drag: totals, F fits them · Esc or P resumes"),
            format!("{keys} · Esc or P resumes"),
            "Esc or P resumes".to_owned(),
        ];
    }
    let recorded = seconds(recorded as f64);
    [
        format!("{recorded:.0} s recorded, {memory} · drag or pause to go back, the wheel zooms"),
        format!("{recorded:.0} s recorded, {memory}"),
        memory,
    ]
}

pub(super) fn moment(tick: u64, newest: u64) -> String {
    let ago = seconds(newest.saturating_sub(tick) as f64);
    format!("{ago:.1} s ago, tick {}", grouped(tick as f64))
}

/// Draws the legend at the right end of a row. Returns the x coordinate of its left end.
pub(super) fn legend(ui: &Ui, row: Rect) -> f32 {
    let look = Look::of(ui);
    let painter = ui.painter();
    let y = row.center().y;
    let mut right = row.right();
    let mut entry = |name: &str, mark: f32| {
        let name = text(painter, row, At::Right(row.right() - right), name, SMALL, look.ink);
        right = name.left() - mark - 16.0;
        pos2(name.left() - 6.0 - mark / 2.0, y)
    };
    painter.circle_stroke(entry("late", 8.0), 3.5, (2.0, look.warning));
    triangle(painter, entry("lost", 8.0), vec2(8.0, 7.0), Vec2::DOWN, look.error);
    flag(ui, Rect::from_center_size(entry("switch", 16.0), vec2(16.0, 16.0)), "1");
    let bytes = entry("bytes", 10.0);
    for (x, side) in [-2.5, 2.5].into_iter().zip(Side::ALL) {
        let bar = Rect::from_center_size(bytes + vec2(x, 0.0), vec2(4.0, 10.0));
        painter.rect_filled(bar, 0.0, side.color_in(look));
    }
    bytes.x - 6.0
}

pub(super) fn times(ui: &Ui, chart: &Chart, newest: u64) {
    let (from, to) = (*chart.x.start(), *chart.x.end());
    let ago = |tick: f64| seconds(newest as f64 + 1.0 - tick);
    let [from, middle, to] = [from, (from + to) / 2.0, to].map(|tick| match ago(tick) {
        ..1e-3 => "now".to_owned(),
        ago => format!("{} s ago", format!("{ago:.1}").trim_end_matches(".0")),
    });
    chart.times(ui, [&from, &middle, &to]);
}

/// Describes a tick of a lane. Ticks before the start of the game are negative.
pub(super) fn describe(measured: &Measured<'_>, tick: i64, newest: u64) -> String {
    let ago = seconds(newest as f64 - tick as f64).max(0.0);
    let side = measured.side.name();
    let sample = u64::try_from(tick).ok().and_then(|tick| measured.meter.at(tick));
    let Some(sample) = sample else { return format!("{side}, {ago:.2} s ago: not recorded") };
    let rung = rung_name(sample.stages);
    let Some(packet) = sample.snapshots.first() else {
        return format!("{side}, {ago:.2} s ago: {rung}, no packet in this tick");
    };
    let arrival = match packet.fate(sample.tick, measured.meter.settled_tick()) {
        Fate::Arrived(arrival) => {
            let late = if arrival.is_late { ", too late" } else { "" };
            format!("arrived {} later{late}", ticks(arrival.after_ticks.into()))
        }
        Fate::Lost => "lost".to_owned(),
        Fate::InFlight => "on its way".to_owned(),
    };
    let bytes = packet.payload_bytes;
    let changed = match packet.changed_bodies {
        1 => "1 cube changed".to_owned(),
        cubes => format!("{cubes} cubes changed"),
    };
    format!("{side}, {ago:.2} s ago: {rung}, {bytes} bytes of payload, {changed}, {arrival}")
}

fn seconds(ticks: f64) -> f64 {
    ticks / f64::from(TICKS_PER_SECOND)
}

pub(super) fn totals(
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
    let mut shown = None;
    for ((side, lane), row) in strip.halves.iter().zip(rows) {
        let Some(lane) = lane else { continue };
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
            let after = text(painter, rate, At::Left(0.0), kbps, BODY, color).width() + 4.0;
            text(painter, rate, At::Left(after), "kbps", SMALL, look.muted);
            text(painter, marks, At::Left(0.0), of.marks(), SMALL, look.ink);
        } else {
            text(painter, rate, At::Left(0.0), "not recorded", SMALL, look.muted);
        }
        shown = Some(seconds(of.totals.ticks as f64));
        response.on_hover_text(of.words());
    }
    if let Some(seconds) = shown {
        let below = area.with_min_y(area.bottom() - LINE);
        let what = if is_marked { "marked" } else { "shown" };
        let words = format!("in the {seconds:.1} s {what}");
        text(painter, below, At::Left(0.0), words, SMALL, look.muted);
    }
}

const UPDATE_TICKS: u64 = TICKS_PER_SECOND as u64 / 4;

#[derive(Clone, Debug)]
struct Sums {
    totals: Totals,
    arrivals: ArrivalCounts,
}

impl Sums {
    fn of(meter: &LaneMeter, [first, last]: [u64; 2]) -> Self {
        let samples = || meter.back_from(Some(last)).take_while(|sample| sample.tick >= first);
        Self { totals: meter.sum(samples()), arrivals: ArrivalCounts::of(meter, samples()) }
    }

    fn marks(&self) -> String {
        let [_, late, lost] = self.arrivals.0;
        format!("{lost} lost, {late} late")
    }

    fn words(&self) -> String {
        let totals = &self.totals;
        if totals.ticks == 0 {
            return "not recorded".to_owned();
        }
        let mean = totals.payload_bytes as f64 / totals.snapshots.max(1) as f64;
        format!(
            "{:.2} s: {} packets, {} bytes of payload, mean {mean:.1}, largest {}; {:.1} kbps; {}",
            seconds(totals.ticks as f64),
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

    use super::*;
    use crate::panel::tests::{ARRIVAL, meter_of};
    use crate::replication::PacketArrival;

    #[test]
    fn ticks_before_the_start_have_their_age() {
        let meter = meter_of(60, &PacketRecord::default(), |_, _, _| {});
        let measured =
            Measured { side: Side::Right, meter: &meter, settings: LaneSettings::default() };
        let said = |tick| describe(&measured, tick, 59);
        assert_eq!(said(-1), "right, 1.00 s ago: not recorded");
        assert_eq!(said(-541), "right, 10.00 s ago: not recorded");
        assert!(said(29).starts_with("right, 0.50 s ago: uncompressed"));
    }

    #[test]
    fn range_has_the_totals_of_its_ticks() {
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
        assert_eq!(words(&meter, [700, 710]), "not recorded");
    }
}
