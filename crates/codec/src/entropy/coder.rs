//! Binary arithmetic coding.
//!
//! The coder keeps an interval of 64-bit numbers. Each bin divides it in the proportion of the probabilities of its
//! two values. The leading 32 bits are written as soon as both ends of the interval agree on them. Output in words of
//! 32 bits is faster than in bytes, because the branch is taken rarely and predicted well. A decoder reads zeros
//! after the end, so up to [`MAX_OMITTED`] trailing zero bytes are not sent; a decoder that has used up more knows
//! that the bytes are not valid. This is the carryless range coder of Matt Mahoney's *lpaq1* (2007), with wider
//! numbers.
//!
//! The range coders of the [`constriction`](https://docs.rs/constriction) crate are faster on the same bins, but
//! computing probabilities takes most of the time of a packet. Packets of this coder are a hundredth smaller, because
//! its output ends at the last byte that is needed, not at a whole word.

use std::hint::select_unpredictable;

/// Denominator of probabilities: they are multiples of 1 / `ONE`, and at least 1 / `ONE` for both values of a bin.
pub const ONE: u32 = 1 << 16;

/// Maximum number of zero bytes that [`BinEncoder`] omits at the end. It bounds how far a decoder reads past the end,
/// and so the work that a short packet can cause. About one packet in 2⁶⁴ ends in more zeros by chance.
pub const MAX_OMITTED: usize = 8;

/// Encodes or decodes bins: binary decisions. One `PacketCoder` serves both directions.
pub trait BinCoder {
    /// Whether this is a decoder. A decoder knows the value of a bin only after all bins before it.
    const DECODES: bool;

    /// Encodes `bin` and returns it. A decoder ignores `bin` and returns the decoded one. `one` is the probability
    /// that it is set, out of [`ONE`], in `1..ONE`.
    fn bin(&mut self, bin: bool, one: u32) -> bool;

    /// Encodes the lowest `count` digits of a number, highest first, as bins of even odds, and returns them. A
    /// decoder ignores `digits` and returns the decoded ones.
    fn bypass(&mut self, digits: u32, count: u32) -> u32 {
        let shifts = (0..count).rev();
        shifts.fold(0, |coded, shift| {
            coded << 1 | u32::from(self.bin(digits >> shift & 1 == 1, ONE / 2))
        })
    }

    /// Whether a decoder has read further past the end than an encoder omits. Once true, it stays true.
    fn is_past_end(&self) -> bool {
        false
    }

    /// Bits of the packet that were decoded so far, to within a few bytes. 0 for an encoder.
    fn at_bit(&self) -> u64 {
        0
    }
}

/// An interval with inclusive bounds.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: u64,
    high: u64,
}

impl Interval {
    const ALL: Self = Self { low: 0, high: u64::MAX };

    /// The last number of the subinterval for a set bin.
    const fn middle(self, one: u32) -> u64 {
        self.low + ((self.high - self.low) >> 16) * one as u64
    }

    /// Narrows the interval to the subinterval of a bin. It has no branch, because it would often be mispredicted.
    #[inline(always)]
    fn narrow(&mut self, bin: bool, middle: u64) {
        *self = Self {
            low: select_unpredictable(bin, self.low, middle + 1),
            high: select_unpredictable(bin, middle, self.high),
        };
    }

    /// The leading word, if both bounds have the same.
    const fn leading_word(self) -> Option<u32> {
        if (self.low ^ self.high) >> 32 == 0 { Some((self.high >> 32) as u32) } else { None }
    }

    const fn shift(&mut self) {
        self.low <<= 32;
        self.high = self.high << 32 | 0xFFFF_FFFF;
    }

    /// The number in the interval with the most trailing zero bytes.
    fn roundest(self) -> u64 {
        (0..=8)
            .find_map(|bytes| {
                let rest = u64::MAX.checked_shr(8 * bytes).unwrap_or(0);
                let round = self.low.checked_add(rest)? & !rest;
                (round <= self.high).then_some(round)
            })
            .expect("the low end itself is in the interval")
    }
}

/// Encodes bins.
#[derive(Debug)]
pub struct BinEncoder<'a> {
    bytes: &'a mut Vec<u8>,
    interval: Interval,
    start: usize,
}

impl<'a> BinEncoder<'a> {
    /// Appends to `bytes`.
    pub const fn new(bytes: &'a mut Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, interval: Interval::ALL, start }
    }

    /// Writes the last bytes that a decoder needs. Also removes zeros at the end of the bytes written before, because a
    /// decoder reads zeros after the end.
    pub fn finish(self) {
        let least = self.bytes.len().saturating_sub(MAX_OMITTED).max(self.start);
        self.bytes.extend(self.interval.roundest().to_be_bytes());
        while self.bytes.len() > least && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
    }

    /// Not inlined: it runs once in 32 bits, and its calls would keep other values out of registers.
    #[inline(never)]
    fn shift(&mut self) {
        while let Some(word) = self.interval.leading_word() {
            self.bytes.extend(word.to_be_bytes());
            self.interval.shift();
        }
    }
}

impl BinCoder for BinEncoder<'_> {
    const DECODES: bool = false;
    #[inline]
    fn bin(&mut self, bin: bool, one: u32) -> bool {
        self.interval.narrow(bin, self.interval.middle(one));
        if self.interval.leading_word().is_some() {
            self.shift();
        }
        bin
    }
}

/// Decodes bins. Bytes past the end count as zeros.
#[derive(Debug)]
pub struct BinDecoder<'a> {
    bytes: &'a [u8],
    interval: Interval,
    /// The eight bytes from `consumed` on, as a number.
    value: u64,
    consumed: usize,
    /// Bytes of the packet before the bins.
    pub(crate) head: usize,
}

impl<'a> BinDecoder<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        let value = u64::from(word_at(bytes, 0)) << 32 | u64::from(word_at(bytes, WORD));
        Self { bytes, interval: Interval::ALL, value, consumed: 0, head: 0 }
    }

    /// Whether [`BinEncoder`] writes exactly these bytes for the decoded bins.
    pub fn is_canonical(&self) -> bool {
        // An encoder has written `read` bytes before `finish`, which appends eight bytes and removes zeros. It stops at
        // `MAX_OMITTED` bytes fewer than `read`, where the last byte can be zero.
        let (length, read) = (self.bytes.len(), self.consumed);
        let omits_most = length + MAX_OMITTED == read;
        (length..=length + 2 * MAX_OMITTED).contains(&(read + MAX_OMITTED))
            && (omits_most || self.bytes.last() != Some(&0))
            && self.value == self.interval.roundest()
    }

    #[inline(never)]
    fn shift(&mut self) {
        while self.interval.leading_word().is_some() {
            self.interval.shift();
            let word = word_at(self.bytes, self.consumed + 2 * WORD);
            self.value = self.value << 32 | u64::from(word);
            self.consumed += WORD;
        }
    }
}

const WORD: usize = 4;

fn word_at(bytes: &[u8], index: usize) -> u32 {
    let rest = bytes.get(index..).unwrap_or_default();
    let word = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; WORD];
        word[..rest.len()].copy_from_slice(rest);
        word
    });
    u32::from_be_bytes(word)
}

impl BinCoder for BinDecoder<'_> {
    const DECODES: bool = true;
    #[inline]
    fn bin(&mut self, _: bool, one: u32) -> bool {
        let middle = self.interval.middle(one);
        let bin = self.value <= middle;
        self.interval.narrow(bin, middle);
        if self.interval.leading_word().is_some() {
            self.shift();
        }
        bin
    }

    fn is_past_end(&self) -> bool {
        self.consumed > self.bytes.len() + MAX_OMITTED
    }

    fn at_bit(&self) -> u64 {
        (self.head + self.consumed) as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Bins with probabilities from near certain to even, drawn with those probabilities.
    fn random_bins(random: &mut ChaCha8Rng, count: usize) -> Vec<(bool, u32)> {
        (0..count)
            .map(|_| {
                let one = match random.random_range(0..3) {
                    0 => random.random_range(1..ONE),
                    1 => 1 << random.random_range(0..16),
                    _ => ONE - (1 << random.random_range(0..16)),
                };
                let one = one.clamp(1, ONE - 1);
                (random.random_ratio(one, ONE), one)
            })
            .collect()
    }

    fn encode(bins: &[(bool, u32)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = BinEncoder::new(&mut bytes);
        for &(bin, one) in bins {
            encoder.bin(bin, one);
        }
        encoder.finish();
        bytes
    }

    #[test]
    fn bins_decode_from_one_form_only_and_cost_their_entropy() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // The average over many packets, because one packet can lose a few bits where an interval lies across the end
        // of a word.
        let [mut bits, mut most] = [0.0; 2];
        for count in (0..200).chain([10_000; 10]) {
            let bins = random_bins(&mut random, count);
            let bytes = encode(&bins);
            let is_canonical = |bytes: &[u8]| {
                let mut decoder = BinDecoder::new(bytes);
                let mut bins = bins.iter();
                bins.all(|&(bin, one)| decoder.bin(false, one) == bin) && decoder.is_canonical()
            };
            assert!(is_canonical(&bytes));
            if count == 10_000 {
                for more in [&[0][..], &[1], &[0, 0, 1]] {
                    assert!(!is_canonical(&[&bytes[..], more].concat()));
                }
                assert!(!is_canonical(&bytes[..bytes.len() - 1]));
            }
            let entropy: f64 = bins
                .iter()
                .map(|&(bin, one)| {
                    let one = f64::from(one) / f64::from(ONE);
                    -(if bin { one } else { 1.0 - one }).log2()
                })
                .sum();
            bits += bytes.len() as f64 * 8.0;
            most += entropy * 1.001 + 9.0;
        }
        assert!(bits < most, "{bits} bits of {most}");
    }

    #[test]
    fn all_but_eight_of_the_last_zeros_are_written_and_no_more_are_read() {
        // Set bins leave the low end of the interval at zero.
        for count in 0..40 * 8 {
            let bytes = encode(&vec![(true, ONE / 2); count]);
            let written = count / 32 * WORD;
            assert_eq!(bytes, vec![0; written.saturating_sub(MAX_OMITTED)]);
            let mut decoder = BinDecoder::new(&bytes);
            for _ in 0..count {
                assert!(!decoder.is_past_end());
                assert!(decoder.bin(false, ONE / 2));
            }
            assert!(!decoder.is_past_end() && decoder.is_canonical());
            for more in [&[0][..], &[0, 0], &[1]] {
                let mut decoder = BinDecoder::new(more);
                let ones = (0..count).take_while(|_| decoder.bin(false, ONE / 2));
                let is_other = ones.count() < count || !decoder.is_canonical();
                assert!(is_other || bytes == more, "{count} {more:?}");
            }
        }
        let mut decoder = BinDecoder::new(&[]);
        let ends = (0..1_000).find(|_| {
            decoder.bin(false, ONE / 2);
            decoder.is_past_end()
        });
        assert_eq!(ends, Some(8 * MAX_OMITTED + 31));
    }
}
