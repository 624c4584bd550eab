//! Angles as integers, with 4096 steps per turn.
//!
//! Sines come from `libm`, which gives the same results on every platform.

use std::f32::consts::TAU;

use cubewire_codec::schema::FieldForm;

pub(super) const HEADING: FieldForm = FieldForm::Angle { bits: HEADING_BITS as u8 };

const HEADING_BITS: u32 = 12;

const TURN: f32 = (1 << HEADING_BITS) as f32;
const MASK: u16 = (1 << HEADING_BITS) - 1;

/// Angle in 1/4096 of a turn, 0..4096.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heading(u16);

impl Heading {
    /// Creates a heading from the low 12 bits.
    pub(super) const fn from_bits(bits: u16) -> Self {
        Self(bits & MASK)
    }

    /// Returns the nearest heading for a direction of any length except zero.
    pub(super) fn of(cos: f32, sin: f32) -> Self {
        let turns = libm::atan2f(sin, cos) / TAU;
        Self::from_bits(libm::roundf(turns * TURN) as i16 as u16)
    }

    pub(super) fn turns(self) -> f64 {
        f64::from(self.0) / f64::from(TURN)
    }

    pub(super) fn angle(self) -> f32 {
        f32::from(self.0) / TURN * TAU
    }

    /// Turns towards another heading by at most `most` steps, in the shorter direction.
    pub(super) fn turned_towards(self, wanted: Self, most: i16) -> Self {
        const UNUSED: u32 = u16::BITS - HEADING_BITS;
        let difference = (wanted.0.wrapping_sub(self.0) << UNUSED).cast_signed() >> UNUSED;
        Self::from_bits(self.0.wrapping_add_signed(difference.clamp(-most, most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_that_of_its_cosine_and_sine() {
        for bits in 0..=MASK {
            let heading = Heading::from_bits(bits);
            let (sin, cos) = libm::sincosf(heading.angle());
            assert_eq!(Heading::of(3.0 * cos, 3.0 * sin), heading);
        }
    }

    #[test]
    fn a_heading_turns_the_shorter_way_and_no_further_than_it_is_told() {
        for (from, to, turned) in
            [(100, 105, 105), (100, 200, 110), (5, 4090, 4091), (4090, 5, 4), (4090, 2, 2)]
        {
            let [from, to, turned] = [from, to, turned].map(Heading::from_bits);
            assert_eq!(from.turned_towards(to, 10), turned);
        }
    }
}
