//! Growing ranges: a variable-length code with short codes for small numbers.
//!
//! Each range starts where the previous one ends, so that every number has one code. The prefix of range `k`
//! of `N` is `k` zeros and a one; that of the last range is `N − 1` zeros:
//!
//! ```text
//! two ranges, 5 and 9 bits          1 | 5 bits       −16..=15
//! (signed)                          0 | 9 bits       −272..=−17 and 16..=271
//!
//! three ranges, 3, 5 and 10 bits    1   | 3 bits     0..=7
//! (unsigned)                        0 1 | 5 bits     8..=39
//!                                   0 0 | 10 bits    40..=1063
//! ```

use crate::ledger::{BitKind, Form};
use crate::limits::MAX_RANGE_BITS;
use crate::sink::Word;
use crate::source::{DecodeError, Source};

/// Up to three growing ranges of up to 18 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges<const N: usize> {
    bits: [u8; N],
}

impl<const N: usize> Ranges<N> {
    /// Ranges of these widths in bits, without the prefix.
    ///
    /// # Panics
    /// If a range has 0 bits or more than 18, or if there are none or more than three ranges: the
    /// codes of three numbers must fit 64 bits.
    #[must_use]
    pub const fn new(bits: [u8; N]) -> Self {
        assert!(1 <= N && N <= 3, "one to three ranges");
        let mut range = 0;
        while range < N {
            assert!(
                1 <= bits[range] && bits[range] <= MAX_RANGE_BITS,
                "1 to 18 bits"
            );
            range += 1;
        }
        Self { bits }
    }

    /// Bits of a number in each range, without the prefix.
    #[must_use]
    pub const fn bits(&self) -> [u8; N] {
        self.bits
    }

    /// Bits of a signed number with its prefix, or `None` if it is beyond the last range.
    #[must_use]
    pub fn signed_bits(&self, value: i32) -> Option<u32> {
        self.signed(value).map(|word| word.bits)
    }

    /// Bits of an unsigned number with its prefix, or `None` if it is beyond the last range.
    #[must_use]
    pub fn unsigned_bits(&self, value: u32) -> Option<u32> {
        self.unsigned(value).map(|word| word.bits)
    }

    /// The code of a signed number, or `None` if it is beyond the last range.
    pub(crate) fn signed(&self, value: i32) -> Option<Word> {
        // Distance from the innermost number of the same sign: 0 and −1 are both innermost.
        let size = (if value < 0 { !value } else { value }).cast_unsigned();
        let (range, start) = self.locate(size, 1)?;
        let half = 1 << (self.bits[range] - 1);
        let inward = size - start;
        let code = if value < 0 {
            half - 1 - inward
        } else {
            half + inward
        };
        Some(self.word(range, code))
    }

    /// The codes of three signed numbers, one after another, or `None` if any is beyond the last
    /// range.
    pub(crate) fn signed_vector(&self, components: [i32; 3]) -> Option<Word> {
        let [x, y, z] = components;
        let word = self.signed(x)?.then(self.signed(y)?);
        Some(word.then(self.signed(z)?))
    }

    /// Bits of each of three signed numbers that [`signed_vector`](Self::signed_vector) has a code for, with
    /// its prefix.
    pub(crate) fn component_bits(&self, components: [i32; 3]) -> [u32; 3] {
        components.map(|component| self.signed_bits(component).unwrap_or(0))
    }

    /// The form of a difference that [`signed_vector`](Self::signed_vector) has a code for.
    pub(crate) fn form(&self, difference: [i32; 3]) -> Form {
        let first = Some(1 + u32::from(self.bits[0]));
        if difference == [0; 3] {
            Form::Exact
        } else if difference
            .into_iter()
            .all(|component| self.signed_bits(component) == first)
        {
            Form::Small
        } else {
            Form::Large
        }
    }

    /// The code of an unsigned number, or `None` if it is beyond the last range.
    pub(crate) fn unsigned(&self, value: u32) -> Option<Word> {
        let (range, start) = self.locate(value, 0)?;
        Some(self.word(range, value - start))
    }

    pub(crate) fn take_signed(
        &self,
        source: &mut Source<'_>,
        field: BitKind,
    ) -> Result<i32, DecodeError> {
        let range = take_prefix::<N>(source, field)?;
        let bits = u32::from(self.bits[range]);
        let code = source.take(field, bits)?.cast_signed();
        let start = self.start_of(range, 1).cast_signed();
        let half = 1 << (bits - 1);
        Ok(if code < half {
            code - half - start
        } else {
            code - half + start
        })
    }

    pub(crate) fn take_unsigned(
        &self,
        source: &mut Source<'_>,
        field: BitKind,
    ) -> Result<u32, DecodeError> {
        let range = take_prefix::<N>(source, field)?;
        Ok(self.start_of(range, 0) + source.take(field, u32::from(self.bits[range]))?)
    }

    /// The range that holds `size` and where that range starts. A range of `b` bits is
    /// 2^(b − `sign_bits`) sizes wide.
    fn locate(&self, size: u32, sign_bits: u8) -> Option<(usize, u32)> {
        let mut start = 0;
        for (range, bits) in self.bits.into_iter().enumerate() {
            let width = 1 << (bits - sign_bits);
            if size - start < width {
                return Some((range, start));
            }
            start += width;
        }
        None
    }

    fn start_of(&self, range: usize, sign_bits: u8) -> u32 {
        let before = self.bits[..range].iter();
        before.map(|bits| 1 << (bits - sign_bits)).sum()
    }

    /// Prefix and code.
    fn word(&self, range: usize, code: u32) -> Word {
        let prefix = if range + 1 < N {
            Word::new(range as u32 + 1, 1)
        } else {
            Word::new(N as u32 - 1, 0)
        };
        prefix.then(Word::new(u32::from(self.bits[range]), code))
    }
}

fn take_prefix<const N: usize>(
    source: &mut Source<'_>,
    field: BitKind,
) -> Result<usize, DecodeError> {
    for range in 0..N - 1 {
        if source.take_flag(field)? {
            return Ok(range);
        }
    }
    Ok(N - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::BitLedger;
    use crate::sink::Sink;

    fn round_trip<const N: usize>(ranges: Ranges<N>, value: i32) -> (Vec<u8>, u32, i32) {
        let (mut bytes, mut ledger) = (Vec::new(), BitLedger::new());
        let mut sink = Sink::writer(&mut bytes, &mut ledger);
        sink.put_word(BitKind::Position, ranges.signed(value).unwrap());
        sink.finish();
        let bits = ledger.kind(BitKind::Position) as u32;
        let back = ranges
            .take_signed(&mut Source::new(&bytes), BitKind::Position)
            .unwrap();
        (bytes, bits, back)
    }

    #[test]
    fn the_articles_position_ranges_end_where_the_module_says() {
        let ranges = Ranges::new([5, 9]);
        for (value, bits) in [
            (-16, 6),
            (15, 6),
            (-17, 10),
            (16, 10),
            (-272, 10),
            (271, 10),
        ] {
            assert_eq!(ranges.signed_bits(value), Some(bits));
        }
        assert_eq!(ranges.signed_bits(-273), None);
        assert_eq!(ranges.signed_bits(272), None);
    }

    #[test]
    fn every_number_has_one_code_and_comes_back() {
        fn check<const N: usize>(ranges: Ranges<N>) {
            let mut codes = std::collections::HashSet::new();
            for value in -3000..3000 {
                if let Some(bits) = ranges.signed_bits(value) {
                    let (bytes, written, back) = round_trip(ranges, value);
                    assert_eq!((written, back), (bits, value));
                    assert!(codes.insert((bits, bytes)));
                }
            }
            let last: usize = ranges.bits.iter().map(|bits| 1 << bits).sum();
            assert_eq!(codes.len(), last);
        }
        check(Ranges::new([5, 9]));
        check(Ranges::new([5, 8]));
        check(Ranges::new([1, 1]));
        check(Ranges::new([3, 5, 8]));
        check(Ranges::new([1, 6, 10]));
    }

    #[test]
    fn unsigned_numbers_come_back() {
        let ranges = Ranges::new([3, 5, 10]);
        for value in 0..1064 {
            let (mut bytes, mut ledger) = (Vec::new(), BitLedger::new());
            let mut sink = Sink::writer(&mut bytes, &mut ledger);
            sink.put_word(BitKind::Selection, ranges.unsigned(value).unwrap());
            sink.finish();
            let mut source = Source::new(&bytes);
            let back = ranges.take_unsigned(&mut source, BitKind::Selection);
            assert_eq!(back, Ok(value));
            let bits = match value {
                0..=7 => 4.0,
                8..=39 => 7.0,
                _ => 12.0,
            };
            assert_eq!(ledger.kind(BitKind::Selection), bits);
        }
    }
}
