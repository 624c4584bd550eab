//! A plot: lines, areas and marks in a sunken rectangle, with labels beside it, never in it.
//!
//! The graph on `egui_plot` 0.37 takes more code: its axes are linear, its labels are centred even at the ends of an axis, and its
//! gestures have to be disabled one by one.

use std::fmt;
use std::ops::RangeInclusive;

use bevy_egui::egui::{self, Color32, Painter, Pos2, Rect, Shape, Stroke, Ui, pos2, vec2};

use super::{At, text, width};
use crate::style::{LINE, Look, SMALL};
use crate::words::short;

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    /// Where a value lies between the ends of an axis: 0 to 1.
    pub fn fraction(self, value: f64, ends: &RangeInclusive<f64>) -> f64 {
        let map = |value: f64| match self {
            Self::Linear => value,
            Self::Logarithmic => value.max(MIN_LOGARITHMIC).log10(),
        };
        let (from, to) = (map(*ends.start()), map(*ends.end()));
        ((map(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// Round ends of an axis around these values: from 0 if it is linear.
    pub fn ends(self, smallest: f64, largest: f64) -> RangeInclusive<f64> {
        match self {
            Self::Linear => {
                let step = round_step(largest);
                // One step at least: an axis without a length has no place for a value.
                0.0..=(largest * HEADROOM / step).ceil().max(1.0) * step
            }
            Self::Logarithmic => {
                let decade = |value: f64| value.max(MIN_LOGARITHMIC).log10();
                let from = decade(smallest).floor();
                let to = decade(largest * HEADROOM).ceil().max(from + 1.0);
                10_f64.powf(from)..=10_f64.powf(to)
            }
        }
    }

    /// Round values on an axis with these ends.
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

/// A step of 1, 2 or 5 times a power of ten, such that `largest` is two to five steps.
fn round_step(largest: f64) -> f64 {
    let largest = largest.max(1.0);
    let power = 10_f64.powi(largest.log10().floor() as i32);
    match largest / power {
        ..2.0 => power / 2.0,
        ..5.0 => power,
        _ => power * 2.0,
    }
}

/// The lower end of a logarithmic axis, at least.
const MIN_LOGARITHMIC: f64 = 1.0;

/// Factor of the largest value that an axis reaches at least.
const HEADROOM: f64 = 1.05;

/// A plot in a rectangle.
pub struct Chart {
    pub rect: Rect,
    pub x: RangeInclusive<f64>,
    pub y: RangeInclusive<f64>,
    pub scale: Scale,
    /// Points above the plot that are free, so that the uppermost label of its vertical axis can stand beside its line.
    pub above: f32,
    look: Look,
    painter: Painter,
}

impl fmt::Debug for Chart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chart")
            .field("rect", &self.rect)
            .finish_non_exhaustive()
    }
}

impl Chart {
    /// An empty plot with a linear horizontal axis.
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

    /// A plot without a ground of its own, over several that share its horizontal axis.
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
        let fraction = self.scale.fraction(y, &self.y);
        egui::lerp(self.rect.bottom()..=self.rect.top(), fraction as f32)
    }

    pub fn at(&self, x: f64, y: f64) -> Pos2 {
        pos2(self.x_of(x), self.y_of(y))
    }

    /// The value of the horizontal axis below a point of the screen.
    pub fn x_at(&self, x: f32) -> f64 {
        let fraction = egui::remap_clamp(x, self.rect.x_range(), 0.0..=1.0);
        egui::lerp(self.x.clone(), f64::from(fraction))
    }

    /// Level lines at the marks of the vertical axis, and at most four labels at its left: the lowest on the floor.
    pub fn axis(&self, ui: &Ui) {
        let marks = self.scale.marks(&self.y);
        let every = marks.len().div_ceil(MAX_LABELS).max(1);
        let label = |(index, &mark): (usize, &f64)| match index.is_multiple_of(every) {
            true => (mark, short(mark)),
            false => (mark, String::new()),
        };
        self.levels(ui, marks.iter().enumerate().map(label));
    }

    /// A line through points, oldest first.
    pub fn line(&self, points: impl IntoIterator<Item = (f64, f64)>, width: f32, color: Color32) {
        let points = points.into_iter().map(|(x, y)| self.at(x, y)).collect();
        let stroke = Stroke::new(width, color);
        self.painter.add(Shape::line(points, stroke));
    }

    /// A level line, dashed if the length of its dashes is known.
    pub fn level(&self, x: RangeInclusive<f64>, y: f64, stroke: Stroke, dash: Option<f32>) {
        let ends = [self.at(*x.start(), y), self.at(*x.end(), y)];
        match dash {
            Some(dash) => {
                let dashed = Shape::dashed_line(&ends, stroke, dash, 3.0);
                self.painter.extend(dashed);
            }
            None => {
                self.painter.line_segment(ends, stroke);
            }
        }
    }

    /// A line from the floor to the ceiling.
    pub fn upright(&self, x: f64, stroke: Stroke) {
        self.painter
            .vline(self.x_of(x), self.rect.y_range(), stroke);
    }

    /// Fills what lies above a level.
    pub fn veil(&self, x: RangeInclusive<f64>, above: f64, color: Color32) {
        let veil = Rect::from_min_max(
            pos2(self.x_of(*x.start()), self.rect.top()),
            self.at(*x.end(), above),
        );
        self.painter.rect_filled(veil, 0.0, color);
    }

    /// A bar that stands on the floor.
    pub fn bar(&self, x: RangeInclusive<f64>, y: f64, color: Color32) {
        let bar = Rect::from_min_max(
            self.at(*x.start(), y),
            pos2(self.x_of(*x.end()), self.rect.bottom()),
        );
        self.painter.rect_filled(bar, 0.0, color);
    }

    /// The painter, which paints nothing outside.
    pub const fn painter(&self) -> &Painter {
        &self.painter
    }

    /// The times of a plot of the last seconds.
    pub fn ago(&self, ui: &Ui, seconds: u32) {
        let (ago, half) = (format!("{seconds} s ago"), format!("{} s", seconds / 2));
        self.times(ui, [&ago, &half, "now"]);
    }

    /// Labels of the horizontal axis in a row below: at its start, its middle and its end. What has no room is left out, the
    /// middle first.
    pub fn times(&self, ui: &Ui, labels: [&str; 3]) {
        let below = Rect::from_min_size(self.rect.left_bottom(), vec2(self.rect.width(), LINE));
        let [start, middle, end] = labels.map(|label| width(ui, label, SMALL) + APART);
        let room = below.width() + APART;
        let is_there = [
            start + end <= room,
            middle + 2.0 * start.max(end) <= room,
            end <= room,
        ];
        let at = [
            At::Left(0.0),
            At::Center(0.5 * below.width()),
            At::Right(0.0),
        ];
        for ((label, at), _) in labels
            .into_iter()
            .zip(at)
            .zip(is_there)
            .filter(|each| each.1)
        {
            text(ui.painter(), below, at, label, SMALL, self.look.muted);
        }
    }
}

/// Width of the labels of the vertical axis, logical points.
pub const AXIS: f32 = 40.0;

const MAX_LABELS: usize = 4;

/// Between two labels, logical points.
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
    fn an_axis_has_two_to_five_steps_or_its_decades() {
        for largest in [1.0, 9.9, 10.0, 256.0, 300.0, 499.0, 999.0, 20_000.0] {
            let ends = Scale::Linear.ends(0.0, largest);
            let marks = Scale::Linear.marks(&ends);
            assert!((3..=7).contains(&marks.len()), "{marks:?} to {largest}");
        }
        assert_eq!(
            Scale::Logarithmic.marks(&(10.0..=1_000.0)),
            [10.0, 100.0, 1_000.0]
        );
    }

    #[test]
    fn a_decade_is_as_wide_as_the_next() {
        let ends = 10.0..=1_000.0;
        let at = |value: f64| Scale::Logarithmic.fraction(value, &ends);
        assert_eq!((at(1.0), at(100.0), at(1e9)), (0.0, 0.5, 1.0));
    }
}
