//! What is done with bits: they are written, counted or read.

use std::convert::Infallible;

use crate::decode_error::DecodeError;
use crate::ledger::BitKind;

/// What a [`BitStream`](super::BitStream) does with its bits.
pub(crate) trait Direction {
    /// Why bits are refused.
    type Error;

    /// Writes the lowest `bits` bits of `value`, at most 32, and returns them; or ignores `value` and returns the bits
    /// that come next. Bits that are written can be left in `gathered`, after those that are there.
    fn number(
        &mut self,
        gathered: &mut Gathered,
        at: &At,
        bits: u32,
        value: u32,
    ) -> Result<u32, Self::Error>;

    /// Writes what was left.
    fn write(&mut self, _: Gathered) {}

    /// Returns `zeros`, or how many zeros come next, if that is what is read: at most `most`, of up to 32.
    fn zeros(&self, _: &At, zeros: u32, _most: u32) -> u32 {
        zeros
    }

    /// Checks what was read; what is written is right.
    fn check(is_right: bool, error: impl FnOnce() -> DecodeError) -> Result<(), Self::Error>;
}

/// Where a stream is.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(super) bit: u64,
    pub(super) kind: BitKind,
    pub(super) body: Option<usize>,
}

/// Bits that are about to be written, in the lowest ones of a word.
#[derive(Clone, Copy, Default)]
pub(crate) struct Gathered {
    pub(super) word: u64,
    pub(super) bits: u32,
}

/// With less than a byte before them, this many bits fit a word.
const MAX_GATHERED: u32 = 56;

impl Gathered {
    #[inline(always)]
    const fn then(self, next: Self) -> Self {
        Self {
            word: self.word << next.bits | next.word,
            bits: self.bits + next.bits,
        }
    }
}

/// Appends bits to bytes, the most significant first.
pub(crate) struct Writing<'b> {
    pub(super) bytes: &'b mut Vec<u8>,
    /// Less than a byte.
    pub(super) held: Gathered,
}

impl Direction for Writing<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn number(
        &mut self,
        gathered: &mut Gathered,
        _: &At,
        bits: u32,
        value: u32,
    ) -> Result<u32, Infallible> {
        assert!(u64::from(value) >> bits == 0, "a number fits its bits");
        if gathered.bits + bits > MAX_GATHERED {
            self.write(*gathered);
            *gathered = Gathered::default();
        }
        *gathered = gathered.then(Gathered {
            word: value.into(),
            bits,
        });
        Ok(value)
    }

    /// Without a branch on the number of whole bytes, which would be hard to predict.
    #[inline(never)]
    fn write(&mut self, gathered: Gathered) {
        let all = self.held.then(gathered);
        let whole = self.bytes.len() + all.bits as usize / 8;
        let top = all.word << (u64::BITS - all.bits);
        self.bytes.extend_from_slice(&top.to_be_bytes());
        self.bytes.truncate(whole);
        self.held = Gathered {
            bits: all.bits % 8,
            ..all
        };
    }

    fn check(_: bool, _: impl FnOnce() -> DecodeError) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Counts the bits that would be written.
pub(crate) struct Counting;

impl Direction for Counting {
    type Error = Infallible;

    fn number(&mut self, _: &mut Gathered, _: &At, _: u32, value: u32) -> Result<u32, Infallible> {
        Ok(value)
    }

    fn check(_: bool, _: impl FnOnce() -> DecodeError) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Reads bits from bytes, the most significant first.
pub(crate) struct Reading<'b> {
    pub(super) bytes: &'b [u8],
}

impl Reading<'_> {
    pub(super) const fn bits(&self) -> u64 {
        self.bytes.len() as u64 * 8
    }

    /// The next bits, at least 57 of them, and zeros after the last.
    #[inline]
    fn word(&self, at: &At) -> u64 {
        let rest = &self.bytes[(at.bit / 8) as usize..];
        let word = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut word = [0; size_of::<u64>()];
            word[..rest.len()].copy_from_slice(rest);
            word
        });
        u64::from_be_bytes(word) << (at.bit % 8)
    }
}

impl Direction for Reading<'_> {
    type Error = DecodeError;

    #[inline]
    fn number(&mut self, _: &mut Gathered, at: &At, bits: u32, _: u32) -> Result<u32, DecodeError> {
        if at.bit + u64::from(bits) > self.bits() {
            return Err(DecodeError::Truncated {
                at_bit: self.bits(),
                field: at.kind,
                body: at.body,
            });
        }
        let word = self.word(at);
        Ok(word.checked_shr(u64::BITS - bits).unwrap_or(0) as u32)
    }

    #[inline]
    fn zeros(&self, at: &At, _: u32, most: u32) -> u32 {
        self.word(at).leading_zeros().min(most)
    }

    #[inline]
    fn check(is_right: bool, error: impl FnOnce() -> DecodeError) -> Result<(), DecodeError> {
        match is_right {
            true => Ok(()),
            false => Err(error()),
        }
    }
}
