//! Draws the ladder as a bar chart with a logarithmic scale.

use std::io;
use std::ops::Range;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use cubewire_palette::{DARK, Rgb};
use png::Compression;

use super::RungCost;
use crate::files::NewFile;
use crate::recording::picture::write_rgb;
use crate::replication::TARGET_KBPS;
use crate::theme;
use cubewire_inspector::words::{factor, rounded};

/// Full colour for bars at or below the target, as in the panel.
const BELOW_TARGET: Rgb = DARK.right;

/// Draws the costs to a PNG file. `played` is the name of the run.
pub(super) fn draw(costs: &[RungCost], played: &str, mut file: NewFile) -> io::Result<()> {
    let canvas = chart(costs, played)?;
    write_rgb(&mut file, canvas.size, &canvas.pixels, Compression::High)?;
    file.finish().map(drop)
}

fn chart(costs: &[RungCost], played: &str) -> io::Result<Canvas> {
    let rows = TOP..TOP + costs.len() as f32 * ROW;
    let mut canvas = Canvas::new([WIDTH as u32, (rows.end + BELOW) as u32])?;
    let kbps = || costs.iter().map(|cost| cost.mean_kbps.max(1.0));
    // Start at a power of ten below all values.
    let from = (kbps().fold(TARGET_KBPS, f64::min) * 0.8).log10().floor();
    let to = kbps().fold(TARGET_KBPS * 2.0, f64::max).log10();
    let x = |kbps: f64| {
        BARS.start + (BARS.end - BARS.start) * ((kbps.log10() - from) / (to - from)) as f32
    };

    let title = format!("Bandwidth of each rung: {played}");
    canvas.text([MARGIN, 44.0], At::Left, 24.0, DARK.ink, &title);
    let about = format!(
        "Mean bandwidth with IP and UDP headers, and the reduction factor relative to uncompressed. The line is the \
         article's target, {TARGET_KBPS} kbps."
    );
    canvas.text([MARGIN, 74.0], At::Left, SMALL, DARK.muted, &about);
    for power in from as i32..=to.floor() as i32 {
        let kbps = 10_f64.powi(power);
        canvas.fill(x(kbps)..x(kbps) + 1.0, rows.clone(), DARK.line);
        let label = match kbps {
            1000.0.. => format!("{:.0} Mbps", kbps / 1000.0),
            _ => format!("{kbps:.0} kbps"),
        };
        let at = [x(kbps), rows.end + 26.0];
        canvas.text(at, At::Middle, SMALL, DARK.muted, &label);
    }
    for (index, cost) in costs.iter().enumerate() {
        let top = rows.start + index as f32 * ROW;
        let color = match cost.mean_kbps <= TARGET_KBPS {
            true => BELOW_TARGET,
            false => DARK.above_target,
        };
        let bar = BARS.start..x(cost.mean_kbps.max(1.0));
        canvas.fill(bar, top + 5.0..top + ROW - 5.0, color);
        let line = top + ROW / 2.0 + 6.0;
        canvas.text([MARGIN, line], At::Left, BODY, DARK.ink, cost.rung);
        let kbps = format!("{} kbps", rounded(cost.mean_kbps));
        canvas.text([KBPS, line], At::Right, BODY, DARK.ink, &kbps);
        let less = factor(cost.factor);
        canvas.text([FACTOR, line], At::Right, BODY, DARK.muted, &less);
    }
    canvas.fill(x(TARGET_KBPS) - 1.0..x(TARGET_KBPS) + 1.0, rows, DARK.ink);
    Ok(canvas)
}

/// Horizontal alignment of a text at its position.
#[derive(Clone, Copy)]
enum At {
    Left,
    Middle,
    Right,
}

struct Canvas {
    /// Rows from the top, three bytes per pixel.
    pixels: Vec<u8>,
    /// Width and height.
    size: (u32, u32),
    font: FontRef<'static>,
}

impl Canvas {
    fn new([width, height]: [u32; 2]) -> io::Result<Self> {
        let Rgb(red, green, blue) = DARK.ground;
        Ok(Self {
            pixels: [red, green, blue].repeat((width * height) as usize),
            size: (width, height),
            font: FontRef::try_from_slice(theme::INTER).map_err(io::Error::other)?,
        })
    }

    fn fill(&mut self, x: Range<f32>, y: Range<f32>, color: Rgb) {
        for y in y.start.round() as u32..y.end.round() as u32 {
            for x in x.start.round() as u32..x.end.round() as u32 {
                self.mix(x, y, color, 1.0);
            }
        }
    }

    /// Blends a share of a colour into a pixel.
    fn mix(&mut self, x: u32, y: u32, Rgb(red, green, blue): Rgb, share: f32) {
        let (width, height) = self.size;
        if x >= width || y >= height {
            return;
        }
        let start = 3 * (y * width + x) as usize;
        for (old, new) in self.pixels[start..].iter_mut().zip([red, green, blue]) {
            let [old_share, new_share] = [1.0 - share, share];
            *old = (f32::from(*old) * old_share + f32::from(new) * new_share).round() as u8;
        }
    }

    /// Writes a line of text with its base line at `y`. `size` is the size of an em in pixels.
    fn text(&mut self, [x, y]: [f32; 2], at: At, size: f32, color: Rgb, text: &str) {
        let font = self.font.clone();
        let em = font.units_per_em().unwrap_or(1000.0);
        let scaled = font.as_scaled(PxScale::from(size * font.height_unscaled() / em));
        let mut glyphs = Vec::new();
        let mut width = 0.0;
        for character in text.chars() {
            // The font lacks the thin spaces in numbers.
            if character == '\u{2009}' {
                width += scaled.h_advance(font.glyph_id(' ')) / 2.0;
                continue;
            }
            let mut glyph = scaled.scaled_glyph(character);
            let before = glyphs.last();
            width += before.map_or(0.0, |before: &ab_glyph::Glyph| {
                scaled.kern(before.id, glyph.id)
            });
            glyph.position = point(width, y);
            width += scaled.h_advance(glyph.id);
            glyphs.push(glyph);
        }
        let left = match at {
            At::Left => x,
            At::Middle => x - width / 2.0,
            At::Right => x - width,
        };
        for mut glyph in glyphs {
            glyph.position.x += left;
            let Some(outline) = font.outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|x, y, share| {
                let [x, y] = [corner.x + x as f32, corner.y + y as f32];
                self.mix(x as u32, y as u32, color, share.min(1.0));
            });
        }
    }
}

/// Width, height above and below the bars, and height of a bar with its gap, pixels.
const WIDTH: f32 = 1200.0;
const TOP: f32 = 92.0;
const BELOW: f32 = 48.0;
const ROW: f32 = 30.0;

/// Distances from the left edge in pixels: names, right ends of the columns, and bars.
const MARGIN: f32 = 24.0;
const KBPS: f32 = 305.0;
const FACTOR: f32 = 392.0;
const BARS: Range<f32> = 416.0..1176.0;

/// Type sizes, pixels.
const BODY: f32 = 17.0;
const SMALL: f32 = 15.0;

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
        let canvas = chart(&costs, "a.ron").unwrap();
        let row = |index: usize| {
            let y = (TOP + (index as f32 + 0.3) * ROW) as usize;
            let pixels = canvas.pixels.as_chunks::<3>().0;
            let row = pixels[y * WIDTH as usize..].iter().take(WIDTH as usize);
            let count = |Rgb(red, green, blue): Rgb| {
                let same = row.clone().filter(|pixel| **pixel == [red, green, blue]);
                same.count()
            };
            [count(DARK.above_target), count(BELOW_TARGET)]
        };
        let widths = [0, 1, 2, 3].map(row);
        // A decade is a quarter of the width.
        assert!(widths[0][0] > 740 && widths[0][1] == 0, "{widths:?}");
        assert!((250..400).contains(&widths[1][0]), "{widths:?}");
        assert!((250..400).contains(&widths[2][1]), "{widths:?}");
        assert!((20..80).contains(&widths[3][1]), "{widths:?}");
    }

    #[test]
    fn letters_keep_their_distances() {
        let ink = |text: &str| {
            let mut canvas = Canvas::new([200, 40]).unwrap();
            canvas.text([10.0, 30.0], At::Left, BODY, DARK.ink, text);
            let Rgb(ground, ..) = DARK.ground;
            let pixels = canvas.pixels.chunks_exact(3).enumerate();
            let inked = pixels.filter(|(_, pixel)| pixel[0] > ground + 60);
            let columns: Vec<_> = inked.map(|(index, _)| index % 200).collect();
            [
                *columns.iter().min().unwrap(),
                *columns.iter().max().unwrap(),
            ]
        };
        // A narrow letter is centred in its advance.
        let [left, right] = ink("l");
        assert!(left > 10 && right < 15, "{left} {right}");
        let [left, right] = ink("lll");
        assert!((8..=14).contains(&(right - left)), "{left} {right}");
    }
}
