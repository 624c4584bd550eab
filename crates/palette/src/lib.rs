#![doc = include_str!("../README.md")]

use cubewire_codec::{BitKind, Form};

/// sRGB colour with 8 bits each for red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// Colours of one theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// Background of text.
    pub ground: Rgb,
    /// Buttons, cards and chips.
    pub raised: Rgb,
    /// Background of plots, fields, and text over the picture.
    pub sunken: Rgb,
    /// Lines between parts. Never the only sign.
    pub line: Rgb,
    /// Sky of the 3D view at the horizon, and high above it.
    pub sky: [Rgb; 2],
    /// Far end of the floor of the 3D view, and the base of the floor's colours.
    pub haze: Rgb,
    /// Ring and outline of each player's cube.
    pub players: [Rgb; 4],
    /// A cube that the packet does not carry. Close to the floor, so that the others stand out.
    pub not_sent: Rgb,
    /// Text, and the line of the 256 kbps target.
    pub ink: Rgb,
    /// Less important text.
    pub muted: Rgb,
    /// Error messages, and marks of lost packets.
    pub error: Rgb,
    /// Warnings, marks of late packets, and the budget.
    pub warning: Rgb,
    /// Name, figures, line and trails of the left half, the simulation, or the first of two lanes. Text on this colour
    /// has the colour [`ground`](Self::ground), as on `right` and `ink`.
    pub left: Rgb,
    /// The same for the right half and its replica, and the main button.
    pub right: Rgb,
    /// The same for the third and the fourth of several lanes, on flat ground only.
    further: [Rgb; 2],
    /// Background of selected text in the left half.
    pub left_tint: Rgb,
    /// Background of selected text in the right half.
    pub right_tint: Rgb,
    /// A bar above the target.
    pub above_target: Rgb,
    /// An unemphasized bar, and an unselected dot.
    pub quiet: Rgb,
    /// Text of an option that is not possible, on [`impossible_ground`](Self::impossible_ground).
    pub impossible: Rgb,
    /// Background of an option that is not possible.
    pub impossible_ground: Rgb,
    /// Edge of the picture of a key.
    pub key_edge: Rgb,
    /// Fill and label colours of header, interacting, check and state bits, which differ between themes.
    dark_kinds: [[Rgb; 2]; 4],
}

/// Colours of the light theme.
pub const LIGHT: Colors = theme(0);

/// Colours of the dark theme.
pub const DARK: Colors = theme(1);

/// The theme with this index in each pair of a light and a dark colour.
const fn theme(index: usize) -> Colors {
    Colors {
        ground: [Rgb(0xF8, 0xFA, 0xFC), Rgb(0x16, 0x1B, 0x22)][index],
        raised: [Rgb(0xE6, 0xEA, 0xF0), Rgb(0x23, 0x2B, 0x35)][index],
        sunken: [Rgb(0xFF, 0xFF, 0xFF), Rgb(0x0D, 0x10, 0x15)][index],
        line: [Rgb(0xC4, 0xCC, 0xD6), Rgb(0x36, 0x41, 0x4D)][index],
        sky: [
            [Rgb(0xF2, 0xF5, 0xF8), Rgb(0xC4, 0xD7, 0xEB)],
            [Rgb(0x37, 0x35, 0x48), Rgb(0x12, 0x18, 0x26)],
        ][index],
        haze: [Rgb(0xCC, 0xD6, 0xE0), Rgb(0x20, 0x26, 0x2F)][index],
        players: [
            PLAYER_CUBES,
            [Rgb(0x63, 0x97, 0xE0), Rgb(0xF6, 0xCB, 0x1C), Rgb(0x1E, 0x7A, 0x46), WHITE],
        ][index],
        not_sent: [Rgb(0xB9, 0xC0, 0xC9), Rgb(0x68, 0x73, 0x81)][index],
        ink: [Rgb(0x1F, 0x24, 0x2C), Rgb(0xEE, 0xF2, 0xF6)][index],
        muted: [Rgb(0x3F, 0x47, 0x52), Rgb(0xAE, 0xB8, 0xC4)][index],
        error: [Rgb(0xA6, 0x1E, 0x17), Rgb(0xFF, 0x8A, 0x80)][index],
        warning: [Rgb(0x63, 0x5A, 0x00), Rgb(0xF0, 0xC3, 0x6A)][index],
        left: [Rgb(0x00, 0x5A, 0x91), Rgb(0x7F, 0x9B, 0xFF)][index],
        right: [Rgb(0x9C, 0x3D, 0x00), Rgb(0xFF, 0x7A, 0x59)][index],
        further: [
            [Rgb(0x66, 0x00, 0x11), Rgb(0x22, 0x55, 0xFF)],
            [Rgb(0x99, 0xFF, 0xBB), Rgb(0xFF, 0xE0, 0x22)],
        ][index],
        left_tint: [Rgb(0xD3, 0xE2, 0xEE), Rgb(0x2A, 0x35, 0x5F)][index],
        right_tint: [Rgb(0xF0, 0xDD, 0xD0), Rgb(0x4E, 0x2C, 0x24)][index],
        above_target: [Rgb(0xC0, 0x7F, 0x58), Rgb(0xB5, 0x63, 0x4D)][index],
        quiet: [Rgb(0x7C, 0x87, 0x94), Rgb(0x7C, 0x87, 0x94)][index],
        impossible: [Rgb(0x6B, 0x76, 0x83), Rgb(0x7A, 0x86, 0x94)][index],
        impossible_ground: [Rgb(0xED, 0xF0, 0xF4), Rgb(0x1A, 0x20, 0x28)][index],
        key_edge: [Rgb(0x9A, 0xA4, 0xB0), Rgb(0x56, 0x63, 0x72)][index],
        dark_kinds: [
            [
                [Rgb(0x33, 0x22, 0x88), WHITE],
                [Rgb(0x88, 0x22, 0x55), WHITE],
                [Rgb(0x11, 0x77, 0x33), WHITE],
                [Rgb(0x44, 0x33, 0x22), WHITE],
            ],
            [
                [Rgb(0x77, 0x68, 0xEE), BLACK],
                [Rgb(0xB4, 0x38, 0x76), WHITE],
                [Rgb(0x5D, 0x88, 0x22), BLACK],
                [Rgb(0x70, 0x67, 0x4C), WHITE],
            ],
        ][index],
    }
}

const BLACK: Rgb = Rgb(0x00, 0x00, 0x00);
const WHITE: Rgb = Rgb(0xFF, 0xFF, 0xFF);

impl Colors {
    /// Colour of the curve and the figures of one of up to four lanes side by side, by its index. The first two have the
    /// colours of the halves.
    pub const fn column(&self, index: usize) -> Rgb {
        match index {
            0 => self.left,
            1 => self.right,
            index => self.further[index % 2],
        }
    }

    /// Fill colour of a kind of bits. Based on the palette of Okabe and Ito, without its blue and vermilion, which mark
    /// the halves.
    pub const fn bit_kind(&self, kind: BitKind) -> Rgb {
        self.fill_and_label(kind)[0]
    }

    /// Text colour on the fill colour of a kind of bits.
    pub const fn bit_kind_label(&self, kind: BitKind) -> Rgb {
        self.fill_and_label(kind)[1]
    }

    const fn fill_and_label(&self, kind: BitKind) -> [Rgb; 2] {
        let light = match kind {
            BitKind::Header => return self.dark_kinds[0],
            BitKind::Interacting => return self.dark_kinds[1],
            BitKind::Check => return self.dark_kinds[2],
            BitKind::State => return self.dark_kinds[3],
            BitKind::Inputs => Rgb(0xAA, 0xDD, 0xAA),
            BitKind::Selection => Rgb(0x56, 0xB4, 0xE9),
            BitKind::Life => Rgb(0x88, 0xCC, 0xEE),
            BitKind::Flags => Rgb(0xE6, 0x9F, 0x00),
            BitKind::Position => Rgb(0x00, 0x9E, 0x73),
            BitKind::Orientation => Rgb(0xCC, 0x79, 0xA7),
            BitKind::Velocity => Rgb(0xF0, 0xE4, 0x42),
            BitKind::Padding => Rgb(0xBB, 0xBB, 0xBB),
            // Fields of a schema.
            _ => Rgb(0x99, 0x99, 0x33),
        };
        [light, BLACK]
    }
}

/// Colour of a cube by its [`Form`] in a packet.
pub const fn form(form: Form) -> Rgb {
    match form {
        Form::Exact => Rgb(0x00, 0x9E, 0x73),
        Form::Small => Rgb(0x56, 0xB4, 0xE9),
        Form::Large => Rgb(0xF0, 0xE4, 0x42),
        Form::Whole => Rgb(0x77, 0x68, 0xEE),
        Form::OutOfRange => Rgb(0xD5, 0x5E, 0x00),
        Form::OtherLargest => Rgb(0xCC, 0x79, 0xA7),
    }
}

/// Colour of an amount from 0 to 1, interpolated linearly between [`AMOUNTS`].
pub fn amount(fraction: f32) -> Rgb {
    let steps = fraction.clamp(0.0, 1.0) * (AMOUNTS.len() - 1) as f32;
    let from = (steps as usize).min(AMOUNTS.len() - 2);
    let share = steps - from as f32;
    let (a, b) = (AMOUNTS[from], AMOUNTS[from + 1]);
    let mix = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * share).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Colours of amounts in equal steps. Each is lighter than the previous one, so the order is visible with colour
/// blindness.
pub const AMOUNTS: [Rgb; 5] = [
    Rgb(0x80, 0x58, 0xDC),
    Rgb(0x3A, 0x8A, 0xEE),
    Rgb(0x24, 0xB8, 0xAD),
    Rgb(0x98, 0xD5, 0x3F),
    Rgb(0xFF, 0xEE, 0x70),
];

/// A cube that is not interacting.
pub const CUBE: Rgb = Rgb(0xB8, 0xBA, 0xBF);
/// A cube that the player has touched, directly or through other cubes.
pub const INTERACTING_CUBE: Rgb = Rgb(0xD6, 0x29, 0x1F);
/// An interacting cube under the outline of its replica.
pub const MUTED_CUBE: Rgb = Rgb(0xC4, 0x86, 0x82);
/// The cube of each player. [`PLAYER_NAMES`] has the names of the colours.
pub const PLAYER_CUBES: [Rgb; 4] =
    [Rgb(0x0F, 0x52, 0xB8), Rgb(0xF6, 0xCB, 0x1C), Rgb(0x00, 0x9E, 0x73), WHITE];

/// Names of the players, after their colours.
pub const PLAYER_NAMES: [&str; 4] = ["blue", "yellow", "green", "white"];

#[cfg(test)]
mod tests;
