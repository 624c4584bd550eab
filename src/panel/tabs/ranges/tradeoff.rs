//! Rate and distortion: what the stages that were tried cost, and the replica error with them.

use bevy::prelude::*;
use bevy_egui::egui::{self, RichText};
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{PlotPoint, Points, Text, log_grid_spacer};

use crate::panel::{graph, style};
use crate::replication::{Accounting, LaneMeter, ReplicaError, rung_or_stages};
use crate::theme::{Theme, egui_color};
use crate::view::Selected;

/// Stages that are remembered, at most.
const MAX_TRIED: usize = 200;

/// Ticks after a change of stages until figures count: the round trip, and a second of packets.
const SETTLING_TICKS: usize = 90;

/// Ticks without a pressed key that the error is averaged over.
const AVERAGED: f64 = 60.0;

/// What was measured with some stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::panel) struct Tradeoff {
    pub(in crate::panel) stages: Stages,
    /// Article accounting, mean of a second.
    pub(in crate::panel) kbps: f64,
    /// Mean distance of the interacting cubes from the simulation's, millimetres.
    pub(in crate::panel) mm: f64,
    /// Mean angle, degrees.
    pub(in crate::panel) degrees: f64,
}

/// Every combination of stages that was tried since the start, the newest last.
#[derive(Resource, Clone, Debug, Default)]
pub struct Tradeoffs(pub(in crate::panel) Vec<Tradeoff>);

impl Tradeoffs {
    /// Updates the figures of these stages.
    fn add(&mut self, new: Tradeoff) {
        let known = self.0.iter().position(|tried| tried.stages == new.stages);
        let Some(index) = known else {
            if self.0.len() == MAX_TRIED {
                self.0.remove(0);
            }
            self.0.push(new);
            return;
        };
        let mut tried = self.0.remove(index);
        let mean = |old: f64, new: f64| old + (new - old) / AVERAGED;
        tried.kbps = mean(tried.kbps, new.kbps);
        tried.mm = mean(tried.mm, new.mm);
        tried.degrees = mean(tried.degrees, new.degrees);
        self.0.push(tried);
    }
}

/// Notes what the stages of the selected lane cost now, while there is anything to see.
pub(in crate::panel) fn record(
    lane: Option<Single<(&LaneMeter, &ReplicaError), With<Selected>>>,
    mut tradeoffs: ResMut<Tradeoffs>,
) {
    let Some((meter, replica_error)) = lane.map(Single::into_inner) else {
        return;
    };
    let mut samples = meter.newest(SETTLING_TICKS);
    let Some(stages) = meter.samples().back().map(|sample| sample.stages) else {
        return;
    };
    let has_settled =
        samples.len() == SETTLING_TICKS && samples.all(|sample| sample.stages == stages);
    if has_settled && replica_error.tick.is_some() && replica_error.mean_m > 0.0 {
        tradeoffs.add(Tradeoff {
            stages,
            kbps: meter.kbps(Accounting::PayloadAndUdp),
            mm: f64::from(replica_error.mean_m) * 1000.0,
            degrees: f64::from(replica_error.mean_degrees),
        });
    }
}

const _: () = assert!(SETTLING_TICKS > TICKS_PER_SECOND as usize);

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

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder::LADDER;

    use super::*;

    fn tried(stages: Stages, kbps: f64) -> Tradeoff {
        Tradeoff {
            stages,
            kbps,
            mm: 1.0,
            degrees: 0.1,
        }
    }

    #[test]
    fn every_combination_has_one_point_which_follows_the_figures() {
        let mut tradeoffs = Tradeoffs::default();
        for rung in LADDER {
            tradeoffs.add(tried(rung.stages, 100.0));
        }
        for _ in 0..600 {
            tradeoffs.add(tried(LADDER[3].stages, 200.0));
        }
        assert_eq!(tradeoffs.0.len(), LADDER.len());
        let newest = tradeoffs.0.last().unwrap();
        assert_eq!(newest.stages, LADDER[3].stages);
        assert!((newest.kbps - 200.0).abs() < 1.0);
    }

    #[test]
    fn points_are_bounded() {
        let mut tradeoffs = Tradeoffs::default();
        let bits: Vec<u8> = (2..=15).collect();
        for stages in Stages::every_legal(&bits).take(500) {
            tradeoffs.add(tried(stages, 100.0));
        }
        assert_eq!(tradeoffs.0.len(), MAX_TRIED);
    }
}
