#![doc = include_str!("../README.md")]

use cubewire_codec::{BitKind, Form};

/// A colour in sRGB, 8 bits for each of red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Colours that depend on whether they are drawn on a light or a dark surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Behind text and graphs.
    pub surface: Rgb,
    /// The 3D view beyond the floor.
    pub sky: Rgb,
    /// Text, and the line of the 256 kbps target.
    pub ink: Rgb,
    /// Text of less importance.
    pub muted: Rgb,
    /// Text that reports an error.
    pub error: Rgb,
    /// Text that warns, and marks of lost and late packets.
    pub warning: Rgb,
    /// Everything that belongs to the left half, the simulation or the first of two lanes: its name, its figures, its
    /// line, its trails.
    pub left: Rgb,
    /// Everything that belongs to the right half, the replica.
    pub right: Rgb,
}

/// The colours for light surfaces.
pub const LIGHT: Colors = Colors {
    surface: Rgb(0xF8, 0xFA, 0xFC),
    sky: Rgb(0xCC, 0xD6, 0xE0),
    ink: Rgb(0x1F, 0x24, 0x2C),
    muted: Rgb(0x50, 0x58, 0x64),
    error: Rgb(0xA6, 0x1E, 0x17),
    warning: Rgb(0x80, 0x4C, 0x00),
    left: Rgb(0x00, 0x5A, 0x91),
    right: Rgb(0x9C, 0x3D, 0x00),
};

/// The colours for dark surfaces.
pub const DARK: Colors = Colors {
    surface: Rgb(0x1B, 0x1F, 0x26),
    sky: Rgb(0x20, 0x26, 0x2F),
    ink: Rgb(0xE8, 0xEC, 0xF1),
    muted: Rgb(0xA9, 0xB3, 0xBF),
    error: Rgb(0xFF, 0x8A, 0x80),
    warning: Rgb(0xF0, 0xC3, 0x6A),
    left: Rgb(0x6F, 0x8C, 0xFF),
    right: Rgb(0xFF, 0x6F, 0x4F),
};

/// The colour of a kind of bits, as a filled area. Based on the palette of Okabe and Ito, whose blue and
/// vermilion are left to the halves.
#[must_use]
pub const fn bit_kind(kind: BitKind) -> Rgb {
    match kind {
        BitKind::Header => Rgb(0x33, 0x22, 0x88),
        BitKind::Inputs => Rgb(0xAA, 0xDD, 0xAA),
        BitKind::State => Rgb(0x44, 0x33, 0x22),
        BitKind::Selection => Rgb(0x56, 0xB4, 0xE9),
        BitKind::Interacting => Rgb(0x88, 0x22, 0x55),
        BitKind::Life => Rgb(0x88, 0xCC, 0xEE),
        BitKind::Flags => Rgb(0xE6, 0x9F, 0x00),
        BitKind::Position => Rgb(0x00, 0x9E, 0x73),
        BitKind::Orientation => Rgb(0xCC, 0x79, 0xA7),
        BitKind::Velocity => Rgb(0xF0, 0xE4, 0x42),
        BitKind::Check => Rgb(0x11, 0x77, 0x33),
        BitKind::Padding => Rgb(0xBB, 0xBB, 0xBB),
        // A field of a schema.
        _ => Rgb(0x99, 0x99, 0x33),
    }
}

/// The colour of a cube by the [`Form`] in which a packet carries it; none if it does not.
#[must_use]
pub const fn form(form: Option<Form>) -> Rgb {
    match form {
        None => CUBE,
        Some(Form::Exact) => Rgb(0x00, 0x9E, 0x73),
        Some(Form::Small) => Rgb(0x56, 0xB4, 0xE9),
        Some(Form::Large) => Rgb(0xF0, 0xE4, 0x42),
        Some(Form::Whole) => Rgb(0x33, 0x22, 0x88),
        Some(Form::OutOfRange) => Rgb(0xD5, 0x5E, 0x00),
        Some(Form::OtherLargest) => Rgb(0xCC, 0x79, 0xA7),
    }
}

/// The colour of an amount from 0 to 1: cividis, which is as even with colour-blind eyes.
#[must_use]
pub fn amount(fraction: f32) -> Rgb {
    let colorous::Color { r, g, b } =
        colorous::CIVIDIS.eval_continuous(f64::from(fraction.clamp(0.0, 1.0)));
    Rgb(r, g, b)
}

/// A cube that is not interacting.
pub const CUBE: Rgb = Rgb(0xB8, 0xBA, 0xBF);
/// A cube that the player touched, or that touched one.
pub const INTERACTING_CUBE: Rgb = Rgb(0xD6, 0x29, 0x1F);
/// The player's cube.
pub const PLAYER_CUBE: Rgb = Rgb(0x0F, 0x52, 0xB8);

#[cfg(test)]
mod tests;
