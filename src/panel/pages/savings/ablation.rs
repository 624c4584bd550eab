//! What the present stages would cost without one of them.

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Align2, RichText, Sense, TextStyle, pos2, vec2};
use cubewire_codec::Stages;
use cubewire_codec::ladder::rung_of;
use cubewire_codec::stages::{
    ChangedFlags, Delta, RelativeOrientation, RelativePosition, Velocity,
};

use super::{Axis, Look, Measures, row, signed, text, ticks};
use crate::panel::terms;
use crate::replication::{Ablated, Accounting, Part, ShadowLadder, TARGET_KBPS, rung_name};

pub(super) fn draw(ui: &mut egui::Ui, look: Look, measures: Measures<'_>, shadow: &ShadowLadder) {
    let Some(ablation) = measures.ablation else {
        ui.weak("Starts with the next tick.");
        return;
    };
    let rows: Vec<_> = ablation
        .rows()
        .iter()
        .map(|row| Row::of(row.ablated(), row.kbps(), ablation.present()))
        .collect();
    let columns = Columns::of(ui.available_rect_before_wrap());
    let lines = rows
        .iter()
        .map(|row| 1.0 + ALONG_SHARE * row.has_along())
        .sum::<f32>();
    let rest = ui.available_height() - HEADER_HEIGHT - FOOTER_HEIGHT;
    let height = (rest / lines).clamp(*ROW_HEIGHT.start(), *ROW_HEIGHT.end());
    header(ui, columns);
    let present = rows.first().and_then(|row| row.kbps);
    for row in &rows {
        row.draw(ui, look, columns, height, present);
    }
    ui.add_space(3.0);
    let age = measures.tick.and_then(|tick| ablation.age_ticks(tick));
    for line in footer(
        age,
        ablation.share(),
        [shadow.mean_time_per_tick(), ablation.mean_time_per_tick()],
    ) {
        ui.label(RichText::new(line).small().weak()).on_hover_text(
            "Encoding in the background takes at most a quarter of a core for this page. On a machine where that is \
             not enough for every tick, runs of ticks are encoded and the rest is left out: the rates are those of \
             the ticks that were encoded.",
        );
    }
}

/// How old the figures are, how many ticks they are of, and what they cost to get.
fn footer(
    age: Option<u64>,
    share: f64,
    [shadow, ablation]: [std::time::Duration; 2],
) -> [String; 2] {
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
        |age| format!("{} old", ticks(age)),
    );
    let ms = |time: std::time::Duration| 1_000.0 * time.as_secs_f64();
    [
        format!("{age}; {share}."),
        format!(
            "CPU in the background, a tick: ladder {:5.2} ms, this page {:5.2} ms.",
            ms(shadow),
            ms(ablation)
        ),
    ]
}

#[derive(Clone, Debug)]
struct Row {
    title: String,
    /// What was taken along.
    along: Option<String>,
    about: String,
    kbps: Option<f64>,
    is_present: bool,
}

impl Row {
    fn of(ablated: Option<&Ablated>, kbps: Option<f64>, present: Stages) -> Self {
        let Some(ablated) = ablated else {
            let name = rung_name(present);
            return Self {
                title: format!("now: {name}"),
                along: None,
                about: "The present stages of this lane.".to_owned(),
                kbps,
                is_present: true,
            };
        };
        let along: Vec<_> = ablated.along.iter().map(|&part| name(part)).collect();
        Self {
            title: title(ablated),
            along: (!along.is_empty()).then(|| format!("and with it {}", along.join(", "))),
            about: about(ablated.part, present).to_owned(),
            kbps,
            is_present: false,
        }
    }

    /// 1 or 0.
    fn has_along(&self) -> f32 {
        f32::from(u8::from(self.along.is_some()))
    }

    fn draw(
        &self,
        ui: &mut egui::Ui,
        look: Look,
        columns: Columns,
        height: f32,
        present: Option<f64>,
    ) {
        let whole = height * (1.0 + ALONG_SHARE * self.has_along());
        let (rect, response) = row(ui, whole, &self.title, self.is_present);
        let line = egui::Rect::from_min_size(rect.min, vec2(rect.width(), height));
        let y = line.center().y;
        let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
        let at = pos2(columns.name, y);
        text(
            ui,
            at,
            Align2::LEFT_CENTER,
            &self.title,
            &TextStyle::Body,
            ink,
        );
        if let Some(along) = &self.along {
            let at = pos2(columns.name + 8.0, line.bottom() - 2.0);
            text(ui, at, Align2::LEFT_TOP, along, &TextStyle::Small, weak);
        }
        let mono = TextStyle::Monospace;
        let figure = |x: f32, figure: &str, color| {
            let at = pos2(x, y);
            text(ui, at, Align2::RIGHT_CENTER, figure, &mono, color);
        };
        // Not through what else is taken away.
        let target = || columns.axis.target(ui, line.top(), line.bottom());
        let (Some(kbps), Some(present)) = (self.kbps, present) else {
            figure(columns.kbps_end, "…", weak);
            target();
            response.on_hover_text(&self.about);
            return;
        };
        figure(columns.kbps_end, &format!("{kbps:.1}"), ink);
        if !self.is_present {
            let is_cheaper = kbps - present <= -0.05;
            let color = if is_cheaper { look.warning } else { look.half };
            let bar = columns.axis.bar(line, present, kbps);
            ui.painter().rect_filled(bar, 1.0, color);
            let color = if is_cheaper { look.warning } else { ink };
            figure(columns.right, &signed(kbps - present), color);
        }
        target();
        response.on_hover_text(&self.about);
    }
}

/// What is taken away, as the title of a row.
fn title(ablated: &Ablated) -> String {
    let stages = ablated.stages;
    let title = match ablated.part {
        Part::Orientation => "with full orientation",
        Part::Velocity => match stages.velocity {
            Velocity::Quantized => "without at-rest flag",
            Velocity::AtRestFlag => "with velocity, at-rest flag",
            _ => "with full velocity",
        },
        Part::Position => "with full position",
        Part::Delta => match stages.delta {
            Delta::Off => "without delta",
            Delta::Indices => "without relative indices",
            Delta::RelativeIndices { .. } => "without predicted indices",
            _ => "without delta listing",
        },
        Part::Coding => "without arithmetic coding",
        Part::CodingForPacking => {
            let rung = rung_of(stages).map_or("before", |rung| rung.name);
            return format!("bit-packed: {rung}");
        }
        Part::Prediction => "without prediction",
        Part::Simulation => "without simulation",
        Part::RelativePosition => match stages.relative_position {
            RelativePosition::Off => "without relative position",
            _ => "without predicted position",
        },
        Part::RelativeOrientation => match stages.relative_orientation {
            RelativeOrientation::Off => "without relative orientation",
            _ => "without growing ranges",
        },
        Part::ChangedFlags => match stages.changed_flags {
            ChangedFlags::Off => "without changed flags",
            _ => "without joint flags",
        },
    };
    title.to_owned()
}

/// The name of what was taken along.
const fn name(part: Part) -> &'static str {
    match part {
        Part::Orientation => "orientation",
        Part::Velocity => "velocity",
        Part::Position => "position",
        Part::Delta => "delta",
        Part::Coding | Part::CodingForPacking => "arithmetic coding",
        Part::Prediction => "prediction",
        Part::Simulation => "simulation",
        Part::RelativePosition => "relative position",
        Part::RelativeOrientation => "relative orientation",
        Part::ChangedFlags => "changed flags",
    }
}

/// What the present stages do in this part.
fn about(part: Part, present: Stages) -> &'static str {
    match part {
        Part::Orientation => terms::orientation(present.orientation).text,
        Part::Velocity => terms::velocity(present.velocity).text,
        Part::Position => terms::position(present.position).text,
        Part::Delta
        | Part::Coding
        | Part::CodingForPacking
        | Part::Prediction
        | Part::Simulation => terms::delta(present.delta).text,
        Part::RelativePosition => terms::relative_position(present.relative_position).text,
        Part::RelativeOrientation => terms::relative_orientation(present.relative_orientation).text,
        Part::ChangedFlags => terms::changed_flags(present.changed_flags).text,
    }
}

/// Horizontal positions, logical points.
#[derive(Clone, Copy, Debug)]
struct Columns {
    name: f32,
    axis: Axis,
    kbps_end: f32,
    right: f32,
}

impl Columns {
    fn of(rect: egui::Rect) -> Self {
        let (left, right) = (rect.left(), rect.right());
        Self {
            name: left + 3.0,
            axis: Axis {
                left: left + 176.0,
                right: (right - 124.0).max(left + 200.0),
            },
            kbps_end: right - 66.0,
            right: right - 2.0,
        }
    }
}

fn header(ui: &mut egui::Ui, columns: Columns) {
    let size = vec2(ui.available_width(), HEADER_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = ui.visuals().weak_text_color();
    let small = TextStyle::Small;
    let write = |x: f32, align: Align2, words: &str| {
        let at = pos2(x, rect.center().y);
        text(ui, at, align, words, &small, color);
    };
    write(columns.name, Align2::LEFT_CENTER, "one part taken away");
    let target = format!("log, {TARGET_KBPS:.0}");
    let at = columns.axis.at(TARGET_KBPS);
    write(at, Align2::CENTER_CENTER, &target);
    write(columns.kbps_end, Align2::RIGHT_CENTER, "kbps");
    write(columns.right, Align2::RIGHT_CENTER, "to now");
    response.on_hover_text(format!(
        "What the lane's stages would cost with one of them taken away, and what is illegal without it: mean of \
         a second, for the same snapshots. {} A bar reaches from the present cost to that on a logarithmic scale; \
         the line through them is the target, {TARGET_KBPS:.0} kbps. In the warning colour: it would cost less.",
        terms::accounting(Accounting::PayloadAndUdp)
    ));
}

/// Logical points: every row is visible in a window of 1280 × 720.
const HEADER_HEIGHT: f32 = 17.0;
const FOOTER_HEIGHT: f32 = 34.0;
const ROW_HEIGHT: RangeInclusive<f32> = 15.0..=26.0;

/// Height of the line about what was taken along, relative to a row's.
const ALONG_SHARE: f32 = 0.6;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

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
        let present = ladder::CHANGED_FLAGS.stages;
        let all = ablations(present);
        let rows = all
            .iter()
            .map(|ablated| Row::of(Some(ablated), None, present));
        let along: Vec<_> = rows
            .filter_map(|row| Some((row.title, row.along?)))
            .collect();
        let along: Vec<_> = along
            .iter()
            .map(|(title, along)| (&title[..], &along[..]))
            .collect();
        assert_eq!(
            along,
            [
                ("with full orientation", "and with it relative orientation"),
                ("with full position", "and with it relative position"),
                (
                    "without delta",
                    "and with it relative position, relative orientation, changed flags"
                ),
            ]
        );
    }

    #[test]
    fn the_footer_says_how_old_how_many_and_how_dear() {
        let times = [Duration::from_micros(1_100), Duration::from_micros(940)];
        assert_eq!(
            footer(Some(1), 1.0, times),
            [
                "1 tick old; every tick is encoded.",
                "CPU in the background, a tick: ladder  1.10 ms, this page  0.94 ms."
            ]
        );
        let [first, _] = footer(None, 0.999, times);
        assert_eq!(
            first,
            "Not enough ticks yet; 99 % of the ticks are encoded."
        );
    }
}
