//! The bands of a film: title, names of columns and legend above the picture, and a graph, the conditions and a credit
//! below it. The picture has two thirds of the height.
//!
//! Each column of a film is rendered as a separate picture. It paints its own name, and its slice of the shared text and
//! of the graph. Text without room is left out in whole items.

mod curves;
mod graph;

use bevy_egui::egui::{Align2, Rect, pos2, vec2};
use cubewire_scene::CUBES;

use super::headline::{self, Cost, OverlayLane};
use super::text::Pen;
use super::{Overlay, Part};
use crate::replication::{LaneSettings, Totals};
use crate::theme::egui_color;
use crate::view::costs::{self, CubeColors};

pub use self::curves::{Curves, Flag};

/// Heights of rows, points.
const TITLE: f32 = 34.0;
const NAMES: f32 = 28.0;
const LEGEND: f32 = 26.0;
/// Row of flags above the graph.
const FLAGS: f32 = 16.0;
/// Row with the conditions and the credit.
const LAST: f32 = 24.0;

/// Distance of the plot from the top of its band, which its highest label needs, and from the row below it.
const ABOVE: f32 = 10.0;
const BELOW: f32 = 9.0;

/// Smallest height of a plot. Without it, the film has no graph.
const LEAST_PLOT: f32 = 24.0;

/// Heights of the bands above and below the picture, points.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rows {
    above: f32,
    below: f32,
    /// From the top of the lower band to the plot.
    top: f32,
    /// Height of the plot, or 0.
    plot: f32,
}

pub(super) const CREDIT: &str = "After Glenn Fiedler’s Snapshot Compression, gafferongames.com";
const SHORT_CREDIT: &str = "gafferongames.com";

/// Columns of a film that shows lanes side by side, and the index of this one.
#[derive(Clone, Debug)]
pub struct Column {
    pub lanes: Vec<LaneSettings>,
    /// Names of the columns, left to right. Further columns have the names of their rungs.
    pub labels: Vec<String>,
    /// Parts of the descriptions that all lanes have in common throughout the film.
    pub common: Vec<String>,
    /// Last second of the first column, to compare with. `None` in the first column, and before a second was measured.
    pub first: Option<Totals>,
    pub index: usize,
    /// Left edge of this column in the film, pixels.
    pub start: u32,
    /// Width of the film, pixels.
    pub whole: u32,
}

impl Overlay {
    /// Heights of the bands above and below the picture in a film of this height, points. Both are 0 in a window.
    pub(in crate::view) fn bands(&self, colors: CubeColors, height: f32) -> [f32; 2] {
        let rows = self.rows(colors, height);
        [rows.above, rows.below]
    }

    fn rows(&self, colors: CubeColors, height: f32) -> Rows {
        if self.title.is_none() {
            return Rows { above: 0.0, below: 0.0, top: 0.0, plot: 0.0 };
        }
        let row = |is_there, height| if is_there { height } else { 0.0 };
        let above = row(self.shows(Part::Heading), TITLE)
            + row(self.has_names(), NAMES)
            + row(colors.title().is_some(), LEGEND);
        let top = ABOVE + row(!self.curves.flags.is_empty(), FLAGS);
        let free = height / 3.0 - above - top - BELOW - LAST;
        let plot = free.min(height / 6.0);
        let has_last = self.shows(Part::Graph);
        let has_plot = has_last && plot >= LEAST_PLOT;
        Rows {
            above,
            below: row(has_plot, top + plot + BELOW) + row(has_last, LAST),
            top: row(has_plot, top),
            plot: row(has_plot, plot),
        }
    }

    fn has_names(&self) -> bool {
        self.column.is_some() && self.shows(Part::Labels)
    }

    /// Rectangle of the whole film, if `picture` is one of its columns, or else `picture`.
    pub(super) fn film(&self, picture: Rect, pixels_per_point: f32) -> Rect {
        let Some(column) = &self.column else { return picture };
        let [start, width] =
            [column.start, column.whole].map(|side| side as f32 / pixels_per_point);
        Rect::from_min_size(picture.min - vec2(start, 0.0), vec2(width, picture.height()))
    }
}

/// Title of a film of two halves, true for all that they show. The right half shows a lane. `left_is_lane` says
/// whether the left half shows a lane instead of the simulation, over time.
pub fn title_of_halves(left_is_lane: impl IntoIterator<Item = bool>) -> &'static str {
    let (mut has_simulation, mut has_lane) = (false, false);
    for is_lane in left_is_lane {
        has_lane |= is_lane;
        has_simulation |= !is_lane;
    }
    match (has_simulation, has_lane) {
        (true, true) => "The same game in both halves",
        (true, false) => "A simulation and its replica, rebuilt from packets",
        (false, true) => "Two replicas of the same game",
        (false, false) => "A replica, rebuilt from packets",
    }
}

/// Parts of the descriptions that all lanes have in common.
pub fn common<'a>(lanes: impl IntoIterator<Item = &'a LaneSettings>) -> Vec<String> {
    let described = lanes.into_iter().map(LaneSettings::describe_in_full);
    let common = described.reduce(|mut common, lane| {
        common.retain(|part| lane.contains(part));
        common
    });
    common.unwrap_or_default()
}

impl Pen<'_> {
    /// Paints title, legend and lower band of a `film`. This picture is the `part` of it.
    pub(super) fn film(
        &self,
        overlay: &Overlay,
        [part, film]: [Rect; 2],
        lanes: &[OverlayLane<'_>],
        common: &[String],
        legend: (CubeColors, costs::Scale),
    ) {
        let Rows { above, below, top: to_plot, plot } = overlay.rows(legend.0, film.height());
        let ground = egui_color(self.colors().ground);
        let (top, _) = part.split_top_bottom_at_y(part.min.y + above);
        let (_, band) = part.split_top_bottom_at_y(part.max.y - below);
        for strip in [top, band] {
            self.painter.rect_filled(strip, 0.0, ground);
        }
        let mut y = part.min.y;
        if overlay.shows(Part::Heading) {
            let end = y + TITLE;
            let bar = Rect::from_x_y_ranges(film.x_range(), y..=end);
            self.title(overlay.title.as_deref().unwrap_or_default(), bar);
            y = end;
        }
        if let Some(column) = &overlay.column
            && overlay.has_names()
        {
            let bar = Rect::from_x_y_ranges(part.x_range(), y..=y + NAMES);
            let lane = lanes.first();
            let name = self.name(column, lane.map(|lane| &lane.settings), bar);
            let own = lane.and_then(|lane| lane.meter.second(None));
            if overlay.shows(Part::Figures)
                && let (Some(first), Some(own)) = (&column.first, &own)
                && let Some(ratio) = headline::to_first(&Cost::of(first), &Cost::of(own))
            {
                self.ratio_to_first(bar, name.width(), &ratio);
            }
            y += NAMES;
        }
        if legend.0.title().is_some() {
            let x = film.x_range().shrink(self.sizes.margin);
            self.legend_strip(x, y + LEGEND / 2.0, legend);
        }
        if plot > 0.0 {
            let left = graph::LEFT * self.sizes.small;
            let at = pos2(film.min.x + left, band.min.y + to_plot);
            let width = film.width() - left - self.sizes.margin;
            self.plot(Rect::from_min_size(at, vec2(width, plot)), &overlay.curves);
        }
        if below > 0.0 {
            let graph = (plot > 0.0).then(|| graph::about(&overlay.curves));
            let common = if overlay.shows(Part::Link) { common } else { &[] };
            let said = graph.as_ref().into_iter().chain(common);
            self.conditions(film, band.max.y - LAST, &said.map(String::as_str).collect::<Vec<_>>());
        }
    }

    fn title(&self, title: &str, bar: Rect) {
        let (margin, colors) = (self.sizes.margin, self.colors());
        let width = bar.width() - 2.0 * margin;
        let at = pos2(bar.min.x + margin, bar.center().y);
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

    /// Paints the name of a column and returns its area. All columns use the form and size that fits all names next to
    /// a ratio. `lane` has the present settings of the column.
    fn name(&self, column: &Column, lane: Option<&LaneSettings>, bar: Rect) -> Rect {
        let (margin, sizes) = (self.sizes.margin, self.sizes);
        let width = bar.width() - 3.0 * margin - self.width(LONG_RATIO, sizes.line);
        let names = |rung: &dyn Fn(&LaneSettings) -> String| {
            let name = move |(index, initial)| {
                let lane = lane.filter(|_| index == column.index).unwrap_or(initial);
                let label = column.labels.get(index).cloned();
                label.unwrap_or_else(|| rung(lane))
            };
            column.lanes.iter().enumerate().map(name).collect::<Vec<_>>()
        };
        // Columns with the same rung are named after what else differs.
        let common = common(&column.lanes);
        let others = |lane: &LaneSettings| {
            let parts = lane.describe_in_full().into_iter();
            parts.filter(|part| !common.contains(part)).collect::<Vec<_>>().join(", ")
        };
        let rung = |lane: &LaneSettings| lane.rung_name().to_owned();
        let forms: [Vec<String>; 3] =
            [names(&others), names(&LaneSettings::describe_rung), names(&rung)];
        let is_of_rungs = forms[0].iter().any(String::is_empty)
            || column.lanes.windows(2).any(|pair| pair[0].sender != pair[1].sender);
        let forms = &forms[usize::from(is_of_rungs)..];
        let wishes = forms.iter().flat_map(|names| {
            let sizes = [sizes.title, sizes.line, sizes.small].into_iter();
            sizes.map(move |size| (names, size))
        });
        let fits = |&(names, size): &(&Vec<String>, f32)| {
            names.iter().all(|name| self.width(name, size) <= width)
        };
        let fitting = { wishes }.find(fits);
        let (names, size) = fitting.unwrap_or((&forms[forms.len() - 1], sizes.small));
        let name = self.words(&names[column.index], size, width);
        let at = pos2(bar.min.x + margin, bar.center().y);
        let color = self.colors().column(column.index);
        self.write(at, Align2::LEFT_CENTER, (&name, size, color))
    }

    /// Paints the ratio of a column to the first one, to the right of a name of this width.
    fn ratio_to_first(&self, bar: Rect, name: f32, ratio: &str) {
        let (margin, colors) = (self.sizes.margin, self.colors());
        let large = (ratio, self.sizes.line, colors.ground);
        let small = (" than the first", self.sizes.small, colors.ground);
        let whole = self.line(&[large, small], f32::INFINITY);
        let line = match name + whole.size().x + 3.0 * margin <= bar.width() {
            true => whole,
            false => self.line(&[large], f32::INFINITY),
        };
        let at = pos2(bar.max.x - margin, bar.center().y);
        let padding = vec2(0.4, 0.1) * self.sizes.line;
        let fill = egui_color(colors.ink);
        self.ground(at, Align2::RIGHT_CENTER, padding, &[line], fill);
    }

    /// Paints as many of the descriptions as fit, the number of cubes, and a credit at the right.
    fn conditions(&self, film: Rect, y: f32, said: &[&str]) {
        let (colors, small) = (self.colors(), self.sizes.small);
        let cubes = format!("{CUBES} cubes");
        let parts = [said, &[&cubes]].concat();
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
}

/// Long text of a ratio, which gets room next to a name.
const LONG_RATIO: &str = "1.5× further off";

#[cfg(test)]
mod tests {
    use super::super::text::Sizes;
    use super::super::text::tests::with_pen;
    use super::*;

    fn column(labels: &[&str]) -> Overlay {
        let lanes = ["rung:delta", "rung:predicted,budget:64kbps"];
        let column = Column {
            lanes: lanes.map(|lane| lane.parse().unwrap()).into(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            common: Vec::new(),
            first: None,
            index: 1,
            start: 642,
            whole: 1280,
        };
        Overlay { title: Some("a film".to_owned()), column: Some(column), ..Overlay::default() }
    }

    #[test]
    fn the_picture_has_two_thirds_of_the_height() {
        let flag = Flag { tick: 1, part: None, title: "delta".to_owned() };
        let halves = Overlay { title: Some("a film".to_owned()), ..Overlay::default() };
        for mut overlay in [halves, column(&[])] {
            for flags in [vec![], vec![flag.clone()]] {
                overlay.curves.flags = flags;
                for colors in [CubeColors::Interaction, CubeColors::Distance] {
                    let rows = overlay.rows(colors, 540.0);
                    assert!(540.0 - rows.above - rows.below >= 360.0, "{rows:?}");
                    assert!(rows.plot >= LEAST_PLOT, "{rows:?}");
                }
            }
        }
        // A low film has no room for a graph.
        let low = column(&[]).rows(CubeColors::Distance, 300.0);
        assert_eq!((low.plot, low.below), (0.0, LAST));
        let hidden = vec![Part::Labels, Part::Graph];
        let bands = Overlay { hidden, ..column(&[]) }.bands(CubeColors::Interaction, 540.0);
        assert_eq!(bands, [TITLE, 0.0]);
    }

    #[test]
    fn the_last_row_and_the_lowest_label_have_room_at_any_scale() {
        for pixels_per_point in [0.5, 1.0, 4.0] {
            let small = Sizes::of(true, 640.0, 320.0, pixels_per_point).small;
            assert!(1.25 * small <= LAST, "{small} at {pixels_per_point}");
            assert!(0.5 * small <= ABOVE.min(BELOW), "{small} at {pixels_per_point}");
        }
    }

    #[test]
    fn a_column_has_its_label_or_else_its_present_rung() {
        let now: LaneSettings = "rung:index".parse().unwrap();
        let bar = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, NAMES));
        let is_painted = |labels: &[&str], lane, text: &str| {
            let overlay = column(labels);
            let column = overlay.column.as_ref().unwrap();
            let mut is_painted = false;
            with_pen(|pen| {
                let name = pen.name(column, lane, bar);
                is_painted = name.width() == pen.width(text, pen.sizes.title);
            });
            is_painted
        };
        assert!(is_painted(&[], None, "predicted within 64 kbps"));
        assert!(is_painted(&[], Some(&now), "index"));
        assert!(is_painted(&["before"], Some(&now), "index"));
        assert!(is_painted(&["before", "after"], Some(&now), "after"));
        with_pen(|pen| {
            let long = "a label that is much too long for a column";
            let overlay = column(&["before", &long.repeat(3)]);
            let name = pen.name(overlay.column.as_ref().unwrap(), None, bar);
            let ratio = pen.width(LONG_RATIO, pen.sizes.line);
            assert!(name.max.x + ratio < bar.max.x, "{name}");
        });
    }

    #[test]
    fn what_all_lanes_have_is_said_once() {
        let lanes = ["rung:delta,rate:20", "rung:predicted,rate:20", "rung:index,rate:20,link:4g"];
        let lanes = lanes.map(|lane| lane.parse::<LaneSettings>().unwrap());
        let said = common(&lanes[..2]);
        let wanted = ["100 ms round trip, no loss", "20 snapshots a second", "shown 250 ms later"];
        assert_eq!(said, wanted);
        assert_eq!(common(&lanes), wanted[1..2]);
        assert_eq!(common([]), [""; 0]);
    }

    #[test]
    fn of_a_title_that_is_too_long_whole_words_are_left() {
        with_pen(|pen| {
            let long = "The same play, encoded in several ways";
            assert_eq!(pen.words(long, 20.0, 1_000.0), long);
            let cut = pen.words(long, 20.0, 200.0);
            let words = cut.strip_suffix(" …").unwrap();
            assert!(long.starts_with(&format!("{words} ")), "{cut}");
        });
    }
}
