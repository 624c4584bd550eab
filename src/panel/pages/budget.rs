//! The budget of a lane, what it costs in errors, and which cubes wait for their turn.

mod waiting;

use std::ptr;

use bevy_egui::egui::{DragValue, Id, Sense, Ui, WidgetInfo, vec2};
use cubewire_protocol::{BUDGETS_KBPS, Standing};
use cubewire_scene::TICKS_PER_SECOND;

use crate::history::Selection;
use crate::panel::kept::kept;
use crate::panel::style::{BODY, CONTROL, LINE, Look, SMALL};
use crate::panel::terms;
use crate::panel::widgets::{
    At, Choice, Scale, Slide, card, field, named, note, segmented, slider, text,
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
    waiting::draw(ui, selection, what.meter, what.standings);
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
    let without = without(ui, sender, meter).map(|metres| rounded(1000.0 * metres));
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

/// The mean error that the same stages had without a budget, metres, if the last minute has a second of that. It is
/// computed once a second.
fn without(ui: &Ui, sender: &SenderSettings, meter: &LaneMeter) -> Option<f64> {
    sender.budget?;
    let second = meter.samples().back()?.tick / u64::from(TICKS_PER_SECOND);
    let key = (ptr::from_ref(meter).addr(), second, sender.stages);
    kept(ui, Id::new("error without a budget"), key, || {
        let samples = meter.samples().iter();
        let unlimited =
            samples.filter(|sample| sample.budget_kbps.is_none() && sample.stages == sender.stages);
        let totals = Totals::of(unlimited);
        let is_enough = totals.ticks >= TICKS_PER_SECOND as usize;
        totals.mean_error_m().filter(|_| is_enough)
    })
}

/// What a budget is at first.
const FIRST_KBPS: u32 = 64;

/// Logical points.
const SWITCH: f32 = 88.0;
const NUMBER: f32 = 112.0;
const FIELD: f32 = 56.0;
const KNOB: f32 = 18.0;
const TICK: f32 = 5.0;
const BETWEEN: f32 = 8.0;

const _: () = assert!(KNOB < CONTROL);
