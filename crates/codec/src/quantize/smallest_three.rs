//! A unit quaternion as its three smallest components.
//!
//! The largest component is computed from the other three. `q` and `−q` are the same orientation, so the largest
//! component can be made positive and needs no sign. The other components are within ±1/√2. Source: Glenn
//! Fiedler, *Snapshot Compression* (2015).

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use glam::Quat;
use serde::{Deserialize, Serialize};

use super::nearest;

/// Minimum bits of a component.
pub const MIN_BITS: u8 = 2;
/// Maximum bits of a component.
pub const MAX_BITS: u8 = 15;
/// Maximum bits of a component for a 32-bit word of three components and the index of the largest.
pub(crate) const MAX_NARROW_BITS: u8 = 10;

/// Maximum bits of a component for arithmetic coding.
pub(crate) const MAX_ARITHMETIC_BITS: u8 = 12;

/// Number of levels of a component. It is part of the [`Schema`](crate::schema::Schema).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Levels {
    /// 2^bits − 1 levels, and the middle one is 0. Exact are the identity, quarter and half turns about an axis, and
    /// half turns about a diagonal between two axes, because their components are 0, ±1 and ±1/√2.
    #[default]
    Odd,
    /// 2^bits levels, as in the article. 0 is between two levels. The error of the identity is √6 / (2^bits − 1)
    /// radians, which is 0.27 degrees at nine bits.
    Even,
}

impl Levels {
    /// Largest integer of a component of `bits`. The smallest is 0.
    ///
    /// # Panics
    /// If `bits` is outside [`MIN_BITS`]`..=`[`MAX_BITS`].
    pub const fn max_component(self, bits: u8) -> u16 {
        assert!(MIN_BITS <= bits && bits <= MAX_BITS, "2 to 15 bits");
        match self {
            Self::Odd => (1 << bits) - 2,
            Self::Even => (1 << bits) - 1,
        }
    }
}

/// Minimum length of a quaternion with a direction.
pub const MIN_LENGTH: f64 = 1e-6;

/// A quantized orientation. The meaning of a component depends on the bits per component, which are part of the
/// [`Precision`](crate::Precision) of the snapshot, and on the schema's [`Levels`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SmallestThree {
    /// Index of the omitted component: 0 = x, 1 = y, 2 = z, 3 = w.
    pub largest: u8,
    /// The other three components in the order x, y, z, w: 0 to [`Levels::max_component`], for −1/√2 to 1/√2.
    pub components: [u16; 3],
}

impl SmallestThree {
    /// Returns the nearest quantized orientation with `bits` per component. `None` if the quaternion has no
    /// direction, because it is shorter than [`MIN_LENGTH`] or not finite.
    ///
    /// If several components have the largest magnitude, the first is omitted.
    ///
    /// # Panics
    /// If `bits` is outside [`MIN_BITS`]`..=`[`MAX_BITS`].
    pub fn quantize(orientation: Quat, bits: u8, levels: Levels) -> Option<Self> {
        let length = length(orientation)?;
        let unit = orientation.to_array().map(|c| f64::from(c) / length);
        let mut largest = 0;
        for index in 1..4 {
            if unit[index].abs() > unit[largest].abs() {
                largest = index;
            }
        }
        let sign = 1.0_f64.copysign(unit[largest]);
        let max = levels.max_component(bits);
        let mut small = [0; 3];
        for (slot, index) in (0..4).filter(|&i| i != largest).enumerate() {
            let scaled = (unit[index] * sign * SQRT_2 + 1.0) / 2.0 * f64::from(max);
            small[slot] = nearest(scaled).clamp(0, i32::from(max)) as u16;
        }
        Some(Self { largest: largest as u8, components: small })
    }

    /// Packs the integers into 32 bits. Components must have at most [`MAX_NARROW_BITS`] bits.
    #[inline]
    pub(crate) fn to_narrow_word(self) -> u32 {
        let [a, b, c] = self.components.map(u32::from);
        debug_assert!(a | b | c < 1 << MAX_NARROW_BITS);
        u32::from(self.largest) << 30 | a << 20 | b << 10 | c
    }

    #[inline]
    pub(crate) const fn from_narrow_word(word: u32) -> Self {
        const COMPONENT: u32 = (1 << MAX_NARROW_BITS) - 1;
        Self {
            largest: (word >> 30) as u8,
            components: [
                (word >> 20 & COMPONENT) as u16,
                (word >> 10 & COMPONENT) as u16,
                (word & COMPONENT) as u16,
            ],
        }
    }

    /// Packs the integers into one word, which is faster to compare.
    pub(crate) fn to_word(self) -> u64 {
        let [a, b, c] = self.components.map(u64::from);
        u64::from(self.largest) << 48 | a << 32 | b << 16 | c
    }

    pub(crate) const fn from_word(word: u64) -> Self {
        Self {
            largest: (word >> 48) as u8,
            components: [(word >> 32) as u16, (word >> 16) as u16, word as u16],
        }
    }

    /// Returns the unit quaternion, with its largest component positive. Integers above the largest are clamped.
    ///
    /// # Panics
    /// If `bits` is outside [`MIN_BITS`]`..=`[`MAX_BITS`], or `largest` above 3.
    #[inline]
    pub fn dequantize(self, bits: u8, levels: Levels) -> Quat {
        assert!(self.largest < 4, "a quaternion has four components");
        let max = levels.max_component(bits);
        let narrow = &NARROW[levels as usize];
        let small = self.components.map(|component| {
            let component = component.min(max);
            match narrow.get((1 << bits) + usize::from(component)) {
                Some(&value) if bits <= MAX_NARROW_BITS => value,
                _ => value(component, max),
            }
        });
        let sum: f64 = small.iter().map(|c| c * c).sum();
        // With hostile codes, the squares of the components can sum to more than 1.
        let left_out = (1.0 - sum).max(0.0).sqrt();
        let length = (sum + left_out * left_out).sqrt();
        let [a, b, c, rest] =
            [small[0], small[1], small[2], left_out].map(|value| (value / length) as f32);
        Quat::from_array(match self.largest {
            0 => [rest, a, b, c],
            1 => [a, rest, b, c],
            2 => [a, b, rest, c],
            _ => [a, b, c, rest],
        })
    }
}

const fn value(component: u16, max: u16) -> f64 {
    (float(component) / float(max) * 2.0 - 1.0) * FRAC_1_SQRT_2
}

/// Converts an integer exactly: it becomes the lowest bits of 2⁵² + `integer`.
///
/// On x86, `as` is an instruction that keeps the upper half of its register. In a loop over bodies it can therefore wait for
/// the previous orientation, and the loop takes twice as long.
const fn float(integer: u16) -> f64 {
    const BASE: f64 = (1_u64 << 52) as f64;
    f64::from_bits(BASE.to_bits() | integer as u64) - BASE
}

/// Values of all components of up to [`MAX_NARROW_BITS`] bits, by [`Levels`]. A lookup is faster than a division.
static NARROW: [[f64; 2 << MAX_NARROW_BITS]; 2] =
    [narrow_values(Levels::Odd), narrow_values(Levels::Even)];

/// Table of values. The values of components of `bits` start at index 2^bits.
const fn narrow_values(levels: Levels) -> [f64; 2 << MAX_NARROW_BITS] {
    let mut values = [0.0; 2 << MAX_NARROW_BITS];
    let mut bits = MIN_BITS;
    while bits <= MAX_NARROW_BITS {
        let max = levels.max_component(bits);
        let mut component = 0;
        while component <= max {
            values[(1 << bits) + component as usize] = value(component, max);
            component += 1;
        }
        bits += 1;
    }
    values
}

/// Length of a quaternion, or `None` if it has no direction.
pub(crate) fn length(quaternion: Quat) -> Option<f64> {
    let length = quaternion.to_array().map(f64::from).iter().map(|c| c * c).sum::<f64>().sqrt();
    (MIN_LENGTH..f64::INFINITY).contains(&length).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_rotation() -> impl Strategy<Value = Quat> {
        prop::array::uniform4(-1.0_f32..1.0)
            .prop_map(Quat::from_array)
            .prop_filter("has a direction", |q| q.length() > 0.1)
            .prop_map(Quat::normalize)
    }

    fn any_levels() -> impl Strategy<Value = Levels> {
        prop::sample::select(vec![Levels::Odd, Levels::Even])
    }

    fn back(q: Quat, bits: u8, levels: Levels) -> Quat {
        SmallestThree::quantize(q, bits, levels).unwrap().dequantize(bits, levels)
    }

    #[test]
    fn turns_whose_components_are_zero_or_equal_are_exact_with_odd_levels() {
        const HALF: f32 = std::f32::consts::FRAC_1_SQRT_2;
        for bits in MIN_BITS..=MAX_BITS {
            for first in 0..4 {
                let mut whole = [0.0; 4];
                whole[first] = 1.0;
                let whole = Quat::from_array(whole);
                assert_eq!(back(whole, bits, Levels::Odd), whole, "{bits}");
                for (second, sign) in (first + 1..4).flat_map(|at| [(at, 1.0), (at, -1.0)]) {
                    let mut equal = [0.0; 4];
                    (equal[first], equal[second]) = (HALF, sign * HALF);
                    let equal = Quat::from_array(equal);
                    assert_eq!(back(equal, bits, Levels::Odd), equal, "{bits}");
                }
            }
        }
    }

    #[test]
    fn the_identity_is_off_by_a_quarter_of_a_degree_at_nine_bits_of_even_levels() {
        let off = back(Quat::IDENTITY, 9, Levels::Even).angle_between(Quat::IDENTITY);
        assert!((off.to_degrees() - 0.27).abs() < 0.01, "{off}");
        assert!((off - 6.0_f32.sqrt() / 511.0).abs() < 1e-4, "{off}");
    }

    #[test]
    fn every_integer_is_converted_exactly() {
        for integer in 0..=u16::MAX {
            assert_eq!(float(integer).to_bits(), f64::from(integer).to_bits());
        }
    }

    #[test]
    fn codes_that_no_quaternion_has_still_give_a_unit_quaternion() {
        for (bits, levels) in (MIN_BITS..=MAX_BITS).zip([Levels::Odd, Levels::Even].repeat(7)) {
            for component in [levels.max_component(bits), u16::MAX] {
                let corner = SmallestThree { largest: 1, components: [component; 3] };
                assert!(corner.dequantize(bits, levels).is_normalized());
            }
        }
    }

    proptest! {
        #[test]
        fn q_and_its_negative_are_one_code(
            q in any_rotation(),
            bits in MIN_BITS..=MAX_BITS,
            levels in any_levels(),
        ) {
            prop_assert_eq!(
                SmallestThree::quantize(q, bits, levels),
                SmallestThree::quantize(-q, bits, levels)
            );
        }

        #[test]
        fn a_dequantized_rotation_is_near(
            q in any_rotation(),
            bits in MIN_BITS..=MAX_BITS,
            levels in any_levels(),
        ) {
            let back = back(q, bits, levels);
            prop_assert!(back.is_normalized());
            let step = SQRT_2 / f64::from(levels.max_component(bits));
            // Each of three components is off by half a step at most. The fourth follows with a
            // slope of at most √3, so that the whole is off by √12 half steps, and a little more
            // if steps are coarse.
            let chord = (back - q).length().min((back + q).length());
            prop_assert!(f64::from(chord) <= step * 2.0 + 1e-6, "{chord} {step}");
        }
    }
}
