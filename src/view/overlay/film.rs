//! What is beside the picture of a film: its title above, and below it a graph, the conditions and a credit.

use bevy_egui::egui::{Align2, Pos2, Rect, Shape, Stroke, pos2, vec2};
use cubewire_inspector::words::short;
use cubewire_scene::{CUBES, TICKS_PER_SECOND};

use super::text::Pen;
use super::{Overlay, Part};
use crate::replication::{Accounting, LaneMeter, LaneSettings, TARGET_KBPS};
use crate::theme::egui_color;
use crate::view::side::Side;

/// Heights, points.
const TITLE: f32 = 44.0;
const BAND: f32 = 100.0;

/// How far the graph goes back.
const SECONDS: usize = 8;

/// The scale of the graph, which never changes: logarithmic, kilobits a second.
const FROM_KBPS: f64 = 10.0;
const TO_KBPS: f64 = 20_000.0;
const MARKS: [f64; 3] = [100.0, 1_000.0, 10_000.0];

/// Between two points of a line.
const STEP_TICKS: usize = 3;

/// Where the plot lies in the band, points: its left and its upper edge, its height, and what is free at its right for the
/// conditions, which a column has not.
const LEFT: f32 = 80.0;
const TOP: f32 = 12.0;
const HEIGHT: f32 = 60.0;
const RIGHT: f32 = 380.0;

pub(super) const CREDIT: [&str; 2] = [
    "After Glenn Fiedler’s Snapshot Compression,",
    "gafferongames.com",
];

impl Overlay {
    /// Heights that a film leaves free above and below its picture, points.
    pub(in crate::view) fn bands(&self) -> [f32; 2] {
        let band = |part, height| match self.title {
            Some(_) if self.shows(part) => height,
            _ => 0.0,
        };
        [band(Part::Heading, TITLE), band(Part::Graph, BAND)]
    }
}

/// A lane of the graph.
pub(super) type Curve<'a> = (Side, &'a LaneMeter, LaneSettings);

impl Pen<'_> {
    /// Paints title and band.
    pub(super) fn film(&self, overlay: &Overlay, whole: Rect, lanes: &[Curve<'_>]) {
        let [top, bottom] = overlay.bands();
        let margin = self.sizes.margin;
        let colors = self.colors();
        if let Some(title) = &overlay.title
            && top > 0.0
        {
            let (bar, _) = whole.split_top_bottom_at_y(whole.min.y + top);
            self.painter
                .rect_filled(bar, 0.0, egui_color(colors.ground));
            let mut end = bar.max.x;
            if !overlay.is_column {
                let program = ("Cubewire", self.sizes.line, colors.muted);
                let at = pos2(end - margin, bar.center().y);
                end = self.write(at, Align2::RIGHT_CENTER, program).min.x;
            }
            let width = end - bar.min.x - 2.0 * margin;
            let line = self.line(&[(title, self.sizes.title, colors.ink)], width);
            let at = pos2(bar.min.x + margin, bar.center().y - line.size().y / 2.0);
            self.painter.galley(at, line, egui_color(colors.ink));
        }
        if bottom > 0.0 {
            let (_, band) = whole.split_top_bottom_at_y(whole.max.y - bottom);
            self.painter
                .rect_filled(band, 0.0, egui_color(colors.ground));
            let right = if overlay.is_column { margin } else { RIGHT };
            if !overlay.is_column {
                self.conditions(band, lanes);
            }
            let plot = Rect::from_min_size(
                band.min + vec2(LEFT, TOP),
                vec2(band.width() - LEFT - right, HEIGHT),
            );
            if plot.width() > LEFT {
                self.plot(plot, lanes);
            }
        }
    }

    /// Paints what the lanes have in common, and the credit, at the right.
    fn conditions(&self, band: Rect, lanes: &[Curve<'_>]) {
        let Some((.., settings)) = lanes.last() else {
            return;
        };
        let colors = self.colors();
        let rate = settings.sender.snapshots_per_second();
        let network = settings.describe_network();
        let have = |is: &dyn Fn(&LaneSettings) -> bool| lanes.iter().all(|(.., lane)| is(lane));
        let cubes = match have(&|lane| lane.sender.snapshots_per_second() == rate) {
            true => format!("{CUBES} cubes, {rate} snapshots a second"),
            false => format!("{CUBES} cubes"),
        };
        let network = match have(&|lane| lane.describe_network() == network) {
            true => network,
            false => String::new(),
        };
        let small = self.sizes.small;
        let lines = [
            (cubes.as_str(), colors.ink),
            (network.as_str(), colors.ink),
            (CREDIT[0], colors.muted),
            (CREDIT[1], colors.muted),
        ];
        for (row, (text, color)) in lines.into_iter().enumerate() {
            let y = band.min.y + row_top(row, small);
            let at = pos2(band.max.x - self.sizes.margin, y);
            let line = self.line(&[(text, small, color)], RIGHT - 2.0 * self.sizes.margin);
            let at = Align2::RIGHT_TOP.anchor_size(at, line.size()).min;
            self.painter.galley(at, line, egui_color(color));
        }
    }

    fn plot(&self, plot: Rect, lanes: &[Curve<'_>]) {
        let colors = self.colors();
        let small = self.sizes.small;
        self.painter
            .rect_filled(plot, 0.0, egui_color(colors.sunken));
        let line = Stroke::new(1.0, egui_color(colors.line));
        for kbps in MARKS {
            let y = height(plot, kbps);
            self.painter.hline(plot.x_range(), y, line);
            let label = (&*short(kbps), small, colors.muted);
            self.write(pos2(plot.min.x - 6.0, y), Align2::RIGHT_CENTER, label);
        }
        let budgets = lanes.iter().filter_map(|(side, _, lane)| {
            let kbps = lane.sender.kept_budget()?;
            Some((f64::from(kbps), side.color_of(colors)))
        });
        let budgets: Vec<_> = budgets.collect();
        let (dashes, what) = match budgets.is_empty() {
            true => (vec![(TARGET_KBPS, colors.ink)], "kbps; dashes: target 256"),
            false => (budgets, "kbps; dashes: budget"),
        };
        for (kbps, color) in dashes {
            let y = height(plot, kbps);
            let line = [pos2(plot.min.x, y), pos2(plot.max.x, y)];
            let stroke = Stroke::new(1.0, egui_color(color));
            self.painter
                .extend(Shape::dashed_line(&line, stroke, 5.0, 3.0));
        }
        for (side, meter, _) in lanes {
            let color = egui_color(side.color_of(colors));
            let points = points(plot, meter);
            self.painter.line(points, Stroke::new(2.0, color));
        }
        let y = plot.max.y + 4.0;
        let write = |x, anchor, text: &str| {
            let part = (text, small, colors.muted);
            self.write(pos2(x, y), anchor, part)
        };
        let start = write(plot.min.x, Align2::LEFT_TOP, &format!("{SECONDS} s ago"));
        let end = write(plot.max.x, Align2::RIGHT_TOP, "now");
        // As much of it as there is room for.
        let what = [what, "kbps"].into_iter().find(|text| {
            let width = self
                .line(&[(text, small, colors.muted)], f32::INFINITY)
                .size()
                .x;
            let from = plot.center().x - width / 2.0;
            from > start.max.x + small && from + width < end.min.x - small
        });
        if let Some(what) = what {
            write(plot.center().x, Align2::CENTER_TOP, what);
        }
    }
}

/// Where a row of the conditions is in the band, points: the last two are a paragraph of their own.
fn row_top(row: usize, small: f32) -> f32 {
    const GAP: f32 = 8.0;
    let gaps = if row < 2 { 1.0 } else { 2.0 };
    gaps * GAP + row as f32 * (1.35 * small).min((BAND - 3.0 * GAP) / 4.0)
}

/// Where a rate is in the plot.
fn height(plot: Rect, kbps: f64) -> f32 {
    let share = (kbps.clamp(FROM_KBPS, TO_KBPS) / FROM_KBPS).ln() / (TO_KBPS / FROM_KBPS).ln();
    plot.max.y - share as f32 * plot.height()
}

/// The means of a second, oldest first.
fn points(plot: Rect, meter: &LaneMeter) -> Vec<Pos2> {
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
    let points = means.enumerate().map(|(index, kbps)| {
        let ago = (index * STEP_TICKS) as f32 / ticks as f32;
        pos2(plot.max.x - ago * plot.width(), height(plot, kbps))
    });
    let mut points: Vec<_> = points.collect();
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::super::text::Sizes;
    use super::*;
    use crate::replication::{PacketRecord, Sample};

    #[test]
    fn the_graph_has_a_fixed_scale_and_ends_now() {
        let plot = Rect::from_min_size(pos2(80.0, 0.0), vec2(500.0, 60.0));
        let meter = LaneMeter::from_samples((0..900).map(|tick| Sample {
            tick,
            snapshots: vec![PacketRecord {
                payload_bytes: 492,
                ..PacketRecord::default()
            }],
            ..Sample::default()
        }));
        let points = points(plot, &meter);
        assert_eq!(points.last().unwrap().x, plot.max.x);
        assert!(points[0].x < plot.min.x + 5.0 && points[0].x >= plot.min.x);
        // 249.6 kbps: just below the target, whatever else is shown.
        assert!(points.iter().all(|at| at.y == points[0].y));
        assert!(points[0].y > height(plot, TARGET_KBPS));
        assert_eq!([height(plot, 1.0), height(plot, 1e6)], [60.0, 0.0]);
    }

    #[test]
    fn the_credit_is_in_the_band_of_a_film_of_any_size() {
        for pixels_per_point in [0.5, 1.0, 4.0] {
            let small = Sizes::of(true, 640.0, 320.0, pixels_per_point).small;
            let end = row_top(3, small) + 1.2 * small;
            assert!(end <= BAND, "{end} at {pixels_per_point}");
        }
    }

    #[test]
    fn only_a_film_has_bands_and_parts_of_it_can_be_hidden() {
        let mut overlay = Overlay::default();
        assert_eq!(overlay.bands(), [0.0; 2]);
        overlay.title = Some("a film".to_owned());
        assert_eq!(overlay.bands(), [TITLE, BAND]);
        overlay.hidden = vec![Part::Graph];
        assert_eq!(overlay.bands(), [TITLE, 0.0]);
    }
}
