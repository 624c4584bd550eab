//! Writes bits, and records them in a ledger.

use bitstream_io::{BigEndian, BitWrite, BitWriter, BitsWritten};

use crate::ledger::{BitKind, BitLedger, Form};
use crate::quantize::Bounded;

/// Bits that are written in one go: at most 64 of them, the first the most significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) bits: u32,
    pub(crate) value: u64,
}

impl Word {
    /// `value` in `bits`, which must hold it.
    pub(crate) const fn new(bits: u32, value: u32) -> Self {
        debug_assert!(bits >= 32 || value >> bits == 0, "the value fits its width");
        Self {
            bits,
            value: value as u64,
        }
    }

    /// `value`, which lies inside the bounds, as its distance from the smallest.
    pub(crate) const fn bounded(bounds: &Bounded, value: i32) -> Self {
        Self::new(bounds.bits(), value.abs_diff(bounds.min))
    }

    /// These bits followed by those of `next`.
    pub(crate) const fn then(self, next: Self) -> Self {
        debug_assert!(self.bits + next.bits <= 64, "the bits fit one word");
        Self {
            bits: self.bits + next.bits,
            value: self.value << next.bits | next.value,
        }
    }
}

/// Writes numbers as bits, most significant first, and records them in a ledger.
///
/// The same encoder runs on a [`writer`](Sink::writer) and on a [`counter`](Sink::counter), which
/// only counts.
pub(crate) struct Sink<'a, W> {
    bits: W,
    ledger: &'a mut BitLedger,
    cube: Option<usize>,
    written: u64,
}

impl<'a> Sink<'a, BitWriter<&'a mut Vec<u8>, BigEndian>> {
    pub(crate) fn writer(bytes: &'a mut Vec<u8>, ledger: &'a mut BitLedger) -> Self {
        Self {
            bits: BitWriter::new(bytes),
            ledger,
            cube: None,
            written: 0,
        }
    }

    /// Zeros up to a whole byte.
    pub(crate) fn finish(mut self) {
        let over = self.written % 8;
        if over > 0 {
            self.of_no_cube();
            self.put(BitKind::Padding, 8 - over as u32, 0);
        }
    }
}

impl<'a> Sink<'a, BitsWritten<u32>> {
    /// `scratch` is the ledger of the counted bits.
    pub(crate) fn counter(scratch: &'a mut BitLedger) -> Self {
        Self {
            bits: BitsWritten::new(),
            ledger: scratch,
            cube: None,
            written: 0,
        }
    }

    pub(crate) const fn counted_bits(&self) -> u64 {
        self.written
    }
}

impl<W: BitWrite> Sink<'_, W> {
    /// The following bits belong to this cube.
    pub(crate) fn of_cube(&mut self, cube: usize) {
        self.cube = Some(cube);
    }

    /// The following bits belong to no cube.
    pub(crate) fn of_no_cube(&mut self) {
        self.cube = None;
    }

    pub(crate) fn put_word(&mut self, kind: BitKind, word: Word) {
        self.bits
            .write_unsigned_var(word.bits, word.value)
            .expect("writing to memory does not fail, and every value fits its width");
        self.written += u64::from(word.bits);
        self.ledger.record(kind, self.cube, f64::from(word.bits));
    }

    /// Notes how the field that was just written is coded.
    pub(crate) fn note(&mut self, form: impl FnOnce() -> Form) {
        self.ledger.note(form);
    }

    /// Notes the bits of each component of the field, which was just written up to the last one.
    pub(crate) fn note_components(&mut self, bits: impl FnOnce() -> [u32; 3]) {
        self.ledger.note_components(|| bits().map(f64::from));
    }

    /// `value` in `bits`, which must hold it.
    pub(crate) fn put(&mut self, kind: BitKind, bits: u32, value: u32) {
        self.put_word(kind, Word::new(bits, value));
    }

    pub(crate) fn put_flag(&mut self, kind: BitKind, flag: bool) {
        self.bits
            .write_bit(flag)
            .expect("writing to memory does not fail");
        self.written += 1;
        self.ledger.record(kind, self.cube, 1.0);
    }
}
