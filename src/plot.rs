//! Static plots: what they share. plotters draws them, with the panel's font.

use std::error::Error;
use std::io;

use cubewire_palette::{Colors, Rgb};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use crate::theme;

/// Where something is drawn.
pub(crate) type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// Nothing, or why it was not drawn.
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

const FONT: &str = "sans-serif";

/// Draws a plot on the surface of a theme. Returns rows from the top, three bytes for each pixel.
///
/// # Errors
/// What `draw` returns.
pub(crate) fn pixels(
    size: (u32, u32),
    colors: &Colors,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> io::Result<Vec<u8>> {
    register_font(FONT, FontStyle::Normal, theme::INTER)
        .map_err(|_| io::Error::other("the font is broken"))?;
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, size).into_drawing_area();
    let drawn = area.fill(&rgb(colors.surface)).map_err(Into::into);
    let drawn = drawn.and_then(|()| draw(&area));
    let drawn = drawn.and_then(|()| Ok(area.present()?));
    drop(area);
    drawn.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(pixels)
}

/// The style of text of this height in pixels.
pub(crate) fn text(height: f64, color: RGBColor) -> TextStyle<'static> {
    (FONT, height).into_font().color(&color)
}

/// A colour of the palette as plotters takes it.
pub(crate) const fn rgb(Rgb(red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}
