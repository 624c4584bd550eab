//! The budget of a lane, what it costs in errors, and which cubes wait for their turn.

use bevy_egui::egui::{DragValue, Rect, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2};
use cubewire_protocol::{BUDGETS_KBPS, Standing, Wait};
use cubewire_scene::TICKS_PER_SECOND;

use crate::history::Selection;
use crate::panel::style::{BODY, CONTROL, LINE, Look, ROW, SMALL, page_left};
use crate::panel::terms;
use crate::panel::widgets::{
    At, Choice, Row, Scale, Slide, card, field, heading, named, note, segmented, slider, text,
};
use crate::replication::{Accounting, LaneMeter, SenderSettings, Totals};
use crate::words::{grouped, rounded};

/// What the page reads.
pub(super) struct Measured<'a> {
    pub(super) meter: &'a LaneMeter,
    pub(super) standings: &'a [Standing],
}

pub(super) fn draw(
    ui: &mut Ui,
    sender: &mut SenderSettings,
    selection: &mut Selection,
    what: &Measured<'_>,
) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.add_space(2.0);
    switch(ui, sender);
    ui.add_space(4.0);
    limit(ui, sender);
    note(ui, about(sender)).on_hover_text(terms::BUDGET);
    ui.add_space(8.0);
    cards(ui, sender, what.meter);
    ui.add_space(10.0);
    waiting(ui, selection, what);
}

/// The budget as a number, and whether there is one.
fn switch(ui: &mut Ui, sender: &mut SenderSettings) {
    let kept = ui.id().with("budget that was set last");
    let last: u32 = ui.data(|data| data.get_temp(kept)).unwrap_or(FIRST_KBPS);
    let width = ui.available_width();
    named(ui, width - SWITCH - NUMBER, "Budget", BODY, |ui| {
        let mut kbps = sender.budget.unwrap_or(last);
        let drag = DragValue::new(&mut kbps).range(BUDGETS_KBPS);
        let number = field(ui, FIELD, drag, "kbps");
        number.widget_info(|| WidgetInfo {
            label: Some("Budget in kbps".to_owned()),
            ..WidgetInfo::drag_value(true, f64::from(kbps))
        });
        if number.changed() {
            sender.budget = Some(kbps);
        }
        ui.add_space(ui.available_width() - SWITCH);
        let mut is_limited = sender.budget.is_some();
        let choices = [
            Choice::new(false, "off", "Everything that has changed is sent at once."),
            Choice::new(true, "on", terms::BUDGET),
        ];
        segmented(ui, SWITCH, &mut is_limited, &choices);
        if is_limited != sender.budget.is_some() {
            sender.budget = is_limited.then_some(last);
        }
    });
    if let Some(kbps) = sender.budget {
        ui.data_mut(|data| data.insert_temp(kept, kbps));
    }
}

/// The slider, with ticks at the powers of two.
fn limit(ui: &mut Ui, sender: &mut SenderSettings) {
    let look = Look::of(ui);
    let [least, most] = [*BUDGETS_KBPS.start(), *BUDGETS_KBPS.end()];
    let slide = Slide {
        name: "Budget".to_owned(),
        width: ui.available_width(),
        range: f64::from(least)..=f64::from(most),
        scale: Scale::Logarithmic,
        knob: KNOB,
        color: look.warning,
    };
    let mut kbps = f64::from(sender.budget.unwrap_or(most));
    ui.add_enabled_ui(sender.budget.is_some(), |ui| {
        let slid = slider(ui, &slide, &mut kbps);
        if slid.changed() {
            sender.budget = Some(kbps.round() as u32);
        }
        slid.on_disabled_hover_text("There is no budget: everything that has changed is sent.");
    });
    let (row, _) = ui.allocate_exact_size(vec2(slide.width, TICK + LINE), Sense::hover());
    let labels = row.with_min_y(row.top() + TICK);
    let ticks = least.ilog2()..=most.ilog2();
    for tick in ticks.map(|power| 1_u32 << power) {
        let x = slide.x_of(f64::from(tick));
        let at = match tick {
            _ if tick == least => At::Left(0.0),
            _ if tick == most => At::Right(0.0),
            _ => At::Center(x),
        };
        let mark = row.top()..=row.top() + TICK - 1.0;
        ui.painter().vline(row.left() + x, mark, (1.0, look.quiet));
        let color = match sender.budget == Some(tick) {
            true => look.ink,
            false => look.muted,
        };
        text(ui.painter(), labels, at, tick, SMALL, color);
    }
}

const fn about(sender: &SenderSettings) -> &'static str {
    match (sender.budget, sender.stages.can_be_partial()) {
        (None, _) => "Without a budget, all that has changed is sent at once.",
        (Some(_), true) => "No second takes more. What does not fit waits, by priority.",
        (Some(_), false) => "These stages send all cubes or none: there are fewer snapshots.",
    }
}

fn cards(ui: &mut Ui, sender: &SenderSettings, meter: &LaneMeter) {
    let second = Totals::of(meter.newest(TICKS_PER_SECOND as usize));
    let sent = grouped(second.kbps(Accounting::OnTheWire));
    let of = match sender.budget {
        Some(budget) => format!("of {budget} kbps"),
        None => "kbps".to_owned(),
    };
    let error = second.mean_error_m().map(|metres| rounded(1000.0 * metres));
    let without = without(sender, meter).map(|metres| rounded(1000.0 * metres));
    let unit = match (&error, without) {
        (None, _) => String::new(),
        (Some(_), Some(without)) => format!("mm; {without} without"),
        (Some(_), None) => "mm".to_owned(),
    };
    let error = error.unwrap_or_else(|| "not measured".to_owned());
    let width = (ui.available_width() - BETWEEN) / 2.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = BETWEEN;
        card(ui, width, "sent", &sent, &of).on_hover_text(
            "On the wire, with all headers, mean of the last second: that is what the budget counts.",
        );
        card(ui, width, "mean error", &error, &unit).on_hover_text(
            "Distance of the red cubes from the simulation's, mean of the last second; and with the same stages before \
             there was a budget, within the last minute.",
        );
    });
}

/// The mean error that the same stages had without a budget, metres, if the last minute has a second of that.
fn without(sender: &SenderSettings, meter: &LaneMeter) -> Option<f64> {
    sender.budget?;
    let samples = meter.samples().iter();
    let unlimited =
        samples.filter(|sample| sample.budget_kbps.is_none() && sample.stages == sender.stages);
    let totals = Totals::of(unlimited);
    let is_enough = totals.ticks >= TICKS_PER_SECOND as usize;
    totals.mean_error_m().filter(|_| is_enough)
}

/// The cubes that wait: the longest first, as many as fit.
fn waiting(ui: &mut Ui, selection: &mut Selection, what: &Measured<'_>) {
    let newest = what.meter.samples().back();
    let now = newest.map_or(0, |sample| sample.tick);
    let waits = what.standings.iter().enumerate();
    let mut waits: Vec<(usize, Wait)> = waits
        .filter_map(|(cube, standing)| match standing {
            Standing::Waits(wait) => Some((cube, *wait)),
            _ => None,
        })
        .collect();
    waits.sort_by_key(|(_, wait)| (wait.since, wait.more_urgent));
    // With a budget, not every tick has a packet.
    let mut newest = what.meter.back_from(None).take(TICKS_PER_SECOND as usize);
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
    foot(ui, waits.len() - shown);
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
        "Due for {ticks} ticks; its surface has moved {mm:.1} mm since it was last sent. Priority {:.1}; {}. A click selects \
         the cube.",
        wait.priority,
        others(wait.more_urgent)
    );
    if row.response.on_hover_text(about).clicked() {
        selection.cube = Some(cube);
    }
}

fn foot(ui: &mut Ui, more: usize) {
    let look = Look::of(ui);
    let said = match more {
        0 => HOVER.to_owned(),
        more => format!("{HOVER} {more} more"),
    };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &said));
    let end = text(ui.painter(), rect, At::Left(0.0), HOVER, SMALL, look.muted).right();
    if more > 0 {
        let rest = Rect::from_min_max(pos2(end + 4.0, rect.top()), rect.max);
        let words = format!("{more} more");
        text(ui.painter(), rest, At::Left(0.0), words, SMALL, look.ink);
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

/// What a budget is at first.
const FIRST_KBPS: u32 = 64;

/// What moves less than that has little to be sent for.
const SLOW_MM: f32 = 2.0;

const HOVER: &str = "Hover a row: the cube is outlined in both halves.";

/// Rows that are there even if the page has to scroll for them.
const MIN_ROWS: usize = 3;

/// Logical points.
const SWITCH: f32 = 88.0;
const NUMBER: f32 = 112.0;
const FIELD: f32 = 56.0;
const KNOB: f32 = 18.0;
const TICK: f32 = 5.0;
const BETWEEN: f32 = 8.0;
const BAR: f32 = 64.0;

const _: () = assert!(KNOB < CONTROL);

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
