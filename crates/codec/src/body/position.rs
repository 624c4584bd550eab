//! Positions and linear velocities.

use std::ops::Range;

use super::BodyCoder;
use crate::bits::{BitStream, Direction};
use crate::ledger::{BitKind, Form};
use crate::predict::{CLASSES, Prediction};
use crate::quantize::affine::{
    AFFINE_POSITION, AFFINE_VELOCITY, DIFFERENCE_BITS, DIFFERENCE_ZERO_POINT,
};
use crate::quantize::bounded::{Bounded, VELOCITY};
use crate::ranges::{Ranges, Relative};
use crate::stages::{Position, RelativePosition, Velocity};

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

impl BodyCoder<'_> {
    pub(super) fn position<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        position: &mut [i32; 3],
        prediction: &Prediction,
    ) -> Result<(), D::Error> {
        match self.stages.position {
            Position::Full => {
                stream.floats(KIND, position)?;
                stream.note_components(|| [32; 3]);
                stream.note(|| Form::Whole);
                return Ok(());
            }
            Position::Affine => return self.affine_position(stream, body, position),
            Position::Quantized { .. } => {}
        }
        let before = || Relative {
            reference: self.baseline.snapshot.position(body),
            bounds: &self.position_range,
            is_possible: true,
        };
        let (is_relative, form) = match self.stages.relative_position {
            RelativePosition::Off => (false, Form::Whole),
            RelativePosition::TwoRanges { small, large } => {
                let ranges = Ranges::new([small, large]);
                (ranges.relative(stream, KIND, position, &before())?, Form::OutOfRange)
            }
            RelativePosition::Predicted => {
                let ranges = PREDICTED_POSITION_RANGES[prediction.class];
                let predicted = Relative { reference: prediction.position, ..before() };
                (ranges.relative(stream, KIND, position, &predicted)?, Form::OutOfRange)
            }
        };
        if !is_relative {
            stream.bounded(KIND, &self.bounds, position)?;
            stream.note(|| form);
        }
        Ok(())
    }

    pub(super) fn velocity<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        velocity: &mut [i32; 3],
    ) -> Result<(), D::Error> {
        const KIND: BitKind = BitKind::Velocity;
        match self.stages.velocity {
            Velocity::Omitted => Ok(()),
            Velocity::Full => {
                stream.floats(KIND, velocity)?;
                stream.note_components(|| [32; 3]);
                Ok(())
            }
            Velocity::Quantized => stream.bounded(KIND, &[VELOCITY; 3], velocity),
            Velocity::AtRestFlag => {
                if stream.flag(KIND, *velocity == [0; 3])? {
                    *velocity = [0; 3];
                    return Ok(());
                }
                stream.bounded(KIND, &[VELOCITY; 3], velocity)
            }
            Velocity::Affine => {
                let before = self.baseline.snapshot.velocity(body);
                affine_differences(stream, KIND, velocity, before, &[AFFINE_VELOCITY; 3])
            }
        }
    }

    fn affine_position<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        position: &mut [i32; 3],
    ) -> Result<(), D::Error> {
        const CODES: Range<i32> = 0..1 << DIFFERENCE_BITS;
        let before = self.baseline.snapshot.position(body);
        let code = |axis: usize| position[axis] - before[axis] + DIFFERENCE_ZERO_POINT;
        if stream.flag(KIND, (0..3).any(|axis| !CODES.contains(&code(axis))))? {
            stream.bounded(KIND, &AFFINE_POSITION, position)?;
            stream.note(|| Form::OutOfRange);
        } else {
            affine_differences(stream, KIND, position, before, &AFFINE_POSITION)?;
            stream.note(|| if *position == before { Form::Exact } else { Form::Small });
        }
        Ok(())
    }
}

fn affine_differences<D: Direction>(
    stream: &mut BitStream<'_, D>,
    kind: BitKind,
    numbers: &mut [i32; 3],
    before: [i32; 3],
    bounds: &[Bounded; 3],
) -> Result<(), D::Error> {
    let mut field = stream.field(kind);
    field.follow(3 * DIFFERENCE_BITS);
    for axis in 0..3 {
        let code = numbers[axis] - before[axis] + DIFFERENCE_ZERO_POINT;
        let code = field.number(DIFFERENCE_BITS, code.cast_unsigned())?;
        let number = i64::from(before[axis]) + i64::from(code) - i64::from(DIFFERENCE_ZERO_POINT);
        numbers[axis] = field.in_range(number, bounds[axis].range())? as i32;
    }
    drop(field);
    stream.note_components(|| [DIFFERENCE_BITS; 3]);
    Ok(())
}
