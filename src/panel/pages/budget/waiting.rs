//! The cubes that have waited for their turn within a budget.

use std::cmp::Reverse;

use bevy_egui::egui::Ui;
use cubewire_protocol::Wait;
use cubewire_scene::TICKS_PER_SECOND;

use crate::history::Selection;
use crate::panel::lane::LaneView;
use crate::panel::style::{LINE, Look, ROW, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, Row, heading, line};
use crate::replication::{Standings, Waited};
use crate::words::rounded;

/// The cubes that waited in the last second: the longest first, as many as fit.
pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let all = lane.standings.map_or_else(Vec::new, Standings::longest);
    let waits = all.iter().enumerate();
    let waits = waits.filter_map(|(cube, waited)| Some((cube, (*waited)?)));
    let mut waits: Vec<(usize, Waited)> = waits.collect();
    waits.sort_by_key(|(_, waited)| (Reverse(waited.ticks), waited.wait.more_urgent));
    let title = match (waits.len(), all.len()) {
        (_, 0) => "Measuring …".to_owned(),
        (0, _) => "Nothing waited in the last second".to_owned(),
        (1, _) => "Waited in the last second: 1 cube".to_owned(),
        (count, _) => format!("Waited in the last second: {count} cubes"),
    };
    let longest = waits.first().map_or(0, |(_, waited)| waited.ticks);
    let right = match longest {
        0 => String::new(),
        ticks => format!("longest {} ms", millis(ticks)),
    };
    heading(ui, &title, right).on_hover_text(terms::STANDING);
    let look = Look::of(ui);
    let header = Row::show(
        ui,
        ROW - 2.0,
        "cube, why it waited, how long, moved since sent",
    );
    for (at, name) in [
        (At::Left(0.0), "cube"),
        (At::Left(WHY), "why it waited"),
        (At::Left(header.rect.width() - BARS), "ms"),
        (At::Right(0.0), "moved since sent, mm"),
    ] {
        header.text(ui, at, name, SMALL, look.muted);
    }
    let room = ((page_left(ui) - LINE - 6.0) / ROW).max(0.0) as usize;
    let shown = waits.len().min(room.max(MIN_ROWS));
    for of in &waits[..shown] {
        row(ui, lane.selection, *of, longest);
    }
    ui.add_space(4.0);
    let hint = "Hover a row: the cube is outlined in both halves.";
    let words = match waits.len() - shown {
        0 => hint.to_owned(),
        more => format!("{hint} {more} more"),
    };
    line(ui, words, look.muted);
}

/// A cube that waited: a row that hovers it, and selects it with a click.
fn row(ui: &mut Ui, selection: &mut Selection, (cube, waited): (usize, Waited), longest: u64) {
    let look = Look::of(ui);
    let Waited { ticks, wait } = waited;
    let (why, ms) = (why(&wait, ticks), millis(ticks));
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
        "It was due for {}, in which its surface moved {mm:.1} mm from where it was last sent. Priority {:.1}; {}. A click \
         selects the cube.",
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
        _ if mm_a_tick < SLOW_MM => format!("moved {mm_a_tick:.1} mm a tick"),
        more => others(more),
    }
}

fn others(more_urgent: usize) -> String {
    match more_urgent {
        0 => "it was next".to_owned(),
        1 => "1 was more urgent".to_owned(),
        more => format!("{more} were more urgent"),
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
    fn a_cube_waited_as_it_was_slow_or_as_others_were_more_urgent() {
        for (error, more_urgent, said) in [
            (0.011, 8, "moved 1.1 mm a tick"),
            (0.9, 8, "8 were more urgent"),
            (0.9, 1, "1 was more urgent"),
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
