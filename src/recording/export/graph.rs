//! The bandwidth graph as a picture and as a table.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cubewire_palette::{Colors, Half};
use plotters::prelude::*;

use super::rows::seconds;
use crate::panel::{ShownGraph, ShownLine};
use crate::plot::{Align, Area, Drawn, Style, Writer, fill, rgb};
use crate::replication::TARGET_KBPS;
use crate::view::Side;

/// Width and height of the picture, pixels.
pub const GRAPH_SIZE: (u32, u32) = (1200, 520);

/// The corners of the plot; the upper left one is inside, the lower right one outside. Pixels.
const LEFT: i32 = 84;
const RIGHT: i32 = 1104;
const TOP: i32 = 100;
const BOTTOM: i32 = 476;

const MARGIN: i32 = 24;

/// Sizes of text.
const TITLE_SIZE: f32 = 26.0;
const TEXT_SIZE: f32 = 17.0;
const SMALL_SIZE: f32 = 15.0;

/// Half the height of a small line of text, pixels.
const HALF_LINE: i32 = 9;

/// Of the dashes of the target's line and from one to the next, pixels.
const DASH: i32 = 8;
const DASHES: usize = 14;

/// Draws the graph: rows from the top, three bytes for each pixel.
///
/// # Errors
/// If it cannot be drawn.
pub fn graph_pixels(graph: &ShownGraph) -> io::Result<Vec<u8>> {
    let (width, height) = GRAPH_SIZE;
    let mut pixels = vec![0; (width * height * 3) as usize];
    draw(graph, &mut pixels).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(pixels)
}

fn draw(graph: &ShownGraph, pixels: &mut [u8]) -> Drawn {
    let area = BitMapBackend::with_buffer(pixels, GRAPH_SIZE).into_drawing_area();
    let colors = graph.theme.colors();
    area.fill(&rgb(colors.surface))?;
    let mut picture = Picture {
        graph,
        colors,
        area: &area,
        writer: Writer::new(),
    };
    picture.title()?;
    picture.axes()?;
    picture.target()?;
    for line in &graph.lines {
        picture.line(line)?;
    }
    picture.rates()?;
    area.present()?;
    Ok(())
}

struct Picture<'a, 'b> {
    graph: &'a ShownGraph,
    colors: &'static Colors,
    area: &'a Area<'b>,
    writer: Writer,
}

impl Picture<'_, '_> {
    fn write(
        &mut self,
        text: &str,
        at: (i32, i32),
        size: f32,
        color: RGBColor,
        align: Align,
    ) -> Drawn {
        let style = Style { size, color, align };
        self.writer.write(self.area, text, at, style)
    }

    fn small(&mut self, text: &str, at: (i32, i32), color: RGBColor, align: Align) -> Drawn {
        self.write(text, at, SMALL_SIZE, color, align)
    }

    fn x(&self, seconds: f64) -> i32 {
        let past = (-seconds / self.graph.seconds).clamp(0.0, 1.0);
        RIGHT - (past * f64::from(RIGHT - LEFT)).round() as i32
    }

    fn y(&self, kbps: f64) -> i32 {
        let up = self.graph.height(kbps) * f64::from(BOTTOM - TOP);
        BOTTOM - up.round() as i32
    }

    /// What the graph shows, and the names of the lines.
    fn title(&mut self) -> Drawn {
        let (ink, muted) = (rgb(self.colors.ink), rgb(self.colors.muted));
        self.write("Bandwidth", (MARGIN, 14), TITLE_SIZE, ink, Align::Left)?;
        let about = format!(
            "kilobits per second, mean of the last second, in {} accounting",
            self.graph.accounting.name()
        );
        self.small(&about, (MARGIN, 46), muted, Align::Left)?;
        let graph = self.graph;
        let mut right = RIGHT;
        for line in graph.lines.iter().rev() {
            let color = half(self.colors, line.side);
            let name = line.side.name();
            self.write(name, (right, 18), TEXT_SIZE, color, Align::Right)?;
            right -= 72;
        }
        if graph.lines.iter().any(|line| !line.losses.is_empty()) {
            let warning = rgb(self.colors.warning);
            let about = "triangles at the bottom: packets were lost";
            self.small(about, (RIGHT, 46), warning, Align::Right)?;
        }
        Ok(())
    }

    /// The marks of the vertical axis, the ends of the other, and the switches of stages.
    fn axes(&mut self) -> Drawn {
        let muted = rgb(self.colors.muted);
        let grid = faint(muted, rgb(self.colors.surface));
        for kbps in self.graph.marks() {
            let y = self.y(kbps);
            fill(self.area, (LEFT, y), (RIGHT, y + 1), &grid)?;
            let at = (LEFT - 10, y - HALF_LINE);
            self.small(&format!("{kbps:.0}"), at, muted, Align::Right)?;
        }
        let below = BOTTOM + 12;
        let past = format!("{:.0} s earlier", self.graph.seconds);
        self.small(&past, (LEFT, below), muted, Align::Left)?;
        let newest = self.graph.lines.iter().find_map(|line| line.points.last());
        if let Some(newest) = newest {
            let now = format!("tick {}", newest.tick);
            self.small(&now, (RIGHT, below), muted, Align::Right)?;
        }
        let graph = self.graph;
        for &(seconds, rung) in &graph.switches {
            let x = self.x(seconds);
            fill(self.area, (x, TOP), (x + 1, BOTTOM), &muted)?;
            self.small(rung, (x + 5, TOP + 4), muted, Align::Left)?;
        }
        Ok(())
    }

    fn target(&mut self) -> Drawn {
        let ink = rgb(self.colors.ink);
        let y = self.y(TARGET_KBPS);
        for x in (LEFT..RIGHT).step_by(DASHES) {
            let end = (x + DASH).min(RIGHT);
            fill(self.area, (x, y), (end, y + 2), &ink)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &ShownLine) -> Drawn {
        let color = half(self.colors, line.side);
        let points = line.points.iter();
        let points: Vec<_> = points
            .map(|point| (self.x(point.seconds), self.y(point.kbps)))
            .collect();
        self.area
            .draw(&PathElement::new(points, color.stroke_width(2)))?;
        let warning = rgb(self.colors.warning);
        for &seconds in &line.losses {
            let x = self.x(seconds);
            let corners = vec![(x - 4, BOTTOM + 8), (x + 4, BOTTOM + 8), (x, BOTTOM)];
            self.area.draw(&Polygon::new(corners, warning.filled()))?;
        }
        for &(seconds, kbps) in &line.peaks {
            let at = (self.x(seconds), TOP - HALF_LINE * 2 - 2);
            let peak = format!("peak {kbps:.0}");
            self.small(&peak, at, color, Align::Center)?;
        }
        Ok(())
    }

    /// The rates at the ends of the lines, and the target, far enough apart to be read.
    fn rates(&mut self) -> Drawn {
        let mut rates = vec![(TARGET_KBPS, rgb(self.colors.ink), "target ")];
        for line in &self.graph.lines {
            if let Some(newest) = line.points.last() {
                rates.push((newest.kbps, half(self.colors, line.side), ""));
            }
        }
        rates.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut lowest = i32::MIN;
        for (kbps, color, name) in rates {
            let y = (self.y(kbps) - HALF_LINE).max(lowest);
            lowest = y + 2 * HALF_LINE;
            let rate = format!("{name}{kbps:.0}");
            self.small(&rate, (RIGHT + 8, y), color, Align::Left)?;
        }
        Ok(())
    }
}

/// A colour that hardly stands out from the one behind it.
fn faint(color: RGBColor, behind: RGBColor) -> RGBColor {
    let mix = |color: u8, behind: u8| ((u16::from(color) + 3 * u16::from(behind)) / 4) as u8;
    RGBColor(
        mix(color.0, behind.0),
        mix(color.1, behind.1),
        mix(color.2, behind.2),
    )
}

/// The colour of what belongs to a half.
const fn half(colors: &Colors, side: Side) -> RGBColor {
    rgb(colors.half(match side {
        Side::Left => Half::Left,
        Side::Right => Half::Right,
    }))
}

/// Writes the graph as CSV: a row for each tick, with the rate of each lane as it is drawn, smoothed.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn write_graph_csv(graph: &ShownGraph, out: &mut impl Write) -> io::Result<()> {
    let mut ticks = BTreeMap::<u64, Vec<Option<f64>>>::new();
    for (place, line) in graph.lines.iter().enumerate() {
        for point in &line.points {
            let rates = ticks.entry(point.tick).or_default();
            rates.resize(graph.lines.len(), None);
            rates[place] = Some(point.kbps);
        }
    }
    let mut writer = csv::Writer::from_writer(out);
    let names = ["tick", "seconds"].map(str::to_owned).into_iter();
    let lanes = graph.lines.iter();
    writer.write_record(names.chain(lanes.map(|line| format!("{}_kbps", line.side.name()))))?;
    for (tick, rates) in ticks {
        let time = [tick.to_string(), seconds(tick).to_string()];
        let rates = rates.into_iter();
        let rates = rates.map(|kbps| kbps.map_or_else(String::new, |kbps| kbps.to_string()));
        writer.write_record(time.into_iter().chain(rates))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use cubewire_codec::ladder;

    use super::*;
    use crate::panel::{Axis, Measured, PanelState};
    use crate::replication::{LaneMeter, PacketRecord, Sample};
    use crate::theme::Theme;

    fn meter(ticks: std::ops::Range<u64>, payload_bytes: usize) -> LaneMeter {
        LaneMeter::from_samples(ticks.map(|tick| Sample {
            tick,
            stages: match tick {
                0..300 => ladder::DELTA.stages,
                _ => ladder::PREDICTED.stages,
            },
            snapshots: vec![PacketRecord {
                payload_bytes,
                ..PacketRecord::default()
            }],
            lost: usize::from(tick == 500),
            ..Sample::default()
        }))
    }

    fn graph(theme: Theme, axis: Axis) -> ShownGraph {
        let meters = [meter(0..600, 97), meter(100..600, 997)];
        let lanes = Side::ALL.into_iter().zip(&meters);
        let lanes: Vec<_> = lanes
            .map(|(side, meter)| Measured {
                side,
                meter,
                settings: None,
            })
            .collect();
        let mut state = PanelState::default();
        (state.theme, state.axis, state.graph_seconds) = (theme, axis, 10);
        ShownGraph::of(&state, &lanes)
    }

    #[test]
    fn the_picture_shows_lines_target_and_losses_in_their_colours() {
        for theme in [Theme::Light, Theme::Dark] {
            for axis in [Axis::Linear, Axis::Logarithmic] {
                let graph = graph(theme, axis);
                let pixels = graph_pixels(&graph).unwrap();
                assert_eq!(pixels.len(), 1200 * 520 * 3);
                let pixels = pixels.as_chunks::<3>().0;
                let count = |RGBColor(red, green, blue)| {
                    let same = pixels.iter().filter(|pixel| **pixel == [red, green, blue]);
                    same.count()
                };
                let colors = theme.colors();
                assert!(count(rgb(colors.surface)) > 400_000);
                for side in Side::ALL {
                    assert!(count(half(colors, side)) > 800, "{side:?}");
                }
                assert!(count(rgb(colors.ink)) > 1000);
                assert!(count(rgb(colors.warning)) > 20);
            }
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_tick_and_a_column_for_each_lane() {
        let graph = graph(Theme::Light, Axis::Linear);
        let mut table = Vec::new();
        write_graph_csv(&graph, &mut table).unwrap();
        let table = String::from_utf8(table).unwrap();
        let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
        assert_eq!(rows[0], ["tick", "seconds", "left_kbps", "right_kbps"]);
        assert_eq!(rows.len(), 601);
        // The lane in the right half began later.
        assert_eq!(rows[100][3], "");
        assert_eq!((rows[600][0], rows[600][1]), ("599", "9.983333"));
        for (column, kbps) in [(2, 60.0), (3, 492.0)] {
            let found: f64 = rows[600][column].parse().unwrap();
            assert!((found - kbps).abs() < 1e-9);
        }
    }
}
