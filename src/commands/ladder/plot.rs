//! The ladder as a plot: a bar for each rung, on a logarithmic scale, beside its figures.

use std::io;
use std::path::Path;

use cubewire_palette::{Half, LIGHT};
use plotters::prelude::*;

use super::{RungCost, factor, figure};
use crate::commands::CommandError;
use crate::files::write_whole;
use crate::plot::{Align, Drawn, Style, Writer, fill, rgb};
use crate::replication::TARGET_KBPS;

/// Width of the plot, and height without its bars, pixels.
const WIDTH: u32 = 1200;
const FRAME: i32 = HEADER + 40;

/// Height of the title and the headings, and of a row, pixels.
const HEADER: i32 = 96;
const ROW: i32 = 32;
/// Space above and below a bar, pixels.
const GAP: i32 = 6;

/// Right ends of the names and the two columns of figures; both ends of the bars, pixels.
const NAMES_END: i32 = 196;
const KBPS_END: i32 = 296;
const FACTOR_END: i32 = 380;
const BARS: (i32, i32) = (404, 1168);
const MARGIN: i32 = 24;

/// Sizes of text.
const TITLE_SIZE: f32 = 26.0;
const TEXT_SIZE: f32 = 17.0;
const SMALL_SIZE: f32 = 15.0;

const BAR: RGBColor = rgb(LIGHT.sky);
const BELOW_TARGET: RGBColor = rgb(LIGHT.half(Half::Left));
const INK: RGBColor = rgb(LIGHT.ink);
const GRID: RGBColor = rgb(LIGHT.sky);
const MUTED: RGBColor = rgb(LIGHT.muted);

/// Draws the costs of a play into a PNG file. `played` names the play.
pub(super) fn draw(costs: &[RungCost], played: &str, path: &Path) -> Result<(), CommandError> {
    let size = (WIDTH, (FRAME + costs.len() as i32 * ROW) as u32);
    let mut pixels = vec![0; (size.0 * size.1 * 3) as usize];
    draw_pixels(costs, played, &mut pixels, size).map_err(|error| CommandError::Plot {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    write_png(&pixels, size, path).map_err(CommandError::unwritable(path))
}

fn draw_pixels(costs: &[RungCost], played: &str, pixels: &mut [u8], size: (u32, u32)) -> Drawn {
    let area = BitMapBackend::with_buffer(pixels, size).into_drawing_area();
    area.fill(&rgb(LIGHT.surface))?;
    let scale = Scale::of(costs);
    let bottom = HEADER + costs.len() as i32 * ROW;

    let mut writer = Writer::new();
    let mut write = |text: &str, at: (i32, i32), size: f32, color: RGBColor, align: Align| {
        writer.write(&area, text, at, Style { size, color, align })
    };
    let title = format!("Bandwidth of each rung: {played}");
    write(&title, (MARGIN, 14), TITLE_SIZE, INK, Align::Left)?;
    let about = "kilobits per second, mean, in article accounting; bars on a logarithmic scale";
    write(about, (MARGIN, 46), SMALL_SIZE, MUTED, Align::Left)?;
    let headings = HEADER - 24;
    write(
        "kbps",
        (KBPS_END, headings),
        SMALL_SIZE,
        MUTED,
        Align::Right,
    )?;
    write(
        "factor",
        (FACTOR_END, headings),
        SMALL_SIZE,
        MUTED,
        Align::Right,
    )?;
    for kbps in scale.powers() {
        let x = scale.x(kbps);
        fill(&area, (x, HEADER), (x + 1, bottom), &GRID)?;
        write(
            &kbps.to_string(),
            (x, bottom + 8),
            SMALL_SIZE,
            MUTED,
            Align::Center,
        )?;
    }
    for (row, cost) in (0..).zip(costs) {
        let top = HEADER + row * ROW;
        let text = top + 5;
        write(cost.rung, (NAMES_END, text), TEXT_SIZE, INK, Align::Right)?;
        let kbps = figure(cost.mean_kbps);
        write(&kbps, (KBPS_END, text), TEXT_SIZE, INK, Align::Right)?;
        let factor = factor(cost.factor);
        write(&factor, (FACTOR_END, text), TEXT_SIZE, MUTED, Align::Right)?;
        let is_below = cost.mean_kbps < TARGET_KBPS;
        let color = if is_below { BELOW_TARGET } else { BAR };
        let end = (scale.x(cost.mean_kbps), top + ROW - GAP);
        fill(&area, (BARS.0, top + GAP), end, &color)?;
    }
    // No figure stands beside the bars, so the line runs through none.
    let x = scale.x(TARGET_KBPS);
    fill(&area, (x - 1, HEADER - 2), (x + 1, bottom), &INK)?;
    let label = format!("the article's target, {TARGET_KBPS} kbps");
    write(&label, (x, headings), SMALL_SIZE, INK, Align::Center)?;
    area.present()?;
    Ok(())
}

/// The logarithmic scale of the bars.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Of the bars' ends, kilobits a second.
    from: f64,
    to: f64,
}

impl Scale {
    /// From a power of ten below every rung and the target to the largest rung, or the target.
    fn of(costs: &[RungCost]) -> Self {
        let all = || costs.iter().map(|cost| cost.mean_kbps.max(1.0));
        let least = all().fold(TARGET_KBPS, f64::min);
        Self {
            from: 10_f64.powf((least * 0.8).log10().floor()),
            to: all().fold(TARGET_KBPS * 2.0, f64::max),
        }
    }

    fn x(self, kbps: f64) -> i32 {
        let along = (kbps.max(self.from) / self.from).ln() / (self.to / self.from).ln();
        BARS.0 + (along * f64::from(BARS.1 - BARS.0)).round() as i32
    }

    /// The powers of ten on the scale.
    fn powers(self) -> impl Iterator<Item = f64> {
        std::iter::successors(Some(self.from), |kbps| Some(kbps * 10.0))
            .take_while(move |kbps| *kbps <= self.to)
    }
}

fn write_png(pixels: &[u8], (width, height): (u32, u32), path: &Path) -> io::Result<()> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    write_whole(path, &file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of pixels.
    fn drawn(costs: &[RungCost]) -> Vec<Vec<[u8; 3]>> {
        let height = FRAME + costs.len() as i32 * ROW;
        let mut pixels = vec![0; WIDTH as usize * height as usize * 3];
        draw_pixels(costs, "a.ron", &mut pixels, (WIDTH, height as u32)).unwrap();
        let rows = pixels.as_chunks::<3>().0.chunks(WIDTH as usize);
        rows.map(<[_]>::to_vec).collect()
    }

    fn cost(mean_kbps: f64) -> RungCost {
        RungCost {
            rung: "delta",
            mean_kbps,
            factor: 1.0,
            peak_kbps: mean_kbps,
            bytes: 0.0,
            bits: Vec::new(),
        }
    }

    #[test]
    fn the_target_line_is_whole_and_crosses_nothing_but_bars() {
        let costs = [cost(17_368.8), cost(300.0), cost(256.0), cost(15.8)];
        let rows = drawn(&costs);
        let scale = Scale::of(&costs);
        let line = scale.x(TARGET_KBPS) as usize;
        let pixel = |RGBColor(red, green, blue)| [red, green, blue];
        let surface = pixel(rgb(LIGHT.surface));
        let grid: Vec<_> = scale.powers().map(|kbps| scale.x(kbps) as usize).collect();
        for (row, cost) in costs.iter().enumerate() {
            let top = HEADER as usize + row * ROW as usize;
            for (y, pixels) in rows.iter().enumerate().skip(top).take(ROW as usize) {
                assert_eq!(pixels[line], pixel(INK), "row {y}");
                // Beyond the bar there is nothing but the grid and the line.
                let end = scale.x(cost.mean_kbps) as usize + 1;
                let beyond = end..WIDTH as usize;
                let mut beyond =
                    beyond.filter(|x| !grid.contains(x) && !(line - 1..=line).contains(x));
                assert!(beyond.all(|x| pixels[x] == surface), "row {y}");
            }
            let bar = &rows[top + ROW as usize / 2]
                [BARS.0 as usize + 1..scale.x(cost.mean_kbps) as usize];
            let color = if cost.mean_kbps < TARGET_KBPS {
                BELOW_TARGET
            } else {
                BAR
            };
            assert!(bar.contains(&pixel(color)));
        }
    }

    #[test]
    fn the_scale_has_round_ends_and_contains_the_target() {
        let scale = Scale::of(&[cost(17_368.8), cost(15.8)]);
        assert_eq!(
            scale.powers().collect::<Vec<_>>(),
            [10.0, 100.0, 1000.0, 10_000.0]
        );
        assert_eq!((scale.x(10.0), scale.x(17_368.8)), BARS);
        let scale = Scale::of(&[cost(20.0)]);
        assert!(scale.x(TARGET_KBPS) < BARS.1);
    }
}
