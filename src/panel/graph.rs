//! The bandwidth graph: kilobits a second over the newest seconds.

use std::ops::RangeInclusive;

use bevy_egui::egui;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{
    AxisHints, Corner, GridInput, GridMark, HLine, HoverPosition, Legend, Line, LineStyle, Plot,
    PlotPoints, VLine, uniform_grid_spacer,
};

use super::PanelState;
use super::series::{Point, SMOOTHING_TICKS, Series};
use super::settings::{LONGEST_GRAPH_SECONDS, SHORTEST_GRAPH_SECONDS};
use super::tooltips;
use crate::replication::{Accounting, LaneMeter};

pub(super) fn draw(ui: &mut egui::Ui, state: &mut PanelState, meter: &LaneMeter) {
    controls(ui, state, meter);
    let ticks = state.graph_seconds as usize * TICKS_PER_SECOND as usize;
    let wanted = ticks + SMOOTHING_TICKS - 1;
    let live: Vec<Point>;
    let points: &[Point] = match &state.frozen {
        Some(frozen) => &frozen[frozen.len().saturating_sub(wanted)..],
        None => {
            live = meter.newest(wanted).map(Point::from).collect();
            &live
        }
    };
    let series = Series::new(points, ticks, state.accounting);
    plot(ui, state, &series);
}

fn controls(ui: &mut egui::Ui, state: &mut PanelState, meter: &LaneMeter) {
    ui.horizontal_wrapped(|ui| {
        for accounting in Accounting::ALL {
            ui.selectable_value(&mut state.accounting, accounting, accounting.name())
                .on_hover_text(tooltips::accounting(accounting));
        }
        ui.separator();
        for (logarithmic, name) in [(false, "linear"), (true, "logarithmic")] {
            ui.selectable_value(&mut state.logarithmic, logarithmic, name)
                .on_hover_text("How the vertical axis is divided.");
        }
        ui.separator();
        let paused = state.frozen.is_some();
        let pause = ui
            .selectable_label(paused, "pause")
            .on_hover_text("Holds the graph still. The lane goes on.");
        if pause.clicked() {
            state.frozen = if paused {
                None
            } else {
                Some(meter.samples().iter().map(Point::from).collect())
            };
        }
    });
    let seconds = SHORTEST_GRAPH_SECONDS..=LONGEST_GRAPH_SECONDS;
    ui.add(egui::Slider::new(&mut state.graph_seconds, seconds).suffix(" s"))
        .on_hover_text("How far the graph goes back.");
}

fn plot(ui: &mut egui::Ui, state: &PanelState, series: &Series<'_>) {
    let scale = Scale {
        logarithmic: state.logarithmic,
    };
    let (smallest, largest) = series.range().unwrap_or((TARGET_KBPS, TARGET_KBPS));
    let heights = scale.heights(smallest.min(TARGET_KBPS), largest.max(TARGET_KBPS));
    let oldest = -f64::from(state.graph_seconds);

    let line: PlotPoints<'_> = series
        .thinned()
        .map(|place| [series.seconds(place), scale.height(series.kbps(place))])
        .collect();
    let line = Line::new("lane", line)
        .name(format!(
            "kbps, {}, mean of {SMOOTHING_TICKS} ticks",
            state.accounting.name()
        ))
        .color(LINE_COLOR);
    let target = HLine::new("target", scale.height(TARGET_KBPS))
        .name(format!("target {TARGET_KBPS} kbps"))
        .color(TARGET_COLOR)
        .style(LineStyle::dashed_dense());
    let switches: Vec<VLine> = series
        .switches()
        .map(|place| VLine::new("stages switched", series.seconds(place)).color(SWITCH_COLOR))
        .collect();

    let seconds_axis = AxisHints::new_x()
        .label("seconds before now")
        .label_spacing(SECONDS_SPACING)
        .formatter(|mark, _| format!("{:.0}", mark.value.abs()));
    let kbps_axis = AxisHints::new_y()
        .label("kbps")
        .label_spacing(KBPS_SPACING)
        .min_thickness(AXIS_THICKNESS)
        .formatter(move |mark, _| format!("{:.0}", scale.kbps(mark.value)));

    Plot::new("bandwidth")
        .height(HEIGHT)
        .sense(egui::Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_y(false)
        .custom_x_axes(vec![seconds_axis])
        .custom_y_axes(vec![kbps_axis])
        .x_grid_spacer(uniform_grid_spacer(|_| [1.0, 5.0, 10.0]))
        .y_grid_spacer(move |input| scale.marks(input))
        .legend(
            Legend::default()
                .position(Corner::LeftTop)
                .text_style(egui::TextStyle::Small)
                .background_alpha(0.6),
        )
        .label_formatter(move |hover| label(series, hover))
        .show(ui, move |plot| {
            plot.set_plot_bounds_x(oldest..=0.0);
            plot.set_plot_bounds_y(heights);
            for switch in switches {
                plot.vline(switch.allow_hover(false));
            }
            plot.hline(target.allow_hover(false));
            plot.line(line.allow_hover(false));
        });
}

/// The lane's rate at the tick under the pointer, however far the line is from it.
fn label(series: &Series<'_>, hover: &HoverPosition<'_>) -> Option<String> {
    let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) =
        hover;
    let place = series.place_at(position.x)?;
    let (tick, kbps) = (series.tick(place), series.kbps(place));
    Some(format!("tick {tick}: {kbps:.1} kbps"))
}

/// How rates become heights on the plot: as they are, or as their common logarithm.
#[derive(Clone, Copy, Debug)]
struct Scale {
    logarithmic: bool,
}

impl Scale {
    fn height(self, kbps: f64) -> f64 {
        if self.logarithmic {
            kbps.max(LOWEST_LOGARITHMIC_KBPS).log10()
        } else {
            kbps
        }
    }

    fn kbps(self, height: f64) -> f64 {
        if self.logarithmic {
            10_f64.powf(height)
        } else {
            height
        }
    }

    /// Heights from a round figure below the smallest rate, 0 unless the scale is logarithmic, to
    /// one above the largest.
    fn heights(self, smallest_kbps: f64, largest_kbps: f64) -> RangeInclusive<f64> {
        if self.logarithmic {
            let bottom = self.height(smallest_kbps).floor();
            let top = self.height(largest_kbps * HEADROOM).ceil();
            bottom..=top.max(bottom + 1.0)
        } else {
            let step = round_step(largest_kbps);
            0.0..=(largest_kbps * HEADROOM / step).ceil() * step
        }
    }

    fn marks(self, input: GridInput) -> Vec<GridMark> {
        let (bottom, top) = input.bounds;
        if !self.logarithmic {
            let step = round_step(top);
            return uniform_grid_spacer(move |_| [step, 5.0 * step, 10.0 * step])(input);
        }
        let decades = bottom.floor() as i32..=top.ceil() as i32;
        decades
            .flat_map(|decade| {
                (1..=9_i32).map(move |digit| GridMark {
                    value: f64::from(decade) + f64::from(digit).log10(),
                    step_size: match digit {
                        1 => 1.0,
                        2 | 5 => 0.3,
                        _ => 0.05,
                    },
                })
            })
            .filter(|mark| (bottom..=top).contains(&mark.value))
            .collect()
    }
}

/// A step of 1, 2 or 5 times a power of ten that goes two to five times into `largest`.
fn round_step(largest: f64) -> f64 {
    let power = 10_f64.powi(largest.max(1.0).log10().floor() as i32);
    let digits = largest.max(1.0) / power;
    if digits < 2.0 {
        power / 2.0
    } else if digits < 5.0 {
        power
    } else {
        power * 2.0
    }
}

/// The article's target.
const TARGET_KBPS: f64 = 256.0;

/// A logarithmic axis goes no lower.
const LOWEST_LOGARITHMIC_KBPS: f64 = 1.0;

/// Part of the largest rate that is left free above it.
const HEADROOM: f64 = 1.05;

/// Logical points.
const HEIGHT: f32 = 220.0;

/// Logical points: room for five digits, so that the plot does not jump as they come and go.
const AXIS_THICKNESS: f32 = 48.0;

/// Logical points from one label to the next, between which they fade in.
const KBPS_SPACING: RangeInclusive<f32> = 14.0..=20.0;
const SECONDS_SPACING: RangeInclusive<f32> = 20.0..=28.0;

// Sky blue, vermilion and the stand-in for black of the palette of Okabe and Ito.
const LINE_COLOR: egui::Color32 = egui::Color32::from_rgb(0x56, 0xB4, 0xE9);
const TARGET_COLOR: egui::Color32 = egui::Color32::from_rgb(0xD5, 0x5E, 0x00);
const SWITCH_COLOR: egui::Color32 = egui::Color32::from_rgb(0x99, 0x99, 0x99);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::Sample;

    const LINEAR: Scale = Scale { logarithmic: false };
    const LOGARITHMIC: Scale = Scale { logarithmic: true };

    #[test]
    fn heights_lead_back_to_rates() {
        for kbps in [1.0, 15.0, 256.0, 17_368.8] {
            assert_eq!(LINEAR.kbps(LINEAR.height(kbps)), kbps);
            let back = LOGARITHMIC.kbps(LOGARITHMIC.height(kbps));
            assert!((back - kbps).abs() < kbps * 1e-9);
        }
        assert_eq!(LOGARITHMIC.height(0.0), 0.0);
    }

    #[test]
    fn the_axis_ends_at_round_figures() {
        assert_eq!(LINEAR.heights(15.0, 256.0), 0.0..=300.0);
        assert_eq!(LINEAR.heights(15.0, 17_368.0), 0.0..=20_000.0);
        assert_eq!(LOGARITHMIC.heights(15.0, 256.0), 1.0..=3.0);
        assert_eq!(LOGARITHMIC.heights(0.0, 256.0), 0.0..=3.0);
    }

    #[test]
    fn steps_divide_any_axis_into_few() {
        for largest in [1.0, 9.9, 10.0, 256.0, 300.0, 499.0, 999.0, 20_000.0] {
            let steps = largest / round_step(largest);
            assert!((2.0..6.0).contains(&steps), "{steps} steps to {largest}");
        }
    }

    #[test]
    fn decades_are_marked() {
        let marks = LOGARITHMIC.marks(GridInput {
            bounds: (1.0, 3.0),
            base_step_size: 0.1,
        });
        for decade in [1.0, 2.0, 3.0] {
            assert!(marks.iter().any(|mark| mark.value == decade));
        }
        assert_eq!(marks.len(), 19);
    }

    #[test]
    fn hovering_gives_the_tick_and_its_rate() {
        let points: Vec<Point> = (500..620)
            .map(|tick| {
                Point::from(&Sample {
                    tick,
                    article_bytes: 125,
                    ..Sample::default()
                })
            })
            .collect();
        let series = Series::new(&points, 120, Accounting::Article);
        let over = |x: f64| {
            let position = egui_plot::PlotPoint::new(x, 3.0);
            label(&series, &HoverPosition::Elsewhere { position })
        };
        assert_eq!(over(-1.0).as_deref(), Some("tick 559: 60.0 kbps"));
        assert_eq!(over(-5.0), None);
    }
}
