//! Interpolation, playout delay and jitter buffer, and the error of the displayed state.

use bevy_egui::egui;
use cubewire_protocol::Interpolation;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{AxisHints, Bar, BarChart, MarkerShape, Points, uniform_grid_spacer};

use super::network::millis;
use crate::panel::graph::base;
use crate::panel::settings::PanelState;
use crate::panel::{figure, style, terms};
use crate::replication::{LaneMeter, LaneSettings, PlayoutDelay, ReplicaError, Totals};
use crate::theme::egui_color;

pub(in crate::panel) fn draw(
    ui: &mut egui::Ui,
    state: &PanelState,
    settings: &mut LaneSettings,
    meter: &LaneMeter,
    replica_error: Option<&ReplicaError>,
) {
    ui.horizontal(|ui| {
        ui.label("Interpolation");
        kinds(ui, settings);
    });
    // Always there, so that nothing below jumps.
    if settings.lacks_velocity() {
        ui.colored_label(
            ui.visuals().warn_fg_color,
            format!(
                "{} → linear: needs velocities, which only rungs 1 to 4 send",
                settings.playout.interpolation.name()
            ),
        );
    } else {
        ui.weak(tooltip(settings.playout.interpolation).0);
    }
    delay(ui, settings, meter);
    ui.separator();
    ui.weak("In the jitter buffer. Red: it ran empty. Yellow: one was late.")
        .on_hover_text(terms::JITTER_BUFFER);
    plot(ui, state, meter);
    figure(ui, "stalls since the start", format!("{}  ", meter.stalls))
        .on_hover_text(terms::STALLS);
    let second = Totals::of(meter.newest(TICKS_PER_SECOND as usize));
    figure(ui, "late in the last second", format!("{}  ", second.late))
        .on_hover_text("Snapshots that arrived after their time had come.");
    if let Some(replica_error) = replica_error {
        ui.separator();
        ui.weak("Displayed state against the simulation at the same tick");
        let mm = |metres: f32| format!("{:8.1} mm", metres * 1000.0);
        let degrees = |degrees: f32| format!("{degrees:8.2} ° ");
        figure(ui, "position, mean of red cubes", mm(replica_error.mean_m));
        figure(ui, "position, worst cube", mm(replica_error.max_m));
        figure(
            ui,
            "orientation, mean of red cubes",
            degrees(replica_error.mean_degrees),
        );
        figure(
            ui,
            "orientation, worst cube",
            degrees(replica_error.max_degrees),
        );
    }
}

pub(super) fn kinds(ui: &mut egui::Ui, settings: &mut LaneSettings) {
    for kind in Interpolation::ALL {
        let (short, long) = tooltip(kind);
        ui.selectable_value(&mut settings.playout.interpolation, kind, kind.name())
            .on_hover_text(format!("{short} {long}"));
    }
}

/// In a line, and what follows from it.
const fn tooltip(kind: Interpolation) -> (&'static str, &'static str) {
    match kind {
        Interpolation::None => (
            "Shows the newest snapshot as it arrives.",
            "Jitter and losses are visible.",
        ),
        Interpolation::Linear => (
            "A straight line from one snapshot to the next.",
            "Good enough at 60 a second; at 10 a second, motion has visible corners.",
        ),
        Interpolation::Hermite => (
            "A curve that matches position and velocity at both snapshots.",
            "Smooth at 10 a second, but needs velocities in the snapshots.",
        ),
        Interpolation::Extrapolate => (
            "On along the velocity, without waiting for the next snapshot.",
            "Cubes sink into the floor and snap back, because collisions are not predicted.",
        ),
    }
}

fn delay(ui: &mut egui::Ui, settings: &mut LaneSettings, meter: &LaneMeter) {
    let now = meter.samples().back().map(|sample| sample.playout_delay);
    let now = now.unwrap_or_else(|| settings.playout.rule_delay(&settings.sender));
    ui.horizontal(|ui| {
        ui.label("Playout delay")
            .on_hover_text(terms::PLAYOUT_DELAY);
        let choice = &mut settings.playout.delay;
        ui.selectable_value(choice, PlayoutDelay::Rule, "rule")
            .on_hover_text("Three snapshot intervals and a few ticks: covers two losses in a row.");
        let is_fixed = matches!(choice, PlayoutDelay::Fixed(_));
        if ui.selectable_label(is_fixed, "fixed").clicked() && !is_fixed {
            *choice = PlayoutDelay::Fixed(now);
        }
        ui.selectable_value(choice, PlayoutDelay::Adaptive, "adaptive")
            .on_hover_text("As long as the packets of the last five seconds needed.");
    });
    if let PlayoutDelay::Fixed(delay) = &mut settings.playout.delay {
        millis(ui, delay, MAX_DELAY_MS, "delay");
    } else {
        figure(ui, "delay now", format!("{} ms", now.as_millis()))
            .on_hover_text(terms::PLAYOUT_DELAY);
    }
}

fn plot(ui: &mut egui::Ui, state: &PanelState, meter: &LaneMeter) {
    let seconds = state.graph_seconds;
    let colors = state.theme.colors();
    let ticks = seconds as usize * TICKS_PER_SECOND as usize;
    let samples = meter.newest(ticks);
    let newest = samples.len().saturating_sub(1);
    let at = |index: usize| {
        let back = newest - index;
        -(back as f64) / f64::from(TICKS_PER_SECOND)
    };
    let mut bars = Vec::new();
    let (mut starved, mut late) = (Vec::new(), Vec::new());
    for (index, sample) in samples.enumerate() {
        let seconds = at(index);
        bars.push(Bar::new(seconds, sample.buffered as f64));
        if sample.starved {
            starved.push([seconds, MARKS_AT]);
        } else if sample.late > 0 {
            late.push([seconds, MARKS_AT]);
        }
    }
    let tick = 1.0 / f64::from(TICKS_PER_SECOND);
    let bars = BarChart::new("buffered", bars)
        .width(tick)
        .color(style::tint(colors, colors.ink, 0.35));
    let count = AxisHints::new_y()
        .label("snapshots")
        .label_spacing(12.0..=18.0)
        .formatter(|mark, _| match mark.value {
            count if count < 0.0 => String::new(),
            count => format!("{count:.0}"),
        });
    let time = AxisHints::new_x()
        .label_spacing(20.0..=28.0)
        .formatter(|mark, _| format!("{:.0} s", mark.value.abs()));
    base("playout", HEIGHT)
        .show_x(false)
        .custom_x_axes(vec![time])
        .custom_y_axes(vec![count])
        .include_y(2.0 * MARKS_AT)
        .include_y(8.0)
        .x_grid_spacer(uniform_grid_spacer(|_| [1.0, 5.0, 10.0]))
        .y_grid_spacer(uniform_grid_spacer(|_| [1.0, 4.0, 8.0]))
        .show(ui, |plot| {
            plot.set_plot_bounds_x(-f64::from(seconds)..=0.0);
            plot.bar_chart(bars.allow_hover(false));
            for (name, marks, color) in [
                ("starved", starved, egui_color(colors.error)),
                ("late", late, egui_color(colors.warning)),
            ] {
                let marks = Points::new(name, marks).color(color).radius(2.0);
                plot.points(marks.shape(MarkerShape::Square).allow_hover(false));
            }
        });
}

/// Upper end of the slider, milliseconds. The buffer holds four seconds.
const MAX_DELAY_MS: f64 = 1000.0;

/// Vertical position of the marks, below the bars.
const MARKS_AT: f64 = -0.7;

/// Logical points.
const HEIGHT: f32 = 90.0;
