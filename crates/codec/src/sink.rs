//! Bits out, each entered in a ledger.

use bitstream_io::{BigEndian, BitWrite, BitWriter, BitsWritten};

use crate::ledger::{BitKind, BitLedger};

/// Writes numbers as bits, most significant first, and keeps the account.
///
/// The same encoder runs on a [`writer`](Sink::writer) and on a [`counter`](Sink::counter), which
/// only counts.
pub(crate) struct Sink<'a, W> {
    bits: W,
    ledger: &'a mut BitLedger,
    cube: Option<usize>,
}

impl<'a> Sink<'a, BitWriter<&'a mut Vec<u8>, BigEndian>> {
    pub(crate) fn writer(bytes: &'a mut Vec<u8>, ledger: &'a mut BitLedger) -> Self {
        Self {
            bits: BitWriter::new(bytes),
            ledger,
            cube: None,
        }
    }

    /// Zeros up to a whole byte.
    pub(crate) fn finish(mut self) {
        let over = self.ledger.total() % 8.0;
        if over > 0.0 {
            self.of_no_cube();
            self.put(BitKind::Padding, 8 - over as u32, 0);
        }
    }
}

impl<'a> Sink<'a, BitsWritten<u32>> {
    /// `scratch` takes the account of bits that are never sent.
    pub(crate) fn counter(scratch: &'a mut BitLedger) -> Self {
        Self {
            bits: BitsWritten::new(),
            ledger: scratch,
            cube: None,
        }
    }

    pub(crate) fn counted_bits(&self) -> u32 {
        self.bits.written()
    }
}

impl<W: BitWrite> Sink<'_, W> {
    /// What follows belongs to this cube.
    pub(crate) fn of_cube(&mut self, cube: usize) {
        self.cube = Some(cube);
    }

    /// What follows belongs to no cube.
    pub(crate) fn of_no_cube(&mut self) {
        self.cube = None;
    }

    /// `value` in `bits`, which must hold it.
    pub(crate) fn put(&mut self, kind: BitKind, bits: u32, value: u32) {
        self.bits
            .write_unsigned_var(bits, value)
            .expect("memory takes any number of bits, and every caller's value fits its width");
        self.ledger.record(kind, self.cube, f64::from(bits));
    }

    pub(crate) fn put_flag(&mut self, kind: BitKind, flag: bool) {
        self.bits
            .write_bit(flag)
            .expect("memory takes any number of bits");
        self.ledger.record(kind, self.cube, 1.0);
    }

    /// `value`, which lies in `min..=max`, as its distance from `min`.
    pub(crate) fn put_between(&mut self, kind: BitKind, min: i32, max: i32, value: i32) {
        let bits = u32::BITS - max.abs_diff(min).leading_zeros();
        self.put(kind, bits, value.abs_diff(min));
    }
}
