//! The two operations of a bit stream: write and read.
//!
//! bitstream-io packs and unpacks the bits. It is fastest with few wide calls. A field is therefore written at once,
//! and read at once as far as its size is known.

use std::convert::Infallible;

use bitstream_io::{BigEndian, BitRead, BitReader, BitWrite, BitWriter};

use crate::decode_error::DecodeError;
use crate::ledger::BitKind;

/// Operation that a [`BitStream`](super::BitStream) applies to its bits.
pub(crate) trait Direction {
    /// Error of a check. Only reading can fail.
    type Error;

    /// Writes the lowest `bits` bits of `value`, at most 32, and returns them. A reader ignores `value` and returns
    /// the next bits. `at.gathered` can hold bits not yet written, or bits that were read ahead.
    fn number(&mut self, at: &mut At, bits: u32, value: u32) -> Result<u32, Self::Error>;

    /// Writes gathered bits.
    fn put(&mut self, _: Gathered) {}

    /// Returns `zeros` when writing. A reader counts the next zeros, up to `most`, which is at most 32. At least
    /// `most` bits must follow.
    fn zeros(&mut self, _: &mut At, zeros: u32, _most: u32) -> Result<u32, Self::Error> {
        Ok(zeros)
    }

    /// Returns the error if `is_right` is false. Only a reader checks.
    fn check(is_right: bool, error: impl FnOnce() -> DecodeError) -> Result<(), Self::Error>;
}

/// Position in a stream, with the field and body that its bits belong to.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(super) bit: u64,
    /// All bits before this one belong to the field, so a reader can fetch them at once.
    pub(super) known_until: u64,
    pub(super) kind: BitKind,
    pub(super) body: Option<usize>,
    pub(super) gathered: Gathered,
}

/// Bits not yet written, or read ahead, in the low bits of a word.
#[derive(Clone, Copy, Default)]
pub(crate) struct Gathered {
    pub(super) word: u64,
    pub(super) bits: u32,
}

impl Gathered {
    #[inline(always)]
    const fn push(&mut self, word: u64, bits: u32) {
        self.word = self.word.unbounded_shl(bits) | word;
        self.bits += bits;
    }

    #[inline(always)]
    const fn pop(&mut self, bits: u32) -> u64 {
        self.bits -= bits;
        let word = self.word.unbounded_shr(self.bits);
        self.word &= !u64::MAX.unbounded_shl(self.bits);
        word
    }
}

/// Appends bits to bytes, the most significant first.
pub(crate) type Writing<'b> = BitWriter<&'b mut Vec<u8>, BigEndian>;

impl Direction for Writing<'_> {
    type Error = Infallible;

    #[inline(always)]
    fn number(&mut self, at: &mut At, bits: u32, value: u32) -> Result<u32, Infallible> {
        assert!(u64::from(value) >> bits == 0, "a number fits its bits");
        if at.gathered.bits + bits > u64::BITS {
            self.put(at.gathered);
            at.gathered = Gathered::default();
        }
        at.gathered.push(value.into(), bits);
        Ok(value)
    }

    #[inline(never)]
    fn put(&mut self, gathered: Gathered) {
        self.write_unsigned_var(gathered.bits, gathered.word)
            .expect("each number fits its bits, and a vector takes any number of bytes");
    }

    fn check(_: bool, _: impl FnOnce() -> DecodeError) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Reads bits from bytes, the most significant first.
pub(crate) struct Reading<'b> {
    pub(super) bits: BitReader<&'b [u8], BigEndian>,
    /// Length of the packet in bits.
    pub(super) end: u64,
}

impl Reading<'_> {
    /// Fetches bits until at least `bits` are gathered, and more if the field is known to have more.
    #[inline(always)]
    fn gather(&mut self, at: &mut At, bits: u32) -> Result<(), DecodeError> {
        if bits <= at.gathered.bits {
            return Ok(());
        }
        let known = at.known_until.min(self.end).saturating_sub(at.bit);
        let more = known.clamp(bits.into(), u64::BITS.into()) as u32 - at.gathered.bits;
        at.gathered.push(self.read(at, more)?, more);
        Ok(())
    }

    #[inline(always)]
    fn read(&mut self, at: &At, bits: u32) -> Result<u64, DecodeError> {
        self.next(bits).ok_or(DecodeError::Truncated {
            at_bit: self.end,
            field: at.kind,
            body: at.body,
        })
    }

    /// Returns the next bits, or `None` if there are fewer. Few arguments, so that fields stay in registers.
    #[inline(never)]
    fn next(&mut self, bits: u32) -> Option<u64> {
        self.bits.read_unsigned_var(bits).ok()
    }
}

impl Direction for Reading<'_> {
    type Error = DecodeError;

    #[inline(always)]
    fn number(&mut self, at: &mut At, bits: u32, _: u32) -> Result<u32, DecodeError> {
        self.gather(at, bits)?;
        Ok(at.gathered.pop(bits) as u32)
    }

    #[inline(always)]
    fn zeros(&mut self, at: &mut At, _: u32, most: u32) -> Result<u32, DecodeError> {
        self.gather(at, most)?;
        let unused = u64::BITS - at.gathered.bits;
        Ok((at.gathered.word.leading_zeros() - unused).min(most))
    }

    #[inline]
    fn check(is_right: bool, error: impl FnOnce() -> DecodeError) -> Result<(), DecodeError> {
        if is_right { Ok(()) } else { Err(error()) }
    }
}
