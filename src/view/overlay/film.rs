//! What is beside the picture of a film: its title and a legend above, and below it a graph, the conditions and a credit.
//!
//! Each column of a film is a picture of its own: it paints its own name and graph, and its slice of what all share. Of what
//! has no room, items are left out whole.

use bevy_egui::egui::{Align2, Pos2, Rect, Shape, Stroke, pos2, vec2};
use cubewire_inspector::words::short;
use cubewire_palette::Rgb;
use cubewire_scene::{CUBES, TICKS_PER_SECOND};

use super::text::Pen;
use super::{Overlay, Part};
use crate::replication::{Accounting, LaneMeter, LaneSettings, TARGET_KBPS};
use crate::theme::egui_color;
use crate::view::costs::{self, CubeColors};
use crate::view::side::Side;

/// Height of the legend, points.
const LEGEND: f32 = 32.0;

/// What is beside the picture, points.
struct Rows {
    /// Height of the title bar.
    title: f32,
    /// Height of the band below.
    band: f32,
    /// From the top of the band to its last row, of the conditions and the credit.
    last: f32,
    /// Whether the graph has a row of its own for its times.
    has_times: bool,
}

impl Rows {
    const USUAL: Self = Self {
        title: 44.0,
        band: 112.0,
        last: 84.0,
        has_times: true,
    };

    /// Of a film with so few pixels that small type is large in it: one row says what is in the graph.
    const FEW: Self = Self {
        title: 34.0,
        band: 93.0,
        last: 68.0,
        has_times: false,
    };

    /// Height of a film, points, below which there are few.
    const LOW: f32 = 400.0;

    const fn of(height: f32) -> Self {
        if height < Self::LOW {
            Self::FEW
        } else {
            Self::USUAL
        }
    }
}

/// How far the graph goes back.
const SECONDS: usize = 8;

/// The lower end of the graph's scale, which is logarithmic, kilobits a second.
const FROM_KBPS: f64 = 10.0;

/// Between two points of a line.
const STEP_TICKS: usize = 3;

/// Where the plot lies in the band, points: its left and its upper edge, and its height.
const LEFT: f32 = 80.0;
const TOP: f32 = 10.0;
const HEIGHT: f32 = 46.0;

pub(super) const CREDIT: &str = "After Glenn Fiedler’s Snapshot Compression, gafferongames.com";
const SHORT_CREDIT: &str = "gafferongames.com";

/// A film of lanes side by side, and which of its columns this is.
#[derive(Clone, Debug)]
pub struct Column {
    /// The lanes of all columns, left to right.
    pub lanes: Vec<LaneSettings>,
    /// The number of this one, from 0.
    pub index: usize,
    /// Where it begins in the film, pixels from the left.
    pub start: u32,
    /// Width of the film, pixels.
    pub whole: u32,
}

impl Overlay {
    /// Heights that a film of that height leaves free above and below its picture, points.
    pub(in crate::view) fn bands(&self, colors: CubeColors, height: f32) -> [f32; 2] {
        if self.title.is_none() {
            return [0.0; 2];
        }
        let band = |is_there, height| if is_there { height } else { 0.0 };
        let rows = Rows::of(height);
        let title = band(self.shows(Part::Heading), rows.title);
        let legend = band(colors.title().is_some(), LEGEND);
        [title + legend, band(self.shows(Part::Graph), rows.band)]
    }

    /// All of a film, of which the picture may be a column.
    pub(super) fn film(&self, picture: Rect, pixels_per_point: f32) -> Rect {
        let Some(column) = &self.column else {
            return picture;
        };
        let [start, width] =
            [column.start, column.whole].map(|side| side as f32 / pixels_per_point);
        Rect::from_min_size(
            picture.min - vec2(start, 0.0),
            vec2(width, picture.height()),
        )
    }
}

/// A lane of the graph.
pub(super) type Curve<'a> = (Side, &'a LaneMeter, LaneSettings);

/// What the settings of all lanes say alike.
pub fn common<'a>(lanes: impl IntoIterator<Item = &'a LaneSettings>) -> Vec<String> {
    let described = lanes.into_iter().map(LaneSettings::describe_in_full);
    let common = described.reduce(|mut common, lane| {
        common.retain(|part| lane.contains(part));
        common
    });
    common.unwrap_or_default()
}

impl Pen<'_> {
    /// Paints title, legend and band of a `film`, of which this picture is the `part`.
    pub(super) fn film(
        &self,
        overlay: &Overlay,
        [part, film]: [Rect; 2],
        lanes: &[Curve<'_>],
        common: &[String],
        legend: (CubeColors, costs::Scale),
    ) {
        let rows = Rows::of(film.height());
        let [above, below] = overlay.bands(legend.0, film.height());
        let ground = egui_color(self.colors().ground);
        let (top, _) = part.split_top_bottom_at_y(part.min.y + above);
        let (_, band) = part.split_top_bottom_at_y(part.max.y - below);
        for strip in [top, band] {
            self.painter.rect_filled(strip, 0.0, ground);
        }
        let legend_top = match overlay.shows(Part::Heading) {
            true => part.min.y + rows.title,
            false => part.min.y,
        };
        if overlay.shows(Part::Heading) {
            let (bar, _) = part.split_top_bottom_at_y(legend_top);
            self.title(overlay, bar);
        }
        if legend.0.title().is_some() {
            let y = legend_top + LEGEND / 2.0;
            self.legend_strip(film.x_range().shrink(self.sizes.margin), y, legend);
        }
        if below > 0.0 {
            let right = if overlay.column.is_some() { GAP } else { 0.0 } + self.sizes.margin;
            let plot = Rect::from_min_max(
                band.min + vec2(LEFT, TOP),
                pos2(band.max.x - right, band.min.y + TOP + HEIGHT),
            );
            let (dashes, what) = self.dashes(lanes);
            if plot.width() > LEFT {
                self.plot(plot, lanes, &dashes, overlay.peak_kbps);
                if rows.has_times {
                    self.times(plot, what);
                }
            }
            let in_one_row = [format!("last {SECONDS} s, {what}")];
            let said: &[String] = match overlay.shows(Part::Link) {
                _ if !rows.has_times => &in_one_row,
                true => common,
                false => &[],
            };
            self.conditions(film, band.min.y + rows.last, said);
        }
    }

    /// Paints the title of a film, or the name of a column.
    fn title(&self, overlay: &Overlay, bar: Rect) {
        let (margin, colors) = (self.sizes.margin, self.colors());
        let width = bar.width() - 2.0 * margin;
        let at = pos2(bar.min.x + margin, bar.center().y);
        if let Some(column) = &overlay.column {
            // Alike in all columns.
            let names: [fn(&LaneSettings) -> String; 2] = [LaneSettings::describe_rung, |lane| {
                lane.rung_name().to_owned()
            }];
            let sizes = [self.sizes.title, self.sizes.line, self.sizes.small];
            let mut wishes = names.iter().flat_map(|name| sizes.map(|size| (name, size)));
            let fitting = wishes.find(|&(name, size)| {
                let mut lanes = column.lanes.iter();
                lanes.all(|lane| self.width(&name(lane), size) <= width)
            });
            if let Some((name, size)) = fitting {
                let name = name(&column.lanes[column.index]);
                self.write(at, Align2::LEFT_CENTER, (&name, size, colors.ink));
            }
            return;
        }
        let title = overlay.title.as_deref().unwrap_or_default();
        let program = ("Cubewire", self.sizes.line, colors.muted);
        let beside = self.width(program.0, program.1) + margin;
        let wishes = [
            (self.sizes.title, width - beside),
            (self.sizes.title, width),
            (self.sizes.small, width),
        ];
        let fits = |&(size, width): &(f32, f32)| self.width(title, size) <= width;
        let fitting = wishes.into_iter().find(fits);
        let (size, width) = fitting.unwrap_or((self.sizes.small, width));
        let title = self.words(title, size, width);
        let title = self.write(at, Align2::LEFT_CENTER, (&title, size, colors.ink));
        if title.max.x + beside <= bar.max.x - margin {
            let at = pos2(bar.max.x - margin, bar.center().y);
            self.write(at, Align2::RIGHT_CENTER, program);
        }
    }

    /// Paints what the lanes have in common, as far as there is room, and a credit at the right.
    fn conditions(&self, film: Rect, y: f32, common: &[String]) {
        let (colors, small) = (self.colors(), self.sizes.small);
        let cubes = format!("{CUBES} cubes");
        let parts: Vec<_> = common.iter().chain([&cubes]).map(String::as_str).collect();
        let width = film.width() - 3.0 * self.sizes.margin;
        let mut wishes = (0..=parts.len()).rev().flat_map(|count| {
            let said = parts[..count].join(" · ");
            [CREDIT, SHORT_CREDIT].map(|credit| (said.clone(), credit))
        });
        let fitting = wishes
            .find(|(said, credit)| self.width(said, small) + self.width(credit, small) <= width);
        if let Some((said, credit)) = fitting {
            let at = pos2(film.min.x + self.sizes.margin, y);
            self.write(at, Align2::LEFT_TOP, (&said, small, colors.ink));
            let at = pos2(film.max.x - self.sizes.margin, y);
            self.write(at, Align2::RIGHT_TOP, (credit, small, colors.muted));
        }
    }

    /// The bandwidths with a dashed line: the budgets, or the target; and what the graph shows.
    fn dashes(&self, lanes: &[Curve<'_>]) -> (Vec<(f64, Rgb)>, &'static str) {
        let colors = self.colors();
        let budgets = lanes.iter().filter_map(|(side, _, lane)| {
            let kbps = lane.sender.kept_budget()?;
            Some((f64::from(kbps), side.color_of(colors)))
        });
        let budgets: Vec<_> = budgets.collect();
        match budgets.is_empty() {
            true => (vec![(TARGET_KBPS, colors.ink)], "kbps; dashes: target 256"),
            false => (budgets, "kbps; dashes: budget"),
        }
    }

    /// Paints the bandwidths of the last seconds, on a scale up to the dashed lines and the largest of them so far.
    fn plot(&self, plot: Rect, lanes: &[Curve<'_>], dashes: &[(f64, Rgb)], peak_kbps: f64) {
        let colors = self.colors();
        let small = self.sizes.small;
        let largest = dashes
            .iter()
            .map(|dashes| dashes.0)
            .fold(peak_kbps, f64::max);
        let scale = Scale::up_to(plot, largest);
        self.painter
            .rect_filled(plot, 0.0, egui_color(colors.sunken));
        let line = Stroke::new(1.0, egui_color(colors.line));
        for kbps in scale.marks(small) {
            let y = scale.height(kbps);
            self.painter.hline(plot.x_range(), y, line);
            let label = (&*short(kbps), small, colors.muted);
            self.write(pos2(plot.min.x - 6.0, y), Align2::RIGHT_CENTER, label);
        }
        for &(kbps, color) in dashes {
            let y = scale.height(kbps);
            let line = [pos2(plot.min.x, y), pos2(plot.max.x, y)];
            let stroke = Stroke::new(1.0, egui_color(color));
            self.painter
                .extend(Shape::dashed_line(&line, stroke, 5.0, 3.0));
        }
        for (side, meter, _) in lanes {
            let color = egui_color(side.color_of(colors));
            let points = scale.points(meter);
            self.painter.line(points, Stroke::new(2.0, color));
        }
    }

    /// Paints what is below a plot: when it begins and ends, and `what` it shows.
    fn times(&self, plot: Rect, what: &str) {
        let small = self.sizes.small;
        let y = plot.max.y + 3.0;
        let write = |x, anchor, text: &str| {
            let part = (text, small, self.colors().muted);
            self.write(pos2(x, y), anchor, part)
        };
        let start = write(plot.min.x, Align2::LEFT_TOP, &format!("{SECONDS} s ago"));
        let end = write(plot.max.x, Align2::RIGHT_TOP, "now");
        // As much of it as there is room for.
        let what = [what, "kbps"].into_iter().find(|text| {
            let width = self.width(text, small);
            let from = plot.center().x - width / 2.0;
            from > start.max.x + small && from + width < end.min.x - small
        });
        if let Some(what) = what {
            write(plot.center().x, Align2::CENTER_TOP, what);
        }
    }
}

/// Beside the graph of a column, points.
const GAP: f32 = 4.0;

/// The vertical scale of a plot.
struct Scale {
    plot: Rect,
    to_kbps: f64,
}

impl Scale {
    /// A scale that ends at 20, 50, 100, 200 kbps and so on, which seldom changes as `largest` grows.
    fn up_to(plot: Rect, largest: f64) -> Self {
        let mut ends = (1..).flat_map(|power| [1.0, 2.0, 5.0].map(|end| end * 10_f64.powi(power)));
        let to_kbps = ends.find(|&end| end > FROM_KBPS && end >= largest);
        Self {
            plot,
            to_kbps: to_kbps.expect("they grow"),
        }
    }

    /// Where a rate is.
    fn height(&self, kbps: f64) -> f32 {
        let share = (kbps.clamp(FROM_KBPS, self.to_kbps) / FROM_KBPS).ln()
            / (self.to_kbps / FROM_KBPS).ln();
        self.plot.max.y - share as f32 * self.plot.height()
    }

    /// Powers of ten, and the end, as far as labels of that size have room.
    fn marks(&self, size: f32) -> Vec<f64> {
        let powers = (1..).map(|power| 10_f64.powi(power));
        let powers = powers.take_while(|&kbps| kbps < self.to_kbps);
        let mut marks = vec![self.to_kbps];
        for kbps in powers.collect::<Vec<_>>().into_iter().rev() {
            let above = marks.last().map_or(0.0, |&above| self.height(above));
            if self.height(kbps) - above >= size {
                marks.push(kbps);
            }
        }
        marks
    }

    /// The means of a second, oldest first.
    fn points(&self, meter: &LaneMeter) -> Vec<Pos2> {
        let plot = self.plot;
        let points = means(meter).into_iter().enumerate().map(|(index, kbps)| {
            let ago = (index * STEP_TICKS) as f32 / (SECONDS as u32 * TICKS_PER_SECOND) as f32;
            pos2(plot.max.x - ago * plot.width(), self.height(kbps))
        });
        let mut points: Vec<_> = points.collect();
        points.reverse();
        points
    }
}

/// The means of a second in a film's graph, newest first.
fn means(meter: &LaneMeter) -> Vec<f64> {
    let second = TICKS_PER_SECOND as usize;
    let ticks = SECONDS * second;
    let sizes: Vec<usize> = meter
        .newest(ticks + second)
        .map(|sample| sample.bytes(Accounting::PayloadAndUdp))
        .collect();
    let means = sizes
        .windows(second)
        .rev()
        .step_by(STEP_TICKS)
        .take(ticks / STEP_TICKS + 1);
    let means = means.map(|window| crate::replication::kbps(window.iter().sum(), second));
    means.collect()
}

/// The largest mean of a second in a film's graph, kilobits a second; 0 without one.
#[must_use]
pub fn peak_kbps(meter: &LaneMeter) -> f64 {
    means(meter).into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::text::Sizes;
    use super::super::text::tests::with_pen;
    use super::*;
    use crate::replication::{PacketRecord, Sample};

    fn plot() -> Rect {
        Rect::from_min_size(pos2(80.0, 0.0), vec2(500.0, HEIGHT))
    }

    #[test]
    fn the_graph_ends_now_and_at_a_round_number_above_what_is_shown() {
        let plot = plot();
        let meter = LaneMeter::from_samples((0..900).map(|tick| Sample {
            tick,
            snapshots: vec![PacketRecord {
                payload_bytes: 492,
                ..PacketRecord::default()
            }],
            ..Sample::default()
        }));
        let peak = peak_kbps(&meter);
        assert!((249.0..250.0).contains(&peak), "{peak}");
        let scale = Scale::up_to(plot, peak.max(TARGET_KBPS));
        assert_eq!(scale.to_kbps, 500.0);
        let points = scale.points(&meter);
        assert_eq!(points.last().unwrap().x, plot.max.x);
        assert!(points[0].x < plot.min.x + 5.0 && points[0].x >= plot.min.x);
        // Just below the target.
        assert!(points.iter().all(|at| at.y == points[0].y));
        assert!(points[0].y > scale.height(TARGET_KBPS));
        assert_eq!([scale.height(1.0), scale.height(1e6)], [HEIGHT, 0.0]);
        for (largest, end) in [
            (0.0, 20.0),
            (32.0, 50.0),
            (100.0, 100.0),
            (17_369.0, 20_000.0),
        ] {
            assert_eq!(Scale::up_to(plot, largest).to_kbps, end);
        }
    }

    #[test]
    fn the_marks_of_the_graph_do_not_overlap() {
        for largest in [20.0, 64.0, 256.0, 17_369.0] {
            for size in [14.0, 18.0] {
                let scale = Scale::up_to(plot(), largest);
                let marks = scale.marks(size);
                assert!(marks.len() >= 2, "{marks:?}");
                let heights: Vec<_> = marks.iter().map(|&kbps| scale.height(kbps)).collect();
                assert!(heights.windows(2).all(|two| two[1] - two[0] >= size));
            }
        }
    }

    #[test]
    fn the_credit_is_in_the_band_of_a_film_of_any_size() {
        for (height, pixels_per_point) in [(360.0, 0.5), (540.0, 0.5), (540.0, 1.0), (540.0, 4.0)] {
            let small = Sizes::of(true, 640.0, 320.0, pixels_per_point).small;
            let rows = Rows::of(height);
            let end = rows.last + 1.25 * small;
            assert!(end <= rows.band, "{end} at {pixels_per_point}");
            // The times, or half of the lowest mark's label.
            let above = match rows.has_times {
                true => 3.0 + 1.25 * small,
                false => 0.625 * small,
            };
            assert!(TOP + HEIGHT + above <= rows.last, "{height}");
        }
    }

    #[test]
    fn only_a_film_has_bands_and_parts_of_it_can_be_hidden() {
        let mut overlay = Overlay::default();
        let usual = CubeColors::Interaction;
        assert_eq!(overlay.bands(CubeColors::Bits, 540.0), [0.0; 2]);
        overlay.title = Some("a film".to_owned());
        for (height, rows) in [(540.0, Rows::USUAL), (360.0, Rows::FEW)] {
            let Rows { title, band, .. } = rows;
            assert_eq!(overlay.bands(usual, height), [title, band]);
            let with_legend = overlay.bands(CubeColors::Bits, height);
            assert_eq!(with_legend, [title + LEGEND, band]);
        }
        overlay.hidden = vec![Part::Graph];
        assert_eq!(overlay.bands(usual, 540.0)[1], 0.0);
    }

    #[test]
    fn what_all_lanes_have_is_said_once() {
        let lanes = [
            "rung:delta,rate:20",
            "rung:predicted,rate:20",
            "rung:index,rate:20,link:4g",
        ];
        let lanes = lanes.map(|lane| lane.parse::<LaneSettings>().unwrap());
        let said = common(&lanes[..2]);
        let wanted = [
            "100 ms round trip, no loss",
            "20 snapshots a second",
            "shown 250 ms later",
        ];
        assert_eq!(said, wanted);
        assert_eq!(common(&lanes), wanted[1..2]);
        assert_eq!(common([]), [""; 0]);
    }

    #[test]
    fn of_a_title_that_is_too_long_whole_words_are_left() {
        with_pen(|pen| {
            let long = "The same play, sent in several ways";
            assert_eq!(pen.words(long, 20.0, 1_000.0), long);
            let cut = pen.words(long, 20.0, 200.0);
            let words = cut.strip_suffix(" …").unwrap();
            assert!(long.starts_with(&format!("{words} ")), "{cut}");
        });
    }
}
