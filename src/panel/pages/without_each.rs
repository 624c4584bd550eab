//! What the present stages would cost without one of them.

use std::cmp::Reverse;
use std::time::Duration;

use bevy_egui::egui::Ui;
use cubewire_codec::Stages;
use cubewire_codec::ladder::rung_of;
use cubewire_inspector::words::rounded;

use super::bars::{self, KEY, SHOWN_AS_ZERO, signed};
use super::stages::{measured, name, old};
use crate::panel::lane::LaneView;
use crate::panel::style::{BODY, LINE, Look, ROW, SMALL};
use crate::panel::terms::{self, Tooltip};
use crate::panel::widgets::{At, Row, line};
use crate::replication::{Ablated, Accounting, Part, ShadowLadder, TARGET_KBPS, rung_name};

/// Draws what is measured of the lane's stages. `shadow` is what else is encoded in the background.
pub(super) fn draw(ui: &mut Ui, lane: &LaneView<'_>, shadow: &ShadowLadder) {
    let look = Look::of(ui);
    let stages = lane.settings.sender.stages;
    let ablation = lane.ablation;
    let Some((ablation, mut rows)) = ablation.zip(measured(lane)) else {
        line(ui, "Measuring these stages …", look.muted);
        return;
    };
    let present = rows[0].1;
    // By what can be seen, so that rows that are alike do not change places.
    let length = |kbps| bars::length(ui, [present, kbps]);
    rows.sort_by_key(|(ablated, kbps)| (ablated.is_some(), Reverse(length(*kbps))));
    let old = old(lane);
    let what = match &old {
        Some(ago) => format!("one stage less, {ago}"),
        None => "one stage less".to_owned(),
    };
    bars::header(ui, KEY, [&what, "kbps", "to now"], header());
    for (ablated, kbps) in &rows {
        row(
            ui,
            ablated.as_ref(),
            (stages, old.is_some()),
            [present, *kbps],
        );
    }
    ui.add_space(GAP);
    let times = [shadow.mean_time_per_tick(), ablation.mean_time_per_tick()];
    for words in footer(ablation.share(), times) {
        line(ui, words, look.muted).on_hover_text(BACKGROUND);
    }
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
            (format!("now: {}", rung_name(stages)), about)
        }
        Some(ablated) => (title(ablated), term(ablated.part, stages).text),
    };
    let row = Row::marked(ui, ROW, &title, ablated.is_none());
    row.text(ui, At::Left(KEY), &title, BODY, look.ink);
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
    if let Some(along) = ablated.and_then(along) {
        let row = Row::show(ui, LINE, &along);
        row.text(ui, At::Left(ALONG), along, SMALL, look.muted);
    }
}

/// How many ticks the figures are of, and what they cost to get.
fn footer(share: f64, times: [Duration; 2]) -> [String; 2] {
    let share = match share {
        // What is rounded to all is not all.
        1.0.. => "Every tick is encoded.".to_owned(),
        share => format!(
            "{:.0} % of the ticks are encoded.",
            (100.0 * share).min(99.0)
        ),
    };
    let [shadow, ablation] = times.map(|time| 1_000.0 * time.as_secs_f64());
    [
        share,
        format!(
            "CPU in the background, a tick: ladder {shadow:.2} ms, this page {ablation:.2} ms."
        ),
    ]
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
    let title = match (ablated.part, term(ablated.part, ablated.stages).name) {
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

/// What stages do in this part.
fn term(part: Part, stages: Stages) -> Tooltip {
    match part {
        Part::Orientation => terms::orientation(stages.orientation),
        Part::Velocity => terms::velocity(stages.velocity),
        Part::Position => terms::position(stages.position),
        Part::Delta
        | Part::Coding
        | Part::CodingForPacking
        | Part::Prediction
        | Part::Simulation => terms::delta(stages.delta),
        Part::RelativePosition => terms::relative_position(stages.relative_position),
        Part::RelativeOrientation => terms::relative_orientation(stages.relative_orientation),
        Part::ChangedFlags => terms::changed_flags(stages.changed_flags),
    }
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
    fn the_footer_says_how_many_and_how_dear() {
        let times = [Duration::from_micros(1_100), Duration::from_micros(940)];
        let ms = "CPU in the background, a tick: ladder 1.10 ms, this page 0.94 ms.";
        for (share, said) in [
            (1.0, "Every tick is encoded."),
            (0.999, "99 % of the ticks are encoded."),
        ] {
            assert_eq!(footer(share, times), [said, ms]);
        }
    }
}
