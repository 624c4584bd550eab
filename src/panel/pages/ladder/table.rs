//! The layout of the ladder's table: in each row a number, a name, a bar on a logarithmic scale, and two figures. The target is a dashed
//! line through all bars.

use std::ops::RangeInclusive;

use cubewire_codec::Stages;
use cubewire_codec::ladder::Rung;

use super::super::stages::SHOWN_AS_ZERO;
use crate::panel::prelude::*;
use crate::replication::TARGET_KBPS;

/// Returns the position of a bandwidth on the scale, from the left end of a row.
fn at(width: f32, kbps: f64) -> f32 {
    let room = (width - LEFT - RIGHT).max(MIN_WIDTH);
    LEFT + room * Scale::Logarithmic.fraction(kbps, &SCALE_KBPS) as f32
}

/// Draws the heads of the columns, and the marks of the scale. `about` is the tooltip.
pub(super) fn header(ui: &mut Ui, heads: [&str; 2], about: String) {
    let look = Look::of(ui);
    let row = Row::show(ui, LINE, &["rung", heads[0], heads[1]].join(", "));
    let at = |kbps| at(row.rect.width(), kbps);
    let target = format!("{TARGET_KBPS:.0}");
    // Short bars leave room only for the mark of the target.
    let has_room = at(10_000.0) - LEFT > MARKS;
    let [low, high] = if has_room { ["10", "10k"] } else { [""; 2] };
    for (at, words, color) in [
        (At::Left(NAME), "rung", look.muted),
        (At::Left(LEFT), low, look.muted),
        (At::Center(at(TARGET_KBPS)), &*target, look.ink),
        (At::Center(at(10_000.0)), high, look.muted),
        (At::Right(FIGURE), heads[0], look.muted),
        (At::Right(LAST), heads[1], look.muted),
    ] {
        row.text(ui, at, words, SMALL, color);
    }
    row.response.on_hover_text(about);
}

/// Text of a difference with its sign. Zero has no sign.
pub(super) fn signed(kbps: f64) -> String {
    match kbps {
        _ if kbps.abs() < SHOWN_AS_ZERO => "0".to_owned(),
        ..0.0 => rounded(kbps),
        _ => format!("+{}", rounded(kbps)),
    }
}

/// Contents of a row: both ends of the bar, kbps, its colour, and two figures with their colours.
pub(super) type Cells = ([f64; 2], Color32, [(String, Color32); 2]);

/// Paints the bar of a rung and its figures. The bar follows changes within 150 ms.
pub(super) fn cells(ui: &Ui, row: &Row, name: &str, (ends, color, figures): Cells) {
    // Without animation if a frame takes longer than the animation.
    let is_slow = ui.input(|input| input.stable_dt) >= GLIDE;
    let seconds = if is_slow { 0.0 } else { GLIDE };
    let [a, b] = [0, 1].map(|index| {
        let id = ui.id().with((name, index));
        ui.ctx().animate_value_with_time(id, at(row.rect.width(), ends[index]), seconds)
    });
    row.bar(ui, a.min(b), a.max(b).max(a.min(b) + MIN_BAR), color);
    for ((words, color), right) in figures.into_iter().zip([FIGURE, LAST]) {
        row.text(ui, At::Right(right), words, SMALL, color);
    }
}

pub(super) fn target(ui: &Ui, rows: Rangef) {
    let x = ui.cursor().left() + at(ui.available_width(), TARGET_KBPS);
    let stroke = Stroke::new(1.0, Look::of(ui).ink);
    line_between(ui.painter(), [pos2(x, rows.min), pos2(x, rows.max)], stroke, Some(3.0));
}

/// Draws the row of a rung with its number and name, marked if the rung is displayed. A click selects it.
pub(super) fn rung(
    ui: &mut Ui,
    height: f32,
    (rung, index): (&Rung, usize),
    shown: Stages,
    stages: &mut Stages,
) -> Row {
    let look = Look::of(ui);
    let row = Row::button(ui, height, rung.name, rung.stages == shown);
    if row.response.clicked() {
        *stages = rung.stages;
    }
    if index < LADDER.len() {
        number(ui, &row, NUMBER, index);
    }
    row.text(ui, At::Left(NAME), rung.name, BODY, look.ink);
    row
}

/// Paints the number of a rung on the ladder, as the flags of the graph have it.
fn number(ui: &Ui, row: &Row, left: f32, index: usize) {
    key(ui.painter(), row.rect, left, &(index + 1).to_string(), Look::of(ui).muted);
}

pub(super) fn bar_color(look: Look, kbps: f64) -> Color32 {
    if kbps <= TARGET_KBPS { look.half } else { look.above_target }
}

/// Returns the height at which `rows` rows fill the page above the last `below` points.
pub(super) fn height(ui: &Ui, rows: usize, below: f32) -> f32 {
    let room = page_left(ui) - LINE - below;
    (room / rows as f32).floor().clamp(ROW, MAX_ROW)
}

const SCALE_KBPS: RangeInclusive<f64> = 10.0..=20_000.0;

/// Duration of the animation of a bar, seconds.
const GLIDE: f32 = 0.15;

/// Distances from the left end of a row: number, name and bar. From the right end: bar, and both figures. Logical points.
const NUMBER: f32 = 16.0;
pub(super) const NAME: f32 = 38.0;
const LEFT: f32 = 172.0;
const RIGHT: f32 = 106.0;
const FIGURE: f32 = 54.0;
const LAST: f32 = 0.0;

/// Minimal widths, logical points.
const MIN_WIDTH: f32 = 24.0;
const MIN_BAR: f32 = 2.0;
const MAX_ROW: f32 = ROW + GAP;

/// Width of the scale at which its ends are marked, too, logical points.
const MARKS: f32 = 70.0;

/// Draws the table of a run outside of the panel: names of rungs, their kbps, and how many times less than uncompressed.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn draw_costs(ui: &mut Ui, title: &str, costs: &[(&str, f64, f64)]) {
    let look = Look::of(ui);
    ui.label(RichText::new(title).size(TITLE));
    note(ui, ABOUT_COSTS);
    ui.add_space(2.0 * GAP);
    ui.spacing_mut().item_spacing.y = 0.0;
    header(ui, ["kbps", "less"], String::new());
    let top = ui.cursor().top();
    for &(name, kbps, less) in costs {
        let row = Row::show(ui, ROW, name);
        if let Some(index) = LADDER.iter().position(|rung| rung.name == name) {
            number(ui, &row, 0.0, index);
        }
        row.text(ui, At::Left(NAME), name, BODY, look.ink);
        let figures = [(rounded(kbps), look.ink), (factor(less), look.muted)];
        cells(ui, &row, name, ([0.0, kbps], bar_color(look, kbps), figures));
    }
    target(ui, Rangef::new(top, ui.cursor().top()));
}

#[cfg(not(target_family = "wasm"))]
const ABOUT_COSTS: &str = "Mean bandwidth with IP and UDP headers, and the reduction factor relative to uncompressed. Bars \
    are on a logarithmic scale. The dashed line is the article's target, 256 kbps.";

/// Font size of the title outside of the panel, logical points.
#[cfg(not(target_family = "wasm"))]
const TITLE: f32 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_where_the_figures_begin_and_have_their_least_width() {
        for (width, right) in [(376.0, 270.0), (100.0, LEFT + MIN_WIDTH)] {
            assert_eq!((at(width, 0.0), at(width, 1e9)), (LEFT, right));
        }
    }

    #[test]
    fn a_difference_has_a_sign_unless_it_is_zero() {
        let signed = [12.34, -0.26, -0.04, -5_352.0].map(signed);
        assert_eq!(signed, ["+12.3", "−0.3", "0", "−5\u{2009}352"]);
    }
}
