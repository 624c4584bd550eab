//! Interpolation, playout delay and jitter buffer, and the error of the displayed state.

use bevy_egui::egui::{self, Color32};
use cubewire_protocol::Interpolation;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{AxisHints, Bar, BarChart, MarkerShape, Plot, Points, uniform_grid_spacer};

use super::figure;
use super::network::millis;
use crate::replication::{Divergence, LaneMeter, LaneSettings, PlayoutDelay, Totals};

pub(super) fn draw(
    ui: &mut egui::Ui,
    settings: &mut LaneSettings,
    seconds: u32,
    meter: &LaneMeter,
    divergence: Option<&Divergence>,
) {
    kinds(ui, settings);
    delay(ui, settings, meter);
    ui.weak(
        "Snapshots in the jitter buffer. Red: it ran empty. Orange: a snapshot arrived too late.",
    );
    plot(ui, meter, seconds);
    figure(ui, "hitches", meter.hitches.to_string());
    let second = Totals::of(meter.newest(TICKS_PER_SECOND as usize));
    figure(ui, "late, in the last second", second.late.to_string());
    if let Some(divergence) = divergence {
        ui.separator();
        ui.weak("Difference between picture and simulation at the same tick:");
        let mm = |metres: f32| format!("{:.1} mm", metres * 1000.0);
        figure(ui, "position, mean of red cubes", mm(divergence.mean_m));
        figure(ui, "position, maximum", mm(divergence.max_m));
        let degrees = |degrees: f32| format!("{degrees:.2}°");
        figure(
            ui,
            "orientation, mean of red cubes",
            degrees(divergence.mean_degrees),
        );
        figure(ui, "orientation, maximum", degrees(divergence.max_degrees));
    }
}

fn kinds(ui: &mut egui::Ui, settings: &mut LaneSettings) {
    ui.horizontal(|ui| {
        for kind in Interpolation::ALL {
            ui.selectable_value(&mut settings.playout.interpolation, kind, kind.name())
                .on_hover_text(tooltip(kind));
        }
    });
    if settings.lacks_velocity() {
        ui.weak(
            "Needs velocities, which these stages do not send, so the picture uses linear \
             interpolation. The rungs up to at-rest send them.",
        );
    }
}

const fn tooltip(kind: Interpolation) -> &'static str {
    match kind {
        Interpolation::None => {
            "Shows the newest snapshot as it arrives. Jitter and losses are visible."
        }
        Interpolation::Linear => {
            "Interpolates linearly between two snapshots. Good enough at 60 a second; at 10 a \
             second, motion has visible corners."
        }
        Interpolation::Hermite => {
            "Interpolates along a cubic curve that matches position and velocity at both \
             snapshots. Smooth at 10 a second, but needs velocities in the snapshots."
        }
        Interpolation::Extrapolate => {
            "Extrapolates along the velocity instead of waiting for the next snapshot. Cubes sink \
             into the floor and snap back, because collisions are not predicted."
        }
    }
}

fn delay(ui: &mut egui::Ui, settings: &mut LaneSettings, meter: &LaneMeter) {
    let now = meter.samples().back().map(|sample| sample.playout_delay);
    let now = now.unwrap_or_else(|| settings.playout.rule_delay(&settings.sender));
    ui.horizontal(|ui| {
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
        millis(ui, delay, MAX_DELAY_MS, "playout delay");
    } else {
        figure(ui, "playout delay", format!("{} ms", now.as_millis()));
    }
}

fn plot(ui: &mut egui::Ui, meter: &LaneMeter, seconds: u32) {
    let ticks = seconds as usize * TICKS_PER_SECOND as usize;
    let samples = meter.newest(ticks);
    let newest = samples.len().saturating_sub(1);
    let at = |place: usize| {
        let back = newest - place;
        -(back as f64) / f64::from(TICKS_PER_SECOND)
    };
    let mut bars = Vec::new();
    let (mut starved, mut late) = (Vec::new(), Vec::new());
    for (place, sample) in samples.enumerate() {
        let seconds = at(place);
        bars.push(Bar::new(seconds, sample.buffered as f64));
        if sample.starved {
            starved.push([seconds, MARKS_AT]);
        } else if sample.late > 0 {
            late.push([seconds, MARKS_AT]);
        }
    }
    let tick = 1.0 / f64::from(TICKS_PER_SECOND);
    let bars = BarChart::new("buffered", bars).width(tick).color(BAR_COLOR);
    let count = AxisHints::new_y()
        .label("snapshots")
        .label_spacing(12.0..=18.0)
        .formatter(|mark, _| match mark.value {
            count if count < 0.0 => String::new(),
            count => format!("{count:.0}"),
        });
    let time = AxisHints::new_x()
        .label_spacing(20.0..=28.0)
        .formatter(|mark, _| format!("{:.0}", mark.value.abs()));
    Plot::new("playout")
        .height(HEIGHT)
        .sense(egui::Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
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
                ("starved", starved, STARVED_COLOR),
                ("late", late, LATE_COLOR),
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

// Sky blue, vermilion and orange of the palette of Okabe and Ito.
const BAR_COLOR: Color32 = Color32::from_rgb(0x56, 0xB4, 0xE9);
const STARVED_COLOR: Color32 = Color32::from_rgb(0xD5, 0x5E, 0x00);
const LATE_COLOR: Color32 = Color32::from_rgb(0xE6, 0x9F, 0x00);
