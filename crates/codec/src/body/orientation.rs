//! Orientations. They can be relative only if the reference omits the same component.

use glam::Quat;

use super::BodyCoder;
use crate::bits::{BitStream, Direction};
use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, Form};
use crate::predict::CLASSES;
use crate::quantize::smallest_three::{self, SmallestThree};
use crate::ranges::{Ranges, Relative};
use crate::snapshot::{Fields, floats};
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

impl BodyCoder<'_> {
    pub(super) fn orientation<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        fields: &mut Fields,
        class: usize,
    ) -> Result<(), D::Error> {
        let Orientation::SmallestThree { bits } = self.stages.orientation else {
            return quaternion(stream, &mut fields.quaternion);
        };
        let orientation = &mut fields.smallest_three;
        match self.stages.relative_orientation {
            RelativeOrientation::Off => self.whole(stream, bits, orientation, |_| Form::Whole),
            RelativeOrientation::TwoRanges { small, large } => {
                let ranges = at_precision([small, large], bits);
                self.relative(stream, body, &ranges, bits, orientation)
            }
            RelativeOrientation::GrowingRanges => {
                let ranges = at_precision(GROWING_ORIENTATION_RANGES[class].bits(), bits);
                self.relative(stream, body, &ranges, bits, orientation)
            }
        }
    }

    fn relative<const N: usize, D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        body: usize,
        ranges: &Ranges<N>,
        bits: u8,
        orientation: &mut SmallestThree,
    ) -> Result<(), D::Error> {
        let before = self.baseline.snapshot.smallest_three(body);
        let relative = Relative {
            reference: before.components.map(i32::from),
            bounds: &self.component_range,
            is_possible: orientation.largest == before.largest,
        };
        let mut components = orientation.components.map(i32::from);
        if !ranges.relative(stream, KIND, &mut components, &relative)? {
            return self.whole(stream, bits, orientation, |largest| {
                if largest == before.largest { Form::OutOfRange } else { Form::OtherLargest }
            });
        }
        *orientation = SmallestThree {
            largest: before.largest,
            components: components.map(|component| component as u16),
        };
        Ok(())
    }

    /// Codes an orientation without a reference. `form` returns the form to record, given the omitted component.
    fn whole<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        bits: u8,
        orientation: &mut SmallestThree,
        form: impl FnOnce(u8) -> Form,
    ) -> Result<(), D::Error> {
        let mut field = stream.field(KIND);
        let bits = u32::from(bits);
        field.follow(2 + 3 * bits);
        orientation.largest = field.number(2, orientation.largest.into())? as u8;
        for (component, range) in orientation.components.iter_mut().zip(&self.component_range) {
            let read = field.number(bits, u32::from(*component))?;
            *component = field.in_range(read.into(), range.clone())? as u16;
        }
        drop(field);
        stream.note_components(|| [bits; 3]);
        stream.note(|| form(orientation.largest));
        Ok(())
    }
}

/// Converts ranges for 9 bits per component to another precision: each gets as many bits more as a component has, and
/// at least 1.
fn at_precision<const N: usize>(at_nine_bits: [u8; N], component_bits: u8) -> Ranges<N> {
    Ranges::new(at_nine_bits.map(|bits| (bits + component_bits).saturating_sub(9).max(1)))
}

fn quaternion<D: Direction>(
    stream: &mut BitStream<'_, D>,
    words: &mut [i32; 4],
) -> Result<(), D::Error> {
    stream.floats(KIND, words)?;
    let length = smallest_three::length(Quat::from_array(floats(*words)));
    D::check(length.is_some(), || DecodeError::NoDirection {
        at_bit: stream.at_bit,
        body: stream.body,
    })?;
    stream.note(|| Form::Whole);
    Ok(())
}
