//! The page *Budget*: the bandwidth budget of the lane, its effect on the error, and the cubes that wait to be sent.

use std::ptr;

use cubewire_inspector::waiting::Waiting;
use cubewire_protocol::BUDGETS_KBPS;

use crate::panel::prelude::*;

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    ui.add_space(2.0);
    let kept = ui.id().with("budget that was set last");
    let last: u32 = ui.data(|data| data.get_temp(kept)).unwrap_or(FIRST_KBPS);
    let budget = &mut lane.settings.sender.budget;
    switch(ui, budget, last);
    ui.add_space(4.0);
    let Some(mut kbps) = *budget else {
        note(ui, OFF);
        ui.add_space(8.0);
        cards(ui, lane, None);
        return;
    };
    ui.data_mut(|data| data.insert_temp(kept, kbps));
    limit(ui, &mut kbps);
    *budget = Some(kbps);
    let about = match lane.settings.sender.stages.can_be_partial() {
        true => "Limits every second. Cubes that do not fit wait, by priority.",
        false => "These stages only send complete snapshots, so fewer are sent.",
    };
    note(ui, about).on_hover_text(terms::BUDGET);
    ui.add_space(8.0);
    cards(ui, lane, Some(kbps));
    ui.add_space(10.0);
    waiting(ui, lane);
}

fn waiting(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let waits = lane.send_states.map(|send_states| send_states.waits.longest());
    let waiting = Waiting {
        waits: &waits.unwrap_or_default(),
        ticks_per_second: TICKS_PER_SECOND,
        names: terms::names(),
        unit: ("mm", 1000.0),
        width: 48.0,
        hint: "Hover a row: the cube is outlined in both halves.",
    };
    let heading = lane.selection.highlight(|highlight| waiting.draw(ui, highlight));
    heading.on_hover_text(terms::SEND_STATE);
}

fn switch(ui: &mut Ui, budget: &mut Option<u32>, last: u32) {
    named(ui, ui.available_width() - SWITCH - 112.0, "Budget", BODY, |ui| {
        if let Some(kbps) = budget {
            field(ui, "Budget in kbps", 56.0, DragValue::new(kbps).range(BUDGETS_KBPS), "kbps");
        }
        ui.add_space(ui.available_width() - SWITCH);
        let states = choices([
            (None, "off", "All changes are sent at once."),
            (Some(budget.unwrap_or(last)), "on", terms::BUDGET),
        ]);
        segmented(ui, SWITCH, budget, &states);
    });
}

fn limit(ui: &mut Ui, kbps: &mut u32) {
    let look = Look::of(ui);
    let [least, most] = [*BUDGETS_KBPS.start(), *BUDGETS_KBPS.end()];
    let slide = Slide {
        name: "Budget".to_owned(),
        size: vec2(ui.available_width(), CONTROL),
        range: f64::from(least)..=f64::from(most),
        scale: Scale::Logarithmic,
        color: look.warning,
    };
    let mut wanted = f64::from(*kbps);
    if slide.draw(ui, &mut wanted).changed() {
        *kbps = wanted.round() as u32;
    }
    let (row, _) = ui.allocate_exact_size(vec2(slide.size.x, TICK + LINE), Sense::hover());
    let labels = row.with_min_y(row.top() + TICK);
    for tick in (least.ilog2()..=most.ilog2()).map(|power| 1_u32 << power) {
        let x = slide.x_of(f64::from(tick));
        let at = match tick {
            _ if tick == least => At::Left(0.0),
            _ if tick == most => At::Right(0.0),
            _ => At::Center(x),
        };
        ui.painter().vline(row.left() + x, row.top()..=row.top() + TICK - 1.0, (1.0, look.quiet));
        let color = if *kbps == tick { look.ink } else { look.muted };
        text(ui.painter(), labels, at, grouped(tick.into()), SMALL, color);
    }
}

fn cards(ui: &mut Ui, lane: &LaneView<'_>, budget: Option<u32>) {
    let second = lane.meter.second(None);
    let second = second.as_ref();
    let sent = second.map(|second| grouped(second.kbps(Accounting::OnTheWire)));
    let sent = sent.unwrap_or_else(|| "…".to_owned());
    let of = budget.map_or("kbps".to_owned(), |kbps| format!("of {} kbps", grouped(kbps.into())));
    let mm = |metres: f64| rounded(1000.0 * metres);
    let error = second.map(|second| second.mean_error_m().map(mm));
    let (error, unit) = match (error, budget.and_then(|_| without(ui, lane)).map(mm)) {
        (None, _) => ("…".to_owned(), String::new()),
        (Some(None), _) => ("not measured".to_owned(), String::new()),
        (Some(Some(error)), Some(without)) => (error, format!("mm; {without} without")),
        (Some(Some(error)), None) => (error, "mm".to_owned()),
    };
    let (width, ink) = ((ui.available_width() - BETWEEN) / 2.0, Look::of(ui).ink);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = BETWEEN;
        for (name, value, unit, about) in
            [("sent, on the wire", sent, of, ABOUT_SENT), ("mean error", error, unit, ABOUT_ERROR)]
        {
            let said = format!("{name}: {value} {unit}");
            card(ui, width, &said, [name, &value, &unit], ink).on_hover_text(about);
        }
    });
}

/// Returns the mean error of the same stages without a budget, metres, if the last minute has at least a second of such
/// ticks. Computed once a second.
fn without(ui: &Ui, lane: &LaneView<'_>) -> Option<f64> {
    let (meter, stages) = (lane.meter, lane.settings.sender.stages);
    let key = (ptr::from_ref(meter).addr(), lane.now() / u64::from(TICKS_PER_SECOND), stages);
    kept(ui, Id::new("error without a budget"), key, || {
        let samples = meter.samples().iter();
        let unlimited =
            samples.filter(|sample| sample.budget_kbps.is_none() && sample.stages == stages);
        let totals = Totals::of(unlimited);
        totals.mean_error_m().filter(|_| totals.ticks >= TICKS_PER_SECOND as usize)
    })
}

const OFF: &str = "A budget limits the bytes that the lane sends per second. The most urgent cubes are sent \
    first, and the others wait.";

const ABOUT_SENT: &str = "Mean of one second with all headers, as the budget counts it.";

const ABOUT_ERROR: &str = "Mean distance of the red cubes from the simulation in the last second, and with the same stages \
    without a budget in the last minute.";

const FIRST_KBPS: u32 = 64;

/// Sizes and distances, logical points.
const SWITCH: f32 = 88.0;
const TICK: f32 = 5.0;
const BETWEEN: f32 = 8.0;
