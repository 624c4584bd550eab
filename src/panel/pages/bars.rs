//! What the pages about rungs have in common: a bar in each row, on one logarithmic scale, the target through all of
//! them, and two columns of figures.

use std::ops::RangeInclusive;

use bevy_egui::egui::{Color32, Rangef, Shape, Stroke, Ui, pos2};
use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;
use cubewire_inspector::words::{factor, rounded};

use crate::panel::style::{BODY, GAP, LINE, Look, ROW, SMALL, page_left};
use crate::panel::widgets::{At, Row, Scale, key};
use crate::replication::TARGET_KBPS;

/// The position of a bandwidth, from the left end of a row of that width.
fn at(width: f32, kbps: f64) -> f32 {
    let room = (width - LEFT - RIGHT).max(MIN_WIDTH);
    LEFT + room * Scale::Logarithmic.fraction(kbps, &SCALE_KBPS) as f32
}

/// The name of the rows, those of the columns of figures, and marks of the scale; `about` is told under the pointer. Rows of
/// anything but rungs have a name of their own, with its colour.
pub(super) fn header(
    ui: &mut Ui,
    own: Option<(String, Color32)>,
    columns: [&str; 2],
    about: String,
) {
    let look = Look::of(ui);
    let left = if own.is_some() { TITLE } else { NAME };
    let (name, color) = own.unwrap_or_else(|| ("rung".to_owned(), look.muted));
    let row = Row::show(ui, LINE, &[&*name, columns[0], columns[1]].join(", "));
    let at = |kbps| at(row.rect.width(), kbps);
    let target = format!("{TARGET_KBPS:.0}");
    // Where the bars are short, the target alone.
    let has_room = at(10_000.0) - LEFT > MARKS;
    let [low, high] = if has_room { ["10", "10k"] } else { [""; 2] };
    for (at, words, color) in [
        (At::Left(left), &*name, color),
        (At::Left(LEFT), low, look.muted),
        (At::Center(at(TARGET_KBPS)), &target, look.ink),
        (At::Center(at(10_000.0)), high, look.muted),
        (At::Right(FIGURE), columns[0], look.muted),
        (At::Right(LAST), columns[1], look.muted),
    ] {
        row.text(ui, at, words, SMALL, color);
    }
    row.response.on_hover_text(about);
}

/// Paints the bar of a row from one bandwidth to another, which follow what changes within 150 ms, and its figures. No
/// other row of the page has that name.
pub(super) fn bar(
    ui: &Ui,
    row: &Row,
    name: &str,
    ends: [f64; 2],
    color: Color32,
    figures: [(String, Color32); 2],
) {
    // A frame that is longer than that has no time to follow.
    let is_slow = ui.input(|input| input.stable_dt) >= GLIDE;
    let seconds = if is_slow { 0.0 } else { GLIDE };
    let [a, b] = [0, 1].map(|index| {
        let id = ui.id().with((name, index));
        let at = at(row.rect.width(), ends[index]);
        ui.ctx().animate_value_with_time(id, at, seconds)
    });
    row.bar(ui, a.min(b), a.max(b).max(a.min(b) + MIN_BAR), color);
    for ((words, color), right) in figures.into_iter().zip([FIGURE, LAST]) {
        row.text(ui, At::Right(right), words, SMALL, color);
    }
}

/// The target, as a dashed line through these rows.
pub(super) fn target(ui: &Ui, rows: Rangef) {
    let x = ui.cursor().left() + at(ui.available_width(), TARGET_KBPS);
    let stroke = Stroke::new(1.0, Look::of(ui).ink);
    let line = [pos2(x, rows.min), pos2(x, rows.max)];
    let dashes = Shape::dashed_line(&line, stroke, 3.0, 3.0);
    ui.painter().extend(dashes);
}

/// The row of a rung, with its key before its name, marked if it is the one that is shown. A click selects it.
pub(super) fn rung(
    ui: &mut Ui,
    height: f32,
    (rung, rung_key): (&Rung, &str),
    shown: Stages,
    stages: &mut Stages,
) -> Row {
    let look = Look::of(ui);
    let row = Row::button(ui, height, rung.name, rung.stages == shown);
    if row.response.clicked() {
        *stages = rung.stages;
    }
    key(ui.painter(), row.rect, RUNG_KEY, rung_key, look.muted);
    row.text(ui, At::Left(NAME), rung.name, BODY, look.ink);
    row
}

/// The height of rows that fill the page, as many as that, above what takes `below`.
pub(super) fn height(ui: &Ui, rows: usize, below: f32) -> f32 {
    let room = page_left(ui) - LINE - below;
    (room / rows as f32).floor().clamp(ROW, MAX_ROW)
}

/// A difference with its sign; what is shown as zero has none.
pub(super) fn signed(kbps: f64) -> String {
    match kbps {
        _ if kbps.abs() < SHOWN_AS_ZERO => "0".to_owned(),
        ..0.0 => rounded(kbps),
        _ => format!("+{}", rounded(kbps)),
    }
}

/// A factor from one rung to the next: they are small, and told apart by two decimals.
pub(super) fn step(times: f64) -> String {
    match times {
        ..9.995 => format!("{times:.2}×"),
        _ => factor(times),
    }
}

/// The ends of the scale.
pub(super) const SCALE_KBPS: RangeInclusive<f64> = 10.0..=20_000.0;

/// A difference below this is not one, kbps.
pub(super) const SHOWN_AS_ZERO: f64 = 0.05;

/// Seconds that a bar takes to its new length.
const GLIDE: f32 = 0.15;

/// Logical points, from the left end of a row: its title, or behind its switch a rung's key and name; its bar. From the right:
/// the bar, and both figures.
pub(super) const TITLE: f32 = 2.0;
const RUNG_KEY: f32 = 16.0;
const NAME: f32 = 38.0;
const LEFT: f32 = 172.0;
const RIGHT: f32 = 120.0;
const FIGURE: f32 = 58.0;
const LAST: f32 = 4.0;

/// Logical points.
const MIN_WIDTH: f32 = 24.0;
const MIN_BAR: f32 = 2.0;
const MAX_ROW: f32 = ROW + GAP;

/// Width from which the ends of the scale are marked, too, logical points.
const MARKS: f32 = 70.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_where_the_figures_begin_and_have_their_least_width() {
        for (width, right) in [(376.0, 256.0), (100.0, LEFT + MIN_WIDTH)] {
            assert_eq!((at(width, 0.0), at(width, 1e9)), (LEFT, right));
        }
    }

    #[test]
    fn a_difference_has_a_sign_unless_it_is_zero() {
        let signed = [12.34, -0.26, -0.04, -5_352.0].map(signed);
        assert_eq!(signed, ["+12.3", "−0.3", "0", "−5\u{2009}352"]);
    }

    #[test]
    fn a_step_has_two_decimals_unless_it_is_large() {
        assert_eq!([0.97, 9.994, 9.996].map(step), ["0.97×", "9.99×", "10×"]);
    }
}
