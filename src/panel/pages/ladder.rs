//! The ladder: a row for each rung with what it would cost now, which selects it.

use std::ops::RangeInclusive;

use bevy_egui::egui::{
    self, Align2, Color32, Rect, Sense, StrokeKind, TextStyle, WidgetInfo, WidgetType, pos2, vec2,
};
use cubewire_codec::Stages;
use cubewire_codec::ladder::{AFFINE, LADDER, Rung, SIMULATED, rung_of};

use super::axis::Axis;
use crate::controls::RUNG_KEYS;
use crate::panel::{style, terms};
use crate::replication::{
    Accounting, SenderSettings, ShadowLadder, ShadowRung, TARGET_KBPS, factor,
};
use crate::theme::{Theme, egui_color};
use crate::view::Side;

/// A direction on the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::panel) enum Step {
    /// Towards more compression.
    Up,
    /// Towards less compression.
    Down,
}

/// The index of the rung with these stages, if there is one.
pub(in crate::panel) fn index_of(stages: Stages) -> Option<usize> {
    LADDER.iter().position(|rung| rung.stages == stages)
}

/// The index of the rung that a step leads to. From stages that are not on the ladder, either direction
/// leads to the last rung.
pub(in crate::panel) fn step(current: Option<usize>, last_rung: usize, step: Step) -> usize {
    let rung = match (current, step) {
        (Some(rung), Step::Up) => rung + 1,
        (Some(rung), Step::Down) => rung.saturating_sub(1),
        (None, _) => last_rung,
    };
    rung.min(LADDER.len() - 1)
}

/// What a rung would cost now, in article accounting; none before it is known.
pub(in crate::panel) fn kbps_of(shadow: &ShadowLadder, rung: &Rung) -> Option<f64> {
    let mut rungs = shadow.rungs().iter();
    let shadowed = rungs.find(|shadowed| shadowed.rung().name == rung.name);
    shadowed.map(ShadowRung::kbps).filter(|&kbps| kbps > 0.0)
}

pub(in crate::panel) fn draw(
    ui: &mut egui::Ui,
    theme: Theme,
    side: Side,
    sender: &mut SenderSettings,
    shadow: Option<&ShadowLadder>,
    tick: Option<u64>,
) {
    let columns = Columns::of(ui.available_rect_before_wrap());
    let rows = LADDER.len() + 6;
    let height = (ui.available_height() - AFFINE_GAP) / rows as f32;
    let height = height.clamp(*ROW_HEIGHT.start(), *ROW_HEIGHT.end());
    header(ui, &columns, sender, shadow.is_some());
    let top = ui.cursor().min.y;
    let whole = shadow.and_then(|shadow| kbps_of(shadow, &LADDER[0]));
    let mut look = Look {
        theme,
        side,
        columns,
        height,
        whole,
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    for (rung, key) in LADDER.iter().zip(RUNG_KEYS) {
        let kbps = shadow.and_then(|shadow| kbps_of(shadow, rung));
        look.row(ui, &mut sender.stages, key, rung, kbps);
    }
    let rungs_end = ui.cursor().min.y;
    ui.add_space(AFFINE_GAP);
    let kbps = shadow.and_then(|shadow| kbps_of(shadow, &AFFINE));
    look.row(ui, &mut sender.stages, "", &AFFINE, kbps);
    let Some(shadow) = shadow else {
        return;
    };
    columns.axis().target(ui, top, rungs_end);
    // The top rung has figures of its own below.
    if let Some(rung) = rung_of(sender.stages).filter(|rung| *rung != SIMULATED) {
        ui.label(rung.summary);
    }
    if let Some(age) = tick.and_then(|tick| shadow.age_ticks(tick)) {
        let ticks = if age == 1 { "tick" } else { "ticks" };
        let text =
            format!("Computed in the background from the same snapshots, {age} {ticks} behind.");
        ui.label(egui::RichText::new(text).small().weak());
    }
}

/// Horizontal positions, logical points.
#[derive(Clone, Copy, Debug)]
struct Columns {
    left: f32,
    name: f32,
    bar: f32,
    bar_end: f32,
    kbps_end: f32,
    right: f32,
}

impl Columns {
    fn of(rect: Rect) -> Self {
        let (left, right) = (rect.left(), rect.right());
        Self {
            left,
            name: left + 28.0,
            bar: left + 156.0,
            bar_end: (right - 118.0).max(left + 166.0),
            kbps_end: right - 52.0,
            right,
        }
    }

    /// The scale of the bars.
    const fn axis(&self) -> Axis {
        Axis {
            left: self.bar,
            right: self.bar_end,
        }
    }

    /// The position of a bandwidth on the logarithmic scale.
    fn at(&self, kbps: f64) -> f32 {
        self.axis().at(kbps)
    }
}

fn header(ui: &mut egui::Ui, columns: &Columns, sender: &SenderSettings, is_measured: bool) {
    let size = vec2(ui.available_width(), *ROW_HEIGHT.start());
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let font = TextStyle::Small.resolve(ui.style());
    let color = ui.visuals().weak_text_color();
    let text = |x: f32, align: Align2, text: &str| {
        let at = pos2(x, rect.center().y);
        ui.painter().text(at, align, text, font.clone(), color);
    };
    if !is_measured {
        text(
            columns.left,
            Align2::LEFT_CENTER,
            "Requested from the server.",
        );
        return;
    }
    text(columns.name, Align2::LEFT_CENTER, "rung");
    let target = format!("log, target {TARGET_KBPS:.0}");
    text(columns.at(TARGET_KBPS), Align2::CENTER_CENTER, &target);
    let rate = format!("kbps, {}/s", sender.snapshots_per_second());
    text(columns.kbps_end, Align2::RIGHT_CENTER, &rate);
    text(columns.right, Align2::RIGHT_CENTER, "factor");
    response.on_hover_text(format!(
        "What each rung would cost for the same snapshots: mean of the last second. {} The bars are on a \
         logarithmic scale; the line through them is the target of the article, 256 kbps. The factor is \
         against the first rung.",
        terms::accounting(Accounting::PayloadAndUdp)
    ));
}

/// What the rows have in common.
#[derive(Clone, Copy, Debug)]
struct Look {
    theme: Theme,
    side: Side,
    columns: Columns,
    /// Height of a row, logical points.
    height: f32,
    /// What the first rung costs, kbps.
    whole: Option<f64>,
}

impl Look {
    fn row(
        &mut self,
        ui: &mut egui::Ui,
        stages: &mut Stages,
        key: &str,
        rung: &Rung,
        kbps: Option<f64>,
    ) {
        let size = vec2(ui.available_width(), self.height);
        let (_, response) = ui.allocate_exact_size(size, Sense::click());
        let is_selected = *stages == rung.stages;
        response.widget_info(|| {
            let enabled = ui.is_enabled();
            WidgetInfo::selected(WidgetType::SelectableLabel, enabled, is_selected, rung.name)
        });
        if response.clicked() {
            *stages = rung.stages;
        }
        self.paint(ui, &response, is_selected, key, rung, kbps);
        response.on_hover_text(rung.summary);
    }

    fn paint(
        &self,
        ui: &egui::Ui,
        response: &egui::Response,
        is_selected: bool,
        key: &str,
        rung: &Rung,
        kbps: Option<f64>,
    ) {
        let (painter, visuals, columns) = (ui.painter(), ui.visuals(), &self.columns);
        let rect = response.rect;
        if is_selected {
            painter.rect_filled(rect, 3.0, visuals.selection.bg_fill);
        } else if response.hovered() {
            painter.rect_filled(rect, 3.0, visuals.widgets.hovered.weak_bg_fill);
        }
        if response.has_focus() {
            let ring = visuals.selection.stroke;
            painter.rect_stroke(rect, 3.0, ring, StrokeKind::Inside);
        }
        let text = |x: f32, align: Align2, text: String, style: TextStyle, color: Color32| {
            let font = style.resolve(ui.style());
            painter.text(pos2(x, rect.center().y), align, text, font, color);
        };
        let (ink, weak) = (visuals.text_color(), visuals.weak_text_color());
        let key = key.to_owned();
        text(
            columns.left + 3.0,
            Align2::LEFT_CENTER,
            key,
            TextStyle::Small,
            weak,
        );
        let name = rung.name.to_owned();
        text(
            columns.name,
            Align2::LEFT_CENTER,
            name,
            TextStyle::Body,
            ink,
        );
        let Some(kbps) = kbps else {
            return;
        };
        let colors = self.theme.colors();
        let half = self.side.color(self.theme);
        let color = if kbps <= TARGET_KBPS {
            egui_color(half)
        } else {
            style::tint(colors, half, ABOVE_TARGET)
        };
        let bar = Rect::from_min_max(
            pos2(columns.bar, rect.top() + 4.0),
            pos2(columns.at(kbps), rect.bottom() - 4.0),
        );
        painter.rect_filled(bar, 1.0, color);
        let figure = format!("{kbps:.1}");
        text(
            columns.kbps_end,
            Align2::RIGHT_CENTER,
            figure,
            TextStyle::Monospace,
            ink,
        );
        if let Some(whole) = self.whole {
            let factor = factor(whole / kbps);
            text(
                columns.right - 2.0,
                Align2::RIGHT_CENTER,
                factor,
                TextStyle::Monospace,
                weak,
            );
        }
    }
}

/// Logical points: all rungs are visible in a window of 1280 × 720.
const ROW_HEIGHT: RangeInclusive<f32> = 18.0..=28.0;

/// Logical points between the ladder and the rung that is not part of it.
const AFFINE_GAP: f32 = 3.0;

/// Share of the half's colour in the bar of a rung above the target.
const ABOVE_TARGET: f32 = 0.55;

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: usize = LADDER.len() - 1;

    #[test]
    fn every_rung_is_found_at_its_index() {
        for (at, rung) in LADDER.iter().enumerate() {
            assert_eq!(index_of(rung.stages), Some(at), "{}", rung.name);
        }
        assert_eq!(index_of(AFFINE.stages), None);
    }

    #[test]
    fn steps_stay_on_the_ladder() {
        assert_eq!(step(Some(4), 0, Step::Up), 5);
        assert_eq!(step(Some(4), 0, Step::Down), 3);
        assert_eq!(step(Some(TOP), 0, Step::Up), TOP);
        assert_eq!(step(Some(0), 9, Step::Down), 0);
    }

    #[test]
    fn steps_from_custom_stages_lead_to_the_last_rung() {
        assert_eq!(step(None, 7, Step::Up), 7);
        assert_eq!(step(None, 7, Step::Down), 7);
        assert_eq!(step(None, usize::MAX, Step::Down), TOP);
    }

    #[test]
    fn the_scale_of_the_bars_is_logarithmic() {
        let columns = Columns::of(Rect::from_x_y_ranges(0.0..=380.0, 0.0..=20.0));
        let decade = columns.at(400.0) - columns.at(40.0);
        assert!((columns.at(4000.0) - columns.at(400.0) - decade).abs() < 0.01);
        assert_eq!(columns.at(0.0), columns.bar);
        assert_eq!(columns.at(1e9), columns.bar_end);
    }
}
