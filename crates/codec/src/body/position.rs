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

use std::ops::Range;

use super::Body;
use crate::bits::{BitStream, Direction};
use crate::ledger::{BitKind, Form};
use crate::predict::{CLASSES, Prediction};
use crate::quantize::affine::{AFFINE_POSITION, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT};
use crate::quantize::bounded::{self, Bounded};
use crate::ranges::Ranges;
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
    pub(super) fn position<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        cube: usize,
        position: [i32; 3],
        prediction: Prediction,
    ) -> Result<[i32; 3], D::Error> {
        let before = || self.baseline.snapshot.position(cube);
        let steps_per_metre = match self.stages.position {
            Position::Full => {
                let position = floats(stream, KIND, position)?;
                stream.field(KIND).note(|| Form::Whole);
                return Ok(position);
            }
            Position::Affine => return affine(stream, position, before()),
            Position::Quantized { steps_per_metre } => steps_per_metre,
        };
        let bounds = bounded::position(steps_per_metre);
        let ranges = bounds.map(|bounds| bounds.range());
        let numbers = Some(position);
        let (relative, form) = match self.stages.relative_position {
            RelativePosition::Off => (None, Form::Whole),
            RelativePosition::TwoRanges { small, large } => {
                let code = Ranges::new([small, large]);
                let relative = code.relative(stream, KIND, numbers, before(), ranges)?;
                (relative, Form::OutOfRange)
            }
            RelativePosition::Predicted => {
                let code = PREDICTED_POSITION_RANGES[prediction.class];
                let relative = code.relative(stream, KIND, numbers, prediction.position, ranges)?;
                (relative, Form::OutOfRange)
            }
        };
        match relative {
            Some(position) => Ok(position),
            None => whole(stream, bounds, position, form),
        }
    }
}

/// Codes a position as it is.
fn whole<D: Direction>(
    stream: &mut BitStream<'_, D>,
    bounds: [Bounded; 3],
    mut position: [i32; 3],
    form: Form,
) -> Result<[i32; 3], D::Error> {
    let mut field = stream.field(KIND);
    for (value, bounds) in position.iter_mut().zip(bounds) {
        *value = field.bounded(&bounds, *value)?;
    }
    field.note_components(|| bounds.map(|bounds| bounds.bits()));
    field.note(|| form);
    Ok(position)
}

fn affine<D: Direction>(
    stream: &mut BitStream<'_, D>,
    position: [i32; 3],
    before: [i32; 3],
) -> Result<[i32; 3], D::Error> {
    const CODES: Range<i32> = 0..1 << DIFFERENCE_BITS;
    let is_far = (0..3)
        .any(|axis| !CODES.contains(&(position[axis] - before[axis] + DIFFERENCE_ZERO_POINT)));
    if stream.flag(KIND, is_far)? {
        return whole(stream, AFFINE_POSITION, position, Form::OutOfRange);
    }
    let position = affine_differences(stream, KIND, position, before, AFFINE_POSITION)?;
    stream.field(KIND).note(|| match position == before {
        true => Form::Exact,
        false => Form::Small,
    });
    Ok(position)
}

/// Codes affine-quantized differences.
pub(super) fn affine_differences<D: Direction>(
    stream: &mut BitStream<'_, D>,
    kind: BitKind,
    mut numbers: [i32; 3],
    before: [i32; 3],
    bounds: [Bounded; 3],
) -> Result<[i32; 3], D::Error> {
    let mut field = stream.field(kind);
    for (axis, bounds) in bounds.into_iter().enumerate() {
        let code = numbers[axis] - before[axis] + DIFFERENCE_ZERO_POINT;
        let code = field.number(DIFFERENCE_BITS, code.cast_unsigned())?;
        let number = i64::from(before[axis]) + i64::from(code) - i64::from(DIFFERENCE_ZERO_POINT);
        numbers[axis] = field.in_range(number, bounds.range())?;
    }
    field.note_components(|| [DIFFERENCE_BITS; 3]);
    Ok(numbers)
}

/// Codes three f32, all finite, as words.
pub(super) fn floats<D: Direction>(
    stream: &mut BitStream<'_, D>,
    kind: BitKind,
    mut words: [i32; 3],
) -> Result<[i32; 3], D::Error> {
    let mut field = stream.field(kind);
    for word in &mut words {
        *word = field.float(word.cast_unsigned())?.cast_signed();
    }
    field.note_components(|| [32; 3]);
    Ok(words)
}
