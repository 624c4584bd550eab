//! A switch for each stage of the codec, and what each saves now. Options that do not go with the others stay in sight,
//! with the reason; one that is clicked changes what is in its way.

mod offers;
mod repair;

use bevy_egui::egui::Ui;
use cubewire_codec::Stages;
use cubewire_inspector::words::rounded;
use cubewire_scene::TICKS_PER_SECOND;

use super::bars::SHOWN_AS_ZERO;
use crate::panel::lane::LaneView;
use crate::panel::style::{CONTROL, LINE, Look, SMALL};
use crate::panel::widgets::{At, Choice, Row, segmented, width};
use crate::replication::{Ablated, Part, RungCosts};
use repair::besides;

/// The switches, by what is taken away to measure what each saves.
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

/// The name of a part within a sentence; empty if it has no switch.
pub(super) fn name(part: Part) -> String {
    let found = SWITCHES.into_iter().find(|switch| switch.0 == part);
    found.map_or("", |switch| switch.1).to_lowercase()
}

pub(super) fn draw(ui: &mut Ui, lane: &mut LaneView<'_>) {
    let is_old = old(lane).is_some();
    let figures = lane.ablation.map(|_| measured(lane));
    let stages = &mut lane.settings.sender.stages;
    // An option that was clicked applies to all switches from the next frame on.
    let present = *stages;
    for (part, name) in SWITCHES {
        let offers = offers::of(part, present);
        let saved = figures
            .as_ref()
            .map(|rows| Some(saved(rows.as_deref()?, part)));
        ui.add_space(ABOVE);
        title(ui, (part, name), &offers, (present, is_old), saved);
        ui.add_space(BETWEEN);
        let (across, mut on) = (ui.available_width(), present);
        if let Some(index) = segmented(ui, across, &mut on, &offers) {
            *stages = offers[index].value;
        }
        ui.add_space(BELOW);
    }
}

/// The name, what some options change besides, and what the stage saves.
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

/// What options that do not go with the other stages change besides, in full and in short.
fn needs(part: Part, present: Stages, offers: &[Choice<Stages>]) -> Option<[String; 2]> {
    let refused = offers.iter().filter(|offer| offer.refusal.is_some());
    let refused = refused.filter_map(|offer| {
        let besides = besides(part, present, offer.value)?;
        Some((&*offer.name, besides))
    });
    let refused: Vec<_> = refused.collect();
    let Some((first, [_, count])) = refused.first() else {
        let is_coded = part == Part::Delta && present.delta.is_arithmetic();
        let coded = [
            "a part of the arithmetic coding",
            "of the arithmetic coding",
        ];
        return is_coded.then(|| coded.map(str::to_owned));
    };
    let alike = refused.chunk_by(|(_, a), (_, b)| a == b).map(|alike| {
        let names: Vec<_> = alike.iter().map(|(name, _)| *name).collect();
        format!("{}: {}", names.join(", "), alike[0].1[0])
    });
    let long = alike.collect::<Vec<_>>().join("; ");
    Some([long, format!("{first}: changes {count}")])
}

/// What the stage saves against none of it, kbps; 0 if there is none of it.
fn saved(rows: &[(Option<Ablated>, f64)], part: Part) -> f64 {
    // The last of a part takes all of it away.
    let mut rest = rows.iter().rev();
    let is_without = |row: &Option<Ablated>| row.as_ref().is_some_and(|row| row.part == part);
    let without = rest.find(|(row, _)| is_without(row));
    without.map_or(0.0, |(_, kbps)| kbps - rows[0].1)
}

/// What the lane's stages cost now, and what is left of them without each part, kbps: in proportion to what the lane itself costs
/// in the second that all figures are of. None before every row is measured. The ablation lags behind a change of stages.
pub(super) fn measured(lane: &LaneView<'_>) -> Option<Vec<(Option<Ablated>, f64)>> {
    let (ablation, stages) = (lane.ablation?, lane.settings.sender.stages);
    let rows = ablation.rows();
    let present = rows[0].kbps()?;
    let costs = RungCosts::new(lane.meter, None, &lane.settings.sender, None);
    let is_old = old(lane).is_some();
    let rows = rows.iter().map(|row| {
        let encoded = row.kbps()?;
        let kbps = match is_old {
            true => encoded,
            false => costs.scaled(encoded, present),
        };
        Some((row.ablated().cloned(), kbps))
    });
    rows.collect::<Option<Vec<_>>>()
        .filter(|_| ablation.present() == stages)
}

/// What the figures at the right of the titles are; nothing where none are measured.
pub(super) fn caption(lane: &LaneView<'_>) -> String {
    match lane.ablation.map(|_| measured(lane)) {
        None => String::new(),
        Some(None) => "measuring …".to_owned(),
        Some(Some(_)) => match old(lane) {
            None => "saves kbps now".to_owned(),
            Some(ago) => format!("kbps {ago}"),
        },
    }
}

/// How old the figures are, if they lag behind so far that what they are of has changed: a machine may be too slow for them.
pub(super) fn old(lane: &LaneView<'_>) -> Option<String> {
    let ticks = lane.ablation?.age_ticks(lane.now())?;
    let seconds = ticks as f64 / f64::from(TICKS_PER_SECOND);
    (seconds > 1.0).then(|| format!("{seconds:.1} s ago"))
}

/// Logical points: 50 for a stage, with a line and a control.
const ABOVE: f32 = 3.0;
const BETWEEN: f32 = 3.0;
const BELOW: f32 = 50.0 - ABOVE - LINE - BETWEEN - CONTROL;
const FIGURE: f32 = 56.0;
const GAP: f32 = 10.0;

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;

    #[test]
    fn what_an_option_changes_besides_is_told_before_a_click() {
        for (rung, part, said) in [
            (
                ladder::CHANGED_FLAGS,
                Part::Orientation,
                "full: without relative orientation",
            ),
            (
                ladder::CHANGED_FLAGS,
                Part::Orientation,
                "full: changes 1 other stage",
            ),
            (
                ladder::CHANGED_FLAGS,
                Part::Position,
                "full, affine: without relative position",
            ),
            (
                ladder::CHANGED_FLAGS,
                Part::Delta,
                "all cubes: changes 3 other stages",
            ),
            (
                ladder::CHANGED_FLAGS,
                Part::Coding,
                "arithmetic: changes 3 other stages",
            ),
            (
                ladder::UNCOMPRESSED,
                Part::ChangedFlags,
                "separate, joint: with a selection",
            ),
            (
                ladder::PREDICTED,
                Part::Position,
                "full, affine: without arithmetic coding",
            ),
            (
                ladder::PREDICTED,
                Part::Delta,
                "a part of the arithmetic coding",
            ),
        ] {
            let offers = offers::of(part, rung.stages);
            let needs = needs(part, rung.stages, &offers).unwrap();
            assert!(needs.contains(&said.to_owned()), "{}: {needs:?}", rung.name);
        }
        let offers = offers::of(Part::Delta, ladder::POSITION.stages);
        assert_eq!(needs(Part::Delta, ladder::POSITION.stages, &offers), None);
    }
}
