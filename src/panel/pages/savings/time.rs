//! What each rung would have cost over the last seconds, as lines.

use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Align2, Color32, RichText, Sense, TextStyle, pos2, vec2};
use cubewire_codec::Stages;
use cubewire_scene::TICKS_PER_SECOND;
use egui_plot::{AxisHints, HoverPosition, Line, LineStyle, PlotPoint, PlotPoints, PlotUi, Text};

use super::{Look, text};
use crate::panel::graph::{SMOOTHING_TICKS, smooth};
use crate::panel::settings::{MAX_GRAPH_SECONDS, PanelState};
use crate::panel::style;
use crate::replication::{ShadowLadder, ShadowRung, TARGET_KBPS};
use crate::theme::egui_color;
use egui_plot::Plot;

pub(super) fn draw(
    ui: &mut egui::Ui,
    state: &PanelState,
    look: Look,
    present: Stages,
    shadow: &ShadowLadder,
) {
    let seconds = state.graph_seconds.clamp(MIN_SECONDS, MAX_GRAPH_SECONDS);
    let Some(newest) = shadow.newest_tick() else {
        ui.weak("Measuring …");
        return;
    };
    let rungs = shadow.rungs().iter();
    let lines: Vec<_> = rungs
        .map(|rung| RungLine::new(rung, newest, seconds, present))
        .collect();
    let height = (ui.available_height() - 2.0 * ROW_HEIGHT).max(MIN_HEIGHT);
    let width = ui.available_width() - AXIS_THICKNESS;
    let past = f64::from(seconds);
    let future = past * f64::from(NAMES_WIDTH / (width - NAMES_WIDTH).max(NAMES_WIDTH));
    let plot = Lines {
        heights: heights(&lines),
        lines: &lines,
        past,
        future,
        points: height,
    };
    plot.draw(ui, state, look, height);
    ends(ui, seconds, width, past, future);
    let about = "All rungs, for the same snapshots: mean of a second, kbps, log. Point at one.";
    ui.label(RichText::new(about).small().weak());
}

/// The rate of a rung.
#[derive(Clone, Debug)]
struct RungLine {
    name: &'static str,
    is_present: bool,
    /// Seconds before the newest tick, 0 or less, and kbps; oldest first.
    points: Vec<(f64, f64)>,
}

impl RungLine {
    /// The newest seconds, up to tick `newest`, thinned by tick so that it does not flicker as it scrolls.
    fn new(rung: &ShadowRung, newest: u64, seconds: u32, present: Stages) -> Self {
        let bytes = rung.history();
        let ticks = (seconds * TICKS_PER_SECOND) as usize;
        let skipped = bytes.len().saturating_sub(ticks + SMOOTHING_TICKS - 1);
        let bytes: Vec<usize> = bytes.skip(skipped).collect();
        let before = bytes.len().saturating_sub(ticks);
        let rates = smooth(&bytes);
        let stride = ticks.div_ceil(MAX_POINTS).max(1) as u64;
        let points = rates.iter().enumerate().skip(before);
        let points = points.filter_map(|(index, &kbps)| {
            let back = (rates.len() - 1 - index) as u64;
            let is_kept = back == 0 || (newest - back.min(newest)).is_multiple_of(stride);
            let seconds = -(back as f64) / f64::from(TICKS_PER_SECOND);
            is_kept.then_some((seconds, kbps))
        });
        Self {
            name: rung.rung().name,
            is_present: rung.rung().stages == present,
            points: points.collect(),
        }
    }

    /// The point nearest to that time, if the line goes back that far.
    fn at(&self, seconds: f64) -> Option<(f64, f64)> {
        let index = self.points.partition_point(|point| point.0 < seconds);
        let found = self.points.get(index).or(self.points.last()).copied();
        found.filter(|_| self.points[0].0 <= seconds + 0.5)
    }

    fn newest_kbps(&self) -> Option<f64> {
        self.points.last().map(|point| point.1)
    }
}

const SCALE: Scale = Scale { logarithmic: true };

/// The range of the axis: halves of decades around all rates and the target.
fn heights(lines: &[RungLine]) -> RangeInclusive<f64> {
    let rates = lines.iter().flat_map(|line| &line.points);
    let rates = rates.map(|&(_, kbps)| SCALE.height(kbps));
    let target = SCALE.height(TARGET_KBPS);
    let (low, high) = rates.fold((target, target), |(low, high), height| {
        (low.min(height), high.max(height))
    });
    let (low, high) = ((2.0 * low).floor() / 2.0, (2.0 * high + 0.1).ceil() / 2.0);
    low..=high.max(low + 1.0)
}

/// The plot: lines, and their names in the room at the right.
#[derive(Debug)]
struct Lines<'a> {
    lines: &'a [RungLine],
    heights: RangeInclusive<f64>,
    past: f64,
    /// Width of the names, in seconds.
    future: f64,
    /// Height of the plot, logical points.
    points: f32,
}

impl Lines<'_> {
    fn draw(&self, ui: &mut egui::Ui, state: &PanelState, look: Look, height: f32) {
        let colors = state.theme.colors();
        let ink = egui_color(colors.ink);
        let muted = egui_color(colors.muted);
        let faint = style::tint(colors, colors.muted, FAINT);
        let axis = AxisHints::new_y()
            .label_spacing(12.0..=16.0)
            .min_thickness(AXIS_THICKNESS)
            .formatter(|mark, _| format!("{:.0}", SCALE.kbps(mark.value)));
        let labels = self.labels();
        base("savings over time", height)
            .show_x(false)
            .show_axes([false, true])
            .custom_y_axes(vec![axis])
            .show_grid([false, true])
            .y_grid_spacer(|input| SCALE.marks(input))
            .label_formatter(|hover| self.about(&labels, hover))
            .show(ui, |plot| {
                plot.set_plot_bounds_x(-self.past..=self.future);
                plot.set_plot_bounds_y(self.heights.clone());
                self.target(plot, ink);
                let is_hovered = plot.response().hovered();
                let pointer = plot.pointer_coordinate().filter(|_| is_hovered);
                let hovered = pointer.and_then(|at| self.nearest(&labels, at));
                // What is highlighted lies over the others.
                let mut order: Vec<usize> = (0..self.lines.len()).collect();
                let rank =
                    |index: usize| match (hovered == Some(index), self.lines[index].is_present) {
                        (true, _) => (2, ink, ink, 2.5),
                        (_, true) => (1, look.half, look.half, 2.5),
                        _ => (0, faint, muted, 1.2),
                    };
                order.sort_by_key(|&index| rank(index).0);
                for index in order {
                    let (_, color, text, width) = rank(index);
                    self.line(plot, index, &labels, color, text, width);
                }
            });
    }

    fn target(&self, plot: &mut PlotUi<'_>, ink: Color32) {
        let height = SCALE.height(TARGET_KBPS);
        let target = Line::new("target", vec![[-self.past, height], [0.0, height]])
            .color(ink)
            .style(LineStyle::dashed_dense());
        plot.line(target.allow_hover(false));
    }

    fn line(
        &self,
        plot: &mut PlotUi<'_>,
        index: usize,
        labels: &[f64],
        color: Color32,
        text: Color32,
        width: f32,
    ) {
        let line = &self.lines[index];
        let points = line.points.iter();
        let points: PlotPoints<'_> = points
            .map(|&(seconds, kbps)| [seconds, SCALE.height(kbps)])
            .collect();
        let points = Line::new(line.name, points).color(color).width(width);
        plot.line(points.allow_hover(false));
        let Some(kbps) = line.newest_kbps() else {
            return;
        };
        // From the end of the line to its name, which may be higher or lower.
        let label = labels[index];
        let joint = vec![[0.0, SCALE.height(kbps)], [JOINT * self.future, label]];
        let joint = Line::new("joint", joint).color(color).width(1.0);
        plot.line(joint.allow_hover(false));
        let at = PlotPoint::new((JOINT + 0.02) * self.future, label);
        let name = RichText::new(line.name).color(text).size(LABEL_SIZE);
        let name = Text::new("name", at, name).anchor(Align2::LEFT_CENTER);
        plot.text(name.allow_hover(false));
    }

    /// The heights of the names, by line: at the ends of the lines, as far as they do not overlap.
    fn labels(&self) -> Vec<f64> {
        let ends = self.lines.iter();
        let ends = ends.map(|line| SCALE.height(line.newest_kbps().unwrap_or(0.0)));
        let span = self.heights.end() - self.heights.start();
        let apart = span * f64::from((LABEL_SIZE + 1.0) / self.points.max(1.0));
        let low = self.heights.start() + 0.5 * apart;
        let high = self.heights.end() - 0.5 * apart;
        spread(&ends.collect::<Vec<_>>(), apart, low..=high)
    }

    /// The line whose name, or which itself, is nearest to the pointer.
    fn nearest(&self, labels: &[f64], pointer: PlotPoint) -> Option<usize> {
        let heights = self.lines.iter().enumerate().filter_map(|(index, line)| {
            let height = if pointer.x > 0.0 {
                labels[index]
            } else {
                SCALE.height(line.at(pointer.x)?.1)
            };
            Some((index, (height - pointer.y).abs()))
        });
        heights
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index)
    }

    /// The line under the pointer, and its rate there.
    fn about(&self, labels: &[f64], hover: &HoverPosition<'_>) -> Option<String> {
        let (HoverPosition::NearDataPoint { position, .. } | HoverPosition::Elsewhere { position }) =
            hover;
        let line = &self.lines[self.nearest(labels, *position)?];
        let (seconds, kbps) = line.at(position.x)?;
        let name = line.name;
        Some(match seconds < 0.0 {
            true => format!("{name}: {kbps:.1} kbps, {:.1} s ago", -seconds),
            false => format!("{name}: {kbps:.1} kbps now"),
        })
    }
}

/// Moves heights as little as it takes for them to be `apart`, in the same order, within a range if they fit.
fn spread(heights: &[f64], apart: f64, range: RangeInclusive<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let mut spread = heights.to_vec();
    let mut lowest = *range.start();
    for &index in &order {
        spread[index] = spread[index].max(lowest);
        lowest = spread[index] + apart;
    }
    let mut highest = *range.end();
    for &index in order.iter().rev() {
        spread[index] = spread[index].min(highest);
        highest = spread[index] - apart;
    }
    spread
}

/// The ends of the time axis, below the plot.
fn ends(ui: &mut egui::Ui, seconds: u32, width: f32, past: f64, future: f64) {
    let size = vec2(ui.available_width(), ROW_HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let color = ui.visuals().weak_text_color();
    let small = TextStyle::Small;
    let left = rect.left() + AXIS_THICKNESS;
    let now = left + width * (past / (past + future)) as f32;
    let y = rect.center().y;
    let past = format!("{seconds} s ago");
    text(ui, pos2(left, y), Align2::LEFT_CENTER, &past, &small, color);
    text(ui, pos2(now, y), Align2::RIGHT_CENTER, "now", &small, color);
    let target = format!("dashed: {TARGET_KBPS:.0}");
    let right = rect.right_center();
    text(ui, right, Align2::RIGHT_CENTER, &target, &small, color);
    response.on_hover_text("As far back as the graph above, at least 20 seconds.");
}

/// Seconds that the lines go back, at least.
const MIN_SECONDS: u32 = 20;

/// Points of a line, at most: more would not be visible.
const MAX_POINTS: usize = 240;

/// Logical points.
const AXIS_THICKNESS: f32 = 40.0;
const NAMES_WIDTH: f32 = 126.0;
const LABEL_SIZE: f32 = 10.5;
const ROW_HEIGHT: f32 = 15.0;
const MIN_HEIGHT: f32 = 60.0;

/// Share of the room for the names in which lines lead to them.
const JOINT: f64 = 0.1;

/// Share of the muted colour in a line that is not highlighted.
const FAINT: f32 = 0.6;

/// A plot that only shows, whatever the pointer does.
fn base(id: &str, height: f32) -> Plot<'_> {
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
use egui_plot::{GridInput, GridMark, uniform_grid_spacer};

/// Maps rates to heights on the plot: unchanged, or as their common logarithm.
#[derive(Clone, Copy, Debug)]
struct Scale {
    logarithmic: bool,
}

impl Scale {
    /// The height of a rate.
    fn height(self, kbps: f64) -> f64 {
        if self.logarithmic {
            kbps.max(MIN_LOGARITHMIC_KBPS).log10()
        } else {
            kbps
        }
    }

    /// The rate at a height.
    fn kbps(self, height: f64) -> f64 {
        if self.logarithmic {
            10_f64.powf(height)
        } else {
            height
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

/// A step of 1, 2 or 5 times a power of ten, such that `largest` is two to five steps.
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

/// The lower end of a logarithmic axis, at least.
const MIN_LOGARITHMIC_KBPS: f64 = 1.0;

/// Factor of the largest rate that the axis reaches at least.
const HEADROOM: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;
    use cubewire_codec::ladder;

    fn lines() -> Vec<RungLine> {
        let shadow = ShadowLadder::of_bytes(2_000, |index, _| 40_000 / (index + 1));
        let newest = shadow.newest_tick().unwrap();
        let rungs = shadow.rungs().iter();
        rungs
            .map(|rung| RungLine::new(rung, newest, 20, ladder::DELTA.stages))
            .collect()
    }

    #[test]
    fn names_do_not_overlap_and_stay_in_order() {
        let heights = [1.0, 1.01, 1.02, 3.0, 1.0, 4.0];
        let spread = spread(&heights, 0.1, 1.0..=4.0);
        let mut order: Vec<usize> = (0..heights.len()).collect();
        order.sort_by(|&a, &b| spread[a].total_cmp(&spread[b]));
        for pair in order.windows(2) {
            assert!(spread[pair[1]] - spread[pair[0]] > 0.1 - 1e-9, "{spread:?}");
            assert!(heights[pair[1]] >= heights[pair[0]], "{spread:?}");
        }
        assert!(spread.iter().all(|height| (1.0..=4.0).contains(height)));
        assert_eq!(spread[3], 3.0);
        assert_eq!(spread[5], 4.0);
    }

    #[test]
    fn a_line_shows_the_last_seconds_and_ends_with_the_rate_now() {
        let lines = lines();
        assert_eq!(lines.len(), ladder::all().count());
        let line = &lines[0];
        assert!(line.points.len() <= MAX_POINTS + 1);
        let (first, last) = (line.points[0], *line.points.last().unwrap());
        assert!((-20.0..-19.5).contains(&first.0), "{first:?}");
        assert_eq!(last.0, 0.0);
        assert!((last.1 - 40_000.0 * 8.0 * 60.0 / 1_000.0).abs() < 1e-6);
        assert_eq!(line.at(-25.0), None);
        assert_eq!(line.at(3.0), Some(last));
        let present: Vec<_> = lines.iter().filter(|line| line.is_present).collect();
        assert_eq!(present.len(), 1);
        assert_eq!(present[0].name, "delta");
    }

    #[test]
    fn the_line_or_the_name_nearest_to_the_pointer_is_meant() {
        let lines = lines();
        let lines = Lines {
            heights: heights(&lines),
            lines: &lines,
            past: 20.0,
            future: 10.0,
            points: 300.0,
        };
        let labels = lines.labels();
        let height = SCALE.height(lines.lines[3].newest_kbps().unwrap());
        let at = |x: f64, y: f64| lines.nearest(&labels, PlotPoint::new(x, y + 0.01));
        assert_eq!(at(-5.0, height), Some(3));
        assert_eq!(at(1.0, labels[9]), Some(9));
        let position = PlotPoint::new(-5.0, height);
        let about = lines.about(&labels, &HoverPosition::Elsewhere { position });
        assert!(about.unwrap().starts_with("at-rest: 4800.0 kbps, "));
    }
}
