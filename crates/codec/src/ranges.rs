//! Growing ranges: a variable-length code with short codes for small numbers, as in section 8 of `WIRE.md`.
//!
//! Each range starts where the previous one ends, so every number has exactly one code. Signed ranges of 5 and 9 bits
//! have −16..=15, and −272..=−17 with 16..=271. Unsigned ones of 3, 5 and 10 bits have 0..=7, 8..=39 and 40..=1063.

use std::ops::RangeInclusive;

use crate::bits::{BitField, BitStream, Direction};
use crate::ledger::{BitKind, Form};
use crate::limits::MAX_RANGE_BITS;

/// Up to three growing ranges of up to 18 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges<const N: usize> {
    bits: [u8; N],
}

/// The reference of three numbers.
pub(crate) struct Relative<'a> {
    pub(crate) reference: [i32; 3],
    pub(crate) bounds: &'a [RangeInclusive<i32>; 3],
    /// Whether the numbers can be written relative to the reference, if the differences fit.
    pub(crate) is_possible: bool,
}

impl<const N: usize> Ranges<N> {
    /// Creates ranges of these widths in bits, without the prefix.
    ///
    /// # Panics
    /// If a range has 0 bits or more than 18, or if there are not one to three ranges.
    pub const fn new(bits: [u8; N]) -> Self {
        assert!(1 <= N && N <= 3, "one to three ranges");
        let mut range = 0;
        while range < N {
            assert!(1 <= bits[range] && bits[range] <= MAX_RANGE_BITS, "1 to 18 bits");
            range += 1;
        }
        Self { bits }
    }

    /// Number of bits in each range, without the prefix.
    pub const fn bits(&self) -> [u8; N] {
        self.bits
    }

    /// Number of bits of a signed number with its prefix. `None` if it is beyond the last range.
    pub fn signed_bits(&self, value: i32) -> Option<u32> {
        let range = range_of(magnitude(value), self.starts(1));
        (magnitude(value) < self.end(1)).then(|| self.width(range))
    }

    /// Number of bits of an unsigned number in the ranges with its prefix.
    pub(crate) fn unsigned_bits(&self, value: u32) -> u32 {
        self.width(range_of(value, self.starts(0)))
    }

    /// Codes an unsigned number, which must be in the ranges.
    #[inline(always)]
    pub(crate) fn unsigned<D: Direction>(
        &self,
        field: &mut BitField<'_, '_, D>,
        value: u32,
    ) -> Result<u32, D::Error> {
        let starts = self.starts(0);
        let range = range_of(value, starts);
        let code = value.wrapping_sub(starts[range]);
        let (range, code) = field.ranged(self.bits, range, code)?;
        Ok(starts[range] + code)
    }

    /// Codes a signed number, which must be in the ranges.
    #[inline(always)]
    pub(crate) fn signed<D: Direction>(
        &self,
        field: &mut BitField<'_, '_, D>,
        value: i32,
    ) -> Result<i32, D::Error> {
        let starts = self.starts(1);
        // The lower half of a range's codes is for its negative numbers.
        let half = |range: usize| 1_i32 << (self.bits[range] - 1);
        let offset = |range: usize, is_negative: bool| {
            let start = starts[range].cast_signed();
            half(range) + if is_negative { start } else { -start }
        };
        let range = range_of(magnitude(value), starts);
        let code = value.wrapping_add(offset(range, value < 0));
        let (range, code) = field.ranged(self.bits, range, code.cast_unsigned())?;
        let code = code.cast_signed();
        Ok(code - offset(range, code < half(range)))
    }

    /// Codes three numbers relative to a reference if each difference is in the ranges: a flag, then the
    /// differences. Returns the flag. If it is false, the caller codes the numbers in another form.
    pub(crate) fn relative<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        kind: BitKind,
        numbers: &mut [i32; 3],
        relative: &Relative<'_>,
    ) -> Result<bool, D::Error> {
        let mut field = stream.field(kind);
        let Relative { reference, bounds, is_possible } = relative;
        let mut difference = std::array::from_fn(|index| numbers[index] - reference[index]);
        let end = self.end(1);
        let fit = difference.iter().all(|&part| magnitude(part) < end);
        if !field.flag(*is_possible && fit)? {
            return Ok(false);
        }
        field.follow(3 * self.min_bits());
        for index in 0..3 {
            difference[index] = self.signed(&mut field, difference[index])?;
            let number = i64::from(reference[index]) + i64::from(difference[index]);
            numbers[index] = field.in_range(number, bounds[index].clone())? as i32;
        }
        drop(field);
        stream.note_components(|| difference.map(|part| self.signed_bits(part).unwrap_or(0)));
        stream.note(|| self.form(difference));
        Ok(true)
    }

    /// Number of bits of the shortest code.
    pub(crate) fn min_bits(&self) -> u32 {
        (0..N).map(|range| self.width(range)).min().unwrap_or(0)
    }

    /// Number of bits of a number in a range, with its prefix.
    fn width(&self, range: usize) -> u32 {
        (range + 1).min(N - 1) as u32 + u32::from(self.bits[range])
    }

    fn form(&self, difference: [i32; 3]) -> Form {
        let is_small = |&part: &i32| magnitude(part) < 1 << (self.bits[0] - 1);
        match difference {
            [0, 0, 0] => Form::Exact,
            _ if difference.iter().all(is_small) => Form::Small,
            _ => Form::Large,
        }
    }

    /// The first number of each range. A range of `b` bits is 2^(b − `sign_bits`) numbers wide.
    #[inline(always)]
    fn starts(&self, sign_bits: u8) -> [u32; N] {
        let mut end = 0;
        self.bits.map(|bits| {
            let start = end;
            end += 1 << (bits - sign_bits);
            start
        })
    }

    /// First number after the last range.
    #[inline(always)]
    fn end(&self, sign_bits: u8) -> u32 {
        self.bits.iter().map(|bits| 1 << (bits - sign_bits)).sum()
    }
}

/// Index of the range of a number, from the starts of the ranges.
#[inline(always)]
fn range_of<const N: usize>(number: u32, starts: [u32; N]) -> usize {
    let later = starts[1..].iter();
    later.map(|&start| usize::from(number >= start)).sum()
}

/// Distance from 0 for positive numbers, and from −1 for negative ones.
const fn magnitude(value: i32) -> u32 {
    (if value < 0 { !value } else { value }).cast_unsigned()
}
