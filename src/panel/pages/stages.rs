//! A switch for each stage of the codec, and what each saves now. Options that do not go with the others stay in sight,
//! with the reason; one that is clicked changes what is in its way.

mod offers;
mod repair;
pub(super) mod switch;
mod words;

use bevy_egui::egui::{Id, Ui};
use cubewire_codec::Stages;

use crate::panel::style::{CONTROL, LINE, Look, SMALL};
use crate::panel::terms::capital;
use crate::panel::widgets::{At, Choice, Row, segmented, width};
use crate::replication::Ablation;
use crate::words::rounded;
use offers::Offer;
use switch::Switch;
use words::Wordings;

pub(super) fn draw(ui: &mut Ui, stages: &mut Stages, ablation: Option<&Ablation>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    // An option that was clicked applies to all switches from the next frame on.
    let present = *stages;
    for switch in Switch::ALL {
        let offers = offers::of(switch, present);
        ui.add_space(ABOVE);
        title(ui, switch, &offers, present, ablation);
        ui.add_space(BETWEEN);
        let mut on = offers.iter().position(|offer| offer.is_on);
        let choices: Vec<_> = offers.iter().enumerate().map(choice).collect();
        let across = ui.available_width();
        let pressed = segmented(ui, across, &mut on, &choices);
        if let Some(offer) = pressed.map(|index| &offers[index]) {
            *stages = offer.stages;
            remember(ui, switch, words::changes(switch, present, offer.stages));
        }
        ui.add_space(BELOW);
    }
}

fn choice((index, offer): (usize, &Offer)) -> Choice<Option<usize>> {
    Choice {
        refusal: offer.refusal.map(|refusal| {
            format!(
                "{}. A click changes what is in the way.",
                capital(&refusal.to_string())
            )
        }),
        ..Choice::new(Some(index), offer.name, offer.about)
    }
}

/// The name, why some options are not possible or what a click has changed, and what the stage saves.
fn title(
    ui: &mut Ui,
    switch: Switch,
    offers: &[Offer],
    present: Stages,
    ablation: Option<&Ablation>,
) {
    let look = Look::of(ui);
    let saved = ablation.map(|ablation| saved(ablation, switch, present));
    let figure = match saved {
        None => String::new(),
        Some(None) => "…".to_owned(),
        Some(Some(kbps)) => figure(kbps),
    };
    let about = match figure.is_empty() {
        true => switch.name().to_owned(),
        false => format!("{}: saves {figure} kbps", switch.name()),
    };
    let row = Row::show(ui, LINE, &about);
    row.text(ui, At::Left(0.0), switch.name(), SMALL, look.ink);
    let color = match saved.flatten() {
        Some(kbps) if kbps <= -LEAST => look.warning,
        Some(kbps) if kbps >= LEAST => look.ink,
        _ => look.muted,
    };
    row.text(ui, At::Right(0.0), &figure, SMALL, color);
    let room = row.rect.width() - FIGURE - 2.0 * GAP - width(ui, switch.name(), SMALL);
    let fits = |words: &String| width(ui, words, SMALL) <= room;
    let said = remembered(ui, switch).or_else(|| words::reasons(switch, present, offers));
    if let Some(said) = said.and_then(|said| said.into_iter().find(fits)) {
        row.text(ui, At::Right(FIGURE + GAP), said, SMALL, look.muted);
    }
}

/// What the stage saves against none of it, kbps: none before that is measured, 0 if there is none of it.
fn saved(ablation: &Ablation, switch: Switch, present: Stages) -> Option<f64> {
    if ablation.present() != present {
        return None;
    }
    let rows = ablation.rows();
    let now = rows.first()?.kbps()?;
    // The last of a part takes all of it away.
    let mut rows = rows.iter().rev();
    let without = rows.find(|row| row.ablated().is_some_and(|row| row.part == switch.part()));
    match without {
        Some(row) => Some(row.kbps()? - now),
        None => Some(0.0),
    }
}

fn figure(kbps: f64) -> String {
    match kbps.abs() < LEAST {
        true => "0".to_owned(),
        false => rounded(kbps),
    }
}

/// Keeps what a click has changed besides, for a while.
fn remember(ui: &Ui, switch: Switch, changes: Option<Wordings>) {
    let now = ui.input(|input| input.time);
    ui.data_mut(|data| data.insert_temp(Id::new(CHANGED), (now, switch, changes)));
}

fn remembered(ui: &Ui, switch: Switch) -> Option<Wordings> {
    let now = ui.input(|input| input.time);
    let (since, of, changes): (f64, Switch, Option<Wordings>) =
        ui.data(|data| data.get_temp(Id::new(CHANGED)))?;
    changes.filter(|_| of == switch && now - since < SHOWN_SECONDS)
}

const CHANGED: &str = "what a click on a stage has changed";

/// How long that is shown.
const SHOWN_SECONDS: f64 = 4.0;

/// Differences that count, kbps.
const LEAST: f64 = 0.05;

/// Logical points: 50 for a stage, with a line and a control.
const ABOVE: f32 = 3.0;
const BETWEEN: f32 = 3.0;
const BELOW: f32 = 50.0 - ABOVE - LINE - BETWEEN - CONTROL;
const FIGURE: f32 = 56.0;
const GAP: f32 = 10.0;
