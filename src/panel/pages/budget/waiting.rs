//! The cubes that wait for their turn within a budget.

use bevy_egui::egui::Ui;
use cubewire_inspector::words::rounded;
use cubewire_protocol::{Standing, Wait};
use cubewire_scene::TICKS_PER_SECOND;

use crate::history::Selection;
use crate::panel::lane::LaneView;
use crate::panel::style::{LINE, Look, ROW, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, Row, heading, line};

/// The cubes that wait: the longest first, as many as fit.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let now = lane.now();
    let waits = lane.standings.iter().enumerate();
    let waits = waits.filter_map(|(cube, standing)| match standing {
        Standing::Waits(wait) => Some((cube, *wait)),
        _ => None,
    });
    let mut waits: Vec<(usize, Wait)> = waits.collect();
    waits.sort_by_key(|(_, wait)| (wait.since, wait.more_urgent));
    // With a budget, not every tick has a packet.
    let mut packets = lane
        .meter
        .second_until(None)
        .flat_map(|sample| &sample.snapshots);
    let changed = packets.next().map_or(0, |packet| packet.changed_cubes);
    let changed = changed.max(waits.len());
    let longest = waits
        .first()
        .map_or(0, |(_, wait)| now.saturating_sub(wait.since));
    let title = match waits.len() {
        0 => "Nothing waits".to_owned(),
        count => format!("Waiting: {count} of {changed} changed cubes"),
    };
    let right = match longest {
        0 => String::new(),
        ticks => format!("longest {} ms", millis(ticks)),
    };
    heading(ui, &title, right).on_hover_text(terms::STANDING);
    let look = Look::of(ui);
    let header = Row::show(ui, ROW - 2.0, "cube, why it waits, how long, off by");
    for (at, name) in [
        (At::Left(0.0), "cube"),
        (At::Left(WHY), "why it waits"),
        (At::Left(header.rect.width() - BARS), "how long, ms"),
        (At::Right(0.0), "off, mm"),
    ] {
        header.text(ui, at, name, SMALL, look.muted);
    }
    let room = ((page_left(ui) - LINE - 6.0) / ROW).max(0.0) as usize;
    let shown = waits.len().min(room.max(MIN_ROWS));
    for (cube, wait) in &waits[..shown] {
        row(ui, lane.selection, (*cube, wait), [now, longest]);
    }
    ui.add_space(4.0);
    let hint = "Hover a row: the cube is outlined in both halves.";
    let words = match waits.len() - shown {
        0 => hint.to_owned(),
        more => format!("{hint} {more} more"),
    };
    line(ui, words, look.muted);
}

/// A cube that waits: a row that hovers it, and selects it with a click.
fn row(
    ui: &mut Ui,
    selection: &mut Selection,
    (cube, wait): (usize, &Wait),
    [now, longest]: [u64; 2],
) {
    let look = Look::of(ui);
    let ticks = now.saturating_sub(wait.since);
    let (why, ms) = (why(wait, ticks), millis(ticks));
    let mm = 1000.0 * f64::from(wait.error);
    let name = format!("Cube {cube}: {why}, {ms} ms, {} mm", rounded(mm));
    let row = Row::button(ui, ROW, &name, selection.cube == Some(cube));
    let long = row.rect.width() - BARS;
    let end = long + BAR * ticks as f32 / longest.max(1) as f32;
    row.bar(ui, long, end, look.warning);
    for (at, words) in [
        (At::Left(0.0), cube.to_string()),
        (At::Left(WHY), why),
        (At::Left(end + 6.0), ms.to_string()),
        (At::Right(0.0), rounded(mm)),
    ] {
        row.text(ui, at, words, SMALL, look.ink);
    }
    if row.response.hovered() || row.response.has_focus() {
        selection.hovered = Some(cube);
    }
    let about = format!(
        "Due for {}; its surface has moved {mm:.1} mm since it was last sent. Priority {:.1}; {}. A click selects \
         the cube.",
        terms::ticks(ticks),
        wait.priority,
        others(wait.more_urgent)
    );
    if row.response.on_hover_text(about).clicked() {
        selection.cube = Some(cube);
    }
}

/// What keeps a cube waiting, in a few words.
fn why(wait: &Wait, ticks: u64) -> String {
    let mm_a_tick = 1000.0 * wait.error / ticks.max(1) as f32;
    match wait.more_urgent {
        0 => "next, it did not fit".to_owned(),
        _ if mm_a_tick < SLOW_MM => format!("moves {mm_a_tick:.1} mm a tick"),
        more => others(more),
    }
}

fn others(more_urgent: usize) -> String {
    match more_urgent {
        0 => "it is next".to_owned(),
        1 => "1 is more urgent".to_owned(),
        more => format!("{more} are more urgent"),
    }
}

const fn millis(ticks: u64) -> u64 {
    (1000 * ticks + HALF_TICK) / TICKS_PER_SECOND as u64
}

/// To round to the nearest.
const HALF_TICK: u64 = TICKS_PER_SECOND as u64 / 2;

/// What moves less than that has little to be sent for.
const SLOW_MM: f32 = 2.0;

/// Rows that are there even if the page has to scroll for them.
const MIN_ROWS: usize = 3;

/// Logical points: from the left to the reasons, from the right to the bars, and the longest of these.
const WHY: f32 = 48.0;
const BARS: f32 = 160.0;
const BAR: f32 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_waits_as_it_is_slow_or_as_others_are_more_urgent() {
        for (error, more_urgent, said) in [
            (0.011, 8, "moves 1.1 mm a tick"),
            (0.9, 8, "8 are more urgent"),
            (0.9, 1, "1 is more urgent"),
            (0.9, 0, "next, it did not fit"),
        ] {
            let wait = Wait {
                since: 90,
                error,
                priority: 1.0,
                more_urgent,
            };
            assert_eq!(why(&wait, 10), said);
        }
    }
}
