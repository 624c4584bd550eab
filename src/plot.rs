//! Static plots: what they share. plotters draws them, and `ab_glyph` their text, in the panel's font: for WebAssembly,
//! plotters leaves text to the browser, which cannot write it into a bitmap.

use std::error::Error;
use std::io;

use ab_glyph::{Font, FontRef, OutlinedGlyph, ScaleFont, point};
use cubewire_palette::{Colors, Rgb};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind,
};

use crate::theme;

/// Where something is drawn.
pub(crate) type Area<'a> = DrawingArea<Bitmap<'a>, Shift>;

/// Nothing, or why it was not drawn.
pub(crate) type Drawn = Result<(), Box<dyn Error>>;

type BitmapError = <BitMapBackend<'static> as DrawingBackend>::ErrorType;

/// Draws a plot on the surface of a theme. Returns rows from the top, three bytes for each pixel.
///
/// # Errors
/// What `draw` returns.
pub(crate) fn pixels(
    size: (u32, u32),
    colors: &Colors,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> io::Result<Vec<u8>> {
    let font = FontRef::try_from_slice(theme::INTER).map_err(io::Error::other)?;
    let mut pixels = vec![0; size.0 as usize * size.1 as usize * 3];
    let bitmap = BitMapBackend::with_buffer(&mut pixels, size);
    let area = Bitmap { bitmap, font }.into_drawing_area();
    let drawn = area.fill(&rgb(colors.ground)).map_err(Into::into);
    let drawn = drawn.and_then(|()| draw(&area));
    let drawn = drawn.and_then(|()| Ok(area.present()?));
    drop(area);
    drawn.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(pixels)
}

/// The style of text of this height in pixels.
pub(crate) fn text(height: f64, color: RGBColor) -> TextStyle<'static> {
    ("sans-serif", height).into_font().color(&color)
}

/// A colour of the palette as plotters takes it.
pub(crate) const fn rgb(Rgb(red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

/// A bitmap with one font for all text.
pub(crate) struct Bitmap<'a> {
    bitmap: BitMapBackend<'a>,
    font: FontRef<'static>,
}

impl Bitmap<'_> {
    /// The glyphs of a line of this height, whose upper left corner is the origin, and its width.
    fn line(&self, text: &str, height: f64) -> (Vec<OutlinedGlyph>, f32) {
        let font = self.font.as_scaled(height as f32);
        let mut glyphs = Vec::new();
        let mut width = 0.0;
        let mut previous = None;
        for id in text.chars().map(|letter| font.glyph_id(letter)) {
            width += previous.map_or(0.0, |previous| font.kern(previous, id));
            previous = Some(id);
            let glyph = id.with_scale_and_position(height as f32, point(width, font.ascent()));
            glyphs.extend(self.font.outline_glyph(glyph));
            width += font.h_advance(id);
        }
        (glyphs, width)
    }
}

impl DrawingBackend for Bitmap<'_> {
    type ErrorType = BitmapError;

    fn get_size(&self) -> (u32, u32) {
        self.bitmap.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<BitmapError>> {
        self.bitmap.ensure_prepared()
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<BitmapError>> {
        self.bitmap.present()
    }

    fn draw_pixel(
        &mut self,
        point: BackendCoord,
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<BitmapError>> {
        self.bitmap.draw_pixel(point, color)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<BitmapError>> {
        self.bitmap.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (at_x, at_y): BackendCoord,
    ) -> Result<(), DrawingErrorKind<BitmapError>> {
        let (glyphs, width) = self.line(text, style.size());
        let (width, height) = (width.round() as i32, style.size().round() as i32);
        let left = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => width / 2,
            HPos::Right => width,
        };
        let top = match style.anchor().v_pos {
            VPos::Top => 0,
            VPos::Center => height / 2,
            VPos::Bottom => height,
        };
        let color = style.color();
        let mut covered = Vec::new();
        for glyph in glyphs {
            let corner = glyph.px_bounds().min;
            glyph.draw(|x, y, coverage| {
                let (x, y) = (x as i32 + corner.x as i32, y as i32 + corner.y as i32);
                let (x, y) = style.transform().transform(x - left, y - top);
                covered.push(((at_x + x, at_y + y), coverage));
            });
        }
        for (point, coverage) in covered {
            self.draw_pixel(
                point,
                BackendColor {
                    alpha: color.alpha * f64::from(coverage),
                    ..color
                },
            )?;
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<BitmapError>> {
        let (_, width) = self.line(text, style.size());
        Ok((width.round() as u32, style.size().round() as u32))
    }
}
