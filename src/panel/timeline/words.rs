//! What the timeline says in words.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Align2, FontId, Rect, Ui, vec2};
use cubewire_scene::TICKS_PER_SECOND;

use super::{MARGIN, TickAxis};
use crate::panel::lane::{Measured, Past};
use crate::replication::{Fate, rung_name};
use crate::theme::{Theme, egui_color};

/// The line above the rows: the time that is shown, what the keys do, and the memory.
pub(super) fn caption(
    ui: &Ui,
    theme: Theme,
    area: Rect,
    past: Past,
    axis: &TickAxis,
    known: RangeInclusive<u64>,
) {
    let (first, newest) = known.into_inner();
    let colors = theme.colors();
    let font = FontId::proportional(11.0);
    let painter = ui.painter();
    let color = egui_color(match past.moment {
        Some(_) => colors.ink,
        None => colors.muted,
    });
    let memory = past.memory_bytes as f64 / f64::from(1 << 20);
    let recorded = seconds(newest.saturating_sub(first));
    let memory = format!("{memory:.1} of 64 MiB");
    let muted = egui_color(colors.muted);
    let lay_out = |text, color| painter.layout_no_wrap(text, font.clone(), color);
    let memories =
        [format!("{recorded:.0} s recorded, {memory}"), memory].map(|text| lay_out(text, muted));
    let texts = texts(past.moment, axis, newest).map(|text| lay_out(text, color));
    // The longest that fits, and the longest that fits next to it.
    let narrow = memories[1].size().x + MARGIN;
    let text = texts
        .iter()
        .find(|text| text.size().x + narrow <= area.width())
        .unwrap_or(&texts[2]);
    let rect = Align2::LEFT_CENTER.anchor_size(area.left_center(), text.size());
    painter.galley(rect.min, text.clone(), color);
    for memory in memories {
        let at = area.right_center() - vec2(memory.size().x, memory.size().y / 2.0);
        if at.x > rect.right() + MARGIN {
            painter.galley(at, memory, muted);
            break;
        }
    }
}

/// The time that is shown and what the keys do, the longest first.
fn texts(moment: Option<u64>, axis: &TickAxis, newest: u64) -> [String; 3] {
    let shown = if axis.is_zoomed() {
        let ago = |tick: f64| (newest as f64 + 1.0 - tick) / f64::from(TICKS_PER_SECOND);
        format!("{:.1} to {:.1} s ago", ago(axis.from), ago(axis.to))
    } else {
        "the last minute".to_owned()
    };
    match moment {
        Some(tick) => {
            let ago = seconds(newest.saturating_sub(tick));
            let ago = format!("{ago:.2} s ago, tick {tick}, of {shown}");
            let keys = "← → one tick, Shift a second, comma and full stop a packet";
            [
                format!("{ago} · {keys} · Shift and drag: totals, F fits them · Esc or P resumes"),
                format!("{ago} · {keys} · Esc or P resumes"),
                format!("{ago} · Esc or P resumes"),
            ]
        }
        None => {
            let marks = "▔ lost ▁ late";
            let back = "the last minute, kbps · drag or pause to go back";
            [
                format!("{back} · wheel zooms, double-click fits · {marks}"),
                format!("{back} · {marks}"),
                format!("the last minute, kbps · {marks}"),
            ]
        }
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
    let arrival = match packet.fate(tick, newest) {
        Fate::Arrived(arrival) if arrival.is_late => {
            format!("arrived {} ticks later, too late", arrival.after_ticks)
        }
        Fate::Arrived(arrival) => format!("arrived {} ticks later", arrival.after_ticks),
        Fate::Lost => "lost".to_owned(),
        Fate::OnItsWay => "on its way".to_owned(),
    };
    let bytes = packet.payload_bytes;
    let changed = packet.changed_cubes;
    format!(
        "{side}, {ago:.2} s ago: {rung}, {bytes} bytes payload, {changed} cubes changed, {arrival}"
    )
}

fn seconds(ticks: u64) -> f64 {
    ticks as f64 / f64::from(TICKS_PER_SECOND)
}
