//! What the present stages would cost without one of them.

use std::time::Duration;

use bevy_egui::egui::{Stroke, Ui};
use cubewire_codec::Stages;
use cubewire_codec::ladder::rung_of;

use super::bars::{Bars, KEY, SHOWN_AS_ZERO, signed};
use super::stages::switch::name;
use crate::panel::style::{BODY, LINE, Look, ROW, SMALL};
use crate::panel::terms::{self, Tooltip};
use crate::panel::widgets::{At, Row, line};
use crate::replication::{
    Ablated, Ablation, Accounting, Part, ShadowLadder, TARGET_KBPS, rung_name,
};
use crate::words::rounded;

/// Draws what is measured, by tick `now`. `shadow` is what else is encoded in the background.
pub(in crate::panel) fn draw(
    ui: &mut Ui,
    ablation: Option<&Ablation>,
    shadow: &ShadowLadder,
    now: Option<u64>,
) {
    let look = Look::of(ui);
    let Some(ablation) = ablation else {
        line(ui, "Starts with the next tick.", look.muted);
        return;
    };
    let bars = Bars::of(ui, 58.0, 62.0).without_keys();
    let rows = ablation.rows().iter();
    let rows = rows.map(|row| Cost::of(row.ablated(), row.kbps(), ablation.present()));
    let mut rows: Vec<_> = rows.collect();
    let present = rows.first().and_then(|row| row.kbps);
    // By what can be seen, so that rows that are alike do not change places.
    rows.sort_by_key(|row| {
        let ends = present.zip(row.kbps);
        let length = ends.map_or(0, |(present, kbps)| bars.length([present, kbps]));
        (row.is_taken, std::cmp::Reverse(length))
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    bars.header(ui, ["one stage less", "kbps", "to now"], &header());
    for row in &rows {
        row.draw(ui, bars, look, present);
    }
    ui.add_space(GAP);
    let age = now.and_then(|tick| ablation.age_ticks(tick));
    let times = [shadow.mean_time_per_tick(), ablation.mean_time_per_tick()];
    for words in footer(age, ablation.share(), times) {
        line(ui, words, look.muted).on_hover_text(BACKGROUND);
    }
}

/// How old the figures are, how many ticks they are of, and what they cost to get.
fn footer(age: Option<u64>, share: f64, [shadow, ablation]: [Duration; 2]) -> [String; 2] {
    let share = match share {
        // What is rounded to all is not all.
        share if share >= 1.0 => "every tick is encoded".to_owned(),
        share => format!(
            "{:.0} % of the ticks are encoded",
            (100.0 * share).min(99.0)
        ),
    };
    let age = age.map_or_else(
        || "Not enough ticks yet".to_owned(),
        |age| format!("{} old", terms::ticks(age)),
    );
    let ms = |time: Duration| 1_000.0 * time.as_secs_f64();
    [
        format!("{age}; {share}."),
        format!(
            "CPU in the background, a tick: ladder {:.2} ms, this page {:.2} ms.",
            ms(shadow),
            ms(ablation)
        ),
    ]
}

/// What the stages cost, or what is left of them.
#[derive(Clone, Debug)]
struct Cost {
    title: String,
    /// What was taken along, or put in its place.
    along: Option<String>,
    about: &'static str,
    kbps: Option<f64>,
    /// Whether something is taken away.
    is_taken: bool,
}

impl Cost {
    fn of(ablated: Option<&Ablated>, kbps: Option<f64>, present: Stages) -> Self {
        let Some(ablated) = ablated else {
            return Self {
                title: format!("now: {}", rung_name(present)),
                along: None,
                about: "The present stages of this lane.",
                kbps,
                is_taken: false,
            };
        };
        Self {
            title: title(ablated),
            along: along(ablated),
            about: term(ablated.part, present).text,
            kbps,
            is_taken: true,
        }
    }

    fn draw(&self, ui: &mut Ui, bars: Bars, look: Look, present: Option<f64>) {
        let row = Row::marked(ui, ROW, &self.title, !self.is_taken);
        row.text(ui, At::Left(KEY), &self.title, BODY, look.ink);
        match (self.kbps, present) {
            (Some(kbps), Some(present)) if self.is_taken => {
                let is_cheaper = kbps - present <= -SHOWN_AS_ZERO;
                let (bar, ink) = match is_cheaper {
                    true => (look.warning, look.warning),
                    false => (look.half, look.ink),
                };
                bars.bar(ui, &row, &self.title, [present, kbps], bar, Stroke::NONE);
                let figures = [(rounded(kbps), look.ink), (signed(kbps - present), ink)];
                bars.figures(ui, &row, figures);
            }
            (kbps, _) => {
                let kbps = kbps.map_or_else(|| "…".to_owned(), rounded);
                bars.figures(ui, &row, [(kbps, look.ink), (String::new(), look.ink)]);
            }
        }
        // Not through what else is taken away.
        bars.target(ui, row.rect.y_range());
        row.response.on_hover_text(self.about);
        if let Some(along) = &self.along {
            let row = Row::show(ui, LINE, along);
            row.text(ui, At::Left(ALONG), along, SMALL, look.muted);
        }
    }
}

/// What goes with what is taken away, or comes in its place.
fn along(ablated: &Ablated) -> Option<String> {
    let rung = rung_of(ablated.stages).filter(|_| ablated.part == Part::CodingForPacking);
    if let Some(rung) = rung {
        return Some(format!("as on {}", rung.name));
    }
    let along = ablated.along.iter();
    let names: Vec<_> = along.map(|&part| name(|it| it.part() == part)).collect();
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
        (part, "off") => return format!("no {}", name(|it| it.part() == part)),
        (part, left) => return format!("{left} {}", name(|it| it.part() == part)),
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
    fn the_footer_says_how_old_how_many_and_how_dear() {
        let times = [Duration::from_micros(1_100), Duration::from_micros(940)];
        assert_eq!(
            footer(Some(1), 1.0, times),
            [
                "1 tick old; every tick is encoded.",
                "CPU in the background, a tick: ladder 1.10 ms, this page 0.94 ms."
            ]
        );
        let [first, _] = footer(None, 0.999, times);
        assert_eq!(
            first,
            "Not enough ticks yet; 99 % of the ticks are encoded."
        );
    }
}
