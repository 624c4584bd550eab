//! A waterfall: what each rung saves over the one before.

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Align2, Rect, RichText, Sense, Stroke, TextStyle, pos2, vec2};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{LADDER, Rung};

use super::{Axis, Look, row, signed, text};
use crate::panel::pages::axis::SCALE_KBPS;
use crate::panel::pages::ladder::kbps_of;
use crate::panel::terms;
use crate::replication::{Accounting, ShadowLadder, TARGET_KBPS};

pub(super) fn draw(ui: &mut egui::Ui, look: Look, present: Stages, shadow: &ShadowLadder) {
    let steps = Step::all(
        LADDER
            .into_iter()
            .map(|rung| (rung, kbps_of(shadow, &rung))),
    );
    let columns = Columns::of(ui.available_rect_before_wrap());
    let rest = ui.available_height() - HEADER_HEIGHT - FOOTER_HEIGHT;
    let height = rest / LADDER.len() as f32;
    let height = height.clamp(*ROW_HEIGHT.start(), *ROW_HEIGHT.end());
    header(ui, columns);
    let top = ui.cursor().min.y;
    for step in &steps {
        step.draw(ui, look, columns, height, present);
    }
    let bottom = ui.cursor().min.y;
    if bottom > top {
        columns.axis.target(ui, top, bottom);
    }
    ui.add_space(3.0);
    ui.label(RichText::new(summary(&steps)).small().weak());
    let dearer: Vec<_> = steps.iter().filter(|step| step.costs_more()).collect();
    if let Some(first) = dearer.first() {
        let names: Vec<_> = dearer.iter().map(|step| step.rung.name).collect();
        let names = names.join(", ");
        let verb = if dearer.len() == 1 { "costs" } else { "cost" };
        let text = format!("{names} {verb} more than the rung before, now.");
        let about = format!(
            "A stage has a price, such as a flag for each cube. It pays off if enough cubes profit: {} \
             does not, for these snapshots.",
            first.rung.name
        );
        let text = RichText::new(text).small().color(look.warning);
        ui.label(text).on_hover_text(about);
    }
}

/// What a rung costs, and the one before it, kbps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    rung: Rung,
    /// None for the first rung.
    from: Option<f64>,
    to: f64,
}

impl Step {
    /// One for each rung, up to the first whose cost is not known.
    fn all(costs: impl IntoIterator<Item = (Rung, Option<f64>)>) -> Vec<Self> {
        let mut from = None;
        let known = costs
            .into_iter()
            .map_while(|(rung, kbps)| Some((rung, kbps?)));
        known
            .map(|(rung, to)| Self {
                rung,
                from: from.replace(to),
                to,
            })
            .collect()
    }

    /// What it saves, negative if it costs more; none for the first rung.
    fn saved(self) -> Option<f64> {
        Some(self.from? - self.to)
    }

    /// How many times less than before.
    fn factor(self) -> Option<f64> {
        Some(self.from? / self.to)
    }

    /// Whether it does, by what is shown.
    fn costs_more(self) -> bool {
        self.saved().is_some_and(|saved| saved <= -0.05)
    }

    fn draw(self, ui: &mut egui::Ui, look: Look, columns: Columns, height: f32, present: Stages) {
        let is_present = self.rung.stages == present;
        let (rect, response) = row(ui, height, self.rung.name, is_present);
        let axis = columns.axis;
        let y = rect.center().y;
        let (ink, weak) = (ui.visuals().text_color(), ui.visuals().weak_text_color());
        let mono = TextStyle::Monospace;
        let name = pos2(columns.name, y);
        let body = TextStyle::Body;
        text(ui, name, Align2::LEFT_CENTER, self.rung.name, &body, ink);
        let costs_more = self.costs_more();
        let color = match (self.from, costs_more) {
            (None, _) => weak,
            (_, true) => look.warning,
            (_, false) => look.half,
        };
        let bar = axis.bar(rect, self.from.unwrap_or(SCALE_KBPS[0]), self.to);
        ui.painter().rect_filled(bar, 1.0, color);
        // The next bar starts where this one ends.
        let end = axis.at(self.to);
        let joint = [
            pos2(end, bar.bottom()),
            pos2(end, bar.bottom() + height - bar.height()),
        ];
        ui.painter().line_segment(joint, Stroke::new(1.0, weak));
        if costs_more {
            let (at, align) = text_position(bar, axis);
            let small = TextStyle::Small;
            text(ui, pos2(at, y), align, "costs more", &small, look.warning);
        }
        let right = |x: f32, figure: &str, color| {
            let at = pos2(x, y);
            text(ui, at, Align2::RIGHT_CENTER, figure, &mono, color);
        };
        right(columns.kbps_end, &format!("{:.1}", self.to), ink);
        if let (Some(saved), Some(factor)) = (self.saved(), self.factor()) {
            let color = if costs_more { look.warning } else { ink };
            right(columns.saved_end, &signed(-saved), color);
            right(columns.right, &format!("×{factor:.2}"), weak);
        }
        response.on_hover_text(self.rung.summary);
    }
}

/// Position and alignment of the text next to a bar: on the side with more room.
fn text_position(bar: Rect, axis: Axis) -> (f32, Align2) {
    if axis.right - bar.right() > bar.left() - axis.left {
        (bar.right() + 3.0, Align2::LEFT_CENTER)
    } else {
        (bar.left() - 3.0, Align2::RIGHT_CENTER)
    }
}

/// What all steps come to.
fn summary(steps: &[Step]) -> String {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return "Measuring …".to_owned();
    };
    let factor = first.to / last.to;
    let saved = first.to - last.to;
    format!(
        "In all: {:.1} − {saved:.1} = {:.1} kbps, ×{factor:.0}.",
        first.to, last.to
    )
}

/// Horizontal positions, logical points.
#[derive(Clone, Copy, Debug)]
struct Columns {
    name: f32,
    axis: Axis,
    kbps_end: f32,
    saved_end: f32,
    right: f32,
}

impl Columns {
    fn of(rect: Rect) -> Self {
        let (left, right) = (rect.left(), rect.right());
        Self {
            name: left + 3.0,
            axis: Axis {
                left: left + 120.0,
                right: (right - 180.0).max(left + 150.0),
            },
            kbps_end: right - 122.0,
            saved_end: right - 58.0,
            right: right - 2.0,
        }
    }
}

fn header(ui: &mut egui::Ui, columns: Columns) {
    let size = vec2(ui.available_width(), HEADER_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = ui.visuals().weak_text_color();
    let small = TextStyle::Small;
    let y = rect.center().y;
    let write = |x: f32, align: Align2, words: &str| {
        text(ui, pos2(x, y), align, words, &small, color);
    };
    write(columns.name, Align2::LEFT_CENTER, "rung");
    let target = format!("log, {TARGET_KBPS:.0}");
    let at = columns.axis.at(TARGET_KBPS);
    write(at, Align2::CENTER_CENTER, &target);
    write(columns.kbps_end, Align2::RIGHT_CENTER, "kbps");
    write(columns.saved_end, Align2::RIGHT_CENTER, "step");
    write(columns.right, Align2::RIGHT_CENTER, "factor");
    response.on_hover_text(format!(
        "What each rung costs, and the step from the rung before it: mean of the last second, for the same \
         snapshots. {} A bar reaches from the one to the other on a logarithmic scale; the line through them is \
         the target of the article, {TARGET_KBPS:.0} kbps.",
        terms::accounting(Accounting::PayloadAndUdp)
    ));
}

/// Logical points: all rungs are visible in a window of 1280 × 720.
const HEADER_HEIGHT: f32 = 17.0;
const FOOTER_HEIGHT: f32 = 34.0;
const ROW_HEIGHT: RangeInclusive<f32> = 16.0..=28.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Vec<Step> {
        let costs = [17_368.8, 12_000.0, 8_600.0, 8_700.5, 56.1];
        let costs = LADDER.into_iter().zip(costs.map(Some));
        Step::all(costs)
    }

    #[test]
    fn each_bar_starts_where_the_last_one_ended() {
        let steps = steps();
        assert_eq!(steps[0].from, None);
        for pair in steps.windows(2) {
            assert_eq!(pair[1].from, Some(pair[0].to));
        }
        let axis = Axis {
            left: 0.0,
            right: 100.0,
        };
        let row = Rect::from_x_y_ranges(0.0..=390.0, 0.0..=20.0);
        let end = |step: &Step| axis.at(step.to);
        for pair in steps.windows(2) {
            let bar = axis.bar(row, pair[1].from.unwrap(), pair[1].to);
            let edges = [bar.left(), bar.right()];
            for end in [end(&pair[0]), end(&pair[1])] {
                assert!(
                    edges.iter().any(|edge| (edge - end).abs() < 0.8),
                    "{pair:?}"
                );
            }
        }
    }

    #[test]
    fn the_steps_add_up_to_what_is_saved_in_all() {
        let steps = steps();
        let saved: f64 = steps.iter().filter_map(|step| step.saved()).sum();
        assert!((saved - (17_368.8 - 56.1)).abs() < 1e-6);
        let factors: f64 = steps.iter().filter_map(|step| step.factor()).product();
        assert!((factors - 17_368.8 / 56.1).abs() < 1e-6);
        assert_eq!(
            summary(&steps),
            "In all: 17368.8 − 17312.7 = 56.1 kbps, ×310."
        );
    }

    #[test]
    fn a_rung_that_costs_more_than_the_one_before_is_told_apart() {
        let dearer: Vec<_> = steps().into_iter().map(Step::costs_more).collect();
        assert_eq!(dearer, [false, false, false, true, false]);
    }

    #[test]
    fn without_figures_there_are_no_steps() {
        let known = Step::all([
            (LADDER[0], Some(9.0)),
            (LADDER[1], None),
            (LADDER[2], Some(1.0)),
        ]);
        assert_eq!(known.len(), 1);
        assert_eq!(summary(&[]), "Measuring …");
    }
}
