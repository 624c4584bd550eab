//! How numbers are written on the screen, and what each rung does in one line.

use cubewire_codec::ladder::{self, Rung};

/// A whole number, with thin spaces between thousands: `17 369`.
#[must_use]
pub fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = if value <= -0.5 { "\u{2212}" } else { "" }.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

/// A number in a table: below 100 with one decimal, else whole.
#[must_use]
pub fn tabular(value: f64) -> String {
    if value.abs() < 99.95 {
        format!("{value:.1}").replace('-', "\u{2212}")
    } else {
        whole(value)
    }
}

/// A factor: two digits below 10, else whole: `2.5×`, `579×`.
#[must_use]
pub fn times(factor: f64) -> String {
    match factor < 9.95 {
        true => format!("{factor:.1}×"),
        false => whole(factor) + "×",
    }
}

/// What a rung does, as a sentence of at most 60 characters.
#[must_use]
pub fn about(rung: &Rung) -> &'static str {
    let found = ladder::all()
        .zip(ABOUT)
        .find(|(other, _)| other.name == rung.name);
    found.map_or(rung.summary, |(_, about)| about)
}

/// In the order of [`ladder::all`].
const ABOUT: [&str; 17] = [
    "Every cube 60 times a second, as 32-bit floats.",
    "Three components of an orientation; the largest follows.",
    "Velocities in 11 bits a component.",
    "One bit instead of a velocity for cubes at rest.",
    "No velocities: interpolation does without.",
    "Positions on a grid of 2 mm, in 50 bits.",
    "Only cubes that differ from the baseline.",
    "A list of indices where few cubes changed.",
    "Each index as the distance from the one before.",
    "Positions as differences from the baseline.",
    "Orientations as differences, while the largest stays.",
    "A flag each says if position and orientation changed.",
    "Differences from where the motion would lead.",
    "Fractions of a bit: what is likely takes less than one.",
    "Fractions of a bit for differences from a prediction.",
    "Both ends simulate; a packet has the keys and a check.",
    "Not of the ladder: each cube in 20 bytes, by scale and zero.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_can_be_read() {
        assert_eq!(whole(17_368.8), "17\u{2009}369");
        assert_eq!(
            [whole(999.6), whole(-1234.0)],
            ["1\u{2009}000", "\u{2212}1\u{2009}234"]
        );
        assert_eq!([tabular(15.84), tabular(99.96)], ["15.8", "100"]);
        assert_eq!(
            [times(2.46), times(9.96), times(1091.7)],
            ["2.5×", "10×", "1\u{2009}092×"]
        );
    }

    #[test]
    fn every_rung_has_a_line_of_its_own() {
        assert_eq!(ladder::all().count(), ABOUT.len());
        for rung in ladder::all() {
            let about = about(&rung);
            assert!(
                about.ends_with('.') && about.chars().count() <= 60,
                "{about}"
            );
        }
    }
}
