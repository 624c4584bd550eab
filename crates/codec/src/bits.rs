//! Bit streams. One function per field serves writing and reading, and records the bits in the ledger.

mod direction;

use std::ops::RangeInclusive;

use bitstream_io::{BigEndian, BitRead, BitReader, BitWriter};

use self::direction::{At, Gathered};
pub(crate) use self::direction::{Direction, Reading, Writing};

use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, BitLedger, Form};
use crate::quantize::Bounded;

/// Writes or reads the fields of a packet, depending on `D`.
pub(crate) struct BitStream<'l, D> {
    direction: D,
    /// Bits from the start of the packet.
    pub(crate) at_bit: u64,
    pub(crate) body: Option<usize>,
    ledger: Option<&'l mut BitLedger>,
}

impl<'l, D: Direction> BitStream<'l, D> {
    const fn new(direction: D, at_bit: u64, ledger: Option<&'l mut BitLedger>) -> Self {
        Self { direction, at_bit, body: None, ledger }
    }

    /// Sets the body that the following fields belong to.
    pub(crate) const fn of_body(&mut self, body: usize) {
        self.body = Some(body);
    }

    /// Starts a field. Its bits are recorded under `kind`.
    #[inline]
    pub(crate) fn field(&mut self, kind: BitKind) -> BitField<'_, 'l, D> {
        BitField {
            at: At {
                bit: self.at_bit,
                known_until: self.at_bit,
                kind,
                body: self.body,
                gathered: Gathered::default(),
            },
            recorded: self.at_bit,
            stream: self,
        }
    }

    /// Codes a field of one bit.
    #[inline]
    pub(crate) fn flag(&mut self, kind: BitKind, flag: bool) -> Result<bool, D::Error> {
        self.field(kind).flag(flag)
    }

    /// Codes three numbers, each as its offset from the minimum of its bounds.
    pub(crate) fn bounded(
        &mut self,
        kind: BitKind,
        bounds: &[Bounded; 3],
        numbers: &mut [i32; 3],
    ) -> Result<(), D::Error> {
        let mut field = self.field(kind);
        field.follow(bounds.iter().map(|bounds| bounds.bits()).sum());
        for (number, bounds) in numbers.iter_mut().zip(bounds) {
            let distance = field.number(bounds.bits(), number.abs_diff(bounds.min))?;
            let value = i64::from(bounds.min) + i64::from(distance);
            *number = field.in_range(value, bounds.range())? as i32;
        }
        drop(field);
        self.note_components(|| bounds.map(|bounds| bounds.bits()));
        Ok(())
    }

    /// Codes the words of several `f32`, such as a vector or a quaternion. Numbers that are read must be finite.
    pub(crate) fn floats<const N: usize>(
        &mut self,
        kind: BitKind,
        words: &mut [i32; N],
    ) -> Result<(), D::Error> {
        let mut field = self.field(kind);
        field.follow(N as u32 * u32::BITS);
        for word in words {
            let float = field.number(u32::BITS, word.cast_unsigned())?;
            D::check(f32::from_bits(float).is_finite(), || DecodeError::NotFinite {
                at_bit: field.at.bit,
                field: kind,
                body: field.at.body,
            })?;
            *word = float.cast_signed();
        }
        Ok(())
    }

    /// Records the form of the last coded field.
    #[inline]
    pub(crate) fn note(&mut self, form: impl FnOnce() -> Form) {
        if let Some(ledger) = &mut self.ledger {
            ledger.note(form);
        }
    }

    /// Records the number of bits of each component of the last coded field.
    #[inline]
    pub(crate) fn note_components(&mut self, bits: impl FnOnce() -> [u32; 3]) {
        if let Some(ledger) = &mut self.ledger {
            ledger.note_components(|| bits().map(f64::from));
        }
    }

    /// Codes zeros up to a whole byte. They belong to no body.
    pub(crate) fn pad(&mut self) -> Result<(), D::Error> {
        self.body = None;
        let at_bit = self.at_bit;
        let bits = at_bit.next_multiple_of(8) - at_bit;
        let zeros = self.field(BitKind::Padding).number(bits as u32, 0)?;
        D::check(zeros == 0, || DecodeError::Padding { at_bit })
    }
}

impl<'a> BitStream<'a, Writing<'a>> {
    pub(crate) fn writer(bytes: &'a mut Vec<u8>, ledger: Option<&'a mut BitLedger>) -> Self {
        Self::new(BitWriter::endian(bytes, BigEndian), 0, ledger)
    }

    /// Writes the last bits, and zeros up to a whole byte.
    pub(crate) fn finish(mut self) {
        let Ok(()) = self.pad();
    }
}

impl<'b, 'l> BitStream<'l, Reading<'b>> {
    /// Reads `bytes` from bit `at_bit` on.
    pub(crate) fn reader(bytes: &'b [u8], at_bit: u64, ledger: Option<&'l mut BitLedger>) -> Self {
        let end = bytes.len() as u64 * 8;
        let mut bits = BitReader::endian(&bytes[(at_bit / 8) as usize..], BigEndian);
        bits.skip((at_bit % 8) as u32).expect("these bits were read before");
        Self::new(Reading { bits, end }, at_bit, ledger)
    }

    /// The bytes after the one that is being read.
    pub(crate) fn rest(&mut self) -> &'b [u8] {
        self.direction.bits.aligned_reader()
    }

    pub(crate) fn ledger(&mut self) -> Option<&mut BitLedger> {
        self.ledger.as_deref_mut()
    }

    pub(crate) const fn bits_left(&self) -> u64 {
        self.direction.end - self.at_bit
    }

    /// Checks that only zeros up to a whole byte are left.
    pub(crate) fn finish(mut self) -> Result<(), DecodeError> {
        self.pad()?;
        let bytes = self.bits_left() / 8;
        Reading::check(bytes == 0, || DecodeError::TrailingBytes { at_bit: self.at_bit, bytes })
    }
}

/// A run of bits of one kind. They are recorded in the ledger of the [`BitStream`], if it has one.
///
/// When bits are read, the methods ignore their value arguments, which need not be in range, and return the values
/// read.
pub(crate) struct BitField<'s, 'l, D: Direction> {
    stream: &'s mut BitStream<'l, D>,
    /// Position and pending bits. They are here and not in the stream so that the compiler keeps them in registers.
    at: At,
    /// End of the bits that are recorded in the ledger.
    recorded: u64,
}

impl<D: Direction> Drop for BitField<'_, '_, D> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.at.gathered.bits > 0 {
            self.stream.direction.put(self.at.gathered);
        }
        self.stream.at_bit = self.at.bit;
        self.record();
    }
}

impl<D: Direction> BitField<'_, '_, D> {
    /// Bits from the start of the packet.
    pub(crate) const fn at_bit(&self) -> u64 {
        self.at.bit
    }

    /// Sets the body that the following bits belong to, if any.
    #[inline(always)]
    pub(crate) fn of_body(&mut self, body: Option<usize>) {
        let ledger = self.stream.ledger.as_ref();
        if ledger.is_some_and(|ledger| ledger.items().is_some()) {
            self.record();
        }
        self.at.body = body;
    }

    /// Assigns the bits since the last body to `body`. The following bits belong to no body.
    #[inline(always)]
    pub(crate) fn were_of_body(&mut self, body: usize) {
        self.at.body = Some(body);
        self.of_body(None);
    }

    #[inline(always)]
    fn record(&mut self) {
        if let Some(ledger) = &mut self.stream.ledger {
            let bits = self.at.bit - self.recorded;
            self.recorded = self.at.bit;
            if bits > 0 {
                ledger.record(self.at.kind, self.at.body, bits as f64);
            }
        }
    }

    /// Promises that at least `bits` more bits belong to this field, so that a reader can fetch them at once.
    #[inline(always)]
    pub(crate) fn follow(&mut self, bits: u32) {
        self.at.known_until = self.at.bit + u64::from(bits);
    }

    /// Codes a number of at most 32 bits, most significant bit first.
    ///
    /// # Panics
    /// If the number is written and does not fit into `bits`.
    #[inline(always)]
    pub(crate) fn number(&mut self, bits: u32, value: u32) -> Result<u32, D::Error> {
        let value = self.stream.direction.number(&mut self.at, bits, value)?;
        self.at.bit += u64::from(bits);
        Ok(value)
    }

    #[inline(always)]
    pub(crate) fn flag(&mut self, flag: bool) -> Result<bool, D::Error> {
        Ok(self.number(1, u32::from(flag))? == 1)
    }

    /// Codes a number in one of several ranges, each with its number of bits: the index of the range as that many
    /// zeros and a one (the last range has no one), then the number.
    #[inline(always)]
    pub(crate) fn ranged<const N: usize>(
        &mut self,
        bits: [u8; N],
        range: usize,
        number: u32,
    ) -> Result<(usize, u32), D::Error> {
        let last = N as u32 - 1;
        let zeros = self.stream.direction.zeros(&mut self.at, range as u32, last)?;
        let (range, ones) = (zeros as usize, u32::from(zeros < last));
        let bits = u32::from(bits[range]);
        let code = self.number(zeros + ones + bits, ones << bits | number)?;
        Ok((range, code & ((1 << bits) - 1)))
    }

    /// Returns a number that was just read, or an error if it is out of range.
    #[inline(always)]
    pub(crate) fn in_range<T: Copy + Into<i64>>(
        &self,
        value: i64,
        range: RangeInclusive<T>,
    ) -> Result<i64, D::Error> {
        let (min, max) = ((*range.start()).into(), (*range.end()).into());
        D::check((min..=max).contains(&value), || DecodeError::OutOfRange {
            at_bit: self.at.bit,
            field: self.at.kind,
            body: self.at.body,
            value,
            min,
            max,
        })?;
        Ok(value)
    }
}
