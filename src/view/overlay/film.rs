//! The bands of a film: title, names of columns and legend above the picture, and a graph, the conditions and a credit
//! below it.
//!
//! Each column of a film is rendered as a separate picture. It paints its own name and graph, and its slice of the
//! shared text. Text without room is left out in whole items.

mod graph;

use bevy_egui::egui::{Align2, Rect, pos2, vec2};
use cubewire_scene::CUBES;

use self::graph::{Graph, SECONDS, TOP};
use super::headline::{self, Cost, OverlayLane};
use super::text::Pen;
use super::{Overlay, Part};
use crate::replication::{LaneSettings, Totals};
use crate::theme::egui_color;
use crate::view::costs::{self, CubeColors};

pub use self::graph::{Flag, peak_kbps};

const LEGEND: f32 = 32.0;

/// Height of the row with the names of the columns, points.
const NAMES: f32 = 30.0;

/// Heights of the bands above and below the picture, points.
struct Rows {
    title: f32,
    band: f32,
    /// From the top of the band to its plot.
    top: f32,
    plot: f32,
    /// From the top of the band to its last row with the conditions and the credit.
    last: f32,
    /// Whether the graph has a separate row for its times.
    has_times: bool,
}

impl Rows {
    /// Height of a film below which it has few pixels, so that small type is relatively large, points. One row then
    /// describes the graph.
    const LOW: f32 = 400.0;

    /// Rows of a film of this height. The plot takes a fifth of it. Flags add a row above the plot.
    const fn of(height: f32, has_flags: bool) -> Self {
        let is_low = height < Self::LOW;
        let top = TOP + if has_flags { FLAGS } else { 0.0 };
        let plot = height / 5.0;
        let last = top + plot + if is_low { 12.0 } else { 28.0 };
        Self {
            title: if is_low { 34.0 } else { 44.0 },
            band: last + 25.0,
            top,
            plot,
            last,
            has_times: !is_low,
        }
    }
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
    /// Whether a lane of any column changes, so that all graphs have a row of flags.
    pub has_flags: bool,
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
        if self.title.is_none() {
            return [0.0; 2];
        }
        let band = |is_there, height| if is_there { height } else { 0.0 };
        let rows = self.rows(height);
        let title = band(self.shows(Part::Heading), rows.title);
        let names = band(self.has_names(), NAMES);
        let legend = band(colors.title().is_some(), LEGEND);
        [title + names + legend, band(self.shows(Part::Graph), rows.band)]
    }

    fn rows(&self, height: f32) -> Rows {
        let column = self.column.as_ref();
        let has_flags = column.map_or(!self.flags.is_empty(), |column| column.has_flags);
        Rows::of(height, has_flags)
    }

    fn has_names(&self) -> bool {
        self.column.is_some() && self.shows(Part::Labels)
    }

    /// Rectangle of the whole film, if `picture` is one of its columns, or else `picture`.
    pub(super) fn film(&self, picture: Rect, pixels_per_point: f32) -> Rect {
        let Some(column) = &self.column else {
            return picture;
        };
        let [start, width] =
            [column.start, column.whole].map(|side| side as f32 / pixels_per_point);
        Rect::from_min_size(picture.min - vec2(start, 0.0), vec2(width, picture.height()))
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
        let rows = overlay.rows(film.height());
        let [above, below] = overlay.bands(legend.0, film.height());
        let ground = egui_color(self.colors().ground);
        let (top, _) = part.split_top_bottom_at_y(part.min.y + above);
        let (_, band) = part.split_top_bottom_at_y(part.max.y - below);
        for strip in [top, band] {
            self.painter.rect_filled(strip, 0.0, ground);
        }
        let mut y = part.min.y;
        if overlay.shows(Part::Heading) {
            let end = y + rows.title;
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
        if below > 0.0 {
            self.graph(overlay, &rows, [film, band], lanes, common);
        }
    }

    /// Paints the graph in a `band` below the picture, and the conditions and the credit of the `film`.
    fn graph(
        &self,
        overlay: &Overlay,
        rows: &Rows,
        [film, band]: [Rect; 2],
        lanes: &[OverlayLane<'_>],
        common: &[String],
    ) {
        let left = graph::LEFT * self.sizes.small;
        let right = if overlay.column.is_some() { GAP } else { 0.0 } + self.sizes.margin;
        let plot = Rect::from_min_max(
            band.min + vec2(left, rows.top),
            pos2(band.max.x - right, band.min.y + rows.top + rows.plot),
        );
        let graph = Graph::new(plot, overlay);
        let (dashes, what) = self.dashes(&graph, lanes);
        if plot.width() > left {
            self.plot(&graph, lanes, &dashes, &overlay.flags);
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
        let names = |rung: fn(&LaneSettings) -> String| {
            let name = move |(index, initial)| {
                let lane = lane.filter(|_| index == column.index).unwrap_or(initial);
                let label = column.labels.get(index).cloned();
                label.unwrap_or_else(|| rung(lane))
            };
            column.lanes.iter().enumerate().map(name).collect::<Vec<_>>()
        };
        let forms: [Vec<String>; 2] =
            [names(LaneSettings::describe_rung), names(|lane| lane.rung_name().to_owned())];
        let wishes = forms.iter().flat_map(|names| {
            let sizes = [sizes.title, sizes.line, sizes.small].into_iter();
            sizes.map(move |size| (names, size))
        });
        let fits = |&(names, size): &(&Vec<String>, f32)| {
            names.iter().all(|name| self.width(name, size) <= width)
        };
        let fitting = { wishes }.find(fits);
        let (names, size) = fitting.unwrap_or((&forms[1], sizes.small));
        let name = self.words(&names[column.index], size, width);
        let at = pos2(bar.min.x + margin, bar.center().y);
        self.write(at, Align2::LEFT_CENTER, (&name, size, self.colors().ink))
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

    /// Paints as many of the common conditions as fit, and a credit at the right.
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
}

/// Long text of a ratio, which gets room next to a name.
const LONG_RATIO: &str = "1.5× further off";

/// Height of the row of flags above the graph, points.
const FLAGS: f32 = 16.0;

/// Gap between the graphs of two columns, points.
const GAP: f32 = 4.0;

#[cfg(test)]
mod tests {
    use super::super::text::Sizes;
    use super::super::text::tests::with_pen;
    use super::*;
    use crate::view::side::Side;

    #[test]
    fn the_credit_is_in_the_band_of_a_film_of_any_size() {
        for (height, pixels_per_point) in [(360.0, 0.5), (540.0, 0.5), (540.0, 1.0), (540.0, 4.0)] {
            let small = Sizes::of(true, 640.0, 320.0, pixels_per_point).small;
            let rows = Rows::of(height, false);
            let end = rows.last + 1.25 * small;
            assert!(end <= rows.band, "{end} at {pixels_per_point}");
            // The times, or the lower half of the lowest label.
            let above = match rows.has_times {
                true => 3.0 + 1.25 * small,
                false => 0.625 * small,
            };
            assert!(rows.top + rows.plot + above <= rows.last, "{height}");
            assert_eq!(rows.plot, height / 5.0);
        }
    }

    #[test]
    fn only_a_film_has_bands_and_parts_of_it_can_be_hidden() {
        let mut overlay = Overlay::default();
        let usual = CubeColors::Interaction;
        assert_eq!(overlay.bands(CubeColors::Bits, 540.0), [0.0; 2]);
        overlay.title = Some("a film".to_owned());
        for height in [540.0, 360.0] {
            let Rows { title, band, .. } = Rows::of(height, false);
            assert_eq!(overlay.bands(usual, height), [title, band]);
            let with_legend = overlay.bands(CubeColors::Bits, height);
            assert_eq!(with_legend, [title + LEGEND, band]);
        }
        let without = overlay.bands(usual, 540.0)[1];
        overlay.flags = vec![Flag { tick: 60, side: Side::Right, title: "delta".to_owned() }];
        assert_eq!(overlay.bands(usual, 540.0)[1], without + FLAGS);
        overlay.hidden = vec![Part::Graph];
        assert_eq!(overlay.bands(usual, 540.0)[1], 0.0);
    }

    fn column(labels: &[&str], has_flags: bool) -> Overlay {
        let lanes = ["rung:delta", "rung:predicted,budget:64kbps"];
        let column = Column {
            lanes: lanes.map(|lane| lane.parse().unwrap()).into(),
            labels: labels.iter().map(|&label| label.to_owned()).collect(),
            common: Vec::new(),
            has_flags,
            first: None,
            index: 1,
            start: 642,
            whole: 1280,
        };
        Overlay { title: Some("a film".to_owned()), column: Some(column), ..Overlay::default() }
    }

    #[test]
    fn columns_have_a_title_and_names_and_rows_of_equal_height() {
        let usual = CubeColors::Interaction;
        let rows = Rows::of(540.0, false);
        let mut overlay = column(&[], false);
        let wanted = [rows.title + NAMES, rows.band];
        assert_eq!(overlay.bands(usual, 540.0), wanted);
        overlay.hidden = vec![Part::Labels];
        assert_eq!(overlay.bands(usual, 540.0), [rows.title, rows.band]);
        // Another column has a flag.
        let flagged = column(&[], true).bands(usual, 540.0);
        assert_eq!(flagged[1], rows.band + FLAGS);
    }

    #[test]
    fn a_column_has_its_label_or_else_its_present_rung() {
        let now: LaneSettings = "rung:index".parse().unwrap();
        let bar = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, NAMES));
        let is_painted = |labels: &[&str], lane, text: &str| {
            let overlay = column(labels, false);
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
            let overlay = column(&["before", &long.repeat(3)], false);
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
