//! Orientations.
//!
//! ```text
//! full             f32 x 32 | f32 y 32 | f32 z 32 | f32 w 32
//! smallest three   largest 2 | a | b | c                       `bits` each
//! relative         relative 1 = 1 | a | b | c                  each in ranges
//!                  relative 1 = 0 | largest 2 | a | b | c
//! ```
//!
//! An orientation can be relative only if the reference omits the same component.

use bitstream_io::BitWrite;

use super::Body;
use crate::ledger::{BitKind, Form};
use crate::predict::CLASSES;
use crate::quantize::smallest_three::{SmallestThree, max_component};
use crate::ranges::Ranges;
use crate::sink::{Sink, Word};
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::{Orientation, RelativeOrientation};

/// Growing ranges for a component of a relative orientation at 9 bits per component, by class.
pub const GROWING_ORIENTATION_RANGES: [Ranges<3>; CLASSES] = [
    Ranges::new([2, 4, 7]),
    Ranges::new([2, 3, 6]),
    Ranges::new([3, 4, 6]),
    Ranges::new([5, 5, 7]),
    Ranges::new([6, 6, 7]),
    Ranges::new([6, 6, 7]),
];

const KIND: BitKind = BitKind::Orientation;

impl Body<'_> {
    pub(super) fn put_orientation<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        current: &QuantizedSnapshot,
        cube: usize,
        class: usize,
    ) {
        let Orientation::SmallestThree { bits } = self.stages.orientation else {
            for word in current.quaternions[cube] {
                sink.put(KIND, 32, word);
            }
            sink.note(|| Form::Whole);
            return;
        };
        let orientation = current.smallest_three(cube);
        let before = || self.baseline.snapshot.smallest_three(cube);
        match self.stages.relative_orientation {
            RelativeOrientation::Off => {
                put_absolute(sink, bits, orientation);
                sink.note(|| Form::Whole);
            }
            RelativeOrientation::TwoRanges { small, large } => {
                let ranges = at_precision([small, large], bits);
                put_relative(sink, ranges, bits, orientation, before());
            }
            RelativeOrientation::GrowingRanges => {
                let ranges = at_precision(GROWING_ORIENTATION_RANGES[class].bits(), bits);
                put_relative(sink, ranges, bits, orientation, before());
            }
        }
    }

    pub(super) fn take_orientation(
        &self,
        source: &mut Source<'_>,
        decoded: &mut QuantizedSnapshot,
        cube: usize,
        class: usize,
    ) -> Result<(), DecodeError> {
        let Orientation::SmallestThree { bits } = self.stages.orientation else {
            decoded.quaternions[cube] = take_quaternion(source)?;
            return Ok(());
        };
        let before = || self.baseline.snapshot.smallest_three(cube);
        let orientation = match self.stages.relative_orientation {
            RelativeOrientation::Off => take_absolute(source, bits)?,
            RelativeOrientation::TwoRanges { small, large } => {
                let ranges = at_precision([small, large], bits);
                take_relative(source, ranges, bits, before())?
            }
            RelativeOrientation::GrowingRanges => {
                let ranges = at_precision(GROWING_ORIENTATION_RANGES[class].bits(), bits);
                take_relative(source, ranges, bits, before())?
            }
        };
        decoded.set_smallest_three(cube, orientation);
        Ok(())
    }
}

/// Ranges of these bits at 9 bits per component, for another number of bits: as many more as the component
/// has more than 9, and at least 1.
fn at_precision<const N: usize>(at_nine_bits: [u8; N], component_bits: u8) -> Ranges<N> {
    Ranges::new(at_nine_bits.map(|bits| (bits + component_bits).saturating_sub(9).max(1)))
}

fn put_absolute<W: BitWrite>(sink: &mut Sink<'_, W>, bits: u8, orientation: SmallestThree) {
    let word = orientation
        .components
        .into_iter()
        .map(|component| Word::new(u32::from(bits), u32::from(component)))
        .fold(Word::new(2, u32::from(orientation.largest)), Word::then);
    sink.put_word(KIND, word);
    sink.note_components(|| [u32::from(bits); 3]);
}

fn take_absolute(source: &mut Source<'_>, bits: u8) -> Result<SmallestThree, DecodeError> {
    let mut orientation = SmallestThree {
        largest: source.take(KIND, 2)? as u8,
        components: [0; 3],
    };
    for component in &mut orientation.components {
        *component = source.take(KIND, u32::from(bits))? as u16;
    }
    Ok(orientation)
}

fn put_relative<const N: usize, W: BitWrite>(
    sink: &mut Sink<'_, W>,
    ranges: Ranges<N>,
    bits: u8,
    orientation: SmallestThree,
    before: SmallestThree,
) {
    let difference = std::array::from_fn(|slot| {
        i32::from(orientation.components[slot]) - i32::from(before.components[slot])
    });
    let has_same_largest = orientation.largest == before.largest;
    let relative = ranges
        .signed_vector(difference)
        .filter(|_| has_same_largest);
    match relative {
        Some(word) => {
            sink.put_word(KIND, Word::new(1, 1).then(word));
            sink.note_components(|| ranges.component_bits(difference));
            sink.note(|| ranges.form(difference));
        }
        None => {
            sink.put_flag(KIND, false);
            put_absolute(sink, bits, orientation);
            sink.note(|| match has_same_largest {
                true => Form::OutOfRange,
                false => Form::OtherLargest,
            });
        }
    }
}

fn take_relative<const N: usize>(
    source: &mut Source<'_>,
    ranges: Ranges<N>,
    bits: u8,
    before: SmallestThree,
) -> Result<SmallestThree, DecodeError> {
    if !source.take_flag(KIND)? {
        return take_absolute(source, bits);
    }
    let mut orientation = before;
    for component in &mut orientation.components {
        let value = i64::from(*component) + i64::from(ranges.take_signed(source, KIND)?);
        *component = source.in_range(KIND, value, 0, i32::from(max_component(bits)))? as u16;
    }
    Ok(orientation)
}

fn take_quaternion(source: &mut Source<'_>) -> Result<[u32; 4], DecodeError> {
    let mut words = [0; 4];
    for word in &mut words {
        *word = source.take_float(KIND)?;
    }
    if SmallestThree::quantize(glam::Quat::from_array(words.map(f32::from_bits)), 9).is_none() {
        return Err(DecodeError::NoDirection {
            at_bit: source.at_bit(),
            cube: source.cube(),
        });
    }
    Ok(words)
}
