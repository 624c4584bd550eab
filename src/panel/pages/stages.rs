//! The page *Stages*: a switch for each stage of the codec, and its present savings. An option with an asterisk also changes
//! other stages; the row above names the changes.

pub(super) mod offers;

use crate::panel::prelude::*;
use crate::replication::{Ablated, RungCosts};
use offers::besides;

/// Smaller differences are displayed as zero, kbps.
pub(super) const SHOWN_AS_ZERO: f64 = 0.05;

/// The switches. Their savings are measured by removing the part.
pub(super) const SWITCHES: [(Part, &str); 8] = [
    (Part::Orientation, "Orientation"),
    (Part::Velocity, "Velocity"),
    (Part::Position, "Position"),
    (Part::Delta, "Selection"),
    (Part::Coding, "Coding"),
    (Part::RelativePosition, "Relative position"),
    (Part::RelativeOrientation, "Relative orientation"),
    (Part::ChangedFlags, "Changed flags"),
];

/// Returns the name of a part in lower case; empty if the part has no switch.
pub(super) fn name(part: Part) -> String {
    let found = SWITCHES.into_iter().find(|switch| switch.0 == part);
    found.map_or("", |switch| switch.1).to_lowercase()
}

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let is_old = old(lane).is_some();
    let figures = lane.ablation.map(|_| measured(lane));
    let stages = &mut lane.settings.sender.stages;
    // All switches use the same stages in this frame. A click takes effect in the next one.
    let present = *stages;
    for (part, name) in SWITCHES {
        let offers = offers::of(part, present);
        let saved = figures.as_ref().map(|rows| Some(saved(rows.as_deref()?, part)));
        ui.add_space(ABOVE);
        title(ui, (part, name), &offers, (present, is_old), saved);
        ui.add_space(BETWEEN);
        let (across, mut on) = (ui.available_width(), present);
        segmented(ui, across, &mut on, &offers);
        if on != present {
            *stages = on;
        }
        ui.add_space(BELOW);
    }
}

fn title(
    ui: &mut Ui,
    (part, name): (Part, &str),
    offers: &[Choice<Stages>],
    (present, is_old): (Stages, bool),
    saved: Option<Option<f64>>,
) {
    let look = Look::of(ui);
    let (figure, color) = match saved {
        None => (String::new(), look.muted),
        Some(None) => ("…".to_owned(), look.muted),
        Some(Some(kbps)) if kbps.abs() < SHOWN_AS_ZERO => ("0".to_owned(), look.muted),
        Some(Some(kbps)) if is_old => (rounded(kbps), look.muted),
        Some(Some(kbps)) if kbps < 0.0 => (rounded(kbps), look.warning),
        Some(Some(kbps)) => (rounded(kbps), look.ink),
    };
    let about = match saved {
        None => name.to_owned(),
        Some(_) => format!("{name}: saves {figure} kbps"),
    };
    let row = Row::show(ui, LINE, &about);
    row.text(ui, At::Left(0.0), name, SMALL, look.ink);
    row.text(ui, At::Right(0.0), &figure, SMALL, color);
    let room = row.rect.width() - FIGURE - 2.0 * GAP - width(ui, name, SMALL);
    let fits = |words: &String| width(ui, words, SMALL) <= room;
    let said = needs(part, present, offers);
    if let Some(said) = said.and_then(|said| said.into_iter().find(fits)) {
        row.text(ui, At::Right(FIGURE + GAP), said, SMALL, look.muted);
    }
}

/// Text about the side effects of options with an asterisk, in a long and a short form.
fn needs(part: Part, present: Stages, offers: &[Choice<Stages>]) -> Option<[String; 2]> {
    if part == Part::Delta && present.delta.is_arithmetic() {
        let coded = "of the arithmetic coding";
        return Some([format!("a part {coded}"), coded.to_owned()]);
    }
    let marked = offers.iter().filter(|offer| offer.is_marked);
    let mut changes: Vec<_> =
        marked.filter_map(|offer| besides(part, present, offer.value)).collect();
    changes.dedup();
    match &changes[..] {
        [] => None,
        [[long, count]] => Some([format!("* {long}"), format!("* changes {count}")]),
        _ => Some(["* changes other stages"; 2].map(str::to_owned)),
    }
}

fn saved(rows: &[(Option<Ablated>, f64)], part: Part) -> f64 {
    // The last row of a part is the cost with all of that part removed.
    let mut rest = rows.iter().rev();
    let is_without = |row: &Option<Ablated>| row.as_ref().is_some_and(|row| row.part == part);
    rest.find(|(row, _)| is_without(row)).map_or(0.0, |(_, kbps)| kbps - rows[0].1)
}

/// Returns the cost of the lane's stages, followed by the cost without each part, kbps. Recent costs are scaled to the
/// measured bandwidth of the lane. Returns `None` until every row is measured for the present stages.
pub(super) fn measured(lane: &LaneView<'_>) -> Option<Vec<(Option<Ablated>, f64)>> {
    let (rows, stages) = (lane.ablation?.rows(), lane.settings.sender.stages);
    let present = rows[0].kbps(0).filter(|_| rows[0].stages == stages)?;
    let costs = RungCosts::new(lane.meter, None, &lane.settings.sender, None);
    let is_old = old(lane).is_some();
    let rows = rows.iter().map(|row| {
        let encoded = row.kbps(0)?;
        let kbps = if is_old { encoded } else { costs.scaled(encoded, present) };
        Some((row.of.clone(), kbps))
    });
    rows.collect()
}

pub(super) fn caption(look: Look, lane: &LaneView<'_>) -> (String, Color32) {
    match lane.ablation.map(|_| measured(lane)) {
        None => (String::new(), look.muted),
        Some(None) => ("measuring …".to_owned(), look.muted),
        Some(Some(_)) => dated(look, old(lane), ["saves kbps now", "saved kbps"]),
    }
}

/// Returns the age of the figures, seconds, if it is more than 1 s. A slow machine may lag behind.
pub(super) fn old(lane: &LaneView<'_>) -> Option<f64> {
    let ticks = lane.ablation?.age_ticks(lane.now())?;
    let seconds = ticks as f64 / f64::from(TICKS_PER_SECOND);
    (seconds > 1.0).then_some(seconds)
}

/// Returns a caption with its colour: `now`, or for [`old`] figures `then` with their age.
pub(super) fn dated(look: Look, old: Option<f64>, [now, then]: [&str; 2]) -> (String, Color32) {
    match old {
        None => (now.to_owned(), look.muted),
        Some(seconds) => {
            let color = if seconds > 2.0 { look.warning } else { look.muted };
            (format!("{then} {seconds:.1} s ago"), color)
        }
    }
}

/// Distances, logical points. A stage takes 50, including a line and a control.
const ABOVE: f32 = 3.0;
const BETWEEN: f32 = 3.0;
const BELOW: f32 = 50.0 - ABOVE - LINE - BETWEEN - CONTROL;
const FIGURE: f32 = 56.0;
const GAP: f32 = 10.0;

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn side_effects_are_named_before_a_click() {
        let (changed, predicted) = (ladder::CHANGED_FLAGS, ladder::PREDICTED);
        for (rung, part, said) in [
            (changed, Part::Orientation, "* without relative orientation"),
            (changed, Part::Orientation, "* changes 1 other stage"),
            (changed, Part::Position, "* without relative position"),
            (changed, Part::Delta, "* changes 3 other stages"),
            (changed, Part::Coding, "* changes 3 other stages"),
            (ladder::UNCOMPRESSED, Part::ChangedFlags, "* with a selection"),
            (predicted, Part::Position, "* without arithmetic coding"),
            (predicted, Part::Delta, "a part of the arithmetic coding"),
        ] {
            let needs = needs(part, rung.stages, &offers::of(part, rung.stages)).unwrap();
            assert!(needs.contains(&said.to_owned()), "{}: {needs:?}", rung.name);
        }
        let offers = offers::of(Part::Delta, ladder::POSITION.stages);
        assert_eq!(needs(Part::Delta, ladder::POSITION.stages, &offers), None);
    }
}
