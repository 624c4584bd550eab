//! The bandwidth graph: kilobits a second over the last seconds.

pub(super) mod axis;
mod controls;
mod lines;
mod scale;
pub(super) mod series;
mod shown;

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Align2, Color32, Sense, Shape, Stroke, TextStyle, pos2, vec2};
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{AxisHints, HoverPosition, MarkerShape, Plot, PlotPoint, Text, VLine};

use super::lane::Measured;
use super::settings::PanelState;
use super::style;
use crate::replication::{Accounting, TARGET_KBPS};
use crate::theme::{Theme, egui_color};
use crate::view::Side;
use lines::{LABEL_SIZE, Lines, series, ticks};
use series::{Point, Series};

pub(super) use controls::controls;
pub(super) use scale::Scale;
pub(super) use series::{SMOOTHING_TICKS, smooth};
pub use shown::{ShownGraph, ShownLine, ShownPoint};

/// Draws the graph with its legend, `height` logical points high in all.
///
/// `moment` is the tick of the past that the views show.
pub(super) fn draw(
    ui: &mut egui::Ui,
    state: &PanelState,
    lanes: &[Measured<'_>],
    moment: Option<u64>,
    height: f32,
) {
    let points = points(state, lanes);
    let lines = Lines::shown(state, &points);
    let spacing = std::mem::replace(&mut ui.spacing_mut().item_spacing.y, 0.0);
    let rest = 2.0 * ROW_HEIGHT;
    legend(ui, state.theme, &lines);
    plot(ui, state, &lines, moment, (height - rest).max(MIN_HEIGHT));
    time(ui, state);
    ui.spacing_mut().item_spacing.y = spacing;
}

/// Draws the last seconds without axes, with the rate at the end of each line.
pub(super) fn draw_small(
    ui: &mut egui::Ui,
    theme: Theme,
    seconds: u32,
    size: egui::Vec2,
    lanes: &[Measured<'_>],
) {
    let ticks = seconds as usize * TICKS_PER_SECOND as usize;
    let points = newest(lanes, ticks + SMOOTHING_TICKS - 1);
    // Rungs may differ by three decades.
    let lines = Lines::new(
        series(&points, ticks, Accounting::PayloadAndUdp),
        ticks,
        true,
    );
    let ink = egui_color(theme.colors().ink);
    let past = f64::from(seconds);
    // Room for the labels.
    let future = past * f64::from(LABEL_WIDTH / (size.x - LABEL_WIDTH).max(LABEL_WIDTH));
    let labels = lines.labels(size.y);
    base("small bandwidth", size.y)
        .width(size.x)
        .show_background(false)
        .show_x(false)
        .show_axes(false)
        .show_grid(false)
        .show(ui, |plot| {
            plot.set_plot_bounds_x(-past..=future);
            plot.set_plot_bounds_y(lines.heights.clone());
            lines.draw(plot, theme, 2.5);
            for (text, height, side) in labels {
                let color = side.map_or(ink, |side| style::half(theme.colors(), side));
                let at = PlotPoint::new(future * 0.1, height);
                let text = egui::RichText::new(text).color(color).size(LABEL_SIZE);
                let text = Text::new("rate", at, text);
                plot.text(text.anchor(Align2::LEFT_CENTER).allow_hover(false));
            }
            let corner = PlotPoint::new(-past, *lines.heights.end());
            let unit = egui::RichText::new(format!(" kbps, log, last {seconds} s"))
                .color(ink)
                .size(LABEL_SIZE);
            let unit = Text::new("unit", corner, unit);
            plot.text(unit.anchor(Align2::LEFT_TOP).allow_hover(false));
        });
}

/// The points that the graph shows, and those before them that it needs for smoothing.
fn points(state: &PanelState, lanes: &[Measured<'_>]) -> Vec<(Side, Vec<Point>)> {
    let wanted = ticks(state) + SMOOTHING_TICKS - 1;
    let Some(frozen) = &state.frozen else {
        return newest(lanes, wanted);
    };
    let newest = frozen.iter().map(|(side, points)| {
        let newest = points.len().saturating_sub(wanted);
        (*side, points[newest..].to_vec())
    });
    newest.collect()
}

/// The newest points of each lane.
fn newest(lanes: &[Measured<'_>], ticks: usize) -> Vec<(Side, Vec<Point>)> {
    let lines = lanes.iter().map(|lane| {
        let points = lane.meter.newest(ticks).map(Point::from);
        (lane.side, points.collect())
    });
    lines.collect()
}

/// A plot that only shows, whatever the pointer does.
pub(super) fn base(id: &str, height: f32) -> Plot<'_> {
    Plot::new(id)
        .height(height)
        .sense(Sense::hover())
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_y(false)
}

fn plot(
    ui: &mut egui::Ui,
    state: &PanelState,
    lines: &Lines<'_>,
    moment: Option<u64>,
    height: f32,
) {
    let scale = lines.scale;
    let kbps_axis = AxisHints::new_y()
        .label_spacing(KBPS_SPACING)
        .min_thickness(AXIS_THICKNESS)
        .formatter(move |mark, _| format!("{:.0}", scale.kbps(mark.value)));
    let warning = egui_color(state.theme.colors().warning);
    let muted = egui_color(state.theme.colors().muted);
    let ink = egui_color(state.theme.colors().ink);
    let surface = ui.visuals().extreme_bg_color;
    base("bandwidth", height)
        .show_axes([false, true])
        .custom_y_axes(vec![kbps_axis])
        // Vertical lines are switches.
        .show_grid([false, true])
        .y_grid_spacer(move |input| scale.marks(input))
        .label_formatter(|hover| label(&lines.series, hover))
        .show(ui, |plot| {
            let (bottom, top) = (*lines.heights.start(), *lines.heights.end());
            plot.set_plot_bounds_x(-f64::from(state.graph_seconds)..=0.0);
            // The topmost label stays inside.
            plot.set_plot_bounds_y(bottom..=top + HEADROOM * (top - bottom));
            lines.draw(plot, state.theme, 1.5);
            if let Some(seconds) = moment.and_then(|tick| lines.seconds_of(tick)) {
                let moment = VLine::new("shown in the views", seconds)
                    .color(ink)
                    .width(2.0);
                plot.vline(moment.allow_hover(false));
            }
            for (seconds, name) in lines.switch_labels() {
                let at = PlotPoint::new(seconds, bottom + 0.93 * (top - bottom));
                let text = egui::RichText::new(format!(" {name} "))
                    .color(muted)
                    .small();
                let text = text.background_color(surface);
                let text = Text::new("switched to", at, text);
                plot.text(text.anchor(Align2::LEFT_CENTER).allow_hover(false));
            }
            for (_, series) in &lines.series {
                let lost: Vec<_> = series.losses().map(|seconds| [seconds, bottom]).collect();
                let lost = egui_plot::Points::new("lost packets", lost)
                    .color(warning)
                    .shape(MarkerShape::Up)
                    .radius(3.0);
                plot.points(lost.allow_hover(false));
                for (seconds, kbps) in series.peaks_above(scale.kbps(top)) {
                    let text = format!(" ▲ {kbps:.0} ");
                    let text = egui::RichText::new(text).color(ink).small();
                    let text = text.background_color(surface);
                    let at = PlotPoint::new(seconds, top + HEADROOM * (top - bottom));
                    let text = Text::new("peak", at, text);
                    // Next to the line, and inside the plot.
                    let anchor = match -seconds > PEAK_SHARE * lines.seconds {
                        true => Align2::LEFT_TOP,
                        false => Align2::RIGHT_TOP,
                    };
                    plot.text(text.anchor(anchor).allow_hover(false));
                }
            }
        });
}

/// The names of the lines with their rates now, above the plot.
fn legend(ui: &mut egui::Ui, theme: Theme, lines: &Lines<'_>) {
    let size = vec2(ui.available_width(), ROW_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter();
    let mut x = rect.left();
    let y = rect.center().y;
    let mut entry = |text: String, color: Color32, is_dashed: bool| {
        let line = [pos2(x, y), pos2(x + 16.0, y)];
        let stroke = Stroke::new(2.0, color);
        if is_dashed {
            painter.extend(Shape::dashed_line(&line, stroke, 3.0, 3.0));
        } else {
            painter.line_segment(line, stroke);
        }
        let font = TextStyle::Small.resolve(ui.style());
        let at = pos2(x + 20.0, y);
        let text = painter.text(at, Align2::LEFT_CENTER, text, font, color);
        x = text.right() + 10.0;
    };
    let colors = theme.colors();
    for (side, _) in &lines.series {
        entry(side.name().to_owned(), style::half(colors, *side), false);
    }
    let target = format!("target {TARGET_KBPS:.0} kbps");
    entry(target, egui_color(colors.ink), true);
    let budgets = lines.series.iter();
    let budgets: Vec<_> = budgets
        .filter_map(|(_, series)| Some(series.newest_budget()?.to_string()))
        .collect();
    if !budgets.is_empty() {
        let budget = format!("budget {}", budgets.join(", "));
        entry(budget, egui_color(colors.ink), false);
    }
    let lost = lines
        .series
        .iter()
        .any(|(_, series)| series.losses().next().is_some());
    if lost {
        let font = TextStyle::Small.resolve(ui.style());
        let color = egui_color(colors.warning);
        painter.text(
            rect.right_center(),
            Align2::RIGHT_CENTER,
            "▲ lost",
            font,
            color,
        );
    }
    response.on_hover_text(format!(
        "Kilobits a second, mean of {SMOOTHING_TICKS} ticks, a second. A vertical line: stages were switched. Budget: \
         no second takes more on the wire. A triangle at the bottom: packets were lost. ▲ with a number: a peak above the scale."
    ));
}

/// The ends of the time axis, below the plot.
fn time(ui: &mut egui::Ui, state: &PanelState) {
    let size = vec2(ui.available_width(), ROW_HEIGHT);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let font = TextStyle::Small.resolve(ui.style());
    let color = ui.visuals().weak_text_color();
    let left = pos2(rect.left() + AXIS_THICKNESS, rect.center().y);
    let (past, now) = match state.frozen {
        Some(_) => (format!("{} s earlier", state.graph_seconds), "frozen"),
        None => (format!("{} s ago", state.graph_seconds), "now"),
    };
    let painter = ui.painter();
    painter.text(left, Align2::LEFT_CENTER, past, font.clone(), color);
    painter.text(rect.right_center(), Align2::RIGHT_CENTER, now, font, color);
}

/// The lanes' rates at the tick under the pointer, at any distance from the lines.
fn label(lanes: &[(Side, Series<'_>)], hover: &HoverPosition<'_>) -> Option<String> {
    let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) =
        hover;
    let mut tick = None;
    let mut rates = Vec::new();
    for (side, series) in lanes {
        let Some(index) = series.index_at(position.x) else {
            continue;
        };
        tick = Some(series.tick(index));
        let kbps = series.kbps(index);
        rates.push(if lanes.len() > 1 {
            format!("{} {kbps:.1} kbps", side.name())
        } else {
            format!("{kbps:.1} kbps")
        });
    }
    Some(format!("tick {}: {}", tick?, rates.join(", ")))
}

/// Logical points.
const ROW_HEIGHT: f32 = 15.0;
const MIN_HEIGHT: f32 = 30.0;

/// Logical points: wide enough for five digits, so that the plot does not shift with their number.
const AXIS_THICKNESS: f32 = 40.0;

/// Logical points between two axis labels: invisible at the first value, opaque at the second.
const KBPS_SPACING: RangeInclusive<f32> = 12.0..=16.0;

/// Share of the axis above its largest label.
const HEADROOM: f64 = 0.07;

/// Share of the graph's width that the label of a peak takes, about.
const PEAK_SHARE: f64 = 0.16;

/// Width of the labels of a small graph, logical points.
const LABEL_WIDTH: f32 = 40.0;

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
        let series = || Series::new(&points, 120, Accounting::PayloadAndUdp);
        let mut lanes = vec![(Side::Right, series())];
        let over = |lanes: &[(Side, Series<'_>)], x: f64| {
            let position = PlotPoint::new(x, 3.0);
            label(lanes, &HoverPosition::Elsewhere { position })
        };
        assert_eq!(over(&lanes, -1.0).as_deref(), Some("tick 559: 60.0 kbps"));
        assert_eq!(over(&lanes, -5.0), None);
        lanes.push((Side::Left, series()));
        let both = "tick 559: right 60.0 kbps, left 60.0 kbps";
        assert_eq!(over(&lanes, -1.0).as_deref(), Some(both));
    }
}
