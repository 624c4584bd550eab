//! Light and dark theme, fonts, and conversion of the colours of `cubewire-palette` to egui and Bevy.

use std::sync::Arc;

use bevy::color::Color;
use bevy::prelude::Resource;
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

/// The font in front of egui's fonts.
pub(crate) const INTER: &[u8] = include_bytes!("../assets/fonts/Inter-Regular.otf");

/// Converts a colour to Bevy.
pub fn bevy_color(Rgb(red, green, blue): Rgb) -> Color {
    Color::srgb_u8(red, green, blue)
}
