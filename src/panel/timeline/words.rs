//! What the timeline says in words.

use bevy_egui::egui::{Rect, Ui, pos2, vec2};
use cubewire_scene::TICKS_PER_SECOND;

use super::Strip;
use super::axis::TickAxis;
use crate::panel::lane::Measured;
use crate::panel::style::{Look, SMALL};
use crate::panel::terms;
use crate::panel::widgets::{At, Pointing, flag, ring, text, triangle};
use crate::replication::{Fate, rung_name};
use crate::view::Side;
use crate::words::grouped;

/// What was recorded, and how to move in it, the longest first.
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
    let recorded = seconds(recorded);
    [
        format!("{recorded:.0} s recorded, {memory} · drag or pause to go back, the wheel zooms"),
        format!("{recorded:.0} s recorded, {memory}"),
        memory,
    ]
}

/// The tick that is shown, and how long ago it was.
pub(super) fn moment(tick: u64, newest: u64) -> String {
    let ago = seconds(newest.saturating_sub(tick));
    format!("{ago:.1} s ago, tick {}", grouped(tick as f64))
}

/// What the marks mean, at the right end of a row. Returns where it begins.
pub(super) fn legend(ui: &Ui, row: Rect) -> f32 {
    let look = Look::of(ui);
    let painter = ui.painter();
    let y = row.center().y;
    let mut right = row.right();
    let mut entry = |name: &str| {
        let at = At::Right(row.right() - right);
        let name = text(painter, row, at, name, SMALL, look.ink);
        right = name.left() - 30.0;
        pos2(name.left() - 10.0, y)
    };
    ring(painter, entry("late"), 3.5, look.warning);
    let lost = entry("lost");
    triangle(painter, lost, vec2(8.0, 7.0), Pointing::Down, look.error);
    let switch = entry("switch");
    let size = vec2(16.0, 16.0);
    flag(
        ui,
        Rect::from_center_size(switch - vec2(3.0, 0.0), size),
        "1",
    );
    right -= 6.0;
    let at = At::Right(row.right() - right);
    let bytes = text(painter, row, at, "bytes", SMALL, look.ink);
    for (index, side) in Side::ALL.into_iter().enumerate() {
        let center = pos2(bytes.left() - 12.0 + 5.0 * index as f32, y);
        let bar = Rect::from_center_size(center, vec2(4.0, 10.0));
        painter.rect_filled(bar, 0.0, look.of_half(side));
    }
    bytes.left() - 18.0
}

/// Times below the rows: the ends and what lies between them.
pub(super) fn times(ui: &Ui, row: Rect, axis: &TickAxis, newest: u64) {
    let look = Look::of(ui);
    let ago = |tick: f64| (newest as f64 + 1.0 - tick) / f64::from(TICKS_PER_SECOND);
    let (from, to) = (ago(axis.from), ago(axis.to));
    let decimals = usize::from(axis.is_zoomed());
    for quarter in 0..=4_u8 {
        let share = f64::from(quarter) / 4.0;
        let time = from + share * (to - from);
        let (words, at) = match quarter {
            0 => (format!("{time:.decimals$} s ago"), At::Left(0.0)),
            4 if time.abs() < 1e-3 => ("now".to_owned(), At::Right(0.0)),
            4 => (format!("{time:.decimals$}"), At::Right(0.0)),
            _ => (
                format!("{time:.decimals$}"),
                At::Center(share as f32 * row.width()),
            ),
        };
        text(ui.painter(), row, at, words, SMALL, look.muted);
    }
}

/// A tick of a lane in words.
pub(super) fn describe(measured: &Measured<'_>, tick: u64, newest: u64) -> String {
    let ago = seconds(newest.saturating_sub(tick));
    let side = measured.side.name();
    let Some(sample) = measured.meter.at(tick) else {
        return format!("{side}, {ago:.2} s ago: not recorded");
    };
    let rung = rung_name(sample.stages);
    let Some(packet) = sample.snapshots.first() else {
        return format!("{side}, {ago:.2} s ago: {rung}, no packet in this tick");
    };
    let ticks = |count: u16| terms::ticks(count.into());
    let arrival = match packet.fate(tick, newest) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("arrived {} later, too late", ticks(arrival.after_ticks))
        }
        Fate::Arrived(arrival) => format!("arrived {} later", ticks(arrival.after_ticks)),
        Fate::Lost => "lost".to_owned(),
        Fate::OnItsWay => "on its way".to_owned(),
    };
    let bytes = packet.payload_bytes;
    let changed = match packet.changed_cubes {
        1 => "1 cube".to_owned(),
        cubes => format!("{cubes} cubes"),
    };
    format!(
        "{side}, {ago:.2} s ago: {rung}, {bytes} bytes of payload, {changed} changed, {arrival}"
    )
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_SECOND)
}
