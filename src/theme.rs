//! Light or dark, and the colours of `cubewire-palette` as egui and Bevy take them.

use bevy::color::Color;
use bevy::prelude::Resource;
use bevy_egui::egui::Color32;
use clap::ValueEnum;
use cubewire_palette::{Colors, DARK, LIGHT, Rgb};
use serde::{Deserialize, Serialize};

/// The theme of panel and view.
#[derive(
    Resource, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum,
)]
pub enum Theme {
    /// Dark text on light surfaces, and a sky by day.
    #[default]
    Light,
    /// Light text on dark surfaces, and a sky at dusk.
    Dark,
}

impl Theme {
    /// Its colours.
    #[must_use]
    pub const fn colors(self) -> &'static Colors {
        match self {
            Self::Light => &LIGHT,
            Self::Dark => &DARK,
        }
    }
}

/// A colour for egui.
#[must_use]
pub const fn egui_color(Rgb(red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

/// A colour for Bevy.
#[must_use]
pub fn bevy_color(Rgb(red, green, blue): Rgb) -> Color {
    Color::srgb_u8(red, green, blue)
}
