//! Texts of the timeline.

use bevy_egui::egui::{Rect, Ui, pos2, vec2};
use cubewire_inspector::words::grouped;
use cubewire_scene::TICKS_PER_SECOND;

use super::Strip;
use crate::panel::flags::paint as flag;
use crate::panel::lane::Measured;
use crate::panel::style::{Look, SMALL};
use crate::panel::terms;
use crate::panel::widgets::{At, Chart, Pointing, text, triangle};
use crate::replication::{Fate, rung_name};
use crate::view::Side;

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
        let at = At::Right(row.right() - right);
        let name = text(painter, row, at, name, SMALL, look.ink);
        right = name.left() - mark - 16.0;
        pos2(name.left() - 6.0 - mark / 2.0, y)
    };
    painter.circle_stroke(entry("late", 8.0), 3.5, (2.0, look.warning));
    let lost = entry("lost", 8.0);
    triangle(painter, lost, vec2(8.0, 7.0), Pointing::Down, look.error);
    let switch = Rect::from_center_size(entry("switch", 16.0), vec2(16.0, 16.0));
    flag(ui, switch, "1");
    let bytes = entry("bytes", 10.0);
    for (x, side) in [-2.5, 2.5].into_iter().zip(Side::ALL) {
        let bar = Rect::from_center_size(bytes + vec2(x, 0.0), vec2(4.0, 10.0));
        painter.rect_filled(bar, 0.0, side.color_in(look));
    }
    bytes.x - 6.0
}

/// Draws the times at the ends and in the middle, below the rows.
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
    let Some(sample) = sample else {
        return format!("{side}, {ago:.2} s ago: not recorded");
    };
    let rung = rung_name(sample.stages);
    let Some(packet) = sample.snapshots.first() else {
        return format!("{side}, {ago:.2} s ago: {rung}, no packet in this tick");
    };
    let ticks = |count: u16| terms::ticks(count.into());
    let arrival = match packet.fate(sample.tick, measured.meter.settled_tick()) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("arrived {} later, too late", ticks(arrival.after_ticks))
        }
        Fate::Arrived(arrival) => format!("arrived {} later", ticks(arrival.after_ticks)),
        Fate::Lost => "lost".to_owned(),
        Fate::InFlight => "on its way".to_owned(),
    };
    let bytes = packet.payload_bytes;
    let changed = match packet.changed_bodies {
        1 => "1 cube".to_owned(),
        cubes => format!("{cubes} cubes"),
    };
    format!(
        "{side}, {ago:.2} s ago: {rung}, {bytes} bytes of payload, {changed} changed, {arrival}"
    )
}

fn seconds(ticks: f64) -> f64 {
    ticks / f64::from(TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::meter_of;
    use crate::replication::{LaneSettings, PacketRecord};

    #[test]
    fn what_was_before_the_start_is_as_long_ago_as_it_is_pointed_at() {
        let meter = meter_of(60, &PacketRecord::default(), |_, _, _| {});
        let measured =
            Measured { side: Side::Right, meter: &meter, settings: LaneSettings::default() };
        let said = |tick| describe(&measured, tick, 59);
        assert_eq!(said(-1), "right, 1.00 s ago: not recorded");
        assert_eq!(said(-541), "right, 10.00 s ago: not recorded");
        assert!(said(29).starts_with("right, 0.50 s ago: uncompressed"));
    }
}
