//! The bandwidth graph: kilobits a second over the last seconds.

mod scale;

use std::ops::RangeInclusive;

use bevy_egui::egui;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{
    AxisHints, Corner, HLine, HoverPosition, Legend, Line, LineStyle, Plot, PlotPoints, VLine,
    uniform_grid_spacer,
};

use super::series::{Point, Points, SMOOTHING_TICKS, Series};
use super::settings::{MAX_GRAPH_SECONDS, MIN_GRAPH_SECONDS};
use super::tooltips;
use scale::Scale;

use super::{Measured, PanelState};
use crate::replication::{Accounting, TARGET_KBPS};
use crate::view::Side;

pub(super) fn draw(ui: &mut egui::Ui, state: &mut PanelState, lanes: &[Measured<'_>]) {
    controls(ui, state, lanes);
    let ticks = state.graph_seconds as usize * TICKS_PER_SECOND as usize;
    let wanted = ticks + SMOOTHING_TICKS - 1;
    let lines: Vec<_> = match &state.frozen {
        Some(frozen) => frozen
            .iter()
            .map(|(side, points)| {
                let newest = points.len().saturating_sub(wanted);
                (*side, points[newest..].to_vec())
            })
            .collect(),
        None => newest(lanes, wanted),
    };
    let style = Style {
        height: HEIGHT,
        seconds: state.graph_seconds,
        logarithmic: state.logarithmic,
        accounting: state.accounting,
        is_small: false,
    };
    plot(ui, style, &lines);
}

/// Draws a small graph of a few seconds, without controls.
pub(super) fn draw_small(ui: &mut egui::Ui, seconds: u32, height: f32, lanes: &[Measured<'_>]) {
    let ticks = seconds as usize * TICKS_PER_SECOND as usize;
    let lines = newest(lanes, ticks + SMOOTHING_TICKS - 1);
    let style = Style {
        height,
        seconds,
        // Rungs may differ by three decades.
        logarithmic: true,
        accounting: Accounting::Article,
        is_small: true,
    };
    plot(ui, style, &lines);
}

fn newest(lanes: &[Measured<'_>], ticks: usize) -> Vec<(Side, Vec<Point>)> {
    let lines = lanes.iter().map(|lane| {
        let points = lane.meter.newest(ticks).map(Point::from);
        (lane.side, points.collect())
    });
    lines.collect()
}

fn controls(ui: &mut egui::Ui, state: &mut PanelState, lanes: &[Measured<'_>]) {
    ui.horizontal_wrapped(|ui| {
        for accounting in Accounting::ALL {
            ui.selectable_value(&mut state.accounting, accounting, accounting.name())
                .on_hover_text(tooltips::accounting(accounting));
        }
        ui.separator();
        for (logarithmic, name) in [(false, "linear"), (true, "logarithmic")] {
            ui.selectable_value(&mut state.logarithmic, logarithmic, name)
                .on_hover_text("Scale of the vertical axis.");
        }
        ui.separator();
        let paused = state.frozen.is_some();
        let pause = ui
            .selectable_label(paused, "pause")
            .on_hover_text("Freezes the graph. The lane keeps running.");
        if pause.clicked() {
            state.frozen = if paused {
                None
            } else {
                let points = |lane: &Measured<'_>| -> Points {
                    lane.meter.samples().iter().map(Point::from).collect()
                };
                let lanes = lanes.iter().map(|lane| (lane.side, points(lane)));
                Some(lanes.collect())
            };
        }
    });
    let seconds = MIN_GRAPH_SECONDS..=MAX_GRAPH_SECONDS;
    ui.add(egui::Slider::new(&mut state.graph_seconds, seconds).suffix(" s"))
        .on_hover_text("Time span of the graph.");
}

/// The appearance of a graph.
#[derive(Clone, Copy, Debug)]
struct Style {
    /// Logical points.
    height: f32,
    seconds: u32,
    logarithmic: bool,
    accounting: Accounting,
    /// Without titles and legend.
    is_small: bool,
}

fn plot(ui: &mut egui::Ui, style: Style, lanes: &[(Side, Vec<Point>)]) {
    let ticks = style.seconds as usize * TICKS_PER_SECOND as usize;
    let series: Vec<_> = lanes
        .iter()
        .map(|(side, points)| (*side, Series::new(points, ticks, style.accounting)))
        .collect();
    let scale = Scale {
        logarithmic: style.logarithmic,
    };
    let range = series.iter().filter_map(|(_, series)| series.range());
    let (smallest, largest) = range.fold((TARGET_KBPS, TARGET_KBPS), |(low, high), range| {
        (range.0.min(low), range.1.max(high))
    });
    let heights = scale.heights(smallest, largest);
    let oldest = -f64::from(style.seconds);

    let is_compared = series.len() > 1;
    let lines = series.iter().map(|(side, series)| {
        let line: PlotPoints<'_> = series
            .thinned()
            .map(|place| [series.seconds(place), scale.height(series.kbps(place))])
            .collect();
        let what = format!(
            "kbps, {}, mean of {SMOOTHING_TICKS} ticks",
            style.accounting.name()
        );
        let name = if is_compared {
            format!("{}: {what}", side.name())
        } else {
            what
        };
        let line = Line::new(side.name(), line).name(name);
        let width = if style.is_small { 2.5 } else { 1.5 };
        line.color(line_color(*side)).width(width)
    });
    let lines: Vec<_> = lines.collect();
    let target = HLine::new("target", scale.height(TARGET_KBPS))
        .name(format!("target {TARGET_KBPS} kbps"))
        .color(TARGET_COLOR)
        .style(LineStyle::dashed_dense());
    let switches = series.iter().flat_map(|(_, series)| {
        let line = |place| VLine::new("stages switched", series.seconds(place)).color(SWITCH_COLOR);
        series.switches().map(line)
    });
    let switches: Vec<VLine> = switches.collect();

    let mut seconds_axis = AxisHints::new_x()
        .label_spacing(SECONDS_SPACING)
        .formatter(|mark, _| format!("{:.0}", mark.value.abs()));
    let mut kbps_axis = AxisHints::new_y()
        .label_spacing(KBPS_SPACING)
        .min_thickness(AXIS_THICKNESS)
        .formatter(move |mark, _| format!("{:.0}", scale.kbps(mark.value)));
    if !style.is_small {
        seconds_axis = seconds_axis.label("seconds before now");
        kbps_axis = kbps_axis.label("kbps");
    }
    let mut plot = Plot::new("bandwidth")
        .height(style.height)
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
        .label_formatter(|hover| label(&series, hover));
    plot = if style.is_small {
        plot.show_background(false)
            .show_x(false)
            .show_axes([false, true])
    } else {
        let legend = Legend::default()
            .position(Corner::LeftTop)
            .text_style(egui::TextStyle::Small)
            .background_alpha(0.6);
        plot.legend(legend)
    };
    plot.show(ui, move |plot| {
        plot.set_plot_bounds_x(oldest..=0.0);
        plot.set_plot_bounds_y(heights);
        for switch in switches {
            plot.vline(switch.allow_hover(false));
        }
        plot.hline(target.allow_hover(false));
        for line in lines {
            plot.line(line.allow_hover(false));
        }
    });
}

/// The lanes' rates at the tick under the pointer, at any distance from the lines.
fn label(lanes: &[(Side, Series<'_>)], hover: &HoverPosition<'_>) -> Option<String> {
    let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) =
        hover;
    let mut tick = None;
    let mut rates = Vec::new();
    for (side, series) in lanes {
        let Some(place) = series.place_at(position.x) else {
            continue;
        };
        tick = Some(series.tick(place));
        let kbps = series.kbps(place);
        rates.push(if lanes.len() > 1 {
            format!("{} {kbps:.1} kbps", side.name())
        } else {
            format!("{kbps:.1} kbps")
        });
    }
    Some(format!("tick {}: {}", tick?, rates.join(", ")))
}

const fn line_color(side: Side) -> egui::Color32 {
    match side {
        Side::Left => LEFT_COLOR,
        Side::Right => RIGHT_COLOR,
    }
}

/// Logical points.
const HEIGHT: f32 = 220.0;

/// Logical points: wide enough for five digits, so that the plot does not shift with their number.
const AXIS_THICKNESS: f32 = 48.0;

/// Logical points between two axis labels: invisible at the first value, opaque at the second.
const KBPS_SPACING: RangeInclusive<f32> = 14.0..=20.0;
const SECONDS_SPACING: RangeInclusive<f32> = 20.0..=28.0;

// Bluish green, sky blue and vermilion of the palette of Okabe and Ito, and grey in place of its black.
const LEFT_COLOR: egui::Color32 = egui::Color32::from_rgb(0x00, 0x9E, 0x73);
const RIGHT_COLOR: egui::Color32 = egui::Color32::from_rgb(0x56, 0xB4, 0xE9);
const TARGET_COLOR: egui::Color32 = egui::Color32::from_rgb(0xD5, 0x5E, 0x00);
const SWITCH_COLOR: egui::Color32 = egui::Color32::from_rgb(0x99, 0x99, 0x99);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replication::{PacketRecord, Sample};

    #[test]
    fn hovering_shows_the_tick_and_its_rate() {
        let points: Vec<Point> = (500..620)
            .map(|tick| {
                Point::from(&Sample {
                    tick,
                    snapshots: vec![PacketRecord {
                        payload_bytes: 97,
                        ..PacketRecord::default()
                    }],
                    ..Sample::default()
                })
            })
            .collect();
        let series = || Series::new(&points, 120, Accounting::Article);
        let mut lanes = vec![(Side::Right, series())];
        let over = |lanes: &[(Side, Series<'_>)], x: f64| {
            let position = egui_plot::PlotPoint::new(x, 3.0);
            label(lanes, &HoverPosition::Elsewhere { position })
        };
        assert_eq!(over(&lanes, -1.0).as_deref(), Some("tick 559: 60.0 kbps"));
        assert_eq!(over(&lanes, -5.0), None);
        lanes.push((Side::Left, series()));
        let both = "tick 559: right 60.0 kbps, left 60.0 kbps";
        assert_eq!(over(&lanes, -1.0).as_deref(), Some(both));
    }
}
