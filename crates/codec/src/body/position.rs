//! Positions.
//!
//! ```text
//! full        f32 x 32 | f32 y 32 | f32 z 32
//! quantized   x 18 | y 18 | z 14                     widths at 512 steps per metre
//! affine      full 1 = 0 | x 21 | y 21 | z 21        differences
//!             full 1 = 1 | x 25 | y 25 | z 21
//! relative    relative 1 = 1 | x | y | z             each in ranges
//!             relative 1 = 0 | x 18 | y 18 | z 14
//! ```

use bitstream_io::BitWrite;

use super::Body;
use crate::ledger::{BitKind, Form};
use crate::predict::{CLASSES, Prediction};
use crate::quantize::affine::{AFFINE_POSITION, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT};
use crate::quantize::bounded::{self, Bounded};
use crate::ranges::Ranges;
use crate::sink::{Sink, Word};
use crate::snapshot::QuantizedSnapshot;
use crate::source::{DecodeError, Source};
use crate::stages::{Position, RelativePosition};

/// Ranges for a component of the difference from a predicted position at 512 steps per metre, by class.
pub const PREDICTED_POSITION_RANGES: [Ranges<3>; CLASSES] = [
    Ranges::new([3, 5, 8]),
    Ranges::new([3, 5, 9]),
    Ranges::new([4, 5, 9]),
    Ranges::new([6, 6, 9]),
    Ranges::new([7, 7, 10]),
    Ranges::new([3, 7, 9]),
];

const KIND: BitKind = BitKind::Position;

impl Body<'_> {
    pub(super) fn put_position<W: BitWrite>(
        &self,
        sink: &mut Sink<'_, W>,
        current: &QuantizedSnapshot,
        cube: usize,
        prediction: Prediction,
    ) {
        let position = current.position(cube);
        let before = self.baseline.snapshot.position(cube);
        let steps_per_metre = match self.stages.position {
            Position::Full => {
                for word in position {
                    sink.put(KIND, 32, word.cast_unsigned());
                }
                sink.note_components(|| [32; 3]);
                sink.note(|| Form::Whole);
                return;
            }
            Position::Affine => return put_affine(sink, position, before),
            Position::Quantized { steps_per_metre } => steps_per_metre,
        };
        let bounds = bounded::position(steps_per_metre);
        match self.stages.relative_position {
            RelativePosition::Off => {
                put_bounded(sink, bounds, position);
                sink.note(|| Form::Whole);
            }
            RelativePosition::TwoRanges { small, large } => {
                let ranges = Ranges::new([small, large]);
                put_relative(sink, ranges, bounds, position, before);
            }
            RelativePosition::Predicted => {
                let ranges = PREDICTED_POSITION_RANGES[prediction.class];
                put_relative(sink, ranges, bounds, position, prediction.position);
            }
        }
    }

    pub(super) fn take_position(
        &self,
        source: &mut Source<'_>,
        cube: usize,
        prediction: Prediction,
    ) -> Result<[i32; 3], DecodeError> {
        let before = self.baseline.snapshot.position(cube);
        let steps_per_metre = match self.stages.position {
            Position::Full => return take_floats(source, KIND),
            Position::Affine => return take_affine(source, before),
            Position::Quantized { steps_per_metre } => steps_per_metre,
        };
        let bounds = bounded::position(steps_per_metre);
        match self.stages.relative_position {
            RelativePosition::Off => take_bounded(source, bounds),
            RelativePosition::TwoRanges { small, large } => {
                take_relative(source, Ranges::new([small, large]), bounds, before)
            }
            RelativePosition::Predicted => {
                let ranges = PREDICTED_POSITION_RANGES[prediction.class];
                take_relative(source, ranges, bounds, prediction.position)
            }
        }
    }
}

fn put_relative<const N: usize, W: BitWrite>(
    sink: &mut Sink<'_, W>,
    ranges: Ranges<N>,
    bounds: [Bounded; 3],
    position: [i32; 3],
    reference: [i32; 3],
) {
    let difference = std::array::from_fn(|axis| position[axis] - reference[axis]);
    match ranges.signed_vector(difference) {
        Some(word) => {
            sink.put_word(KIND, Word::new(1, 1).then(word));
            sink.note_components(|| ranges.component_bits(difference));
            sink.note(|| ranges.form(difference));
        }
        None => {
            sink.put_flag(KIND, false);
            put_bounded(sink, bounds, position);
            sink.note(|| Form::OutOfRange);
        }
    }
}

fn take_relative<const N: usize>(
    source: &mut Source<'_>,
    ranges: Ranges<N>,
    bounds: [Bounded; 3],
    reference: [i32; 3],
) -> Result<[i32; 3], DecodeError> {
    if !source.take_flag(KIND)? {
        return take_bounded(source, bounds);
    }
    let mut position = [0; 3];
    for (axis, bounds) in bounds.into_iter().enumerate() {
        let difference = ranges.take_signed(source, KIND)?;
        let value = i64::from(reference[axis]) + i64::from(difference);
        position[axis] = source.in_range(KIND, value, bounds.min, bounds.max)?;
    }
    Ok(position)
}

fn put_bounded<W: BitWrite>(sink: &mut Sink<'_, W>, bounds: [Bounded; 3], position: [i32; 3]) {
    // One by one: 25, 25 and 21 bits do not fit one word.
    for (value, bounds) in position.into_iter().zip(bounds) {
        sink.put_word(KIND, Word::bounded(&bounds, value));
    }
    sink.note_components(|| bounds.map(|bounds| bounds.bits()));
}

fn take_bounded(source: &mut Source<'_>, bounds: [Bounded; 3]) -> Result<[i32; 3], DecodeError> {
    let mut position = [0; 3];
    for (value, bounds) in position.iter_mut().zip(bounds) {
        *value = source.take_bounded(KIND, &bounds)?;
    }
    Ok(position)
}

fn put_affine<W: BitWrite>(sink: &mut Sink<'_, W>, position: [i32; 3], before: [i32; 3]) {
    let codes: [i32; 3] =
        std::array::from_fn(|axis| position[axis] - before[axis] + DIFFERENCE_ZERO_POINT);
    let full = codes
        .iter()
        .any(|code| !(0..1 << DIFFERENCE_BITS).contains(code));
    sink.put_flag(KIND, full);
    if full {
        put_bounded(sink, AFFINE_POSITION, position);
        sink.note(|| Form::OutOfRange);
    } else {
        for code in codes {
            sink.put(KIND, DIFFERENCE_BITS, code.cast_unsigned());
        }
        sink.note_components(|| [DIFFERENCE_BITS; 3]);
        sink.note(|| match position == before {
            true => Form::Exact,
            false => Form::Small,
        });
    }
}

fn take_affine(source: &mut Source<'_>, before: [i32; 3]) -> Result<[i32; 3], DecodeError> {
    if source.take_flag(KIND)? {
        return take_bounded(source, AFFINE_POSITION);
    }
    let mut position = [0; 3];
    for (axis, bounds) in AFFINE_POSITION.into_iter().enumerate() {
        position[axis] = take_affine_difference(source, KIND, before[axis], bounds)?;
    }
    Ok(position)
}

/// An affine-quantized difference, added to `before`.
pub(super) fn take_affine_difference(
    source: &mut Source<'_>,
    kind: BitKind,
    before: i32,
    bounds: Bounded,
) -> Result<i32, DecodeError> {
    let code = source.take(kind, DIFFERENCE_BITS)?;
    let value = i64::from(before) + i64::from(code) - i64::from(DIFFERENCE_ZERO_POINT);
    source.in_range(kind, value, bounds.min, bounds.max)
}

/// Three f32 as words, all finite.
pub(super) fn take_floats(source: &mut Source<'_>, kind: BitKind) -> Result<[i32; 3], DecodeError> {
    let mut words = [0; 3];
    for word in &mut words {
        *word = source.take_float(kind)?.cast_signed();
    }
    Ok(words)
}
