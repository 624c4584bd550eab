//! The ladder as a plot: a bar for each rung, on a logarithmic scale.

use std::error::Error;
use std::io;
use std::path::Path;

use cubewire_palette::{LIGHT, Rgb};
use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentValue;
use plotters::prelude::*;
use plotters::style::register_font;
use png::Compression;

use super::{RungCost, figure};
use crate::files::write_whole;
use crate::recording::picture::write_rgb;
use crate::replication::TARGET_KBPS;
use crate::theme;

/// Width, height without bars, and height of a bar, pixels.
const WIDTH: u32 = 1200;
const FRAME: u32 = 110;
const ROW: u32 = 32;

const BAR: RGBColor = rgb(LIGHT.sky);
const BELOW_TARGET: RGBColor = rgb(LIGHT.left);
const INK: RGBColor = rgb(LIGHT.ink);

/// Draws the costs of a play into a PNG file. `played` names the play.
pub(super) fn draw(costs: &[RungCost], played: &str, path: &Path) -> io::Result<()> {
    let size = (WIDTH, FRAME + costs.len() as u32 * ROW);
    let pixels = pixels(size, costs, played)?;
    let mut file = Vec::new();
    write_rgb(&mut file, size, &pixels, Compression::High)?;
    write_whole(path, &file)
}

/// A colour of the palette as plotters takes it.
const fn rgb(Rgb(red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

/// The style of text of this height in pixels.
fn text(height: f64) -> TextStyle<'static> {
    (FONT, height).into_font().color(&INK)
}

const FONT: &str = "Inter";

/// The plot in rows from the top, three bytes for each pixel.
fn pixels(size: (u32, u32), costs: &[RungCost], played: &str) -> io::Result<Vec<u8>> {
    register_font(FONT, FontStyle::Normal, theme::INTER)
        .map_err(|_| io::Error::other("the font of the plot is not one"))?;
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
    let drawn = chart(costs, played, &area).map_err(|error| io::Error::other(error.to_string()));
    drop(area);
    drawn.map(|()| pixels)
}

fn chart(
    costs: &[RungCost],
    played: &str,
    area: &DrawingArea<BitMapBackend<'_>, Shift>,
) -> Result<(), Box<dyn Error>> {
    area.fill(&rgb(LIGHT.ground))?;
    let kbps = || costs.iter().map(|cost| cost.mean_kbps.max(1.0));
    // From a power of ten below everything.
    let from = 10_f64.powf((kbps().fold(TARGET_KBPS, f64::min) * 0.8).log10().floor());
    let to = kbps().fold(TARGET_KBPS * 2.0, f64::max);
    let title = format!(
        "{played}: mean kbps of each rung; the line is the article's target, {TARGET_KBPS} kbps"
    );
    let rows = costs.len();
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(22.0))
        .margin(16)
        .x_label_area_size(30)
        .y_label_area_size(250)
        .build_cartesian_2d((from..to).log_scale(), (0..rows - 1).into_segmented())?;
    // The first rung is at the top.
    let cost = |row: usize| costs.iter().rev().nth(row);
    chart
        .configure_mesh()
        .disable_y_mesh()
        .bold_line_style(BAR)
        .light_line_style(TRANSPARENT)
        .axis_style(BAR)
        .label_style(text(17.0))
        .x_label_formatter(&|kbps| format!("{kbps:.0}"))
        .y_labels(rows)
        .y_label_formatter(&|row| match row {
            SegmentValue::CenterOf(row) => cost(*row).map_or_else(String::new, |cost| {
                format!("{}   {}", cost.rung, figure(cost.mean_kbps))
            }),
            SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
        })
        .draw()?;
    let line = |row: usize| SegmentValue::Exact(row);
    chart.draw_series((0..rows).zip(costs.iter().rev()).map(|(row, cost)| {
        let is_below = cost.mean_kbps < TARGET_KBPS;
        let color = if is_below { BELOW_TARGET } else { BAR };
        let corners = [(from, line(row)), (cost.mean_kbps.max(from), line(row + 1))];
        let mut bar = Rectangle::new(corners, color.filled());
        bar.set_margin(5, 5, 0, 0);
        bar
    }))?;
    let target = vec![(TARGET_KBPS, line(0)), (TARGET_KBPS, line(rows))];
    chart.draw_series([PathElement::new(target, INK.stroke_width(2))])?;
    Ok(area.present()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_has_a_bar_whose_colour_says_whether_it_is_below_the_target() {
        let costs = [17_368.8, 300.0, 256.0, 15.8].map(|mean_kbps| RungCost {
            rung: "delta",
            mean_kbps,
            factor: 1.0,
            peak_kbps: mean_kbps,
            bytes: 0.0,
            bits: Vec::new(),
        });
        let size = (WIDTH, FRAME + 4 * ROW);
        let pixels = pixels(size, &costs, "a.ron").unwrap();
        let count = |RGBColor(red, green, blue): RGBColor| {
            let pixels = pixels.as_chunks::<3>().0.iter();
            pixels.filter(|pixel| **pixel == [red, green, blue]).count() as u32
        };
        // A decade is a quarter of the width, less the names.
        assert!(count(BAR) > 3 * 300 * (ROW - 10), "{}", count(BAR));
        let below = count(BELOW_TARGET) / (ROW - 10);
        assert!((30..80).contains(&below), "{below}");
        assert!(count(INK) > 2 * 4 * ROW);
    }
}
