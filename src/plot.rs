//! What plots share: areas, colours and text.
//!
//! Text is laid out by egui: plotters ignores the bearings of glyphs, so that its letters stand at uneven
//! distances.

use bevy_egui::egui::Color32;
use bevy_egui::egui::epaint::text::{FontData, FontDefinitions, Fonts, TextOptions};
use bevy_egui::egui::{FontFamily, FontId};
use cubewire_palette::Rgb;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Where something is drawn.
pub(crate) type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// Nothing, or why it was not drawn.
pub(crate) type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A colour of the palette as plotters takes it.
pub(crate) const fn rgb(Rgb(red, green, blue): Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

/// Fills from one corner to the other, which is outside.
pub(crate) fn fill(area: &Area<'_>, from: (i32, i32), to: (i32, i32), color: &RGBColor) -> Drawn {
    Ok(area.draw(&Rectangle::new([from, to], color.filled()))?)
}

/// Which point of a text is placed: the left end, the middle or the right end of its upper edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// Size in pixels, colour and alignment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) size: f32,
    pub(crate) color: RGBColor,
    pub(crate) align: Align,
}

/// Writes with one font.
pub(crate) struct Writer {
    fonts: Fonts,
}

impl Writer {
    pub(crate) fn new() -> Self {
        let mut definitions = FontDefinitions::empty();
        let font = FontData::from_static(epaint_default_fonts::UBUNTU_LIGHT);
        let name = "Ubuntu-Light".to_owned();
        let fonts = &mut definitions.font_data;
        fonts.insert(name.clone(), font.into());
        for family in [FontFamily::Proportional, FontFamily::Monospace] {
            definitions.families.insert(family, vec![name.clone()]);
        }
        Self {
            fonts: Fonts::new(TextOptions::default(), definitions),
        }
    }

    /// Writes one line at this point of the area.
    pub(crate) fn write(
        &mut self,
        area: &Area<'_>,
        text: &str,
        (x, y): (i32, i32),
        style: Style,
    ) -> Drawn {
        let font = FontId::proportional(style.size);
        let mut fonts = self.fonts.with_pixels_per_point(1.0);
        let galley = fonts.layout_no_wrap(text.to_owned(), font, Color32::WHITE);
        let width = galley.size().x.round() as i32;
        let left = match style.align {
            Align::Left => x,
            Align::Center => x - width / 2,
            Align::Right => x - width,
        };
        let atlas = self.fonts.texture_atlas().image();
        for row in &galley.rows {
            for glyph in &row.glyphs {
                let uv = glyph.uv_rect;
                // Glyphs stand on whole pixels.
                let at = row.pos + glyph.pos.to_vec2() + uv.offset;
                let (left, top) = (left + at.x.round() as i32, y + at.y.round() as i32);
                for (down, row) in (0..).zip(uv.min[1]..uv.max[1]) {
                    for (right, column) in (0..).zip(uv.min[0]..uv.max[0]) {
                        // The opacity is the coverage of the pixel.
                        let coverage = atlas[(column.into(), row.into())].a();
                        let color = style.color.mix(f64::from(coverage) / 255.0);
                        area.draw_pixel((left + right, top + down), &color)?;
                    }
                }
            }
        }
        Ok(())
    }
}
