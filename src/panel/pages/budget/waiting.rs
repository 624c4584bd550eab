//! The cubes that wait for their turn within a budget.

use bevy_egui::egui::Ui;
use cubewire_protocol::{Standing, Wait};
use cubewire_scene::TICKS_PER_SECOND;

use crate::history::Selection;
use crate::panel::style::{LINE, Look, ROW, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{At, Row, heading, line};
use crate::replication::LaneMeter;
use crate::words::rounded;

/// The cubes that wait: the longest first, as many as fit.
pub(super) fn draw(
    ui: &mut Ui,
    selection: &mut Selection,
    meter: &LaneMeter,
    standings: &[Standing],
) {
    let newest = meter.samples().back();
    let now = newest.map_or(0, |sample| sample.tick);
    let waits = standings.iter().enumerate();
    let mut waits: Vec<(usize, Wait)> = waits
        .filter_map(|(cube, standing)| match standing {
            Standing::Waits(wait) => Some((cube, *wait)),
            _ => None,
        })
        .collect();
    waits.sort_by_key(|(_, wait)| (wait.since, wait.more_urgent));
    // With a budget, not every tick has a packet.
    let mut newest = meter.back_from(None).take(TICKS_PER_SECOND as usize);
    let changed = newest.find_map(|sample| sample.snapshots.first());
    let changed = changed
        .map_or(0, |packet| packet.changed_cubes)
        .max(waits.len());
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
    let columns = Columns::of(ui.available_width());
    let header = Row::show(ui, ROW - 2.0, "cube, why it waits, how long, off by");
    let look = Look::of(ui);
    for (at, name) in [
        (At::Left(0.0), "cube"),
        (At::Left(columns.why), "why it waits"),
        (At::Left(columns.long), "how long, ms"),
        (At::Right(0.0), "off, mm"),
    ] {
        header.text(ui, at, name, SMALL, look.muted);
    }
    let room = ((page_left(ui) - LINE - 6.0) / ROW).max(0.0) as usize;
    let shown = waits.len().min(room.max(MIN_ROWS));
    for (cube, wait) in &waits[..shown] {
        row(ui, selection, columns, (*cube, wait), [now, longest]);
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
    columns: Columns,
    (cube, wait): (usize, &Wait),
    [now, longest]: [u64; 2],
) {
    let look = Look::of(ui);
    let ticks = now.saturating_sub(wait.since);
    let (why, ms) = (why(wait, ticks), millis(ticks));
    let mm = 1000.0 * f64::from(wait.error);
    let name = format!("Cube {cube}: {why}, {ms} ms, {} mm", rounded(mm));
    let row = Row::button(ui, ROW, &name, selection.cube == Some(cube));
    row.text(ui, At::Left(0.0), cube, SMALL, look.ink);
    row.text(ui, At::Left(columns.why), why, SMALL, look.ink);
    let bar = BAR * ticks as f32 / longest.max(1) as f32;
    row.bar(ui, columns.long, columns.long + bar, look.warning);
    row.text(ui, At::Left(columns.long + bar + 6.0), ms, SMALL, look.ink);
    row.text(ui, At::Right(0.0), rounded(mm), SMALL, look.ink);
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

/// Where the columns begin, from the left.
#[derive(Clone, Copy, Debug)]
struct Columns {
    why: f32,
    long: f32,
}

impl Columns {
    const fn of(width: f32) -> Self {
        Self {
            why: 48.0,
            long: width - 160.0,
        }
    }
}

/// To round to the nearest.
const HALF_TICK: u64 = TICKS_PER_SECOND as u64 / 2;

/// What moves less than that has little to be sent for.
const SLOW_MM: f32 = 2.0;

/// Rows that are there even if the page has to scroll for them.
const MIN_ROWS: usize = 3;

/// Logical points.
const BAR: f32 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(error: f32, more_urgent: usize) -> Wait {
        Wait {
            since: 90,
            error,
            priority: 1.0,
            more_urgent,
        }
    }

    #[test]
    fn a_cube_waits_as_it_is_slow_or_as_others_are_more_urgent() {
        assert_eq!(why(&wait(0.011, 8), 10), "moves 1.1 mm a tick");
        assert_eq!(why(&wait(0.9, 8), 10), "8 are more urgent");
        assert_eq!(why(&wait(0.9, 1), 10), "1 is more urgent");
        assert_eq!(why(&wait(0.9, 0), 10), "next, it did not fit");
    }
}
