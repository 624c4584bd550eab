//! Light and dark theme, fonts, and conversion of the colours of `cubewire-palette` to egui and Bevy.

use std::sync::Arc;

use bevy::color::Color;
use bevy::prelude::Resource;
#[cfg(not(target_family = "wasm"))]
use bevy_egui::egui::epaint::{Fonts, FontsView, TextOptions};
use bevy_egui::egui::{self, FontData, FontDefinitions, FontFamily};
pub use cubewire_inspector::style::egui_color;
use cubewire_palette::{Colors, DARK, LIGHT, Rgb};
use serde::{Deserialize, Serialize};

/// Theme of panel and view.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(not(target_family = "wasm"), derive(clap::ValueEnum))]
pub enum Theme {
    /// Dark text on light surfaces, and a daytime sky.
    Light,
    /// Light text on dark surfaces, and a sky at dusk.
    #[default]
    Dark,
}

impl Theme {
    /// Colours of the theme.
    pub const fn colors(self) -> &'static Colors {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

impl From<Theme> for egui::Theme {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
        }
    }
}

/// egui's fonts with Inter in front, which has digits of equal width: `assets/fonts`.
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let name = "Inter".to_owned();
    fonts.font_data.insert(name.clone(), Arc::new(FontData::from_static(INTER)));
    fonts.families.entry(FontFamily::Proportional).or_default().insert(0, name);
    // Without this, monospaced letters would stand higher than adjacent text.
    if let Some(mono) = fonts.font_data.get_mut("Hack") {
        Arc::make_mut(mono).tweak.y_offset_factor = 0.14;
    }
    fonts
}

/// The characters of a text that the proportional fonts have no glyph for, each once. They are shown as boxes.
#[cfg(not(target_family = "wasm"))]
pub fn without_glyph(text: &str) -> String {
    let mut fonts = Fonts::new(TextOptions::default(), fonts());
    let mut fonts = fonts.with_pixels_per_point(1.0);
    let mut missing = String::new();
    for letter in text.chars() {
        if !has_glyph(&mut fonts, &FontFamily::Proportional, letter) && !missing.contains(letter) {
            missing.push(letter);
        }
    }
    missing
}

/// [`FontsView::has_glyph`] is wrong for the font that has the replacement character.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn has_glyph(fonts: &mut FontsView<'_>, family: &FontFamily, letter: char) -> bool {
    // egui draws white space without a glyph.
    letter.is_whitespace() || fonts.fonts.font(family).characters().contains_key(&letter)
}

/// The font in front of egui's fonts.
pub(crate) const INTER: &[u8] = include_bytes!("../assets/fonts/Inter-Regular.otf");

/// Converts a colour to Bevy.
pub fn bevy_color(Rgb(red, green, blue): Rgb) -> Color {
    Color::srgb_u8(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_other_scripts_are_found_once_each() {
        assert_eq!(without_glyph("Änderungen: 17 Mbps → 256 kbps, 10×, “Снимок”\u{2009}😀"), "");
        assert_eq!(without_glyph("快照 (snapshot) 快"), "快照");
    }
}
