//! The cost of the present stages without one of them, assigned to the rung that adds the stage.

use std::cmp::Reverse;

use cubewire_codec::Stages;
use cubewire_codec::ladder::{self, Rung, rung_of};
use cubewire_codec::stages::{Delta, Velocity};

use super::super::stages::{dated, measured, name, old};
use super::switch::{base, builds_on};
use super::table::signed;
use crate::panel::lane::LaneView;
use crate::panel::prelude::*;
use crate::panel::terms;
use crate::replication::{Ablated, Part, usual};

/// The present stages without one part.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) rung: Rung,
    ablated: Ablated,
    pub(super) kbps: f64,
    /// Difference from the cost of the present stages, kbps.
    pub(super) more: f64,
    /// Whether the figures lag behind the game.
    pub(super) is_old: bool,
}

impl Left {
    pub(super) fn about(&self) -> String {
        let ablated = &self.ablated;
        let [kbps, more] = [rounded(self.kbps), signed(self.more)];
        let title = capital(&title(ablated));
        let along = along(ablated).map_or_else(String::new, |along| format!(" {along}"));
        let about = terms::stage(ablated.part, *ablated.stages)[1];
        format!("{title}{along}: {kbps} kbps, {more}. {about}")
    }
}

/// Returns the costs without each part, the largest first. Returns `None` until all are measured.
pub(super) fn all(lane: &LaneView<'_>) -> Option<Vec<Left>> {
    let rows = measured(lane)?;
    let (present, is_old) = (rows[0].1, old(lane).is_some());
    let left = rows.into_iter().filter_map(|(ablated, kbps)| {
        let ablated = ablated?;
        Some(Left {
            rung: adding(lane.settings.sender.stages, &ablated)?,
            ablated,
            kbps,
            more: kbps - present,
            is_old,
        })
    });
    let mut left: Vec<Left> = left.collect();
    // By the displayed figure, so that rows with equal figures keep their order.
    left.sort_by_key(|left| Reverse((10.0 * left.more).round() as i64));
    Some(left)
}

/// Returns the age of the figures if they are old, or the share of encoded ticks, with its colour.
pub(super) fn caption(look: Look, lane: &LaneView<'_>, is_measured: bool) -> (String, Color32) {
    match lane.ablation.filter(|_| is_measured) {
        None => ("Measuring these stages …".to_owned(), look.muted),
        Some(ablation) => dated(look, old(lane), [&footer(ablation.share()), "one less,"]),
    }
}

/// Returns the rung that adds the missing part: its base has the remaining option, and a rung above has the present option.
fn adding(present: Stages, ablated: &Ablated) -> Option<Rung> {
    let part = ablated.part;
    if part == Part::CodingForPacking {
        return Some(ladder::ARITHMETIC);
    }
    let alike = |a: Stages, b: Stages| part.is_same(usual(*a), usual(*b));
    ladder::all().find(|rung| {
        let is_left = |stages| alike(stages, ablated.stages);
        let leads = |above: Rung| builds_on(above, *rung) && alike(above.stages, present);
        base(*rung).is_some_and(|base| is_left(base.stages))
            && !is_left(rung.stages)
            && ladder::all().any(leads)
    })
}

fn footer(share: f64) -> String {
    // Less than all ticks never reads "100 %".
    let percent = (100.0 * share).min(99.0);
    match share {
        1.0.. => "Every tick is encoded.".to_owned(),
        _ => format!("This machine can encode {percent:.0} % of the ticks."),
    }
}

/// Names the stages that go with the part, or the rung that replaces it.
fn along(ablated: &Ablated) -> Option<String> {
    let rung = rung_of(ablated.stages).filter(|_| ablated.part == Part::CodingForPacking);
    if let Some(rung) = rung {
        return Some(format!("as on {}", rung.name));
    }
    let names: Vec<_> = ablated.along.iter().map(|&part| name(part)).collect();
    (!names.is_empty()).then(|| format!("and with it {}", names.join(", ")))
}

fn title(ablated: &Ablated) -> String {
    let (part, left) = (ablated.part, ablated.stages);
    let title = match part {
        Part::Coding => "no arithmetic coding",
        Part::CodingForPacking => "bit-packed instead",
        Part::Prediction => "no prediction",
        Part::Simulation => "no simulation",
        Part::Delta => match left.delta {
            Delta::Off => "no delta",
            Delta::ChangedBits => "no delta listing",
            Delta::Indices => "no relative indices",
            _ => "no predicted indices",
        },
        Part::Velocity if left.velocity == Velocity::Quantized => "no at-rest flag",
        Part::Velocity if left.velocity == Velocity::AtRestFlag => "velocity, at-rest flag",
        Part::Orientation | Part::Velocity | Part::Position => {
            return format!("full {}", name(part));
        }
        _ if part.is_same(*left, *ladder::UNCOMPRESSED.stages) => {
            return format!("no {}", name(part));
        }
        Part::RelativePosition => "no predicted position",
        Part::RelativeOrientation => "no growing ranges",
        Part::ChangedFlags => "no joint flags",
    };
    title.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::replication::ablations;

    #[test]
    fn what_is_taken_away_belongs_to_a_rung_that_adds_it() {
        for present in Stages::every_legal(&[9, 10]) {
            for ablated in ablations(present) {
                let rung = adding(present, &ablated);
                let rung = rung.unwrap_or_else(|| panic!("{present}: {ablated:?}"));
                assert_ne!(rung, ladder::UNCOMPRESSED, "{present}: {ablated:?}");
            }
        }
        let present = ladder::SIMULATED.stages;
        let rungs = ablations(present).into_iter().filter_map(|it| adding(present, &it));
        let rungs: Vec<_> = rungs.map(|rung| rung.name).collect();
        let [first, second] =
            ["smallest-three no-velocity velocity position", "arithmetic delta arithmetic"];
        assert_eq!(rungs.join(" "), format!("{first} simulated predicted {second}"));
    }

    #[test]
    fn every_row_has_a_title_of_its_own() {
        for rung in ladder::all() {
            let mut titles = HashSet::new();
            for ablated in ablations(rung.stages) {
                let title = title(&ablated);
                assert!(titles.insert(title.clone()), "{}: {title}", rung.name);
            }
        }
    }

    #[test]
    fn a_row_says_what_was_taken_along() {
        let said = |present| {
            let said = ablations(present).into_iter().filter_map(|ablated| {
                let words = along(&ablated)?;
                Some(format!("{} {words}", title(&ablated)))
            });
            said.collect::<Vec<_>>()
        };
        assert_eq!(
            said(ladder::CHANGED_FLAGS.stages),
            [
                "full orientation and with it relative orientation",
                "full position and with it relative position",
                "no delta and with it relative position, relative orientation, changed flags",
            ]
        );
        let packed = "bit-packed instead as on predicted-position".to_owned();
        assert!(said(ladder::PREDICTED.stages).contains(&packed));
    }

    #[test]
    fn what_is_rounded_to_all_ticks_is_not_all() {
        let some = "This machine can encode 99 % of the ticks.";
        assert_eq!([1.0, 0.999].map(footer), ["Every tick is encoded.", some]);
    }
}
