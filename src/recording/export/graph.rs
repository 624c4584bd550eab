//! The bandwidth graph as a picture and as a table.

use std::collections::BTreeMap;
use std::io::{self, Write};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::rows::seconds;
use crate::panel::ShownGraph;
use crate::plot::{self, Area, Drawn, rgb, text};
use crate::replication::TARGET_KBPS;

/// Width and height of the picture, pixels.
pub const GRAPH_SIZE: (u32, u32) = (1200, 520);

/// Sizes of text.
const TITLE_SIZE: f64 = 22.0;
const SMALL_SIZE: f64 = 15.0;

/// Draws the graph: rows from the top, three bytes for each pixel.
///
/// # Errors
/// If it cannot be drawn.
pub fn graph_pixels(graph: &ShownGraph) -> io::Result<Vec<u8>> {
    let colors = graph.theme.colors();
    plot::pixels(GRAPH_SIZE, colors, |area| draw(graph, area))
}

/// The vertical axis is that of the panel, whose heights go from 0 to 1.
fn draw(graph: &ShownGraph, area: &Area<'_>) -> Drawn {
    let colors = graph.theme.colors();
    let [ink, muted, warning] = [colors.ink, colors.muted, colors.warning].map(rgb);
    let title = format!(
        "Kilobits per second, mean of the last second, in {} accounting",
        graph.accounting.name()
    );
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(TITLE_SIZE, ink))
        .margin(16)
        .x_label_area_size(30)
        .y_label_area_size(64)
        .right_y_label_area_size(90)
        .build_cartesian_2d(-graph.seconds..0.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .y_labels(0)
        .axis_style(muted.mix(0.25))
        .label_style(text(SMALL_SIZE, muted))
        .x_label_formatter(&|seconds| format!("{seconds:.0} s"))
        .draw()?;
    for kbps in graph.marks() {
        let height = graph.height(kbps);
        let line = [(-graph.seconds, height), (0.0, height)];
        chart.draw_series(LineSeries::new(line, muted.mix(0.25)))?;
        let (x, y) = chart.backend_coord(&line[0]);
        let at = Pos::new(HPos::Right, VPos::Center);
        write(area, &format!("{kbps:.0}"), (x - 8, y), muted, at)?;
    }
    // The rates at the ends of the lines, and the target.
    let mut rates = vec![(TARGET_KBPS, ink, "target")];
    for &(seconds, rung) in &graph.switches {
        let line = [(seconds, 0.0), (seconds, 1.0)];
        chart.draw_series(LineSeries::new(line, muted))?;
        let (x, y) = chart.backend_coord(&(seconds, 1.0));
        let at = Pos::new(HPos::Left, VPos::Top);
        write(area, rung, (x + 5, y + 4), muted, at)?;
    }
    let target = graph.height(TARGET_KBPS);
    let target = [(-graph.seconds, target), (0.0, target)];
    chart.draw_series(DashedLineSeries::new(target, 8, 6, ink.stroke_width(2)))?;
    for line in &graph.lines {
        let color = rgb(line.side.color(graph.theme));
        let points = line.points.iter();
        let points = points.map(|point| (point.seconds, graph.height(point.kbps)));
        chart.draw_series(LineSeries::new(points, color.stroke_width(2)))?;
        for (times, kbps) in &line.budgets {
            let height = graph.height(*kbps);
            let budget = [(*times.start(), height), (*times.end(), height)];
            chart.draw_series(LineSeries::new(budget, ink.stroke_width(2)))?;
        }
        let budget = line.budgets.last().filter(|(times, _)| *times.end() == 0.0);
        rates.extend(budget.map(|&(_, kbps)| (kbps, ink, "budget")));
        let losses = line.losses.iter().map(|&seconds| (seconds, 0.0));
        chart.draw_series(losses.map(|at| TriangleMarker::new(at, 5, warning.filled())))?;
        for &(seconds, kbps) in &line.peaks {
            let (x, y) = chart.backend_coord(&(seconds, 1.0));
            let at = Pos::new(HPos::Center, VPos::Top);
            write(area, &format!("peak {kbps:.0}"), (x, y + 24), color, at)?;
        }
        let newest = line.points.last();
        rates.extend(newest.map(|newest| (newest.kbps, color, line.side.name())));
    }
    // Far enough apart to be read.
    rates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut lowest = i32::MIN;
    for (kbps, color, name) in rates {
        let (x, y) = chart.backend_coord(&(0.0, graph.height(kbps)));
        let y = y.max(lowest);
        lowest = y + SMALL_SIZE as i32 + 3;
        let at = Pos::new(HPos::Left, VPos::Center);
        write(area, &format!("{name} {kbps:.0}"), (x + 8, y), color, at)?;
    }
    Ok(())
}

/// Writes small text at a point, which is where `at` says.
fn write(area: &Area<'_>, words: &str, point: (i32, i32), color: RGBColor, at: Pos) -> Drawn {
    Ok(area.draw(&Text::new(words, point, text(SMALL_SIZE, color).pos(at)))?)
}

/// Writes the graph as CSV: a row for each tick, with the rate of each lane as it is drawn, smoothed.
///
/// # Errors
/// If writing to `out` fails.
pub fn write_graph_csv(graph: &ShownGraph, out: &mut impl Write) -> io::Result<()> {
    let mut ticks = BTreeMap::<u64, Vec<Option<f64>>>::new();
    for (index, line) in graph.lines.iter().enumerate() {
        for point in &line.points {
            let rates = ticks.entry(point.tick).or_default();
            rates.resize(graph.lines.len(), None);
            rates[index] = Some(point.kbps);
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
    use crate::view::Side;

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
                let count = |RGBColor(red, green, blue): RGBColor| {
                    let same = pixels.iter().filter(|pixel| **pixel == [red, green, blue]);
                    same.count()
                };
                let colors = theme.colors();
                assert!(count(rgb(colors.ground)) > 400_000);
                for side in Side::ALL {
                    assert!(count(rgb(side.color(theme))) > 800, "{side:?}");
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
