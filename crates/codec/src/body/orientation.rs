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

use glam::Quat;

use super::Body;
use crate::bits::{BitStream, Direction};
use crate::decode_error::DecodeError;
use crate::ledger::{BitKind, Form};
use crate::predict::CLASSES;
use crate::quantize::smallest_three::{self, SmallestThree, max_component};
use crate::ranges::Ranges;
use crate::snapshot::Fields;
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
    /// Codes the orientation of `fields`.
    pub(super) fn orientation<D: Direction>(
        &self,
        stream: &mut BitStream<'_, D>,
        cube: usize,
        fields: &mut Fields,
        class: usize,
    ) -> Result<(), D::Error> {
        let Orientation::SmallestThree { bits } = self.stages.orientation else {
            fields.quaternion = quaternion(stream, fields.quaternion)?;
            return Ok(());
        };
        let orientation = fields.smallest_three;
        let before = || self.baseline.snapshot.smallest_three(cube);
        fields.smallest_three = match self.stages.relative_orientation {
            RelativeOrientation::Off => whole(stream, bits, orientation, Form::Whole)?,
            RelativeOrientation::TwoRanges { small, large } => {
                let ranges = at_precision([small, large], bits);
                relative(stream, ranges, bits, orientation, before())?
            }
            RelativeOrientation::GrowingRanges => {
                let ranges = at_precision(GROWING_ORIENTATION_RANGES[class].bits(), bits);
                relative(stream, ranges, bits, orientation, before())?
            }
        };
        Ok(())
    }
}

/// Ranges of these bits at 9 bits per component, for another number of bits: as many more as the component
/// has more than 9, and at least 1.
fn at_precision<const N: usize>(at_nine_bits: [u8; N], component_bits: u8) -> Ranges<N> {
    Ranges::new(at_nine_bits.map(|bits| (bits + component_bits).saturating_sub(9).max(1)))
}

/// Codes an orientation as it is.
fn whole<D: Direction>(
    stream: &mut BitStream<'_, D>,
    bits: u8,
    mut orientation: SmallestThree,
    form: Form,
) -> Result<SmallestThree, D::Error> {
    let mut field = stream.field(KIND);
    let bits = u32::from(bits);
    orientation.largest = field.number(2, orientation.largest.into())? as u8;
    for component in &mut orientation.components {
        *component = field.number(bits, u32::from(*component))? as u16;
    }
    field.note_components(|| [bits; 3]);
    field.note(|| form);
    Ok(orientation)
}

fn relative<const N: usize, D: Direction>(
    stream: &mut BitStream<'_, D>,
    ranges: Ranges<N>,
    bits: u8,
    orientation: SmallestThree,
    before: SmallestThree,
) -> Result<SmallestThree, D::Error> {
    let has_same_largest = orientation.largest == before.largest;
    let components = has_same_largest.then(|| orientation.components.map(i32::from));
    let reference = before.components.map(i32::from);
    let bounds = [(); 3].map(|()| 0..=i32::from(max_component(bits)));
    match ranges.relative(stream, KIND, components, reference, bounds)? {
        Some(components) => Ok(SmallestThree {
            largest: before.largest,
            components: components.map(|component| component as u16),
        }),
        None => whole(
            stream,
            bits,
            orientation,
            match has_same_largest {
                true => Form::OutOfRange,
                false => Form::OtherLargest,
            },
        ),
    }
}

fn quaternion<D: Direction>(
    stream: &mut BitStream<'_, D>,
    mut words: [u32; 4],
) -> Result<[u32; 4], D::Error> {
    let mut field = stream.field(KIND);
    for word in &mut words {
        *word = field.float(*word)?;
    }
    let length = smallest_three::length(Quat::from_array(words.map(f32::from_bits)));
    D::check(length.is_some(), || DecodeError::NoDirection {
        at_bit: field.at_bit(),
        cube: field.cube(),
    })?;
    field.note(|| Form::Whole);
    Ok(words)
}
