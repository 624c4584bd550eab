//! Reads bits, and reports what is wrong with them.

use bitstream_io::{BigEndian, BitRead, BitReader};

use crate::ledger::BitKind;
use crate::limits::TooManyCubes;
use crate::quantize::Bounded;
use crate::sequence::Sequence;
use crate::stages::IllegalStages;

/// Why bytes are not a packet. Positions are in bits from the packet's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The packet ends too early.
    #[error("the packet ends at bit {at_bit}, inside {field}{}", of_cube(*cube))]
    Truncated {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// What was being read.
        field: BitKind,
        /// The cube it belongs to, if any.
        cube: Option<usize>,
    },
    /// Whole bytes are left over.
    #[error("{bytes} bytes are left over after bit {at_bit}, where the packet ends")]
    TrailingBytes {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// Whole bytes left over.
        bytes: u64,
    },
    /// The bits up to a whole byte are not zero.
    #[error("the padding from bit {at_bit} is not zero")]
    Padding {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
    },
    /// A code of the stage descriptor is unused.
    #[error("the stage descriptor ending at bit {at_bit} has the unused code {code} for {stage}")]
    UnusedCode {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// The stage it is for.
        stage: &'static str,
        /// The code.
        code: u32,
    },
    /// The stage descriptor spells out parameters that are the usual ones.
    #[error("the stage descriptor, at bit {at_bit}, spells out the usual parameters of {stage}")]
    UsualParameters {
        /// Bits read up to here.
        at_bit: u64,
        /// The stage they are for.
        stage: &'static str,
    },
    /// The stages cannot be combined.
    #[error("the packet's stages are not legal: {0}")]
    Stages(#[from] IllegalStages),
    /// The baseline is not held, or has another number of cubes.
    #[error("the packet is relative to {0}, which is not held")]
    UnknownBaseline(Sequence),
    /// The baseline's precision differs from the packet's.
    #[error("the packet's precision differs from that of its baseline {0}")]
    BaselinePrecision(Sequence),
    /// The packet names a baseline although its stages do not use one.
    #[error("the packet names the baseline {0}, but its stages use none")]
    NeedlessBaseline(Sequence),
    /// A cube index is past the last cube, or not after the previous one.
    #[error("cube index {index} before bit {at_bit} is outside {min}..{cubes}")]
    CubeIndex {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// The index.
        index: usize,
        /// The smallest index allowed.
        min: usize,
        /// Number of cubes.
        cubes: usize,
    },
    /// A number is outside its range.
    #[error("{field} {value}{} before bit {at_bit} is outside {min}..={max}", of_cube(*cube))]
    OutOfRange {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// What was being read.
        field: BitKind,
        /// The cube it belongs to, if any.
        cube: Option<usize>,
        /// The number.
        value: i64,
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A float is NaN or infinite.
    #[error("{field}{} before bit {at_bit} is not a finite number", of_cube(*cube))]
    NotFinite {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// What was being read.
        field: BitKind,
        /// The cube it belongs to, if any.
        cube: Option<usize>,
    },
    /// The arithmetically coded bins are not in the encoder's form.
    #[error("the bins up to about bit {at_bit} are not in the encoder's form")]
    NonCanonical {
        /// Bits read up to here, to within a few bytes.
        at_bit: u64,
    },
    /// The two sides have different initial states, trained models or adaptive states.
    #[error("{0} does not match its check: the two sides coded it from different states")]
    Check(Sequence),
    /// The receiver simulates nothing, or not from where the packet says, or something else than the sender.
    #[error("{0} is not what this end simulates")]
    Desync(Sequence),
    /// A quaternion has length zero.
    #[error("orientation{} before bit {at_bit} has no direction", of_cube(*cube))]
    NoDirection {
        /// Bits read up to here, or where the packet ends.
        at_bit: u64,
        /// The cube it belongs to, if any.
        cube: Option<usize>,
    },
    /// The initial state has too many cubes.
    #[error("initial state: {0}")]
    TooManyCubes(#[from] TooManyCubes),
}

fn of_cube(cube: Option<usize>) -> String {
    cube.map_or_else(String::new, |cube| format!(" of cube {cube}"))
}

/// Reads numbers from bits, most significant first, and tracks the position for errors.
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    reader: BitReader<&'a [u8], BigEndian>,
    at_bit: u64,
    bits: u64,
    cube: Option<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            reader: BitReader::new(bytes),
            at_bit: 0,
            bits: bytes.len() as u64 * 8,
            cube: None,
        }
    }

    /// All bytes, also those that were read.
    pub(crate) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) const fn at_bit(&self) -> u64 {
        self.at_bit
    }

    pub(crate) const fn bits_left(&self) -> u64 {
        self.bits - self.at_bit
    }

    pub(crate) const fn cube(&self) -> Option<usize> {
        self.cube
    }

    /// The following errors name this cube.
    pub(crate) fn of_cube(&mut self, cube: usize) {
        self.cube = Some(cube);
    }

    pub(crate) fn take(&mut self, field: BitKind, bits: u32) -> Result<u32, DecodeError> {
        // Checked here because constructing the library's error is slow.
        if u64::from(bits) > self.bits_left() {
            return Err(self.truncated(field));
        }
        let value = self.reader.read_unsigned_var(bits);
        self.at_bit += u64::from(bits);
        value.map_err(|_| self.truncated(field))
    }

    pub(crate) fn take_flag(&mut self, field: BitKind) -> Result<bool, DecodeError> {
        Ok(self.take(field, 1)? == 1)
    }

    /// Reads a number that was written minus the minimum of its bounds.
    pub(crate) fn take_bounded(
        &mut self,
        field: BitKind,
        bounds: &Bounded,
    ) -> Result<i32, DecodeError> {
        let value = i64::from(bounds.min) + i64::from(self.take(field, bounds.bits())?);
        self.in_range(field, value, bounds.min, bounds.max)
    }

    /// Reads the bits of a finite f32.
    pub(crate) fn take_float(&mut self, field: BitKind) -> Result<u32, DecodeError> {
        let word = self.take(field, 32)?;
        if !f32::from_bits(word).is_finite() {
            return Err(DecodeError::NotFinite {
                at_bit: self.at_bit,
                field,
                cube: self.cube,
            });
        }
        Ok(word)
    }

    /// Returns `value` if it is in `min..=max`.
    pub(crate) fn in_range(
        &self,
        field: BitKind,
        value: i64,
        min: i32,
        max: i32,
    ) -> Result<i32, DecodeError> {
        let (min, max) = (i64::from(min), i64::from(max));
        if !(min..=max).contains(&value) {
            return Err(DecodeError::OutOfRange {
                at_bit: self.at_bit,
                field,
                cube: self.cube,
                value,
                min,
                max,
            });
        }
        Ok(value as i32)
    }

    /// Skips zeros up to a whole byte, and returns the index of that byte.
    pub(crate) fn skip_padding(&mut self) -> Result<usize, DecodeError> {
        let at_bit = self.at_bit;
        if self.take(BitKind::Padding, (self.bits_left() % 8) as u32)? != 0 {
            return Err(DecodeError::Padding { at_bit });
        }
        Ok((self.at_bit / 8) as usize)
    }

    /// Checks that only zeros up to a whole byte are left.
    pub(crate) fn finish(mut self) -> Result<(), DecodeError> {
        let left = self.bits_left();
        self.cube = None;
        self.skip_padding()?;
        if left >= 8 {
            return Err(DecodeError::TrailingBytes {
                at_bit: self.at_bit,
                bytes: left / 8,
            });
        }
        Ok(())
    }

    const fn truncated(&self, field: BitKind) -> DecodeError {
        DecodeError::Truncated {
            at_bit: self.bits,
            field,
            cube: self.cube,
        }
    }
}
