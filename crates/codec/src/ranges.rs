//! Numbers in growing ranges: a short code for small ones, longer codes for larger ones.
//!
//! Each range takes up where the one before ends, so that no two codes stand for one number.
//! Range `k` of `N` is announced by `k` zeros and a one, the last range by `N − 1` zeros:
//!
//! ```text
//! two ranges, 5 and 9 bits          1 | 5 bits       −16..=15
//! (signed)                          0 | 9 bits       −272..=−17 and 16..=271
//!
//! three ranges, 3, 5 and 10 bits    1   | 3 bits     0..=7
//! (unsigned)                        0 1 | 5 bits     8..=39
//!                                   0 0 | 10 bits    40..=1063
//! ```

use bitstream_io::BitWrite;

use crate::ledger::BitKind;
use crate::sink::Sink;
use crate::source::{DecodeError, Source};

/// `N` growing ranges, by their bits: `1..=20` each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranges<const N: usize> {
    /// Bits of a number in each range, without the prefix.
    pub bits: [u8; N],
}

impl<const N: usize> Ranges<N> {
    /// Ranges of these widths.
    #[must_use]
    pub const fn new(bits: [u8; N]) -> Self {
        Self { bits }
    }

    /// Bits of a signed number with its prefix, or `None` if it is beyond the last range.
    #[must_use]
    pub const fn signed_bits(&self, value: i32) -> Option<u32> {
        match self.locate(magnitude(value), 1) {
            Some((range, _)) => Some(prefix_bits::<N>(range) + self.bits[range] as u32),
            None => None,
        }
    }

    /// Bits of an unsigned number with its prefix, or `None` if it is beyond the last range.
    #[must_use]
    pub const fn unsigned_bits(&self, value: u32) -> Option<u32> {
        match self.locate(value, 0) {
            Some((range, _)) => Some(prefix_bits::<N>(range) + self.bits[range] as u32),
            None => None,
        }
    }

    /// The range that holds `magnitude` and where that range starts. A range of `b` bits is
    /// 2^(b − `sign_bits`) magnitudes wide.
    const fn locate(&self, magnitude: u32, sign_bits: u8) -> Option<(usize, u32)> {
        let mut start = 0;
        let mut range = 0;
        while range < N {
            let width = 1 << (self.bits[range] - sign_bits);
            if magnitude - start < width {
                return Some((range, start));
            }
            start += width;
            range += 1;
        }
        None
    }

    fn start_of(&self, range: usize, sign_bits: u8) -> u32 {
        self.bits[..range]
            .iter()
            .map(|bits| 1 << (bits - sign_bits))
            .sum()
    }

    /// `value` must have [`signed_bits`](Self::signed_bits).
    pub(crate) fn put_signed<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        kind: BitKind,
        value: i32,
    ) {
        let (range, start) = self
            .locate(magnitude(value), 1)
            .expect("callers ask first whether the value has a code");
        let bits = u32::from(self.bits[range]);
        let inward = magnitude(value) - start;
        let half = 1 << (bits - 1);
        let code = if value < 0 {
            half - 1 - inward
        } else {
            half + inward
        };
        put_prefixed::<N, W>(sink, kind, range, bits, code);
    }

    pub(crate) fn take_signed(
        &self,
        source: &mut Source<'_>,
        field: BitKind,
    ) -> Result<i32, DecodeError> {
        let range = take_prefix::<N>(source, field)?;
        let bits = u32::from(self.bits[range]);
        let code = source.take(field, bits)? as i32;
        let start = self.start_of(range, 1) as i32;
        let half = 1 << (bits - 1);
        Ok(if code < half {
            code - half - start
        } else {
            code - half + start
        })
    }

    /// `value` must lie inside the last range.
    pub(crate) fn put_unsigned<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        kind: BitKind,
        value: u32,
    ) {
        let (range, start) = self
            .locate(value, 0)
            .expect("callers size the last range for their largest value");
        put_prefixed::<N, W>(
            sink,
            kind,
            range,
            u32::from(self.bits[range]),
            value - start,
        );
    }

    pub(crate) fn take_unsigned(
        &self,
        source: &mut Source<'_>,
        field: BitKind,
    ) -> Result<u32, DecodeError> {
        let range = take_prefix::<N>(source, field)?;
        Ok(self.start_of(range, 0) + source.take(field, u32::from(self.bits[range]))?)
    }
}

/// Distance from the innermost number of the same sign: 0 and −1 are both innermost.
const fn magnitude(value: i32) -> u32 {
    (if value < 0 { !value } else { value }) as u32
}

const fn prefix_bits<const N: usize>(range: usize) -> u32 {
    if range + 1 < N {
        range as u32 + 1
    } else {
        N as u32 - 1
    }
}

fn put_prefixed<const N: usize, W: BitWrite>(
    sink: &mut Sink<'_, W>,
    kind: BitKind,
    range: usize,
    bits: u32,
    code: u32,
) {
    let stop = u32::from(range + 1 < N);
    sink.put(kind, prefix_bits::<N>(range) + bits, stop << bits | code);
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

    fn round_trip<const N: usize>(ranges: Ranges<N>, value: i32) -> (Vec<u8>, u32, i32) {
        let (mut bytes, mut ledger) = (Vec::new(), BitLedger::new());
        let mut sink = Sink::writer(&mut bytes, &mut ledger);
        ranges.put_signed(&mut sink, BitKind::Position, value);
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
            ranges.put_unsigned(&mut sink, BitKind::Selection, value);
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
