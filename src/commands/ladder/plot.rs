//! The ladder as a plot: a bar for each rung, on a logarithmic scale.

use std::io;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::RungCost;
use crate::commands::CommandError;
use crate::files::write_whole;
use crate::replication::TARGET_KBPS;

const SIZE: (u32, u32) = (1000, 560);
const FONT: &str = "sans-serif";

const BAR: RGBColor = RGBColor(0, 114, 178);
const BELOW_TARGET: RGBColor = RGBColor(0, 158, 115);
const TARGET: RGBColor = RGBColor(213, 94, 0);

/// Draws the costs of a play into a PNG file.
pub(super) fn draw(costs: &[RungCost], played: &str, path: &Path) -> Result<(), CommandError> {
    let font = register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
    font.unwrap_or_else(|_| unreachable!("the font is a valid one"));
    let mut pixels = vec![0; (SIZE.0 * SIZE.1 * 3) as usize];
    draw_pixels(costs, played, &mut pixels).map_err(|error| CommandError::Plot {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    write_png(&pixels, path).map_err(CommandError::unwritable(path))
}

fn draw_pixels(
    costs: &[RungCost],
    played: &str,
    pixels: &mut [u8],
) -> Result<(), Box<dyn std::error::Error>> {
    let area = BitMapBackend::with_buffer(pixels, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let most = costs.iter().map(|cost| cost.mean_kbps).fold(1.0, f64::max);
    let rows = costs.len() as i32;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("kbps of each rung: {played}"), (FONT, 20))
        .margin(16)
        .set_label_area_size(LabelAreaPosition::Left, 150)
        .set_label_area_size(LabelAreaPosition::Bottom, 36)
        .build_cartesian_2d(
            (1.0..most * 4.0).log_scale(),
            (0..rows - 1).into_segmented(),
        )?;
    let name = |row: &SegmentValue<i32>| match row {
        SegmentValue::CenterOf(row) => costs
            .get((rows - 1 - row).max(0) as usize)
            .map_or(String::new(), |cost| cost.rung.to_owned()),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(costs.len())
        .y_label_formatter(&name)
        .x_desc("kilobits a second, article accounting, logarithmic")
        .label_style((FONT, 14))
        .draw()?;
    for (row, cost) in (0..rows).rev().zip(costs) {
        let colour = if cost.mean_kbps < TARGET_KBPS {
            BELOW_TARGET
        } else {
            BAR
        };
        let from = (1.0, SegmentValue::Exact(row));
        let to = (cost.mean_kbps, SegmentValue::Exact(row + 1));
        let mut bar = Rectangle::new([from, to], colour.filled());
        bar.set_margin(5, 5, 0, 0);
        chart.draw_series([bar])?;
        let at = (cost.mean_kbps * 1.05, SegmentValue::CenterOf(row));
        let style = (FONT, 15).into_text_style(&area);
        let label = Text::new(format!("{:.1}", cost.mean_kbps), at, style);
        chart.draw_series([label])?;
    }
    let line = [
        (TARGET_KBPS, SegmentValue::Exact(0)),
        (TARGET_KBPS, SegmentValue::Exact(rows)),
    ];
    chart.draw_series([PathElement::new(line, TARGET.stroke_width(2))])?;
    let style = (FONT, 15).into_text_style(&area).color(&TARGET);
    let at = (TARGET_KBPS * 1.05, SegmentValue::Exact(rows));
    chart.draw_series([Text::new("256 kbps, the article's target", at, style)])?;
    drop(chart);
    area.present()?;
    Ok(())
}

fn write_png(pixels: &[u8], path: &Path) -> io::Result<()> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    write_whole(path, &file)
}
