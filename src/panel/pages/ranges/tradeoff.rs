//! Rate and distortion: draws what the stages that were tried cost, and the replica error with them.

use bevy_egui::egui::{self, RichText};
use cubewire_codec::Stages;
use egui_plot::{PlotPoint, Points, Text, log_grid_spacer};

use super::tried::Tradeoffs;
use crate::panel::{graph, style};
use crate::replication::rung_or_stages;
use crate::theme::{Theme, egui_color};

pub(super) fn draw(ui: &mut egui::Ui, theme: Theme, stages: Stages, tradeoffs: &Tradeoffs) {
    let colors = theme.colors();
    ui.label(
        RichText::new("kbps (across, log) against the replica's mean error in mm (up, log), by stages")
            .small()
            .weak(),
    )
    .on_hover_text(
        "A point for each combination of stages that was used for a second and a half while cubes moved. Move a \
         slider, or climb the ladder, and watch the curve fill in. Hover a point for its stages.",
    );
    let ink = egui_color(colors.ink);
    let muted = egui_color(colors.muted);
    let surface = ui.visuals().extreme_bg_color;
    let points = tradeoffs.0.clone();
    // The rest of the page.
    let height = (style::page_left(ui) - 8.0).clamp(MIN_HEIGHT, MAX_HEIGHT);
    graph::base("rate and distortion", height)
        .show_x(false)
        .x_grid_spacer(log_grid_spacer(10))
        .y_grid_spacer(log_grid_spacer(10))
        .x_axis_formatter(|mark, _| amount(mark.value))
        .y_axis_formatter(|mark, _| amount(mark.value))
        .include_x(1.0)
        .include_x(4.3)
        .include_y(-1.0)
        .include_y(2.0)
        .show(ui, |plot| {
            for tried in points {
                let at = [tried.kbps.max(1.0).log10(), tried.mm.max(0.01).log10()];
                let is_now = tried.stages == stages;
                let name = format!(
                    "{}: {:.1} kbps, {:.2} mm, {:.2}°",
                    rung_or_stages(tried.stages),
                    tried.kbps,
                    tried.mm,
                    tried.degrees
                );
                let point = Points::new(name, vec![at])
                    .radius(if is_now { 5.0 } else { 3.0 })
                    .color(if is_now { ink } else { muted });
                plot.points(point);
                if is_now {
                    let text = format!(" {:.0} kbps, {:.2} mm ", tried.kbps, tried.mm);
                    let text = RichText::new(text).color(ink).small();
                    let text = text.background_color(surface);
                    let text = Text::new("now", PlotPoint::new(at[0] + LABEL_GAP, at[1]), text);
                    plot.text(text.anchor(egui::Align2::LEFT_CENTER).allow_hover(false));
                }
            }
        });
}

/// The label of a common logarithm.
fn amount(logarithm: f64) -> String {
    let value = 10_f64.powf(logarithm);
    if value < 1.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// From the point to its label: a share of a decade.
const LABEL_GAP: f64 = 0.08;

/// Logical points.
const MIN_HEIGHT: f32 = 96.0;
const MAX_HEIGHT: f32 = 300.0;
