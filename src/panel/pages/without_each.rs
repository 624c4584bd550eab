//! What the present stages would cost without one of them.

use std::cmp::Reverse;

use bevy_egui::egui::Ui;
use cubewire_codec::Stages;
use cubewire_codec::ladder::rung_of;
use cubewire_inspector::words::rounded;

use super::bars::{self, SHOWN_AS_ZERO, TITLE, signed};
use super::stages::{dated, measured, name, old};
use crate::panel::lane::LaneView;
use crate::panel::style::{BODY, LINE, Look, ROW, SMALL};
use crate::panel::terms;
use crate::panel::widgets::{At, Row, line, width};
use crate::replication::{Ablated, Accounting, Part, TARGET_KBPS, rung_name};

/// Draws what is measured of the lane's stages.
pub(super) fn draw(ui: &mut Ui, lane: &LaneView<'_>) {
    let look = Look::of(ui);
    let stages = lane.settings.sender.stages;
    let ablation = lane.ablation;
    let Some((ablation, mut rows)) = ablation.zip(measured(lane)) else {
        line(ui, "Measuring these stages …", look.muted);
        return;
    };
    let present = rows[0].1;
    // By the figure that is shown, so that rows that are alike do not change places.
    let shown = |kbps: f64| (10.0 * (kbps - present)).round() as i64;
    rows.sort_by_key(|(ablated, kbps)| (ablated.is_some(), Reverse(shown(*kbps))));
    let old = old(lane);
    let what = dated(look, old, ["one stage less", "one less,"]);
    bars::header(ui, Some(what), ["kbps", "more"], header());
    for (ablated, kbps) in &rows {
        row(
            ui,
            ablated.as_ref(),
            (stages, old.is_some()),
            [present, *kbps],
        );
    }
    ui.add_space(GAP);
    line(ui, footer(ablation.share()), look.muted).on_hover_text(BACKGROUND);
}

/// What the stages cost, or what is left of them; dimmed if that is old.
fn row(
    ui: &mut Ui,
    ablated: Option<&Ablated>,
    (stages, is_old): (Stages, bool),
    [present, kbps]: [f64; 2],
) {
    let look = Look::of(ui);
    let (title, about) = match ablated {
        None => {
            let about = "The present stages of this lane.";
            let when = if is_old { "then" } else { "now" };
            (format!("{when}: {}", rung_name(stages)), about)
        }
        Some(ablated) => (title(ablated), terms::stage(ablated.part, *stages)[1]),
    };
    let row = Row::marked(ui, ROW, &title, ablated.is_none());
    row.text(ui, At::Left(TITLE), &title, BODY, look.ink);
    let (bar, figure, ink) = match (is_old, kbps - present <= -SHOWN_AS_ZERO) {
        (true, _) => (look.quiet, look.muted, look.muted),
        (false, true) => (look.warning, look.ink, look.warning),
        (false, false) => (look.half, look.ink, look.ink),
    };
    let more = ablated.map_or_else(String::new, |_| signed(kbps - present));
    let figures = [(rounded(kbps), figure), (more, ink)];
    bars::bar(ui, &row, &title, [present, kbps], bar, figures);
    // Not through what else is taken away.
    bars::target(ui, row.rect.y_range());
    row.response.on_hover_text(about);
    if let Some((ablated, along)) = ablated.and_then(|it| Some((it, along(it)?))) {
        let row = Row::show(ui, LINE, &along);
        let has_room = width(ui, &along, SMALL) <= row.rect.width() - ALONG;
        let short = format!("and with it {} other stages", ablated.along.len());
        let words = if has_room { along } else { short };
        row.text(ui, At::Left(ALONG), words, SMALL, look.muted);
    }
}

/// How many ticks the figures are of.
fn footer(share: f64) -> String {
    // What is rounded to all is not all.
    let percent = (100.0 * share).min(99.0);
    match share {
        1.0.. => "Every tick is encoded.".to_owned(),
        _ => format!("This machine has time for {percent:.0} % of the ticks."),
    }
}

/// What goes with what is taken away, or comes in its place.
fn along(ablated: &Ablated) -> Option<String> {
    let rung = rung_of(ablated.stages).filter(|_| ablated.part == Part::CodingForPacking);
    if let Some(rung) = rung {
        return Some(format!("as on {}", rung.name));
    }
    let names: Vec<_> = ablated.along.iter().map(|&part| name(part)).collect();
    (!names.is_empty()).then(|| format!("and with it {}", names.join(", ")))
}

/// What is taken away, as the title of a row.
fn title(ablated: &Ablated) -> String {
    let title = match (ablated.part, terms::stage(ablated.part, *ablated.stages)[0]) {
        (Part::Coding, _) => "no arithmetic coding",
        (Part::CodingForPacking, _) => "bit-packed instead",
        (Part::Prediction, _) => "no prediction",
        (Part::Simulation, _) => "no simulation",
        (Part::Delta, "all cubes") => "no delta",
        (Part::Delta, "bits") => "no delta listing",
        (Part::Delta, "indices") => "no relative indices",
        (Part::Delta, _) => "no predicted indices",
        (Part::Velocity, "quantized") => "no at-rest flag",
        (Part::Velocity, "at rest") => "velocity, at-rest flag",
        (Part::RelativePosition, "two ranges") => "no predicted position",
        (Part::RelativeOrientation, "two ranges") => "no growing ranges",
        (Part::ChangedFlags, "separate") => "no joint flags",
        (part, "off") => return format!("no {}", name(part)),
        (part, left) => return format!("{left} {}", name(part)),
    };
    title.to_owned()
}

fn header() -> String {
    format!(
        "What the lane's stages would cost with one of them taken away, and what is illegal without it: mean of a second, \
         for the same snapshots. {} A bar reaches from the present cost to that on a logarithmic scale; the line \
         through them is the target, {TARGET_KBPS:.0} kbps. In the warning colour: it would cost less.",
        terms::accounting(Accounting::PayloadAndUdp)
    )
}

const BACKGROUND: &str = "Encoding in the background takes at most a quarter of a core for this page. On a machine where that is not \
     enough for every tick, runs of ticks are encoded and the rest is left out: the rates are those of the ticks that \
     were encoded.";

/// Logical points.
const ALONG: f32 = 10.0;
const GAP: f32 = 6.0;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use cubewire_codec::ladder;

    use super::*;
    use crate::replication::ablations;

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
            let all = ablations(present);
            let said = all.iter().filter_map(|ablated| {
                let words = along(ablated)?;
                Some(format!("{} {words}", title(ablated)))
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
        let some = "This machine has time for 99 % of the ticks.";
        let said = [1.0, 0.999].map(footer);
        assert_eq!(said, ["Every tick is encoded.", some]);
    }
}
