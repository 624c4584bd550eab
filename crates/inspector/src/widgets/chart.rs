//! A plot: lines, areas and marks in a sunken rectangle. The labels are outside of the rectangle.
//!
//! `egui_plot` 0.37 would take more code: its axes are linear, its labels are centred even at the ends of an axis, and its
//! gestures have to be disabled one by one.

use std::fmt;

use crate::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    /// Returns the position of a value between the ends of an axis, `0.0..=1.0`.
    pub fn fraction(self, value: f64, ends: &RangeInclusive<f64>) -> f64 {
        let map = |value: f64| match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(MIN_LOGARITHMIC).log10(),
        };
        let (from, to) = (map(*ends.start()), map(*ends.end()));
        ((map(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// Returns round axis ends around these values. A linear axis starts at 0.
    pub fn ends(self, smallest: f64, largest: f64) -> RangeInclusive<f64> {
        match self {
            Self::Linear => {
                let step = round_step(largest);
                // At least one step, because an axis of length 0 cannot place values.
                0.0..=(largest * HEADROOM / step).ceil().max(1.0) * step
            }
            Self::Logarithmic => {
                let decade = |value: f64| value.max(MIN_LOGARITHMIC).log10();
                let from = decade(smallest).floor();
                10_f64.powf(from)..=10_f64.powf(decade(largest * HEADROOM).ceil().max(from + 1.0))
            }
        }
    }

    /// Returns round values on an axis with these ends.
    pub fn marks(self, ends: &RangeInclusive<f64>) -> Vec<f64> {
        match self {
            Self::Linear => {
                let step = round_step(*ends.end());
                let count = (ends.end() / step + 1e-9).floor() as u32;
                (0..=count).map(|index| f64::from(index) * step).collect()
            }
            Self::Logarithmic => {
                let decade = |value: f64| value.log10().round() as i32;
                let decades = decade(*ends.start())..=decade(*ends.end());
                decades.map(|decade| 10_f64.powi(decade)).collect()
            }
        }
    }
}

/// Returns a step of 1, 2 or 5 times a power of ten, so that `largest` is two to five steps.
fn round_step(largest: f64) -> f64 {
    let largest = largest.max(1.0);
    let power = 10_f64.powi(largest.log10().floor() as i32);
    match largest / power {
        ..2.0 => power / 2.0,
        ..5.0 => power,
        _ => power * 2.0,
    }
}

/// Smallest value of a logarithmic axis.
const MIN_LOGARITHMIC: f64 = 1.0;

/// An axis extends to at least this multiple of the largest value.
const HEADROOM: f64 = 1.05;

pub struct Chart {
    pub rect: Rect,
    pub x: RangeInclusive<f64>,
    pub y: RangeInclusive<f64>,
    pub scale: Scale,
    /// Free space above the plot, in points, so that the top label of the vertical axis can be level with its line.
    pub above: f32,
    /// Clips to the plot.
    pub painter: Painter,
    look: Look,
}

impl fmt::Debug for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chart").field("rect", &self.rect).finish_non_exhaustive()
    }
}

impl Chart {
    /// Creates an empty plot with a linear horizontal axis, and paints its background.
    pub fn new(
        ui: &Ui,
        rect: Rect,
        x: RangeInclusive<f64>,
        y: RangeInclusive<f64>,
        scale: Scale,
    ) -> Self {
        let over = Self::over(ui, rect, x);
        ui.painter().rect_filled(rect, 0.0, over.look.sunken);
        Self { y, scale, ..over }
    }

    /// Creates a plot without a background, to draw over several plots that share a horizontal axis.
    pub fn over(ui: &Ui, rect: Rect, x: RangeInclusive<f64>) -> Self {
        Self {
            rect,
            x,
            y: 0.0..=1.0,
            scale: Scale::Linear,
            above: 0.0,
            look: Look::of(ui),
            painter: ui.painter_at(rect.expand(1.0)),
        }
    }

    pub fn x_of(&self, x: f64) -> f32 {
        let fraction = (x - self.x.start()) / (self.x.end() - self.x.start());
        egui::lerp(self.rect.x_range(), fraction as f32)
    }

    pub fn y_of(&self, y: f64) -> f32 {
        egui::lerp(self.rect.bottom()..=self.rect.top(), self.scale.fraction(y, &self.y) as f32)
    }

    pub fn at(&self, x: f64, y: f64) -> Pos2 {
        pos2(self.x_of(x), self.y_of(y))
    }

    pub fn x_at(&self, x: f32) -> f64 {
        egui::lerp(self.x.clone(), f64::from(egui::remap_clamp(x, self.rect.x_range(), 0.0..=1.0)))
    }

    /// Draws horizontal lines at the marks of the vertical axis, and up to four labels left of the plot, including the
    /// lowest.
    pub fn axis(&self, ui: &Ui) {
        let marks = self.scale.marks(&self.y);
        let every = marks.len().div_ceil(4).max(1);
        let label = |(index, &mark): (usize, &f64)| match index.is_multiple_of(every) {
            true => (mark, short(mark)),
            false => (mark, String::new()),
        };
        self.levels(ui, marks.iter().enumerate().map(label));
    }

    /// Draws horizontal lines from the bottom up, each with a label left of the plot unless it would overlap the label
    /// below.
    pub fn levels(&self, ui: &Ui, marks: impl IntoIterator<Item = (f64, String)>) {
        let look = Look::of(ui);
        // The lowest label may extend below the plot: the labels there start at the plot's left edge.
        let top = self.rect.top() + (LINE / 2.0 - self.above).max(0.0);
        let mut free = f32::INFINITY;
        for (y, label) in marks {
            let y = self.y_of(y);
            self.painter.hline(self.rect.x_range(), y, Stroke::new(1.0, look.line));
            let middle = y.max(top);
            if label.is_empty() || middle + LINE * 0.75 > free {
                continue;
            }
            free = middle - LINE * 0.25;
            let row = Rect::from_min_max(
                pos2(self.rect.left() - AXIS, middle - LINE / 2.0),
                pos2(self.rect.left() - 6.0, middle + LINE / 2.0),
            );
            text(ui.painter(), row, At::Right(0.0), label, SMALL, look.muted);
        }
    }

    /// Draws a label above or below the plot, aligned to a value of the horizontal axis.
    pub fn label(
        &self,
        ui: &Ui,
        is_above: bool,
        (align, x): (Align, f64),
        words: &str,
        color: Color32,
    ) {
        let corner = match is_above {
            true => self.rect.left_top() - vec2(0.0, LINE),
            false => self.rect.left_bottom(),
        };
        let row = Rect::from_min_size(corner, vec2(self.rect.width(), LINE));
        let x = self.x_of(x) - self.rect.left();
        let at = match align {
            Align::Min => At::Left(x),
            Align::Center => At::Center(x),
            Align::Max => At::Right(self.rect.width() - x),
        };
        text(ui.painter(), row, at, words, SMALL, color);
    }

    pub fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, width: f32, color: Color32) {
        let points = points.into_iter().map(|(x, y)| self.at(x, y)).collect();
        self.painter.add(Shape::line(points, Stroke::new(width, color)));
    }

    /// Draws a horizontal line; `dash` is the length of its dashes, if any.
    pub fn level(&self, x: RangeInclusive<f64>, y: f64, stroke: Stroke, dash: Option<f32>) {
        line_between(&self.painter, [self.at(*x.start(), y), self.at(*x.end(), y)], stroke, dash);
    }

    pub fn upright(&self, x: f64, stroke: Stroke) {
        self.painter.vline(self.x_of(x), self.rect.y_range(), stroke);
    }

    /// Fills the area above a value.
    pub fn veil(&self, x: RangeInclusive<f64>, above: f64, color: Color32) {
        let top = pos2(self.x_of(*x.start()), self.rect.top());
        self.painter.rect_filled(Rect::from_min_max(top, self.at(*x.end(), above)), 0.0, color);
    }

    pub fn bar(&self, x: RangeInclusive<f64>, y: f64, color: Color32) {
        let bottom = pos2(self.x_of(*x.end()), self.rect.bottom());
        self.painter.rect_filled(Rect::from_min_max(self.at(*x.start(), y), bottom), 0.0, color);
    }

    /// Draws the time labels of a plot of the last seconds.
    pub fn ago(&self, ui: &Ui, seconds: u32) {
        self.times(ui, [&format!("{seconds} s ago"), &format!("{} s", seconds / 2), "now"]);
    }

    /// Draws labels below the plot at the start, middle and end of the horizontal axis. If there is no room, the middle
    /// one is left out first, then the start.
    pub fn times(&self, ui: &Ui, labels: [&str; 3]) {
        let below = Rect::from_min_size(self.rect.left_bottom(), vec2(self.rect.width(), LINE));
        let [start, middle, end] = labels.map(|label| width(ui, label, SMALL) + APART);
        let room = below.width() + APART;
        let is_there = [start + end <= room, middle + 2.0 * start.max(end) <= room, end <= room];
        let at = [At::Left(0.0), At::Center(0.5 * below.width()), At::Right(0.0)];
        for ((label, at), _) in labels.into_iter().zip(at).zip(is_there).filter(|each| each.1) {
            text(ui.painter(), below, at, label, SMALL, self.look.muted);
        }
    }
}

/// Adds a plot of this height with room for its axis and for its times. Returns the rectangle of the plot, and the response
/// of the whole area.
pub fn plot_area(ui: &mut Ui, height: f32) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height + LINE);
    let (all, response) = ui.allocate_exact_size(size, Sense::hover());
    (all.with_min_x(all.left() + AXIS).with_max_y(all.bottom() - LINE), response)
}

/// Paints a solid or dashed line; `dash` is the length of its dashes.
pub fn line_between(painter: &Painter, ends: [Pos2; 2], stroke: Stroke, dash: Option<f32>) {
    match dash {
        Some(dash) => painter.extend(Shape::dashed_line(&ends, stroke, dash, 3.0)),
        None => _ = painter.line_segment(ends, stroke),
    }
}

pub const AXIS: f32 = 40.0;

/// Distance between labels, in logical points.
const APART: f32 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_round_numbers() {
        assert_eq!(Scale::Linear.ends(15.0, 256.0), 0.0..=300.0);
        assert_eq!(Scale::Linear.ends(15.0, 17_368.0), 0.0..=20_000.0);
        assert_eq!(Scale::Linear.ends(0.0, 0.0), 0.0..=0.5);
        assert_eq!(Scale::Logarithmic.ends(15.0, 256.0), 10.0..=1_000.0);
        assert_eq!(Scale::Logarithmic.ends(0.0, 256.0), 1.0..=1_000.0);
    }

    #[test]
    fn axis_has_two_to_five_steps_or_decades() {
        for largest in [1.0, 9.9, 10.0, 256.0, 300.0, 499.0, 999.0, 20_000.0] {
            let marks = Scale::Linear.marks(&Scale::Linear.ends(0.0, largest));
            assert!((3..=7).contains(&marks.len()), "{marks:?} to {largest}");
        }
        assert_eq!(Scale::Logarithmic.marks(&(10.0..=1_000.0)), [10.0, 100.0, 1_000.0]);
    }

    #[test]
    fn a_decade_is_as_wide_as_the_next() {
        let ends = 10.0..=1_000.0;
        let at = |value: f64| Scale::Logarithmic.fraction(value, &ends);
        assert_eq!((at(1.0), at(100.0), at(1e9)), (0.0, 0.5, 1.0));
    }
}
