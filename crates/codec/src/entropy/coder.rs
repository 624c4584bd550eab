//! Binary arithmetic coding.
//!
//! The coder keeps an interval of 32-bit numbers, cuts it in the proportion of the two probabilities at
//! each decision, and writes the leading bytes on which both ends agree. Bytes after the end count as
//! zeros, so that zeros at the end need not be sent. After Matt Mahoney, *lpaq1* (2007), which has it
//! from the tradition of carryless range coders.

//!
//! It stands beside the range coders of the [`constriction`](https://docs.rs/constriction) crate, given the
//! same decisions with the same probabilities: those of `predicted` on dev-mix, 2317 a packet. `cargo bench
//! --manifest-path crates/codec/compare/Cargo.toml` prints the sizes and times all three.
//!
//! | coder | bytes a packet | encode | decode |
//! | --- | ---: | ---: | ---: |
//! | this one | 170.5 | 6.5 µs | 7.1 µs |
//! | `constriction`, 32-bit words | 172.3 | 4.4 µs | 5.2 µs |
//! | `constriction`, 16-bit words | 183.3 | 4.3 µs | 4.4 µs |
//!
//! A packet takes some 100 µs either way, most of it for the probabilities: a hundredth of its size is worth more
//! than a fiftieth of its time, so this one stays. It is smaller because it ends in the fewest bytes that tell
//! all, and with whole words a packet cannot.

/// Probabilities are fractions of this; both sides of a decision have at least 1.
pub const ONE: u32 = 1 << 16;

/// What writes or reads decisions. One walk over the cubes serves both.
pub trait Bits {
    /// Writes `bit`, or reads one in its place; `one` is how probable it is that it is set, out of
    /// [`ONE`].
    fn bit(&mut self, bit: bool, one: u32) -> bool;
}

/// The interval, ends included.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: u32,
    high: u32,
}

impl Interval {
    const ALL: Self = Self {
        low: 0,
        high: u32::MAX,
    };

    /// The last number of the part that stands for a set bit.
    const fn middle(self, one: u32) -> u32 {
        let range = self.high - self.low;
        self.low + (range >> 16) * one + (((range & 0xFFFF) * one) >> 16)
    }

    const fn cut(&mut self, bit: bool, middle: u32) {
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
    }

    /// The leading byte, if it is settled.
    const fn settled(self) -> Option<u8> {
        if (self.low ^ self.high) >> 24 == 0 {
            Some((self.high >> 24) as u8)
        } else {
            None
        }
    }

    const fn shift(&mut self) {
        self.low <<= 8;
        self.high = self.high << 8 | 0xFF;
    }

    /// The number in the interval that ends in the most zero bytes.
    fn roundest(self) -> u32 {
        (0..=4)
            .find_map(|bytes| {
                let rest = u32::MAX.checked_shr(8 * bytes).unwrap_or(0);
                let round = self.low.checked_add(rest)? & !rest;
                (round <= self.high).then_some(round)
            })
            .expect("the low end itself is in the interval")
    }
}

/// Writes decisions.
#[derive(Debug)]
pub struct BitsOut<'a> {
    bytes: &'a mut Vec<u8>,
    interval: Interval,
    start: usize,
}

impl<'a> BitsOut<'a> {
    /// Appends to `bytes`.
    pub const fn new(bytes: &'a mut Vec<u8>) -> Self {
        let start = bytes.len();
        Self {
            bytes,
            interval: Interval::ALL,
            start,
        }
    }

    /// Writes what is still needed to tell all decisions.
    pub fn finish(self) {
        self.bytes.extend(self.interval.roundest().to_be_bytes());
        while self.bytes.len() > self.start && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
    }
}

impl Bits for BitsOut<'_> {
    #[inline]
    fn bit(&mut self, bit: bool, one: u32) -> bool {
        let middle = self.interval.middle(one);
        self.interval.cut(bit, middle);
        while let Some(byte) = self.interval.settled() {
            self.bytes.push(byte);
            self.interval.shift();
        }
        bit
    }
}

/// Reads decisions. Past the end of the bytes it reads zeros, for as long as it is asked.
#[derive(Debug)]
pub struct BitsIn<'a> {
    bytes: &'a [u8],
    interval: Interval,
    /// The bytes from `settled` on, as a number.
    value: u32,
    settled: usize,
}

impl<'a> BitsIn<'a> {
    /// Reads from the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let value = (0..4).fold(0, |value, place| value << 8 | byte_at(bytes, place));
        Self {
            bytes,
            interval: Interval::ALL,
            value,
            settled: 0,
        }
    }

    /// Bytes that were needed so far, but for the last few.
    #[must_use]
    pub const fn settled(&self) -> usize {
        self.settled
    }

    /// Whether the bytes are what [`BitsOut`] writes for these decisions, no more and no less.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let ends_in_zero = self.bytes.last() == Some(&0);
        !ends_in_zero
            && self.bytes.len() <= self.settled + 4
            && self.value == self.interval.roundest()
    }
}

fn byte_at(bytes: &[u8], place: usize) -> u32 {
    bytes.get(place).copied().unwrap_or(0).into()
}

impl Bits for BitsIn<'_> {
    #[inline]
    fn bit(&mut self, _: bool, one: u32) -> bool {
        let middle = self.interval.middle(one);
        let bit = self.value <= middle;
        self.interval.cut(bit, middle);
        while self.interval.settled().is_some() {
            self.interval.shift();
            self.value = self.value << 8 | byte_at(self.bytes, self.settled + 4);
            self.settled += 1;
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// Decisions with probabilities from certain to even, mostly as probable as they say.
    fn decisions(random: &mut ChaCha8Rng, count: usize) -> Vec<(bool, u32)> {
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

    fn encode(decisions: &[(bool, u32)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = BitsOut::new(&mut bytes);
        for &(bit, one) in decisions {
            out.bit(bit, one);
        }
        out.finish();
        bytes
    }

    #[test]
    fn decisions_come_back_and_cost_what_they_are_worth() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for count in (0..200).chain([10_000; 10]) {
            let decisions = decisions(&mut random, count);
            let bytes = encode(&decisions);
            let mut bits = BitsIn::new(&bytes);
            for &(bit, one) in &decisions {
                assert_eq!(bits.bit(false, one), bit);
            }
            assert!(bits.is_exact());
            let worth: f64 = decisions
                .iter()
                .map(|&(bit, one)| {
                    let one = f64::from(one) / f64::from(ONE);
                    -(if bit { one } else { 1.0 - one }).log2()
                })
                .sum();
            let cost = bytes.len() as f64 * 8.0;
            assert!(cost < worth * 1.001 + 9.0, "{cost} bits for {worth}");
        }
    }

    #[test]
    fn bytes_that_the_encoder_would_not_write_are_told() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let decisions = decisions(&mut random, 500);
        let bytes = encode(&decisions);
        let exact = |bytes: &[u8]| {
            let mut bits = BitsIn::new(bytes);
            for &(bit, one) in &decisions {
                if bits.bit(false, one) != bit {
                    return false;
                }
            }
            bits.is_exact()
        };
        assert!(exact(&bytes));
        for more in [&[0][..], &[1], &[0, 0, 1]] {
            assert!(!exact(&[&bytes[..], more].concat()));
        }
        assert!(!exact(&bytes[..bytes.len() - 1]));
    }
}
